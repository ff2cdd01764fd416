/* The proof of a plan: its boxes by plan_check, its code by index stamps. */
#include "proof.h"

ravel_status
ravel_verify_report(const ravel_plan *p, ravel_certificate *out, ravel_error *err)
{
    if (!p || !out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_verify: a NULL argument");
    if (plan_has_arguments(p->plan) && !p->extent) {
        ravel_status at = verify_shapes(p, out, err);
        verify_set_kernels(p->uses, out);
        return at;
    }
    return verify_code(p, out, err);
}

ravel_status
ravel_verify(const ravel_plan *p, ravel_error *err)
{
    ravel_certificate c;
    if (!p)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_verify: plan is NULL");
    return ravel_verify_report(p, &c, err);
}
