#include "skills/refinement/refine_rule.h"

#include "base/find.h"

#include <math.h>

/* Multiplications of the exact test; beyond, the normal approximation is as good. */
#define EXACT_WORK 20000000.0

/* Passes of one test on the later side, given all its passes: hypergeometric. */
struct refine_table {
    double all, passes, after; /* answers, passes, answers of the later side */
};

static double low_of(const struct refine_table *t) {
    return fmax(0, t->passes - (t->all - t->after));
}

static double high_of(const struct refine_table *t) {
    return fmin(t->passes, t->after);
}

static double log_choose(double n, double k) {
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static double chance(const struct refine_table *t, double k) {
    return exp(log_choose(t->after, k) + log_choose(t->all - t->after, t->passes - k) -
               log_choose(t->all, t->passes));
}

/* --- the exact sum --- */

/* dist holds *len chances of the sum so far; room for them is there. */
static void convolve(double *dist, size_t *len, double *next,
                     const struct refine_table *t) {
    size_t width = (size_t)(high_of(t) - low_of(t)) + 1;
    for (size_t i = 0; i < *len + width - 1; i++) {
        next[i] = 0;
    }
    for (size_t k = 0; k < width; k++) {
        double c = chance(t, low_of(t) + (double)k);
        for (size_t i = 0; i < *len; i++) {
            next[i + k] += c * dist[i];
        }
    }
    *len += width - 1;
    for (size_t i = 0; i < *len; i++) {
        dist[i] = next[i];
    }
}

/* P(sum of passes >= seen). */
static double exact_p(const struct refine_table *tables, size_t n, double seen,
                      size_t span) {
    autofree double *dist = xcalloc(span + 1, sizeof *dist);
    autofree double *next = xcalloc(span + 1, sizeof *next);
    double base = 0, p = 0;
    size_t len = 1;
    dist[0] = 1;
    for (size_t i = 0; i < n; i++) {
        base += low_of(&tables[i]);
        convolve(dist, &len, next, &tables[i]);
    }
    for (size_t i = 0; i < len; i++) {
        p += base + (double)i >= seen - 0.5 ? dist[i] : 0;
    }
    return fmin(p, 1);
}

static double normal_p(const struct refine_table *tables, size_t n, double seen) {
    double mean = 0, variance = 0;
    list_each(i, t, tables, n) {
        double rate = t->passes / t->all;
        mean += t->after * rate;
        variance +=
            t->all > 1 ? t->after * rate * (1 - rate) * (t->all - t->after) / (t->all - 1)
                       : 0;
    }
    return variance > 0 ? 0.5 * erfc((seen - 0.5 - mean) / sqrt(2 * variance)) : 1;
}

static double gain_p(const struct refine_table *tables, size_t n, double seen) {
    double span = 0, work = 0;
    for (size_t i = 0; i < n; i++) {
        double width = high_of(&tables[i]) - low_of(&tables[i]) + 1;
        work += span * width;
        span += width - 1;
    }
    return work > EXACT_WORK ? normal_p(tables, n, seen)
                             : exact_p(tables, n, seen, (size_t)span);
}

/* --- comparing --- */

void refine_compare(struct refine_comparison *ret, const struct refine_score *before,
                    const struct refine_score *after, size_t n) {
    autofree struct refine_table *tables = xcalloc(n + 1, sizeof *tables);
    double seen = 0;
    *ret = (struct refine_comparison){.p = 1};
    for (size_t i = 0; i < n; i++) {
        const struct refine_score *b = &before[i], *a = &after[i];
        if (!b->graded || !a->graded) {
            continue;
        }
        tables[ret->tests++] = (struct refine_table){
            (double)b->graded + a->graded, (double)b->passed + a->passed, a->graded};
        ret->before += (double)b->passed / b->graded;
        ret->after += (double)a->passed / a->graded;
        seen += a->passed;
    }
    ret->before = ret->tests ? ret->before / (double)ret->tests : NAN;
    ret->after = ret->tests ? ret->after / (double)ret->tests : NAN;
    ret->p = ret->tests ? gain_p(tables, ret->tests, seen) : 1;
}

bool refine_is_better(const struct refine_comparison *c) {
    return c->tests && c->after > c->before + 1e-9;
}

bool refine_accepts(const struct refine_comparison *first,
                    const struct refine_comparison *second,
                    const struct refine_comparison *both) {
    return refine_is_better(first) && refine_is_better(second) && both->p <= REFINE_MAX_P;
}

void refine_add(struct refine_score *sum, const struct refine_score *more, size_t n) {
    for (size_t i = 0; i < n; i++) {
        sum[i].passed += more[i].passed;
        sum[i].graded += more[i].graded;
    }
}

double refine_rate(const struct refine_score *scores, size_t n) {
    double sum = 0;
    size_t graded = 0;
    for (size_t i = 0; i < n; i++) {
        if (scores[i].graded) {
            sum += (double)scores[i].passed / scores[i].graded;
            graded++;
        }
    }
    return graded ? sum / (double)graded : NAN;
}

bool refine_is_perfect(const struct refine_score *scores, size_t n) {
    return !any_of(i, 0, n, !scores[i].graded || scores[i].passed < scores[i].graded) &&
           n > 0;
}
