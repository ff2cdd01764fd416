#include "base.h"

/* One row a length: the lead byte, and the least character that needs it. */
static const struct {
    unsigned char mask, lead;
    uint32_t least;
} form[] = {
    {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000},
};

size_t
utf8_next(const char *s, size_t n, uint32_t *c)
{
    const unsigned char *u = (const unsigned char *)s;
    for (size_t k = 0; k < LEN(form) && k < n; k++) {
        size_t i = 1;
        if ((*u & form[k].mask) != form[k].lead)
            continue;
        *c = *u & (0xffu ^ form[k].mask);
        for (; i <= k && (u[i] & 0xc0) == 0x80; i++)
            *c = *c << 6 | (u[i] & 0x3fu);
        bool paired = *c >= 0xd800 && *c <= 0xdfff;
        return i > k && *c >= form[k].least && *c <= 0x10ffff && !paired ? k + 1 : 0;
    }
    return 0;
}

/* Control characters, direction marks, line separators, and code points that are no
 * characters. */
bool
utf8_is_hidden(uint32_t c)
{
    static const struct { uint32_t from, to; } ranges[] = {
        {0x00, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200b, 0x200f}, {0x2028, 0x202e},
        {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xfffe, 0xffff},
    };
    for (int i = 0; i < LEN(ranges); i++)
        if (c >= ranges[i].from && c <= ranges[i].to)
            return true;
    return false;
}

bool
utf8_is_text(const char *s, size_t n)
{
    uint32_t c;
    for (size_t k; n > 0; s += k, n -= k)
        if (!(k = utf8_next(s, n, &c)))
            return false;
    return true;
}
