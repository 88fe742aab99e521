#include "gpu/validate/worker_request.h"

#include "base/err.h"
#include "gpu/check/kernel_entries.h"
#include "gpu/spec/launch_limits.h"
#include "gpu/validate/argument_type.h"

#include <inttypes.h>

/* After the limit: the runner stops at it and writes what it has; what does not stop is
 * killed (validate_child.c, validation.c). */
#define GRACE_MS 650
#define SAVE_MS 120000 /* for files, over a slow line */

/* p->err has the message. */
static int refuse(struct request_problem *p, const char *stage, const char *code,
                  const char *hint) {
    p->stage = stage;
    p->code = code;
    p->hint = hint;
    return -EINVAL;
}

/* --- kernels and launches --- */

/* Against what the compiled kernels need: a launch that is refused needs no run. */
static bool launches_are_possible(const struct kernel_spec *spec, const json_t *compiled,
                                  struct request_problem *problem) {
    for (size_t i = 0; i < spec->case_count * spec->launch_count; i++) {
        const struct spec_launch *launch = &spec->launches[i % spec->launch_count];
        struct spec_case c;
        const char *code;
        size_t matches;
        const json_t *kernel = kernel_entry_find(json_object_get(compiled, "kernels"),
                                                 launch->kernel, &matches);
        if (spec_case_resolve(&c, spec, i / spec->launch_count, NULL) < 0) {
            continue;
        }
        int n = launch_limits_check_kernel(&c.launches[i % spec->launch_count],
                                           launch->cooperative, kernel, spec->arch, 0,
                                           &code, problem->err);
        spec_case_finish(&c);
        if (n < 0) {
            autofree char *message = xstrdup(problem->err->msg);
            err_set(problem->err, n, "case %zu: %s%s", i / spec->launch_count, launch->at,
                    message);
            refuse(problem, "launch", code, NULL);
            return false;
        }
    }
    return true;
}

static json_t *entries_of(const json_t *compiled, const struct spec_launch *launches,
                          size_t count, const char *stage,
                          struct request_problem *problem) {
    const char *code;
    json_t *entries = kernel_entries(json_object_get(compiled, "kernels"), launches,
                                     count, &code, problem->err);
    if (!entries) {
        refuse(problem, stage, code,
               "a template is named with its arguments: \"k<float, 256>\"; of kernels of "
               "one name each with the types of its parameters: \"k(float*, int)\"");
    }
    return entries;
}

/* --- the request --- */

static json_t *limits_of(const struct kernel_spec *spec) {
    json_t *limits =
        json_pack("{s:I}", "wall_ms", (json_int_t)spec->timeout_s * 1000 + GRACE_MS);
    if (spec->save.dir) {
        json_object_set_new(limits, "save_ms", json_integer(SAVE_MS));
    }
    return limits;
}

json_t *validate_params(const struct kernel_spec *spec, uint64_t seed) {
    return json_pack("{s:o, s:o}", "seed", json_sprintf("0x%016" PRIx64, seed), "limits",
                     limits_of(spec));
}

/* The spec without what was compiled from it. */
static json_t *plain_spec(const struct kernel_spec *spec) {
    json_t *plain = json_copy(spec->json);
    json_object_del(plain, "source");
    json_object_del(plain, "headers");
    argument_types_tell(spec, plain);
    return plain;
}

static void move_code(json_t *request, json_t *kernel, json_t *reference) {
    json_object_set(request, "ptx", json_object_get(kernel, "ptx"));
    json_object_set(request, "reference_ptx", json_object_get(reference, "ptx"));
    json_object_set(request, "cubin", json_object_get(kernel, "cubin"));
    json_object_set(request, "reference_cubin", json_object_get(reference, "cubin"));
    json_object_del(kernel, "ptx");
    json_object_del(kernel, "cubin");
}

int worker_request(const struct kernel_spec *spec, json_t *kernel, json_t *reference,
                   json_t *places, struct buf *out, struct request_problem *problem) {
    json_t *other = spec->reference_source ? reference : kernel;
    autojson *entries =
        entries_of(kernel, spec->launches, spec->launch_count, "spec", problem);
    autojson *reference_entries =
        entries && spec->expect == EXPECT_KERNEL
            ? entries_of(other, spec->reference, spec->reference_count, "reference",
                         problem)
            : json_null();
    if (!entries || !reference_entries || !launches_are_possible(spec, kernel, problem)) {
        return -EINVAL;
    }
    autojson *request = json_pack("{s:o, s:O, s:O}", "spec", plain_spec(spec), "entries",
                                  entries, "reference_entries", reference_entries);
    move_code(request, kernel, other);
    json_object_set(request, "files", places);
    if (json_write(out, request) == 0) {
        return 0;
    }
    err_set(problem->err, -EMSGSIZE,
            "the values and the compiled code of this check are too large for one message "
            "to a worker (64 MiB)");
    return refuse(problem, "spec", "too_large",
                  "write fewer numbers out: an init like normal, or files");
}
