/* The kernels' records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/compile.h"
#include "../../compiler/plan/plan_parts.h"

static bool
takes(const Family *f, int what)
{
    for (const char *c = f->args; *c; c++)
        if ((int)kernel_arg(*c)->what == what)
            return true;
    return false;
}

/* What the planner asks of a kernel's record is what the kernel's arguments say. */
static void
records(void **state)
{
    (void)state;
    for (int i = 0; i < nkernels; i++) {
        const Kernel *k = &kernels[i];
        const Family *f = k->family;
        assert_string_equal(k->symbol + strlen("ravel_"), k->name);
        assert_true(f->by->applies && f->by->work && f->by->orders && f->what);
        assert_true((f->pads > 0) == takes(f, ARG_WIDTH) || f->by->program);
        assert_int_equal(f->by->table != NULL, takes(f, ARG_TABLE));
        assert_true(f->elements != (takes(f, ARG_DST_START) ? OF_BYTES : OF_BITS));
        assert_int_equal(f->kind == NEST_COPY, takes(f, ARG_SRC));
        assert_int_equal(f->narrow.of != NULL, f->narrow.most != NULL);
        assert_true(!f->narrow.of || f->narrow.of->kind == f->kind);
        if (k->size && !f->by->keeps)
            assert_int_equal(f->elements, OF_BYTES);
        for (int j = 0; j < i; j++)
            assert_true(f != kernels[j].family || k->size != kernels[j].size);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
