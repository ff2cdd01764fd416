/* .npy files: read, held against a second reading of order and byte order, and the
 * header written and read again. */
#include "../../runtime/npy_header.h"
#include "fuzz.h"

enum { SMALL = 4096 };

/* Byte k of C-ordered element i, from the data of the file. */
static unsigned char
wanted(const Npy *a, const NpyHeader *h, const uint8_t *raw, int64_t i, int k)
{
    int64_t at = 0, rest = i, stride = 1;
    int unit = h->type->unit;
    for (int d = a->rank - 1; d >= 0; d--) {
        int64_t below = 1;
        for (int j = 0; h->fortran && j < d; j++)
            below *= a->shape[j];
        at += rest % a->shape[d] * (h->fortran ? below : stride);
        rest /= a->shape[d];
        stride *= a->shape[d];
    }
    return raw[at * a->bytes + (h->big ? k / unit * unit + unit - 1 - k % unit : k)];
}

static void
check_data(const Npy *a, const NpyHeader *h, const uint8_t *raw)
{
    unsigned sum = 0;
    for (int64_t i = 0; i < a->count * a->bytes; i++)
        sum += a->data[i];
    fuzz_check(sum < UINT32_MAX);
    if (a->count > SMALL)
        return;
    for (int64_t i = 0; i < a->count; i++)
        for (int k = 0; k < a->bytes; k++)
            fuzz_check(a->data[i * a->bytes + k] == wanted(a, h, raw, i, k));
}

static void
check_header(const Npy *a, const NpyHeader *h)
{
    unsigned char out[NPY_HEADER_MAX];
    size_t n = npy_header_write(out, h->type, a->rank, a->shape);
    NpyHeader again = {0};
    Npy b = {0};
    fuzz_check(n % 64 == 0);
    fuzz_check(!npy_header_read("again", out, n, &again, &b, NULL));
    fuzz_check(again.data == n && !again.big && !again.fortran && again.type == h->type);
    fuzz_check(b.rank == a->rank && b.count == a->count &&
               !memcmp(a->shape, b.shape, (size_t)a->rank * sizeof *a->shape));
}

/* The text of the header as the whole file, with the length that it has: random bytes
 * seldom say that. */
static void
only_text(const uint8_t *data, size_t len)
{
    ravel_error err;
    NpyHeader h = {0};
    Npy a = {0};
    if (len < 10 || len > UINT16_MAX)
        return;
    uint8_t *file = malloc(len);
    memcpy(file, data, len);
    memcpy(file, "\x93NUMPY\1", 8);
    file[8] = (uint8_t)((len - 10) & 0xff);
    file[9] = (uint8_t)((len - 10) >> 8);
    if (!npy_header_read("file.npy", file, len, &h, &a, &err))
        check_header(&a, &h);
    free(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    unsigned char *file = malloc(len ? len : 1);
    ravel_error err = {.text = ""};
    NpyHeader h = {0};
    Npy a, b = {0};
    if (len)
        memcpy(file, data, len);
    ravel_status head = npy_header_read("file.npy", data, len, &h, &b, &err);
    if (head == RAVEL_OK)
        check_header(&b, &h);
    else
        fuzz_check(head == RAVEL_ERR_FILE && err.text[0]);
    err.text[0] = 0;
    ravel_status s = npy_decode("file.npy", file, len, &a, &err);
    fuzz_check(!s || (s == RAVEL_ERR_FILE && err.text[0] && !a.data));
    if (!s) {
        fuzz_check(!head && npy_is(data, len));
        fuzz_check(h.data + (size_t)a.count * (size_t)a.bytes == len);
        check_data(&a, &h, data + h.data);
    }
    npy_free(&a);
    only_text(data, len);
    return 0;
}
