#pragma once
/* families: of instructions that need no other room: the machine's own. */
#include "gpu/ptx/lower/lower.h"

lower_family lower_move;       /* moves.c */
lower_family lower_barrier;    /* barriers.c */
lower_family lower_warp;       /* warp_ops.c */
lower_family lower_cluster;    /* cluster.c */
lower_family lower_stack;      /* stack.c */
lower_family lower_video;      /* video.c */
lower_family lower_arithmetic; /* lower_arithmetic.c; answers for all that is left */
