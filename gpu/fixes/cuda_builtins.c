#include "gpu/fixes/cuda_builtins.h"

#include "base/edit_distance.h"
#include "gpu/cuda_builtins_table.h"

#include <stdbool.h>
#include <string.h>

const struct cuda_builtin *cuda_builtin_find(const char *name, size_t len) {
    for (const struct cuda_builtin *b = builtins; b->name; b++) {
        if (strlen(b->name) == len && memcmp(b->name, name, len) == 0) {
            return b;
        }
    }
    return NULL;
}

const char *cuda_builtin_nearest(const char *name, size_t len) {
    unsigned best = len < 4 ? 0 : len < 8 ? 1 : len < 12 ? 2 : 3; /* edits allowed */
    const char *nearest = NULL;
    bool tie = false;
    for (const struct cuda_builtin *b = builtins; b->name; b++) {
        const char *candidate = b->name;
        size_t size = strlen(candidate);
        if (size == len && strncasecmp(candidate, name, len) == 0) {
            return candidate;
        }
        unsigned distance = edit_distance(name, len, candidate, size, best);
        if (distance < best || (distance == best && !nearest)) {
            best = distance;
            nearest = candidate;
            tie = false;
        } else if (distance == best) {
            tie = true;
        }
    }
    return tie || best == 0 ? NULL : nearest;
}
