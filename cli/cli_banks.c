/* ravel check --banks: does a tile in shared memory have bank conflicts? */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_banks.h"

/* The advice if there are conflicts. */
typedef struct {
    SwizzleFound found;
    const char *swizzle, *layout;  /* texts; NULL: none */
    const char *why;               /* a sentence, where there is none; then these are set: */
    Banked pitch, by_xor;          /* the best of those tried; text: NULL if none is better */
} Cure;

static int
find_dim(Banked *b, const char *name)
{
    int d = layout_find_dim(b->l, name);
    Buf dims = buf_new(b->c->arena);
    if (d >= 0)
        return d;
    for (int i = 0; i < b->l->rank; i++)
        buf_printf(&dims, "%s%s", i ? ", " : "", b->l->dim[i].name);
    cli_fail(b->c, "--banks: '%s' is not a dim of %s, which has (%s)", name, b->text,
             dims.s);
}

/* K or K:16. */
static TileAccess
read_access(Banked *b, const char *text)
{
    Arena *a = b->c->arena;
    const char *colon = strchr(text, ':');
    int bits = b->l->dtype->bits, name = (int)(colon ? colon - text : (i64)strlen(text));
    TileAccess t = {text, find_dim(b, arena_printf(a, "%.*s", name, text)),
                    bits < 8 ? 1 : bits / 8, 1};
    if (!colon) {
        t.text = arena_printf(a, "%s:%d", text, t.bytes);
        return t;
    }
    char *end;
    i64 bytes = strtoll(colon + 1, &end, 10);
    if (!isdigit((unsigned char)colon[1]) || *end || !bank_width(bytes))
        cli_fail(b->c, "--banks %s: a lane accesses 1, 2, 4, 8 or 16 bytes", text);
    t.bytes = (int)bytes;
    t.elements = bytes * 8 / bits;
    if (t.elements < 1)
        cli_fail(b->c, "--banks %s: an element of %s is larger", text, b->l->dtype->name);
    return t;
}

static void
read_accesses(Banked *b)
{
    for (const char *s = b->c->o.banks;; s++) {
        size_t n = strcspn(s, ",");
        if (b->n == ACCESSES_MAX)
            cli_fail(b->c, "--banks has more than %d accesses", ACCESSES_MAX);
        b->access[b->n++] = read_access(b, arena_printf(b->c->arena, "%.*s", (int)n, s));
        s += n;
        if (!*s)
            return;
    }
}

static bool
is_free(const TileCount *c)
{
    return c->wavefronts == c->ideal;
}

static void
count_all(Banked *b)
{
    b->tile = tile_new(b->c->arena, b->l);
    decide_readable_or_fail(b->l);
    for (int i = 0; i < b->n; i++) {
        b->count[i] = tile_count(b->c->arena, b->tile, &b->access[i]);
        b->wavefronts += b->count[i].wavefronts;
        b->ideal += b->count[i].ideal;
    }
}

const char *
banked_text(const Banked *b, const char *more)
{
    Arena *a = b->c->arena;
    const LayoutRef *ref = b->l->ref;
    LayoutDef d = *ref->def;
    d.swizzle = NULL;
    d.params = arena_array(a, Param, d.nparams + 1);
    for (int i = 0; i < d.nparams; i++) {
        d.params[i] = ref->def->params[i];
        for (int k = 0; k < ref->n; k++)
            if (!strcmp(ref->given[k].name, d.params[i].name))
                d.params[i] = ref->given[k];
    }
    const char *text = layout_text(a, &d);
    int body = (int)strlen(text) - 1;
    return more ? arena_printf(a, "%.*s, %s}", body, text, more) : text;
}

Banked
banked_as(const Banked *b, const char *text)
{
    Cli *c = b->c;
    Banked other = *b;
    other.text = text;
    other.wavefronts = other.ideal = 0;
    other.l = compile_layout(c->arena, c->known, text, b->l->dtype->name, b->l->rank,
                             cli_shape(c->arena, b->l));
    count_all(&other);
    return other;
}

