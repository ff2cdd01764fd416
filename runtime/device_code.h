/* device_code.h: the names of OpenCL's error codes. */
#ifndef RAVEL_DEVICE_CODE_H
#define RAVEL_DEVICE_CODE_H

/* The name of an error code: "CL_INVALID_VALUE" for -30.  Never NULL. */
const char *opencl_code(int code);

#endif
