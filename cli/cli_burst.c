/* The JSON of explain for a machine of bursts: how many bytes the transfers move for how
 * many elements. */
#include "cli.h"

/* The JSON of one tile. */
static json_t *
side_json(const BurstSide *s)
{
    return json_pack("{s:I, s:I, s:I}", "transfers", (json_int_t)s->transfers,
                     "bytes_at_most", (json_int_t)s->most, "local_bytes",
                     (json_int_t)s->room);
}

static json_t *
tile_json(Arena *a, const BurstPlan *p, const BurstTile *t)
{
    bool fill = t->nest->kind == NEST_FILL;
    const BurstSide *write = &t->side[DESTINATION];
    json_t *j = json_pack("{s:s, s:b, s:I, s:I, s:I, s:o, s:b}", "of",
                          plan_box(a, p->plan, t->nest), "padding", fill, "tiles",
                          (json_int_t)t->tiles, "items", (json_int_t)t->elements,
                          "item_bytes", (json_int_t)t->item, "write", side_json(write),
                          "keeps_others", !write->whole);
    if (!fill)
        json_object_set_new(j, "read", side_json(&t->side[SOURCE]));
    return j;
}

json_t *
cli_burst_json(Arena *a, const Target *t, const BurstPlan *p)
{
    json_t *tiles = json_array();
    for (const BurstTile *tile = p->tile; tile; tile = tile->next)
        json_array_append_new(tiles, tile_json(a, p, tile));
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "target", target_name(t), "burst",
                     (json_int_t)p->m.burst, "memory", (json_int_t)p->m.memory,
                     "src_bytes", (json_int_t)layout_bytes(p->plan->src), "dst_bytes",
                     (json_int_t)layout_bytes(p->plan->dst), "boxes", tiles);
}
