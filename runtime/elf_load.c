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
#define _GNU_SOURCE
#include "elf_load.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "error.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

#define PAGE 4096u                      /* of x86-64 */
#define IMAGE_MAX ((uint64_t)1 << 30)   /* well within 32-bit offsets */
#define NOWHERE UINT64_MAX

/* There is one for each symbol.  The jump serves calls to a host function that may be far
 * away; the address is the slot of the symbol for GOT-relative loads. */
typedef struct {
    unsigned char jump[8];
    uint64_t addr;      /* 0: not in the image */
} Entry;

static const unsigned char JUMP[8] = {0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b};

typedef struct {
    const unsigned char *obj;
    size_t len;
    const JitSymbol *host;
    Elf64_Shdr *sh;             /* a copy, nsh of them */
    uint64_t *at;               /* each section's offset in the image */
    size_t nsh;
    const Elf64_Shdr *symtab, *strtab;
    size_t nsym;
    uint64_t entries;           /* offset of the entries in the image */
    uint64_t ntext;             /* bytes of the read-execute part */
    unsigned char *text;        /* that part while it is made */
    ElfImage *im;
    ravel_error *err;
} Loader;

static ravel_status
malformed(const Loader *ld, const char *what)
{
    return error_set(ld->err, RAVEL_ERR_JIT, "malformed object: %s", what);
}

static ravel_status
sysfail(const Loader *ld, const char *what)
{
    char buf[128];
    return error_set(ld->err, errno == ENOMEM ? RAVEL_ERR_MEMORY : RAVEL_ERR_JIT,
                "machine code cannot be loaded: %s: %s", what,
                strerror_r(errno, buf, sizeof buf));
}

static uint64_t
round_up(uint64_t n, uint64_t align)
{
    return (n + align - 1) & ~(align - 1);
}

static bool
inside(uint64_t off, uint64_t n, uint64_t size)
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
           inside(eh->e_shoff, eh->e_shnum * sizeof(Elf64_Shdr), ld->len);
}

static ravel_status
read_sections(Loader *ld)
{
    Elf64_Ehdr eh;
    if (ld->len < sizeof eh)
        return malformed(ld, "too short");
    memcpy(&eh, ld->obj, sizeof eh);
    if (!header_ok(ld, &eh))
        return malformed(ld, "not a relocatable ELF64 file for x86-64");
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
            !inside(s->sh_offset, s->sh_size, ld->len))
            return malformed(ld, "a section beyond its end");
    }
    return RAVEL_OK;
}

/* After this every st_name below the string table's size is a C string. */
static ravel_status
find_symbols(Loader *ld)
{
    for (size_t i = 0; i < ld->nsh; i++)
        if (ld->sh[i].sh_type == SHT_SYMTAB)
            ld->symtab = &ld->sh[i];
    if (!ld->symtab || ld->symtab->sh_size < sizeof(Elf64_Sym) ||
        ld->symtab->sh_entsize != sizeof(Elf64_Sym) ||
        ld->symtab->sh_link >= ld->nsh)
        return malformed(ld, "no symbol table");
    ld->nsym = ld->symtab->sh_size / sizeof(Elf64_Sym);
    const Elf64_Shdr *s = &ld->sh[ld->symtab->sh_link];
    if (s->sh_type != SHT_STRTAB || s->sh_size == 0 ||
        ld->obj[s->sh_offset + s->sh_size - 1] != 0)
        return malformed(ld, "no string table");
    ld->strtab = s;
    return RAVEL_OK;
}

static Elf64_Sym
symbol(const Loader *ld, size_t i)
{
    Elf64_Sym y;
    memcpy(&y, ld->obj + ld->symtab->sh_offset + i * sizeof y, sizeof y);
    return y;
}

static const char *
name_of(const Loader *ld, const Elf64_Sym *y)
{
    uint64_t off = y->st_name < ld->strtab->sh_size ? y->st_name : 0;
    return (const char *)ld->obj + ld->strtab->sh_offset + off;
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
            return malformed(ld, "a section of a kind that cannot be loaded");
        if (align > PAGE || (align & (align - 1)))
            return malformed(ld, "a section's alignment");
        ld->at[i] = round_up(*end, align);
        if (!inside(ld->at[i], s->sh_size, IMAGE_MAX))
            return malformed(ld, "larger than 1 GiB");
        *end = ld->at[i] + s->sh_size;
    }
    return RAVEL_OK;
}

