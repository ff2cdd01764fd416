/* embed.h: text files that the build embeds in the library. */
#ifndef RAVEL_EMBED_H
#define RAVEL_EMBED_H

#include <stddef.h>

typedef struct {
    const char *name;     /* specs/cann.lua */
    const char *text;
    size_t len;
} Embedded;

extern const Embedded embed_prelude;      /* compiler/spec/prelude.lua */
extern const Embedded embed_specs[];      /* by name; ends with a null name */
extern const Embedded embed_templates[];  /* templates, likewise */

#endif
