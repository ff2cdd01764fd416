/* npy_cat.c: IN.npy to OUT.npy through npy_read and npy_write. */
#include <stdio.h>

#include "npy.h"

int main(int argc, char **argv)
{
    Npy a;
    ravel_error err;
    if (argc != 3) {
        fprintf(stderr, "usage: npy_cat IN.npy OUT.npy\n");
        return 2;
    }
    ravel_status s = npy_read(argv[1], &a, &err);
    if (s == RAVEL_OK)
        s = npy_write(argv[2], a.descr, a.bytes, a.rank, a.shape, a.data, &err);
    if (s != RAVEL_OK)
        fprintf(stderr, "%s\n", err.text);
    npy_free(&a);
    return s == RAVEL_OK ? 0 : 2;
}
