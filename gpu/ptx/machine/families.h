#pragma once
/* families: the families of instructions that the machine itself runs. */
#include "gpu/ptx/lower/lower.h"

lower_family lower_move;    /* moves.c */
lower_family lower_barrier; /* barriers.c */
lower_family lower_warp;    /* warp_ops.c */
lower_family lower_cluster; /* cluster.c */
lower_family lower_stack;   /* stack.c */
lower_family lower_video;   /* video.c */
/* lower_arithmetic.c; handles all remaining instructions */
lower_family lower_arithmetic;
