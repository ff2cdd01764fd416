/* elf_object.c: what an object has: its sections and symbols, and where these are in the image. */
#include "elf_parts.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

ravel_status
elf_malformed(const Loader *ld, const char *what)
{
    return error_set(ld->err, RAVEL_ERR_JIT, "malformed object: %s", what);
}

bool
elf_inside(uint64_t off, uint64_t n, uint64_t size)
{
    return off <= size && n <= size - off;
}

static bool
header_ok(const Loader *ld, const Elf64_Ehdr *eh)
{
    static const char ident[] = ELFMAG "\2\1";   /* 64 bits, little-endian */
    return memcmp(eh->e_ident, ident, sizeof ident - 1) == 0 &&
           eh->e_type == ET_REL && eh->e_machine == EM_X86_64 &&
           eh->e_shentsize == sizeof(Elf64_Shdr) && eh->e_shnum > 0 &&
           elf_inside(eh->e_shoff, eh->e_shnum * sizeof(Elf64_Shdr), ld->len);
}

ravel_status
elf_read_sections(Loader *ld)
{
    Elf64_Ehdr eh;
    if (ld->len < sizeof eh)
        return elf_malformed(ld, "too short");
    memcpy(&eh, ld->obj, sizeof eh);
    if (!header_ok(ld, &eh))
        return elf_malformed(ld, "not a relocatable ELF64 file for x86-64");
    ld->nsh = eh.e_shnum;
    ld->sh = malloc(ld->nsh * sizeof *ld->sh);
    ld->at = malloc(ld->nsh * sizeof *ld->at);
    if (!ld->sh || !ld->at)
        return error_set(ld->err, RAVEL_ERR_MEMORY, "no memory to load machine code");
    memcpy(ld->sh, ld->obj + eh.e_shoff, ld->nsh * sizeof *ld->sh);
    for (size_t i = 0; i < ld->nsh; i++) {
        const Elf64_Shdr *s = &ld->sh[i];
        ld->at[i] = NOWHERE;
        if (s->sh_type != SHT_NULL && s->sh_type != SHT_NOBITS &&
            !elf_inside(s->sh_offset, s->sh_size, ld->len))
            return elf_malformed(ld, "a section beyond its end");
    }
    return RAVEL_OK;
}

ravel_status
elf_find_symbols(Loader *ld)
{
    for (size_t i = 0; i < ld->nsh; i++)
        if (ld->sh[i].sh_type == SHT_SYMTAB)
            ld->symtab = &ld->sh[i];
    if (!ld->symtab || ld->symtab->sh_size < sizeof(Elf64_Sym) ||
        ld->symtab->sh_entsize != sizeof(Elf64_Sym) ||
        ld->symtab->sh_link >= ld->nsh)
        return elf_malformed(ld, "no symbol table");
    ld->nsym = ld->symtab->sh_size / sizeof(Elf64_Sym);
    const Elf64_Shdr *s = &ld->sh[ld->symtab->sh_link];
    if (s->sh_type != SHT_STRTAB || s->sh_size == 0 ||
        ld->obj[s->sh_offset + s->sh_size - 1] != 0)
        return elf_malformed(ld, "no string table");
    ld->strtab = s;
    return RAVEL_OK;
}

Elf64_Sym
elf_symbol(const Loader *ld, size_t i)
{
    Elf64_Sym y;
    memcpy(&y, ld->obj + ld->symtab->sh_offset + i * sizeof y, sizeof y);
    return y;
}

const char *
elf_name_of(const Loader *ld, const Elf64_Sym *y)
{
    uint64_t off = y->st_name < ld->strtab->sh_size ? y->st_name : 0;
    return (const char *)ld->obj + ld->strtab->sh_offset + off;
}

unsigned char *
elf_spot(const Loader *ld, uint64_t off)
{
    return off < ld->ntext ? ld->text + off : ld->im->base + off;
}

uint64_t
elf_address(const Loader *ld, uint64_t off)
{
    return (uint64_t)(uintptr_t)ld->im->base + off;
}

uint64_t
elf_own_address(const Loader *ld, const Elf64_Sym *y)
{
    if (y->st_shndx >= ld->nsh || ld->at[y->st_shndx] == NOWHERE ||
        y->st_value > ld->sh[y->st_shndx].sh_size)
        return 0;
    return elf_address(ld, ld->at[y->st_shndx] + y->st_value);
}
