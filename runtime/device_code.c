/* Error codes of the OpenCL 1.2 specification (Khronos), section 5 and cl.h.  -1001 is
 * defined by cl_khr_icd. */
#include "device_code.h"

static const char *const names[] = {
    [1] = "CL_DEVICE_NOT_FOUND",
    [2] = "CL_DEVICE_NOT_AVAILABLE",
    [3] = "CL_COMPILER_NOT_AVAILABLE",
    [4] = "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    [5] = "CL_OUT_OF_RESOURCES",
    [6] = "CL_OUT_OF_HOST_MEMORY",
    [11] = "CL_BUILD_PROGRAM_FAILURE",
    [13] = "CL_MISALIGNED_SUB_BUFFER_OFFSET",
    [14] = "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    [30] = "CL_INVALID_VALUE",
    [31] = "CL_INVALID_DEVICE_TYPE",
    [32] = "CL_INVALID_PLATFORM",
    [33] = "CL_INVALID_DEVICE",
    [34] = "CL_INVALID_CONTEXT",
    [35] = "CL_INVALID_QUEUE_PROPERTIES",
    [36] = "CL_INVALID_COMMAND_QUEUE",
    [38] = "CL_INVALID_MEM_OBJECT",
    [42] = "CL_INVALID_BINARY",
    [43] = "CL_INVALID_BUILD_OPTIONS",
    [44] = "CL_INVALID_PROGRAM",
    [45] = "CL_INVALID_PROGRAM_EXECUTABLE",
    [46] = "CL_INVALID_KERNEL_NAME",
    [47] = "CL_INVALID_KERNEL_DEFINITION",
    [48] = "CL_INVALID_KERNEL",
    [49] = "CL_INVALID_ARG_INDEX",
    [50] = "CL_INVALID_ARG_VALUE",
    [51] = "CL_INVALID_ARG_SIZE",
    [52] = "CL_INVALID_KERNEL_ARGS",
    [53] = "CL_INVALID_WORK_DIMENSION",
    [54] = "CL_INVALID_WORK_GROUP_SIZE",
    [55] = "CL_INVALID_WORK_ITEM_SIZE",
    [56] = "CL_INVALID_GLOBAL_OFFSET",
    [57] = "CL_INVALID_EVENT_WAIT_LIST",
    [58] = "CL_INVALID_EVENT",
    [59] = "CL_INVALID_OPERATION",
    [61] = "CL_INVALID_BUFFER_SIZE",
    [63] = "CL_INVALID_GLOBAL_WORK_SIZE",
    [64] = "CL_INVALID_PROPERTY",
    [1001] = "CL_PLATFORM_NOT_FOUND_KHR",
};

const char *
opencl_code(int code)
{
    enum { N = sizeof names / sizeof *names };
    const char *name = code > -N && code <= 0 ? names[-code] : 0;
    return name ? name : "a code of its own";
}
