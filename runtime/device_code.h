/* device_code.h: the names of OpenCL's codes. */
#ifndef RAVEL_DEVICE_CODE_H
#define RAVEL_DEVICE_CODE_H

/* "CL_INVALID_VALUE" of -30; never NULL. */
const char *opencl_code(int code);

#endif
