/* The functions of ravel.h that say what the text of a part leaves to the arrays: the extents of its
 * tensor, and the lengths of index arrays. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

typedef struct {
    ravel_context *cx;
    const char *layout, *dtype;
    const ravel_plan *plan;
    const ravel_extents *side[2];  /* of the arrays, NULL: not known */
    int narrays;
    const ravel_array *array;
    int numbers;
    char **text;
    ravel_extents *shape;
    int64_t *value;
    Arena arena;
} Ask;

static ravel_status
answer(Ask *q, void (*f)(void *), ravel_error *err)
{
    return context_answer(q->cx, &q->arena, f, q, err);
}

static ravel_status
check(const ravel_extents *x, ravel_error *err)
{
    if (x && (x->rank < 0 || x->rank > RAVEL_MAX_STORED))
        return error_set(err, RAVEL_ERR_ARGUMENT, "an array of %d dims: 0 to %d", x->rank,
                         RAVEL_MAX_STORED);
    return RAVEL_OK;
}

/* The extent of an index array that has this name. */
static i64
length_of(void *env, const char *name)
{
    const Ask *q = env;
    int dim;
    for (int i = 0; i < q->narrays; i++) {
        const ravel_array *a = &q->array[i];
        if (layout_is_length(name, a->name, a->rank > 1, &dim) && dim < a->rank)
            return a->extent[dim];
    }
    return -1;
}

/* An array that holds elements of this type; NULL: its extents are of bytes of several elements. */
static const ravel_extents *
extents_of(const ravel_extents *stored, const DType *t)
{
    return t->bits < 8 ? NULL : stored;
}

/* The part `ref` with numbers, by an array that holds its tensor. */
static const LayoutRef *
part_of(Ask *q, const LayoutRef *ref, const ravel_extents *stored, PartNames *p)
{
    *p = (PartNames){.arena = &q->arena, .length = length_of, .env = q};
    return sides_part(ref, stored ? stored->rank : -1, stored ? stored->extent : NULL, p);
}

static void
part(void *arg)
{
    Ask *q = arg;
    PartNames p;
    const Known *known = context_known(q->cx);
    const char *text = q->layout;
    const LayoutRef *ref = spec_ref(&q->arena, text, known), *in = ref;
    const ravel_extents *stored = extents_of(q->side[0], sides_dtype(&q->arena, q->dtype));
    while (in->def->index && in->def->index->of->def->index)
        in = in->def->index->of;
    part_of(q, ref, stored, &p);
    if (p.rank >= 0 && in->def->index && in->def->index->nextents < 0)
        text = spec_with_extents(&q->arena, text, p.rank, p.shape);
    ref = part_of(q, spec_ref(&q->arena, text, known), stored, &p);
    q->shape->rank = sides_part_shape(&p, ref, q->shape->extent);
    if (q->shape->rank < 0)
        diag_fatal(q->arena.diag, DIAG_ARGUMENT, (Loc){0}, "the logical shape does not follow from the "
                   "stored array in layout '%.200s': give the shape", q->layout);
    text = q->numbers ? layout_ref_text(&q->arena, ref) : text;
    if (!(*q->text = malloc(strlen(text) + 1)))
        diag_fatal(q->arena.diag, DIAG_MEMORY, (Loc){0}, "out of memory");
    strcpy(*q->text, text);
}

ravel_status
ravel_view_in(ravel_context *cx, const char *layout, const char *dtype, const ravel_extents *stored,
              int arrays, const ravel_array *array, int numbers, char **text, ravel_extents *shape,
              ravel_error *err)
{
    Ask q = {.cx = cx, .layout = layout, .dtype = dtype, .side = {stored}, .narrays = arrays,
             .array = array, .numbers = numbers, .text = text, .shape = shape};
    if (!cx || !layout || !dtype || !text || !shape || (arrays > 0 && !array))
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    *text = NULL;
    ravel_status s = check(stored, err);
    return s == RAVEL_OK ? answer(&q, part, err) : s;
}

static void
values(void *arg)
{
    Ask *q = arg;
    PartNames p;
    const Plan *plan = q->plan->plan;
    const Layout *side[] = {plan->src, plan->dst};
    const Scalars *s = plan->scalars;
    for (int k = 0; k < s->nstrides; k++)
        q->value[k] = RAVEL_RUNTIME;
    for (int i = 0; i < LEN(side); i++) {
        part_of(q, layout_written(side[i]->ref), extents_of(q->side[i], side[i]->dtype), &p);
        for (int k = 0; k < s->nstrides; k++) {
            i64 n = sides_part_value(&p, plan->name[s->nextents - s->nstrides + k]);
            q->value[k] = n < 0 ? q->value[k] : n;
        }
    }
}

ravel_status
ravel_plan_given(const ravel_plan *plan, const ravel_extents *src, const ravel_extents *dst, int arrays,
                 const ravel_array *array, int64_t *value, ravel_error *err)
{
    Ask q = {.plan = plan, .side = {src, dst}, .narrays = arrays, .array = array, .value = value};
    if (!plan || (arrays > 0 && !array) || (!value && ravel_plan_strides(plan, NULL)))
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    q.cx = plan->cx;
    ravel_status s = check(src, err);
    if (s == RAVEL_OK)
        s = check(dst, err);
    return s == RAVEL_OK ? answer(&q, values, err) : s;
}
