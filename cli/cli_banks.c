/* ravel check --banks: does a tile in shared memory have bank conflicts? */
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

static bool
is_free(const TileCount *c)
{
    return c->wavefronts == c->ideal;
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

/* The layout with the swizzle that was found, counted again. */
static void
apply_found(const Banked *b, Cure *cure)
{
    Arena *a = b->c->arena;
    if (cure->found.bits)
        cure->swizzle = swizzle_text(a, &cure->found.swizzle, tile_word_shift(b->l));
    cure->layout = banked_text(b, !cure->swizzle ? NULL
                               : arena_printf(a, "swizzle = %s", cure->swizzle));
    Banked again = banked_as(b, cure->layout);
    if (again.wavefronts != again.ideal)
        cli_fail(b->c, "internal error: %s was to be free of conflicts and takes %lld "
                 "wavefronts", cure->layout, (long long)again.wavefronts);
}

/* Search a swizzle over the addresses without the layout's own swizzle. */
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
    if (cure.found.answer != SWIZZLE_FOUND)
        cure.why = why_none(b, &cure.found);
    else if (layout_find_param(b->l->ref->def, "a") >= 0)
        cure.why = "one exists, but a layout with a swizzle cannot have a parameter 'a'";
    else
        apply_found(b, &cure);
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
loads_json(const TileCount *n)
{
    json_t *list = json_array();
    for (int i = TILE_WIDTHS - 1; i >= 0; i--)
        if (n->loads[i])
            json_array_append_new(list, json_pack("{s:i, s:i}", "bytes", 1 << i, "count",
                                                  n->loads[i]));
    return list;
}

static json_t *
access_json(const Banked *b, int i)
{
    const TileAccess *t = &b->access[i];
    const TileCount *n = &b->count[i];
    int rank = b->l->rank;
    json_t *j = json_pack("{s:s, s:i, s:I, s:I, s:I, s:s}", t->fragment ? "fragment" : "dim",
        t->fragment ? b->fragment[i] : b->l->dim[t->dim].name, "bytes", t->bytes, "warps",
        (json_int_t)n->warps, "wavefronts", (json_int_t)n->wavefronts, "ideal",
        (json_int_t)n->ideal, "conflict_free", cli_answers[is_free(n) ? YES : NO]);
    if (t->by_matrix)
        json_object_set_new(j, "by", json_string("ldmatrix"));
    if (t->fragment)
        json_object_update_new(j, json_pack("{s:I, s:o, s:b}", "fragments",
            (json_int_t)n->fragments, "loads", loads_json(n), "transposed", n->transposed));
    if (is_free(n))
        return j;
    json_t *w = json_pack("{s:I, s:[i,i], s:i, s:[I,I], s:o, s:o}", "warp",
        (json_int_t)n->warp, "lanes", n->lane[0], n->lane[1], "bank", n->bank, "words",
        (json_int_t)n->word[0], (json_int_t)n->word[1], "x",
        cli_json_numbers(n->x[0], rank), "y", cli_json_numbers(n->x[1], rank));
    if (t->fragment)
        json_object_set_new(w, "fragment", json_integer((json_int_t)n->fragment));
    json_object_set_new(j, "witness", w);
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

/* ": 4 warps", or of a fragment: ": 16 fragments of 4 x 4 bytes a lane, 64 loads" */
static void
print_size(const Banked *b, int i)
{
    Arena *a = b->c->arena;
    const TileAccess *t = &b->access[i];
    const TileCount *n = &b->count[i];
    if (!t->fragment) {
        printf("  %s: %s", t->text, cli_count(a, n->warps, "warp"));
        return;
    }
    printf("  %s: %s", t->text, cli_count(a, n->fragments, "fragment"));
    if (t->by_matrix) {
        printf(", %s by ldmatrix%s", cli_count(a, n->warps, "load"),
               n->transposed ? ".trans" : "");
        return;
    }
    const char *between = " of ";
    for (int k = TILE_WIDTHS - 1; k >= 0; k--)
        if (n->loads[k]) {
            printf("%s%d x %s", between, n->loads[k], cli_count(a, 1 << k, "byte"));
            between = ", ";
        }
    printf(" a lane, %s", cli_count(a, n->warps, "load"));
}

static void
print_access(const Banked *b, int i)
{
    const TileCount *n = &b->count[i];
    Arena *a = b->c->arena;
    print_size(b, i);
    printf(", %s", cli_count(a, n->wavefronts, "wavefront"));
    if (is_free(n)) {
        printf(", the minimum\n");
        return;
    }
    printf(", the minimum is %lld\n", (long long)n->ideal);
    printf("    in %s %lld, %s %d at %s and %s %d at %s need words %lld and %lld, "
           "both of bank %d\n", b->access[i].fragment ? "load" : "warp", (long long)n->warp,
           b->access[i].by_matrix ? "row" : "lane", n->lane[0],
           cli_tuple(a, n->x[0], b->l->rank), b->access[i].by_matrix ? "row" : "lane",
           n->lane[1], cli_tuple(a, n->x[1], b->l->rank), (long long)n->word[0],
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
    if (!cli_knows_shape(c, cli_layout_text(c, b.text), NULL))
        cli_fail(c, "--banks needs the shape of the tile, as in --shape 64,64");
    cli_shape_names(c, shape, name, &any);
    if (any)
        cli_fail(c, "--shape %s: the extents of a tile are numbers", c->o.shape);
    banked_set_layout(&b, cli_layout(c, shape));
    banked_read(&b);
    banked_count(&b);
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
