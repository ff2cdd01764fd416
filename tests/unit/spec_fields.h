/* spec_fields.h: texts of specs with a field. */
#ifndef RAVEL_SPEC_FIELDS_H
#define RAVEL_SPEC_FIELDS_H

/* A layout with one more field, F. */
#define WITH(f) "layout 'X' { dims = { M }, order = { M }, " f " }"
#define SWIZZLE(body) WITH("swizzle = function(a) " body " end")
#define ORDER(order) "layout 'X' { dims = { M }, order = { " order " } }"

#endif
