/* plan.h: what other folders may use of this one: requests, plans, kernels and their calls,
 * plans within one buffer, and the search for padding that loops can take over. */
#ifndef RAVEL_PLAN_H
#define RAVEL_PLAN_H

#include "plan_at.h"
#include "plan_follow.h"
#include "plan_in_place.h"
#include "plan_kernel.h"
#include "plan_model.h"
#include "request.h"

#endif
