#pragma once
/* bulk_issue: the steps of cp.async.bulk and related instructions, made by
 * bulk_lower.c. */
#include "gpu/ptx/copies/bulk_copies.h"

/* step->aux */
#define AUX_OPERATION(aux) ((aux)&0xff)
#define AUX_TYPE(aux) ((aux) >> 8 & 0xff)
#define AUX_TO_SHARED (1u << 16)
#define AUX_FROM_SHARED (1u << 17)
#define AUX_MULTICAST (1u << 18)
#define AUX_GENERIC (1u << 19)
#define AUX_IM2COL (1u << 20)

/* The instruction's operands: registers of the vector step->extra. A tensor's coordinates
 * are in the next vector, the offsets of a load in im2col mode in the one after it. */
enum { OPERAND_TO, OPERAND_FROM, OPERAND_SIZE, OPERAND_MBARRIER, OPERAND_MASK };

step_run step_bulk, step_bulk_tensor, step_bulk_value;
step_run step_bulk_commit, step_bulk_wait, step_proxy_fence;
