#pragma once
/* grade_step: one wait of a grading, for a compiler, a validator or a judge. */
struct grade_step {
    void (*cancel)(struct grade_step *step); /* the step's done still follows */
};
