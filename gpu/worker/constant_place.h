#pragma once
/* constant_place: the declaration of a __constant__ variable in a program's sources. */
#include "gpu/source/source_set.h"

struct constant_place {
    const char *display; /* the source's name in findings; borrowed */
    int line;
};
/* Finds the declaration of a variable by its name without a namespace. false: there is
 * none, as where a macro makes it, or one has an initialiser. */
bool constant_place_find(const struct source_set *sources, const char *name,
                         struct constant_place *ret);
