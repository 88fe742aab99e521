#include "gpu/run/output_notes.h"

#include "base/find.h"
#include "gpu/reference/operator.h"

static bool has_rows(const struct kernel_spec *spec) {
    return any_of(i, 0, spec->buffer_count, json_array_size(spec->buffers[i].shape) > 1);
}

/* softmax's dim, which is -1 unless it is given; not sum's, which are all by default. */
static bool chooses_dim(const struct operator* op, const json_t *step) {
    for (size_t i = 0; op && i < OPERATOR_MAX_ATTRIBUTES && op->attributes[i].name; i++) {
        if (!strcmp(op->attributes[i].name, "dim")) {
            return op->attributes[i].kind == ATTRIBUTE_INTEGER &&
                   !json_object_get(step, "dim");
        }
    }
    return false;
}

static const char *choosing_name(const json_t *step) {
    const char *name = json_get_string(step, "op", "");
    return chooses_dim(operator_find(name), step) ? name : NULL;
}

/* Whether an operator of `expect` works along a dimension that it chose itself while no
 * buffer has two: its name, borrowed from the specification; else NULL. Programs allocate
 * rows of a matrix as one array, and a specification begun from such a program has flat
 * shapes: softmax then works on all of it at once, and a correct kernel looks wrong. */
static const char *flat_operator(const struct kernel_spec *spec) {
    if (spec->expect != EXPECT_OPERATOR || has_rows(spec)) {
        return NULL;
    }
    const char *name = choosing_name(spec->expect_operator);
    json_each(json_object_get(spec->expect_operator, "then"), i, step) {
        name = name ? name : choosing_name(step);
    }
    return name;
}

static void warn_wide(struct course *run, const char *name,
                      const struct output_strength *s) {
    run_report_note(
        &run->report, "wide_tolerance", "warning", name,
        "an output '%.64s' with %.3g added to every element would pass this check: its "
        "tolerance is too wide for the values. Make \"rtol\" and \"atol\" smaller, or "
        "omit them",
        name, s->shift);
}

/* Half of the elements; for a given tolerance, which was chosen for them, a quarter. */
static bool is_loose(const struct tolerance *t, const struct output_strength *s) {
    return s->loose && (t->scale ? 2 : 4) * s->loose >= s->sized;
}

static void warn_loose(struct course *run, const char *name,
                       const struct output_strength *s) {
    run_report_note(
        &run->report, "wide_tolerance", "warning", name,
        "%.0f %% of the expected elements of the output '%.64s' that are not 0 are so "
        "small compared with its tolerance that any value up to their own magnitude, of "
        "either sign, would pass. Give a \"tolerance\" with a smaller \"atol\"",
        100 * (double)s->loose / (double)s->sized, name);
}

/* Expressions and operators are computed in double precision. */
static void warn_inexact(struct course *run, const char *name) {
    run_report_note(
        &run->report, "inexact_expected", "warning", name,
        "the expected integers of the output '%.64s' were computed in double precision, "
        "through values beyond 2^53: their last bits may be wrong. A reference kernel "
        "(\"expect\": {\"kernel\": …}) is compared to the last bit",
        name);
}

/* Why an output is wrong that a tolerance by its largest value would pass. */
static void note_narrow(struct course *run, const char *name,
                        const struct output_strength *s) {
    run_report_note(
        &run->report, "narrow_tolerance", "info", name,
        "the default absolute tolerance of the output '%.64s' follows %.3g, the largest "
        "of its expected magnitudes below a gap, because those above the gap, up to %.3g, "
        "are judged by the relative tolerance: %llu of the wrong elements would pass if it "
        "followed the largest. If so much error is acceptable, give a \"tolerance\"",
        name, s->scale, s->largest, (unsigned long long)s->narrowed);
}

static void note_flat(struct course *run) {
    const char *op = flat_operator(&run->spec);
    if (op && run->report.mismatch) {
        run_report_note(&run->report, "flat_shape", "info", NULL,
                        "'%.64s' works along a dimension, and every buffer has only one: "
                        "all its elements are one row. If the kernel works on rows, give "
                        "the buffers a shape such as [\"rows\", \"cols\"]",
                        op);
    }
}

void output_notes_failed(struct course *run) {
    note_flat(run);
    list_each(i, s, run->report.outputs, run->spec.buffer_count) {
        if (s->narrowed) {
            note_narrow(run, run->spec.buffers[i].name, s);
        }
        if (s->inexact) {
            warn_inexact(run, run->spec.buffers[i].name);
        }
    }
}

static void warn_few(struct course *run, const char *name,
                     const struct output_strength *s) {
    run_report_note(
        &run->report, "few_judged", "warning", name,
        "\"judge\" leaves %llu of %llu elements of the output '%.64s' to compare, over "
        "all cases and trials: the others may contain anything",
        (unsigned long long)s->elements, (unsigned long long)s->held, name);
}

void output_notes_passed(struct course *run) {
    list_each(i, s, run->report.outputs, run->spec.buffer_count) {
        if (s->compared && !s->shift_fails) {
            warn_wide(run, run->spec.buffers[i].name, s);
        } else if (is_loose(&run->spec.buffers[i].tolerance, s)) {
            warn_loose(run, run->spec.buffers[i].name, s);
        }
        if (s->inexact) {
            warn_inexact(run, run->spec.buffers[i].name);
        }
        if (s->compared && 2 * s->elements < s->held) {
            warn_few(run, run->spec.buffers[i].name, s);
        }
    }
}
