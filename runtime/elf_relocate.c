/* elf_relocate.c: the entries of symbols, and the relocations of an object. */
#include "elf_parts.h"

#include <stddef.h>
#include <string.h>

#include "error.h"

static const unsigned char JUMP[8] = {0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b};

static uint64_t
host_address(const JitSymbol *list, const char *name)
{
    const JitSymbol *s = jit_symbol(list, name);
    return s ? (uint64_t)(uintptr_t)s->fn : 0;
}

ravel_status
elf_make_entries(const Loader *ld)
{
    for (size_t i = 1; i < ld->nsym; i++) {
        Elf64_Sym y = elf_symbol(ld, i);
        ElfEntry e;
        memcpy(e.jump, JUMP, sizeof e.jump);
        if (y.st_shndx != SHN_UNDEF)
            e.addr = elf_own_address(ld, &y);
        else if (!(e.addr = host_address(ld->host, elf_name_of(ld, &y))))
            return error_set(ld->err, RAVEL_ERR_JIT, "the code uses '%s', which nothing "
                        "provides", elf_name_of(ld, &y));
        memcpy(ld->text + ld->entries + i * sizeof e, &e, sizeof e);
    }
    return RAVEL_OK;
}

/* What a relocation stores: the address of its symbol; the distance to it, or
 * to its jump where it is the host's; or the distance to its slot. */
typedef enum { ABSOLUTE, NEAR, SLOT } Via;

static const struct {
    uint32_t type;
    Via via;
} KIND[] = {
    {R_X86_64_64,            ABSOLUTE},
    {R_X86_64_PC32,          NEAR},
    {R_X86_64_PLT32,         NEAR},
    {R_X86_64_GOTPCREL,      SLOT},
    {R_X86_64_GOTPCRELX,     SLOT},
    {R_X86_64_REX_GOTPCRELX, SLOT},
};

/* The address that symbol `i` has for a relocation; 0 if it is not loaded. */
static uint64_t
referent(const Loader *ld, size_t i, Via via)
{
    uint64_t off = ld->entries + i * sizeof(ElfEntry);
    ElfEntry e;
    memcpy(&e, ld->text + off, sizeof e);
    if (e.addr != 0 && via == SLOT)
        return elf_address(ld, off + offsetof(ElfEntry, addr));
    if (e.addr != 0 && via == NEAR && elf_symbol(ld, i).st_shndx == SHN_UNDEF)
        return elf_address(ld, off);
    return e.addr;
}

static ravel_status
relocate(const Loader *ld, size_t sec, const Elf64_Rela *r)
{
    size_t k = 0, nkind = sizeof KIND / sizeof *KIND, i = ELF64_R_SYM(r->r_info);
    while (k < nkind && KIND[k].type != ELF64_R_TYPE(r->r_info))
        k++;
    if (k == nkind)
        return elf_malformed(ld, "a relocation of an unknown kind");
    size_t n = KIND[k].via == ABSOLUTE ? 8 : 4;
    if (i >= ld->nsym || !elf_inside(r->r_offset, n, ld->sh[sec].sh_size))
        return elf_malformed(ld, "a relocation outside its section");
    uint64_t v = referent(ld, i, KIND[k].via), off = ld->at[sec] + r->r_offset;
    if (v == 0)
        return elf_malformed(ld, "a relocation to what is not loaded");
    v += (uint64_t)r->r_addend;
    if (n == 4) {
        v -= elf_address(ld, off);
        if (v + 0x80000000u > UINT32_MAX)
            return elf_malformed(ld, "a relocation out of reach");
    }
    memcpy(elf_spot(ld, off), &v, n);   /* both sides are little-endian */
    return RAVEL_OK;
}

static ravel_status
relocate_section(const Loader *ld, const Elf64_Shdr *s)
{
    if (s->sh_info >= ld->nsh || s->sh_entsize != sizeof(Elf64_Rela) ||
        s->sh_link != (size_t)(ld->symtab - ld->sh))
        return elf_malformed(ld, "a relocation table");
    if (ld->at[s->sh_info] == NOWHERE)
        return RAVEL_OK;
    for (uint64_t i = 0; i < s->sh_size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela r;
        memcpy(&r, ld->obj + s->sh_offset + i * sizeof r, sizeof r);
        ravel_status st = relocate(ld, s->sh_info, &r);
        if (st)
            return st;
    }
    return RAVEL_OK;
}

ravel_status
elf_relocate(const Loader *ld)
{
    ravel_status s = RAVEL_OK;
    for (size_t i = 0; i < ld->nsh && s == RAVEL_OK; i++)
        if (ld->sh[i].sh_type == SHT_RELA)
            s = relocate_section(ld, &ld->sh[i]);
        else if (ld->sh[i].sh_type == SHT_REL)
            s = elf_malformed(ld, "relocations without addends");
    return s;
}
