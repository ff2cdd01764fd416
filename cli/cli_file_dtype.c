/* The element type of an array of a file. */
#include "cli_file.h"

/* What the file says; NULL: nothing that ravel knows. */
const DType *
cli_own_dtype(const FileArray *a)
{
    return a->dtype ? dtype_find(a->dtype) : dtype_of_npy(a->a.descr);
}

/* The type of the file must be the dtype, or an unsigned or opaque type of the same
 * size, which does not define the meaning of the bytes. */
static void
check_dtype(Cli *c, const FileArray *a, const DType *t)
{
    const DType *own = cli_own_dtype(a);
    bool opaque = a->a.descr[0] == 'u' || a->a.descr[0] == 'V';
    int stored = t->bits < 8 ? 8 : t->bits;
    if (stored != a->a.bytes * 8)
        cli_fail(c, "%s holds %d-byte elements (%s), --dtype %s has %d bits",
                 cli_array_text(c, a), a->a.bytes, a->a.descr, t->name, t->bits);
    if (own && own != t && !opaque)
        cli_fail(c, "%s holds %s elements, not %s: omit --dtype", cli_array_text(c, a),
                 own->name, t->name);
}

const DType *
cli_file_dtype(Cli *c, const FileArray *a)
{
    const DType *t = c->o.dtype ? sides_dtype(c->arena, c->o.dtype) : cli_own_dtype(a);
    if (!t)
        cli_fail(c, "%s holds elements of type %s: give their type with --dtype",
                 cli_array_text(c, a), a->a.descr);
    if (a->typed)
        check_dtype(c, a, t);
    return t;
}
