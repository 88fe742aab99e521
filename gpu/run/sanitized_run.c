#include "gpu/run/sanitized_run.h"

#include "base/clock.h"
#include "gpu/compile/cubin_text.h"
#include "gpu/run/trial.h"
#include "gpu/spec/odd_sizes.h"
#include "gpu/spec/spec_npy.h"

#define DEFAULT_BYTES (2ull << 30)

struct sanitized_course {
    const struct backend_class *class;
    struct kernel_spec spec;
    struct trial_options options;
    void *cubin;
    uint64_t seed;
    struct spec_case cases[SPEC_MAX_CASES];
    size_t count;
    size_t order[SPEC_MAX_CASES]; /* the smallest first */
    size_t chosen;
};

static int start(struct sanitized_course *c, const json_t *request,
                 const struct spec_files *files, struct err *err) {
    json_int_t memory =
        json_get_integer(json_object_get(request, "limits"), "device_bytes", 0);
    const char *ptx = json_get_string(request, "ptx", NULL);
    int r = kernel_spec_read(&c->spec, json_object_get(request, "spec"), err);
    r = r ? r : spec_arrays_take(&c->spec, json_object_get(request, "files"), files, err);
    if (r < 0) {
        return r;
    }
    if (!ptx || spec_seed_read(json_object_get(request, "seed"), &c->seed) < 0) {
        return err_set(err, -EINVAL, "the request has no module or no seed");
    }
    c->options = (struct trial_options){
        .ptx = ptx,
        .entries = {json_object_get(request, "entries")},
        .memory = memory > 0 ? (uint64_t)memory : DEFAULT_BYTES,
    };
    c->options.cubin = c->cubin =
        cubin_from_text(json_object_get(request, "cubin"), &c->options.cubin_len);
    return 0;
}

static int resolve(struct sanitized_course *c, struct err *err) {
    size_t count = c->spec.case_count;
    count += odd_sizes_add(&c->spec);
    for (; c->count < count; c->count++) {
        int r = spec_case_resolve(&c->cases[c->count], &c->spec, c->count, err);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* By insertion: there are 64 at most. */
static void choose(struct sanitized_course *c) {
    for (size_t i = 0; i < c->count; i++) {
        size_t at = i;
        for (; at && c->cases[c->order[at - 1]].bytes > c->cases[i].bytes; at--) {
            c->order[at] = c->order[at - 1];
        }
        c->order[at] = i;
    }
    for (size_t k = 0; k < c->count && k < SANITIZED_MAX_CASES; k++) {
        c->chosen += !k || c->cases[c->order[k]].bytes <= SANITIZED_MAX_BYTES;
    }
}

/* False when nothing can follow. */
static bool run_case(struct sanitized_course *c, size_t i, json_t *answer,
                     struct err *err) {
    struct trial t = {0};
    struct trial_problem problem = {0};
    uint64_t own = trial_seed(c->seed, i, 0);
    int r = trial_run(&t, c->class, &c->cases[i], own, &c->options, &problem);
    json_decref(problem.unsupported);
    if (r < 0) {
        err_set(err, -EIO, "%s", problem.err.msg);
    } else {
        json_array_append_new(json_object_get(answer, "seeds"), trial_seed_to_json(own));
    }
    bool done = r == 0 && t.end == BACKEND_DONE;
    if (r == 0 && t.end == BACKEND_STOPPED) {
        err_set(err, -ETIMEDOUT, "time ran out");
    }
    trial_finish(&t);
    return done;
}

static void run_cases(struct sanitized_course *c, uint64_t until_ms, json_t *answer,
                      struct err *err) {
    size_t k = 0;
    for (bool goes_on = true; goes_on && k < c->chosen; k++) {
        if (clock_ms() >= until_ms) {
            err_set(err, -ETIMEDOUT, "time ran out");
            break;
        }
        goes_on = run_case(c, c->order[k], answer, err);
    }
    size_t done = json_array_size(json_object_get(answer, "seeds"));
    json_object_set_new(answer, "cases", json_integer((json_int_t)done));
    json_object_set_new(answer, "of", json_integer((json_int_t)c->chosen));
}

json_t *sanitized_run(const json_t *request, const struct spec_files *files,
                      const struct backend_class *backend, uint64_t until_ms) {
    autofree struct sanitized_course *c = xcalloc(1, sizeof *c);
    struct err err = {0};
    json_t *answer = json_pack("{s:i, s:i, s:[]}", "cases", 0, "of", 0, "seeds");
    c->class = backend;
    if (start(c, request, files, &err) == 0 && resolve(c, &err) == 0) {
        choose(c);
        run_cases(c, until_ms, answer, &err);
    }
    if (err.code) {
        json_object_set_new(answer, "error", json_clean_z(err.msg));
    }
    for (size_t i = 0; i < c->count; i++) {
        spec_case_finish(&c->cases[i]);
    }
    kernel_spec_finish(&c->spec);
    free(c->cubin);
    return answer;
}