static const char *
why_none(const Banked *b, const SwizzleFound *f)
{
    Arena *a = b->c->arena;
    if (f->answer == SWIZZLE_TOO_MANY)
        return arena_printf(a, "%s accesses %d words at once that have the same place "
            "in their vectors, and there are only %d banks for these",
            b->access[f->access].text, f->words, f->places);
    if (f->answer == SWIZZLE_EXCLUDED)
        return "every linear map of the higher address bits to the banks was excluded";
    return "none was found within the limit of steps; there may be one";
}

/* Search a swizzle over the addresses without the layout's own swizzle.  The layout with
 * the result is counted again. */
static Cure
find_free(const Banked *b)
{
    Cure cure = {.found = {.answer = SWIZZLE_UNDECIDED}};
    Arena *a = b->c->arena;
    Banked bare = *b;
    if (b->l->sigma)
        bare = banked_as(b, banked_text(b, NULL));
    Swizzler *s = tile_swizzler(a, bare.tile);
    if (!s) {
        cure.why = arena_printf(a, "its storage of %lld bytes is not a multiple of 128, "
            "the unit in which a swizzle moves words: pad it",
            (long long)layout_bytes(b->l));
        return cure;
    }
    for (int i = 0; i < b->n; i++)
        tile_add_passes(a, bare.tile, &b->access[i], i, s);
    cure.found = swizzler_find(s);
    if (cure.found.answer != SWIZZLE_FOUND) {
        cure.why = why_none(b, &cure.found);
        return cure;
    }
    if (layout_find_param(b->l->ref->def, "a") >= 0) {
        cure.why = "one exists, but a layout with a swizzle cannot have a parameter 'a'";
        return cure;
    }
    if (cure.found.bits)
        cure.swizzle = swizzle_text(a, &cure.found.swizzle, tile_word_shift(b->l));
    cure.layout = banked_text(b, !cure.swizzle ? NULL
                              : arena_printf(a, "swizzle = %s", cure.swizzle));
    Banked again = banked_as(b, cure.layout);
    if (again.wavefronts != again.ideal)
        cli_fail(b->c, "internal error: %s was to be free of conflicts and takes %lld "
                 "wavefronts", cure.layout, (long long)again.wavefronts);
    return cure;
}

static Cure
find_cure(const Banked *b)
{
    Cure cure = find_free(b);
    if (cure.why) {
        cure.pitch = banked_best_pitch(b);
        cure.by_xor = banked_best_xor(b);
    }
    return cure;
}

static json_t *
best_json(const Banked *best)
{
    if (!best->text)
        return NULL;
    return json_pack("{s:s, s:I, s:I, s:I}", "layout", best->text, "wavefronts",
                     (json_int_t)best->wavefronts, "ideal", (json_int_t)best->ideal,
                     "bytes", (json_int_t)layout_bytes(best->l));
}

static const Answer exists[] = {
    [SWIZZLE_FOUND] = YES, [SWIZZLE_TOO_MANY] = NO, [SWIZZLE_EXCLUDED] = NO,
    [SWIZZLE_UNDECIDED] = UNKNOWN};
static const char *const proven_by[] = {
    [SWIZZLE_FOUND] = "enumeration", [SWIZZLE_TOO_MANY] = "counting",
    [SWIZZLE_EXCLUDED] = "enumeration", [SWIZZLE_UNDECIDED] = NULL};

static json_t *
access_json(const Banked *b, int i)
{
    const TileCount *n = &b->count[i];
    int rank = b->l->rank;
    json_t *j = json_pack("{s:s, s:i, s:I, s:I, s:I, s:s}", "dim",
        b->l->dim[b->access[i].dim].name, "bytes", b->access[i].bytes, "warps",
        (json_int_t)n->warps, "wavefronts", (json_int_t)n->wavefronts, "ideal",
        (json_int_t)n->ideal, "conflict_free", cli_answers[is_free(n) ? YES : NO]);
    if (!is_free(n))
        json_object_set_new(j, "witness", json_pack("{s:I, s:[i,i], s:i, s:[I,I], s:o, "
            "s:o}", "warp", (json_int_t)n->warp, "lanes", n->lane[0], n->lane[1], "bank",
            n->bank, "words", (json_int_t)n->word[0], (json_int_t)n->word[1], "x",
            cli_json_numbers(n->x[0], rank), "y", cli_json_numbers(n->x[1], rank)));
    return j;
}

