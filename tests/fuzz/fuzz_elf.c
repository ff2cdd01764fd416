/* Relocatable objects: loaded, never called.  What is claimed of a loaded one must lie
 * in it: functions inside the image, their names found again. */
#include "../../runtime/elf_load.h"
#include "../../runtime/kernels.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    /* a copy that ends where the object does, at an odd address */
    uint8_t *room = malloc(len + 1);
    ElfImage im;
    ravel_error err = {.text = ""};
    fuzz_check(room);
    memcpy(room + 1, data, len);
    ravel_status s = elf_load(room + 1, len, kernels_here()->symbols, &im, &err);
    free(room);
    if (s) {
        fuzz_check(s == RAVEL_ERR_JIT && err.text[0] && !im.base && !im.fn);
        return 0;
    }
    for (size_t i = 0; i < im.nfn; i++) {
        uint64_t off = im.fn[i].addr - (uint64_t)(uintptr_t)im.base;
        fuzz_check(off <= im.size && elf_function(&im, im.fn[i].name));
    }
    fuzz_check(!elf_function(&im, "not a name"));
    volatile unsigned char sum = 0;
    for (size_t i = 0; i < im.size && i < 1 << 16; i++)
        sum = (unsigned char)(sum + im.base[i]);
    elf_unload(&im);
    return 0;
}
