/* layout.h: what other folders may use of this one: layouts of one shape and element type, the
 * sizes of their storage, and boxes of a tensor. */
#ifndef RAVEL_LAYOUT_H
#define RAVEL_LAYOUT_H

#include "layout_model.h"
#include "layout_sizes.h"
#include "layout_slab.h"

#endif