/* Reserve the range, and make its data part usable. */
static ravel_status
map_data(Loader *ld, uint64_t data, uint64_t end)
{
    ElfImage *im = ld->im;
    void *p = mmap(NULL, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return sysfail(ld, "no address range");
    im->base = p;
    im->size = end;
    if (end > data && mmap(im->base + data, end - data, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                          MAP_FAILED)
        return sysfail(ld, "no data pages");
    return RAVEL_OK;
}

static ravel_status
lay_out(Loader *ld)
{
    uint64_t end = 0;
    ravel_status s = place_sections(ld, true, &end);
    if (s)
        return s;
    ld->entries = round_up(end, sizeof(Entry));
    ld->ntext = ld->entries + ld->nsym * sizeof(Entry);
    uint64_t data = round_up(ld->ntext, PAGE);
    end = data;
    if ((s = place_sections(ld, false, &end)) != RAVEL_OK)
        return s;
    ld->text = calloc(1, ld->ntext);
    if (!ld->text)
        return error_set(ld->err, RAVEL_ERR_MEMORY, "no memory to load machine code");
    return map_data(ld, data, round_up(end, PAGE));
}

/* The address to write byte `off` of the image to, while the image is being made. */
static unsigned char *
spot(const Loader *ld, uint64_t off)
{
    return off < ld->ntext ? ld->text + off : ld->im->base + off;
}

static uint64_t
address(const Loader *ld, uint64_t off)
{
    return (uint64_t)(uintptr_t)ld->im->base + off;
}

static void
copy_sections(const Loader *ld)
{
    for (size_t i = 0; i < ld->nsh; i++) {
        const Elf64_Shdr *s = &ld->sh[i];
        if (ld->at[i] != NOWHERE && s->sh_type == SHT_PROGBITS && s->sh_size)
            memcpy(spot(ld, ld->at[i]), ld->obj + s->sh_offset, s->sh_size);
    }
}

static uint64_t
host_address(const JitSymbol *sym, const char *name)
{
    for (; sym->name; sym++)
        if (strcmp(sym->name, name) == 0)
            return (uint64_t)(uintptr_t)sym->fn;
    return 0;
}

/* The address of a symbol of the object; 0 if it is not in the image. */
static uint64_t
own_address(const Loader *ld, const Elf64_Sym *y)
{
    if (y->st_shndx >= ld->nsh || ld->at[y->st_shndx] == NOWHERE ||
        y->st_value > ld->sh[y->st_shndx].sh_size)
        return 0;
    return address(ld, ld->at[y->st_shndx] + y->st_value);
}

static ravel_status
make_entries(const Loader *ld)
{
    for (size_t i = 1; i < ld->nsym; i++) {
        Elf64_Sym y = symbol(ld, i);
        Entry e;
        memcpy(e.jump, JUMP, sizeof e.jump);
        if (y.st_shndx != SHN_UNDEF)
            e.addr = own_address(ld, &y);
        else if (!(e.addr = host_address(ld->host, name_of(ld, &y))))
            return error_set(ld->err, RAVEL_ERR_JIT, "the code uses '%s', which nothing "
                        "provides", name_of(ld, &y));
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
    uint64_t off = ld->entries + i * sizeof(Entry);
    Entry e;
    memcpy(&e, ld->text + off, sizeof e);
    if (e.addr != 0 && via == SLOT)
        return address(ld, off + offsetof(Entry, addr));
    if (e.addr != 0 && via == NEAR && symbol(ld, i).st_shndx == SHN_UNDEF)
        return address(ld, off);
    return e.addr;
}

static ravel_status
relocate(const Loader *ld, size_t sec, const Elf64_Rela *r)
{
    size_t k = 0, nkind = sizeof KIND / sizeof *KIND, i = ELF64_R_SYM(r->r_info);
    while (k < nkind && KIND[k].type != ELF64_R_TYPE(r->r_info))
        k++;
    if (k == nkind)
        return malformed(ld, "a relocation of an unknown kind");
    size_t n = KIND[k].via == ABSOLUTE ? 8 : 4;
    if (i >= ld->nsym || !inside(r->r_offset, n, ld->sh[sec].sh_size))
        return malformed(ld, "a relocation outside its section");
    uint64_t v = referent(ld, i, KIND[k].via), off = ld->at[sec] + r->r_offset;
    if (v == 0)
        return malformed(ld, "a relocation to what is not loaded");
    v += (uint64_t)r->r_addend;
    if (n == 4) {
        v -= address(ld, off);
        if (v + 0x80000000u > UINT32_MAX)
            return malformed(ld, "a relocation out of reach");
    }
    memcpy(spot(ld, off), &v, n);   /* both sides are little-endian */
    return RAVEL_OK;
}

static ravel_status
relocate_section(const Loader *ld, const Elf64_Shdr *s)
{
    if (s->sh_info >= ld->nsh || s->sh_entsize != sizeof(Elf64_Rela) ||
        s->sh_link != (size_t)(ld->symtab - ld->sh))
        return malformed(ld, "a relocation table");
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

static ravel_status
relocate_all(const Loader *ld)
{
    ravel_status s = RAVEL_OK;
    for (size_t i = 0; i < ld->nsh && s == RAVEL_OK; i++)
        if (ld->sh[i].sh_type == SHT_RELA)
            s = relocate_section(ld, &ld->sh[i]);
        else if (ld->sh[i].sh_type == SHT_REL)
            s = malformed(ld, "relocations without addends");
    return s;
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
        Elf64_Sym y = symbol(ld, i);
        uint64_t addr = own_address(ld, &y);
        if (addr && y.st_info == ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) &&
            y.st_name < nstr)
            im->fn[im->nfn++] = (ElfFunction){block + room + y.st_name, addr};
    }
    return RAVEL_OK;
}

/* A file in memory; NOEXEC_SEAL concerns execve, not mmap, and some kernels
 * are set up to insist on it while older ones do not know it. */
static int
open_memory(void)
{
    int fd = memfd_create("ravel", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("ravel", MFD_CLOEXEC);
    return fd;
}

static bool
write_all(int fd, const unsigned char *p, size_t n)
{
    ssize_t k = 0;
    for (; n > 0; p += k, n -= (size_t)k)
        if ((k = write(fd, p, n)) < 0) {
            if (errno != EINTR)
                return false;
            k = 0;
        }
    return true;
}

/* RLIMIT_FSIZE counts files in memory too: a write beyond it is EFBIG, and a signal to
 * the thread that writes, which ends the process.  Here the thread takes that signal
 * itself, unless one was there before. */
static bool
write_unsignalled(int fd, const unsigned char *p, size_t n)
{
    sigset_t one, old, waiting;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    sigpending(&waiting);
    if (pthread_sigmask(SIG_BLOCK, &one, &old))
        return false;
    bool ok = write_all(fd, p, n);
    int e = errno;
    if (!ok && !sigismember(&waiting, SIGXFSZ))
        while (sigtimedwait(&one, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = e;
    return ok;
}

static ravel_status
map_text(const Loader *ld)
{
    ravel_status s = RAVEL_OK;
    int fd = open_memory();
    if (fd < 0)
        return sysfail(ld, "no memory file");
    if (!write_unsignalled(fd, ld->text, ld->ntext))
        s = sysfail(ld, "writing the memory file");
    else if (mmap(ld->im->base, ld->ntext, PROT_READ | PROT_EXEC,
                  MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        s = sysfail(ld, "no executable pages");
    close(fd);
    return s;
}

static ravel_status
load(Loader *ld)
{
    ravel_status s;
    if ((s = read_sections(ld)) || (s = find_symbols(ld)) || (s = lay_out(ld)))
        return s;
    copy_sections(ld);
    if ((s = make_entries(ld)) || (s = relocate_all(ld)) ||
        (s = list_functions(ld)))
        return s;
    return map_text(ld);
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
