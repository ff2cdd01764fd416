/* cli_zip.h: archives, as NumPy writes them.  The format: PKWARE's APPNOTE 6.3. */
#ifndef RAVEL_CLI_ZIP_H
#define RAVEL_CLI_ZIP_H

#include "cli.h"

enum { LOCAL = 0x04034b50, ENTRY = 0x02014b50, END = 0x06054b50, END64 = 0x06064b50,
       LOCATOR64 = 0x07064b50 };
enum { LOCAL_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22 };
enum { STORED = 0, DEFLATED = 8, ZIP_MEMBERS_MAX = 64 };

/* cli_zip.c: each entry of the archive in turn; `data` is malloc'ed, and the function's to
 * free.  Failures are reported by cli_fail. */
typedef void ZipMember(Cli *c, const char *name, unsigned char *data, size_t len, void *arg);
void zip_read(Cli *c, const char *path, const unsigned char *file, size_t len, ZipMember *f,
              void *arg);

/* cli_zip_write.c: write an archive of entries that are stored. */
typedef struct {
    const char *name;
    FilePart part[2];     /* header and data */
} ZipPart;
void zip_write(Cli *c, const char *path, const ZipPart *part, int n);

#endif
