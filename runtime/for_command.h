/* for_command.h: what the command uses of the library besides ravel.h. */
#ifndef RAVEL_FOR_COMMAND_H
#define RAVEL_FOR_COMMAND_H

#include "device.h"
#include "device_nvrtc.h"
#include "file.h"
#include "file_new.h"
#include "interpret.h"
#include "library.h"
#include "log.h"
#include "measure.h"
#include "npy.h"
#include "npy_header.h"
#include "proof.h"
#include "ravel_sparse.h"
#include "reference.h"
#include "sparse_steps.h"
#include "tune.h"

#endif
