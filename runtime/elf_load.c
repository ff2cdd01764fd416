/* elf_load.c: a loader for objects such as libtcc writes.
 *
 *   | text sections, symbol entries | data sections, bss |
 *     read-execute, from a memfd      read-write
 *
 * Both parts lie in one reserved range, so that 32-bit offsets reach.  The text
 * is finished in a buffer and mapped from a file: a page that was written in
 * place must not turn executable (PR_SET_MDWE and SELinux's execmem say so).
 * The object is not trusted to be well-formed: every offset, size and index is
 * checked before use.  What its code does when called is another matter. */
#include "elf_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "error.h"

static uint64_t
round_up(uint64_t n, uint64_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/* Place the executable or the other sections after *end. */
static ravel_status
place_sections(Loader *ld, bool exec, uint64_t *end)
{
    for (size_t i = 0; i < ld->nsh; i++) {
        const Elf64_Shdr *s = &ld->sh[i];
        uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
        if (!(s->sh_flags & SHF_ALLOC) ||
            exec != ((s->sh_flags & SHF_EXECINSTR) != 0))
            continue;
        if (s->sh_type != SHT_PROGBITS && (exec || s->sh_type != SHT_NOBITS))
            return elf_malformed(ld, "a section of a kind that cannot be loaded");
        if (align > PAGE || (align & (align - 1)))
            return elf_malformed(ld, "a section's alignment");
        ld->at[i] = round_up(*end, align);
        if (!elf_inside(ld->at[i], s->sh_size, IMAGE_MAX))
            return elf_malformed(ld, "larger than 1 GiB");
        *end = ld->at[i] + s->sh_size;
    }
    return RAVEL_OK;
}

static ravel_status
lay_out(Loader *ld)
{
    uint64_t end = 0;
    ravel_status s = place_sections(ld, true, &end);
    if (s)
        return s;
    ld->entries = round_up(end, sizeof(ElfEntry));
    ld->ntext = ld->entries + ld->nsym * sizeof(ElfEntry);
    uint64_t data = round_up(ld->ntext, PAGE);
    end = data;
    if ((s = place_sections(ld, false, &end)) != RAVEL_OK)
        return s;
    ld->text = calloc(1, ld->ntext);
    if (!ld->text)
        return error_set(ld->err, RAVEL_ERR_MEMORY, "no memory to load machine code");
    return elf_map_data(ld, data, round_up(end, PAGE));
}

static void
copy_sections(const Loader *ld)
{
    for (size_t i = 0; i < ld->nsh; i++) {
        const Elf64_Shdr *s = &ld->sh[i];
        if (ld->at[i] != NOWHERE && s->sh_type == SHT_PROGBITS && s->sh_size)
            memcpy(elf_spot(ld, ld->at[i]), ld->obj + s->sh_offset, s->sh_size);
    }
}

/* Store the global functions in one block, followed by their names. */
static ravel_status
list_functions(const Loader *ld)
{
    ElfImage *im = ld->im;
    size_t room = ld->nsym * sizeof *im->fn, nstr = ld->strtab->sh_size;
    char *block = malloc(room + nstr);
    if (!block)
        return error_set(ld->err, RAVEL_ERR_MEMORY, "no memory to load machine code");
    memcpy(block + room, ld->obj + ld->strtab->sh_offset, nstr);
    im->fn = (ElfFunction *)(void *)block;
    for (size_t i = 1; i < ld->nsym; i++) {
        Elf64_Sym y = elf_symbol(ld, i);
        uint64_t addr = elf_own_address(ld, &y);
        if (addr && y.st_info == ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) &&
            y.st_name < nstr)
            im->fn[im->nfn++] = (ElfFunction){block + room + y.st_name, addr};
    }
    return RAVEL_OK;
}

static ravel_status
load(Loader *ld)
{
    ravel_status s;
    if ((s = elf_read_sections(ld)) || (s = elf_find_symbols(ld)) || (s = lay_out(ld)))
        return s;
    copy_sections(ld);
    if ((s = elf_make_entries(ld)) || (s = elf_relocate(ld)) ||
        (s = list_functions(ld)))
        return s;
    return elf_map_text(ld);
}

ravel_status
elf_load(const void *obj, size_t len, const JitSymbol *host,
         ElfImage *im, ravel_error *err)
{
    Loader ld = {.obj = obj, .len = len, .host = host, .im = im, .err = err};
    *im = (ElfImage){0};
    ravel_status s = load(&ld);
    if (s)
        elf_unload(im);
    free(ld.text);
    free(ld.at);
    free(ld.sh);
    return s;
}

uint64_t
elf_function(const ElfImage *im, const char *name)
{
    for (size_t i = 0; i < im->nfn; i++)
        if (strcmp(im->fn[i].name, name) == 0)
            return im->fn[i].addr;
    return 0;
}

void
elf_unload(ElfImage *im)
{
    if (im->base)
        munmap(im->base, im->size);
    free(im->fn);
    *im = (ElfImage){0};
}
