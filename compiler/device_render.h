/* device_render.h: device kernels as text, through the table of a target. */
#ifndef RAVEL_DEVICE_RENDER_H
#define RAVEL_DEVICE_RENDER_H

#include "device.h"
#include "render.h"

/* A file with head, prologue and the kernel. */
const char *device_render(const Target *t, const DeviceUnit *u);

#endif
