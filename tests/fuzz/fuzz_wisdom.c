/* Wisdom: what is read is written as it was, sorted, and reads back; what is refused is
 * refused with a sentence that names a line or the first one. */
#include "../../runtime/wisdom.h"
#include "fuzz.h"

typedef struct {
    Arena arena;
    const uint8_t *data;
    size_t len;
    bool read;
} Job;

static const char *
print(Arena *a, Advices v)
{
    Buf b = buf_new(a);
    buf_add(&b, wisdom_head);
    for (int i = 0; i < v.n; i++)
        wisdom_print(&b, &v.a[i]);
    return b.s;
}

static void
check(void *arg)
{
    Job *j = arg;
    Arena *a = &j->arena;
    Advices v = wisdom_read(a, (const char *)j->data, j->len);
    j->read = true;
    for (int i = 0; i < v.n; i++) {
        wisdom_check_key(a, v.a[i].key);
        fuzz_check(wisdom_among(v, v.a[i].key) == &v.a[i]);
        fuzz_check(v.a[i].n > 0 && v.a[i].pick[0].nest >= 0);
    }
    const char *text = print(a, v);
    fuzz_check(strlen(text) == j->len);
    fuzz_check(!strcmp(text, print(a, wisdom_read(a, text, strlen(text)))));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    /* a copy that ends where the text does */
    uint8_t *copy = malloc(len ? len : 1);
    fuzz_check(copy);
    if (len)
        memcpy(copy, data, len);
    Job j = {.data = copy, .len = len};
    bool ok = fuzz_run(&j.arena, check, &j);
    fuzz_check(ok == j.read);
    free(copy);
    return 0;
}
