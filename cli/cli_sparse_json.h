/* cli_sparse_json.h: JSON of sparse formats and of conversions. */
#ifndef RAVEL_CLI_SPARSE_JSON_H
#define RAVEL_CLI_SPARSE_JSON_H

#include "cli_sparse.h"

json_t *sparse_side_json(const SparseFormat *f);
json_t *sparse_explain_json(const SparsePlan *p);
/* What check says of the format `text`. */
json_t *sparse_check_json(const char *text, const SparseFormat *f, const i64 *shape);

#endif
