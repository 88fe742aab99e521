#include "gpu/ptx/alu.h"
#include "gpu/ptx/lanes_half.h"

step_run *LANES_NAME(bind_special_function)(const struct ptx_instruction *i,
                                            struct step *step) {
    (void)i;
    (void)step;
    return NULL;
}
