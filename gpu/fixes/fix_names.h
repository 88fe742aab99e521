#pragma once
/* fix_names: fixes for names that the compiler does not know: their declaration or their
 * correct spelling. Rules of fixes. */
#include "gpu/fixes/mistake.h"

/* `identifier "X" is undefined`. */
void fix_undefined_name(struct mistake *m);
/* `Instruction 'vote' without '.sync'`. */
void fix_unsynchronised_name(struct mistake *m);
/* `namespace "X" has no member "Y"`. */
void fix_missing_member(struct mistake *m);
/* A name before "::" that is not a namespace yet. */
void fix_unknown_space(struct mistake *m);