static void
print_json(const Banked *b, const Cure *cure)
{
    json_t *list = json_array();
    for (int i = 0; i < b->n; i++)
        json_array_append_new(list, access_json(b, i));
    json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:o}", "layout", b->text, "dtype",
        b->l->dtype->name, "for", arena_printf(b->c->arena, "shape %s", b->c->o.shape),
        "conflict_free", cli_answers[cure ? NO : YES], "accesses", list);
    if (cure)
        json_object_update_new(j, json_pack("{s:o*, s:o*}", "best_pitch",
            best_json(&cure->pitch), "best_xor", best_json(&cure->by_xor)));
    if (cure)
        json_object_update_new(j, json_pack("{s:s, s:s*, s:s*, s:s*, s:s*}",
            "swizzle_exists", cli_answers[exists[cure->found.answer]], "proven_by",
            proven_by[cure->found.answer], "swizzle", cure->swizzle, "swizzled",
            cure->layout, "why", cure->why));
    cli_print_json(j);
}

static void
print_access(const Banked *b, int i)
{
    const TileCount *n = &b->count[i];
    Arena *a = b->c->arena;
    printf("  %s: %lld warp%s, %lld wavefront%s", b->access[i].text, (long long)n->warps,
           n->warps > 1 ? "s" : "", (long long)n->wavefronts,
           n->wavefronts > 1 ? "s" : "");
    if (is_free(n)) {
        printf(", the minimum\n");
        return;
    }
    printf(", the minimum is %lld\n", (long long)n->ideal);
    printf("    in warp %lld, lane %d at %s and lane %d at %s need words %lld and %lld, "
           "both of bank %d\n", (long long)n->warp, n->lane[0],
           cli_tuple(a, n->x[0], b->l->rank), n->lane[1],
           cli_tuple(a, n->x[1], b->l->rank), (long long)n->word[0],
           (long long)n->word[1], n->bank);
}

static void
print_best(const Banked *best, const char *what)
{
    if (best->text)
        printf("  the best %s tried takes %lld wavefronts%s, and %lld bytes:\n    %s\n", what,
               (long long)best->wavefronts,
               best->wavefronts == best->ideal ? ", the minimum" : "",
               (long long)layout_bytes(best->l), best->text);
}

static void
print_cure(const Banked *b, const Cure *cure)
{
    if (cure->why) {
        printf("  %s: %s\n", exists[cure->found.answer] == NO
               ? "no xor swizzle of it is free of conflicts" : "no swizzle is given",
               cure->why);
        print_best(&cure->pitch, "pitch");
        print_best(&cure->by_xor, "xor swizzle");
        return;
    }
    printf("  without conflicts (every warp was counted again)%s:\n    %s\n",
           b->l->sigma ? ", in place of its own swizzle" : "", cure->layout);
}

int
cli_check_banks(Cli *c)
{
    i64 shape[MAX_RANK];
    const char *name[MAX_RANK];
    bool any;
    Banked b = {.c = c, .text = c->o.arg[0]};
    Cure cure;
    if (!c->o.shape)
        cli_fail(c, "--banks needs the shape of the tile, as in --shape 64,64");
    cli_shape_names(c, shape, name, &any);
    if (any)
        cli_fail(c, "--shape %s: the extents of a tile are numbers", c->o.shape);
    b.l = cli_layout(c, shape);
    read_accesses(&b);
    count_all(&b);
    bool clean = b.wavefronts == b.ideal;
    if (!clean)
        cure = find_cure(&b);
    if (c->o.json) {
        print_json(&b, clean ? NULL : &cure);
        return clean ? EXIT_YES : EXIT_NO;
    }
    printf("%s: %s for shape %s has %s\n", clean ? "yes" : "no", b.text, c->o.shape,
           clean ? "no bank conflicts" : "bank conflicts");
    for (int i = 0; i < b.n; i++)
        print_access(&b, i);
    if (!clean)
        print_cure(&b, &cure);
    return clean ? EXIT_YES : EXIT_NO;
}
