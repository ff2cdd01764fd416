/* elf_parts.h: what the files of the loader share. */
#ifndef RAVEL_ELF_PARTS_H
#define RAVEL_ELF_PARTS_H

#include <elf.h>
#include <stdbool.h>

#include "elf_load.h"

#define PAGE 4096u                      /* of x86-64 */
#define IMAGE_MAX ((uint64_t)1 << 30)   /* well within 32-bit offsets */
#define NOWHERE UINT64_MAX

/* There is one for each symbol.  The jump serves calls to a host function that may be far
 * away; the address is the slot of the symbol for GOT-relative loads. */
typedef struct {
    unsigned char jump[8];
    uint64_t addr;      /* 0: not in the image */
} ElfEntry;

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

/* elf_object.c */
ravel_status elf_malformed(const Loader *ld, const char *what);
/* Whether n bytes from `off` on are within `size`. */
bool elf_inside(uint64_t off, uint64_t n, uint64_t size);
/* Finds the sections; makes `sh` and `at`. */
ravel_status elf_read_sections(Loader *ld);
/* Finds symbols and their names.  After this every st_name below the string table's size is a C
 * string. */
ravel_status elf_find_symbols(Loader *ld);
Elf64_Sym elf_symbol(const Loader *ld, size_t i);
const char *elf_name_of(const Loader *ld, const Elf64_Sym *y);
/* The address to write byte `off` of the image to, while the image is being made. */
unsigned char *elf_spot(const Loader *ld, uint64_t off);
uint64_t elf_address(const Loader *ld, uint64_t off);
/* The address of a symbol of the object; 0 if it is not in the image. */
uint64_t elf_own_address(const Loader *ld, const Elf64_Sym *y);

/* elf_relocate.c */
/* Makes the entries of all symbols; those that are undefined are the host's. */
ravel_status elf_make_entries(const Loader *ld);
/* Applies all relocations. */
ravel_status elf_relocate(const Loader *ld);

/* elf_map.c */
/* Reserves the range, and makes its data part usable. */
ravel_status elf_map_data(Loader *ld, uint64_t data, uint64_t end);
/* Maps the finished text read-execute. */
ravel_status elf_map_text(const Loader *ld);

#endif
