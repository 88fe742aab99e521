/* The refinement of a skill before it is saved. */
#include "skills/generation/generate_flow.h"

void generate_refine(struct generating *g, generate_step *next) {
    next(g); /* generate_request.c refuses the parameter */
}

void generate_refine_stop(struct generating *g) {
    (void)g;
}
