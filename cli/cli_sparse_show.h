/* cli_sparse_show.h: what show prints of sparse formats. */
#ifndef RAVEL_CLI_SPARSE_SHOW_H
#define RAVEL_CLI_SPARSE_SHOW_H

#include "cli_sparse_list.h"

/* Element i of an array of this type. */
const char *sparse_element_text(Arena *a, const DType *t, const void *data, i64 i);
/* Each array with its first elements. */
void sparse_print_arrays(Cli *c, const ravel_sparse_array *array, int n, const void *const *data,
                         const int64_t *size);

#endif
