#include <stdint.h>
#include <string.h>
