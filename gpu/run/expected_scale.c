#include "gpu/run/expected_scale.h"
#include "base/find.h"

#include <float.h>
#include <math.h>

enum {
    EXPONENT_LOWEST = DBL_MIN_EXP - DBL_MANT_DIG, /* of the least number, by frexp */
    EXPONENTS = DBL_MAX_EXP - EXPONENT_LOWEST + 1,
    FEWEST = 4,
};

#define FEWEST_SHARE 0.02
#define GAP_MOST 1e3
#define RESIDUE_MOST 0x1p-40
#define RESIDUE_LEAST 0x1p-60

/* Magnitudes of one binary exponent: it never contains a gap. */
struct bucket {
    uint64_t count;
    double least, most;
};

struct expected_scale {
    uint64_t count;
    double most;
    struct bucket buckets[EXPONENTS];
};

struct expected_scale *expected_scale_new(void) {
    return xcalloc(1, sizeof(struct expected_scale));
}

/* The binary exponent of a finite number that is not 0, as frexp has it. */
static int exponent_of(double magnitude) {
    uint64_t bits;
    int exponent;
    memcpy(&bits, &magnitude, sizeof bits);
    if (bits >> 52) {
        return (int)(bits >> 52) - 1022;
    }
    frexp(magnitude, &exponent);
    return exponent;
}

void expected_scale_add(struct expected_scale *s, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs(values[i]);
        if (!(magnitude > 0) || isinf(magnitude)) {
            continue;
        }
        struct bucket *b = &s->buckets[exponent_of(magnitude) - EXPONENT_LOWEST];
        b->least = b->count && b->least < magnitude ? b->least : magnitude;
        b->most = b->most > magnitude ? b->most : magnitude;
        b->count++;
        s->count++;
        s->most = s->most > magnitude ? s->most : magnitude;
    }
}

void expected_scale_join(struct expected_scale *s, const struct expected_scale *other) {
    list_each(i, b, s->buckets, EXPONENTS) {
        const struct bucket *o = &other->buckets[i];
        b->least = !b->count || (o->count && o->least < b->least) ? o->least : b->least;
        b->most = o->most > b->most ? o->most : b->most;
        b->count += o->count;
    }
    s->count += other->count;
    s->most = other->most > s->most ? other->most : s->most;
}

static bool is_group(const struct expected_scale *s, uint64_t below, double most) {
    return below >= FEWEST && (double)below >= FEWEST_SHARE * (double)s->count &&
           (most > RESIDUE_MOST * s->most || most < RESIDUE_LEAST * s->most);
}

double expected_scale_get(const struct expected_scale *s, double rtol) {
    uint64_t below = 0;
    double most = 0, gap = fmin(1 / rtol, GAP_MOST);
    list_each(i, b, s->buckets, EXPONENTS) {
        if (!b->count) {
            continue;
        }
        if (b->least > gap * most && is_group(s, below, most)) {
            return most;
        }
        below += b->count;
        most = b->most;
    }
    return most;
}

double expected_scale_largest(const struct expected_scale *s, double limit) {
    for (int i = EXPONENTS; i-- > 0;) {
        const struct bucket *b = &s->buckets[i];
        if (b->count && b->least < limit) {
            return fmin(b->most, limit);
        }
    }
    return 0;
}
