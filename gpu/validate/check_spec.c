#include "gpu/validate/check_spec.h"

#include "base/err.h"
#include "base/mem.h"
#include "gpu/validate/expect_operator.h"
#include "gpu/validate/spec_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- sizes --- */

static bool is_name(const char *text) {
    size_t len = strlen(text);
    return len && len <= 64 && !strchr("0123456789", *text) &&
           strspn(text,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
               len;
}

static int read_case(struct spec_reader *r, const json_t *sizes, const char *at) {
    struct check_spec *spec = r->spec;
    if (!json_is_object(sizes)) {
        return err_set(r->err, -EINVAL, "%s: an object of sizes is expected", at);
    }
    if (spec->case_count == SPEC_MAX_CASES || json_object_size(sizes) > SPEC_MAX_SIZES) {
        return err_set(r->err, -EINVAL, "sizes: at most %d cases of %d sizes each",
                       SPEC_MAX_CASES, SPEC_MAX_SIZES);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)sizes, name, value) {
        if (!is_name(name) || !json_is_integer(value)) {
            return err_set(r->err, -EINVAL, "%s.%.64s: a size is a name with an integer",
                           at, name);
        }
    }
    spec->cases[spec->case_count++] = sizes;
    return 0;
}

static int read_cases(struct spec_reader *r, const json_t *sizes) {
    if (!sizes) {
        json_t *none = json_object();
        json_object_set_new(r->spec->json, "sizes", none);
        return read_case(r, none, "sizes");
    }
    if (!json_is_array(sizes)) {
        return read_case(r, sizes, "sizes");
    }
    if (!json_array_size(sizes)) {
        return err_set(r->err, -EINVAL, "sizes: the list is empty");
    }
    size_t i;
    json_t *item;
    json_array_foreach(sizes, i, item) {
        char at[32];
        snprintf(at, sizeof at, "sizes[%zu]", i);
        int n = read_case(r, item, at);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* --- launches --- */

/* One block of one thread is hardly what is meant. */
static int need_launch(struct spec_reader *r, const json_t *json, const char *at) {
    return json_object_get(json, "launch")
               ? 0
               : err_set(r->err, -EINVAL,
                         "%slaunch: say how the kernel is launched: {\"grid\": …, "
                         "\"block\": …}",
                         at);
}

static int read_launch_list(struct spec_reader *r, const json_t *list, const char *at,
                            struct spec_launch **ret, size_t *ret_count) {
    size_t count = json_array_size(list);
    if (!count || count > SPEC_MAX_LAUNCHES) {
        return err_set(r->err, -EINVAL, "%s: a list of 1 to %d launches is expected", at,
                       SPEC_MAX_LAUNCHES);
    }
    *ret = xcalloc(count, sizeof **ret);
    for (*ret_count = 0; *ret_count < count; ++*ret_count) {
        char path[64];
        snprintf(path, sizeof path, "%s[%zu].", at, *ret_count);
        const json_t *json = json_array_get(list, *ret_count);
        char holder[64];
        snprintf(holder, sizeof holder, "%s[%zu]", at, *ret_count);
        int n = spec_check_members(r, json, "kernel launch args", holder);
        n = n < 0 ? n : spec_read_launch(r, *ret + *ret_count, json, path);
        n = n < 0 ? n : need_launch(r, json, path);
        if (n < 0) {
            ++*ret_count; /* what it holds is freed */
            return n;
        }
    }
    return 0;
}

/* A list of launches stands instead of the members of one. */
static int refuse_both(struct spec_reader *r, const json_t *json, const char *at) {
    static const char *const members[] = {"kernel", "launch", "args"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (json_object_get(json, members[i])) {
            return err_set(r->err, -EINVAL,
                           "%s%s: \"launches\" stands instead of it; each of them has "
                           "its own",
                           at, members[i]);
        }
    }
    return 0;
}

static int read_launches(struct spec_reader *r, const json_t *params) {
    struct check_spec *spec = r->spec;
    const json_t *list = json_object_get(params, "launches");
    int bad = list ? refuse_both(r, params, "") : 0;
    if (bad < 0) {
        return bad;
    }
    if (list) {
        return read_launch_list(r, list, "launches", &spec->launches,
                                &spec->launch_count);
    }
    spec->launches = xcalloc(1, sizeof *spec->launches);
    spec->launch_count = 1;
    int n = spec_read_launch(r, spec->launches, params, "");
    return n < 0 ? n : need_launch(r, params, "");
}

static int read_globals(struct spec_reader *r, const json_t *globals) {
    if (globals && !json_is_object(globals)) {
        return err_set(r->err, -EINVAL,
                       "globals: an object by variable name is expected");
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)globals, name, value) {
        char at[96];
        snprintf(at, sizeof at, "globals.%.64s", name);
        if (!json_is_object(value)) {
            return err_set(r->err, -EINVAL, "%s: an object is expected", at);
        }
        json_object_set_new(value, "name", json_string(name));
        int n = spec_read_buffer(r, value, at, true);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* Buffers that no parameter points to by itself: those of tensor maps and pointers. */
static int read_buffers(struct spec_reader *r, const json_t *buffers) {
    size_t i;
    json_t *item;
    if (buffers && !json_is_array(buffers)) {
        return err_set(r->err, -EINVAL, "buffers: a list of {name, type, shape, …}");
    }
    json_array_foreach(buffers, i, item) {
        char at[32];
        snprintf(at, sizeof at, "buffers[%zu]", i);
        if (!json_is_object(item) || !json_object_get(item, "shape")) {
            return err_set(r->err, -EINVAL, "%s: {name, type, shape, …} is expected", at);
        }
        int n = spec_read_buffer(r, item, at, false);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* --- what is expected --- */

static int read_reference(struct spec_reader *r, const json_t *kernel) {
    struct check_spec *spec = r->spec;
    spec->expect = EXPECT_KERNEL;
    if (!json_is_object(kernel)) {
        return err_set(r->err, -EINVAL, "expect.kernel: an object is expected");
    }
    const json_t *list = json_object_get(kernel, "launches");
    int bad = spec_check_members(r, kernel, "source kernel launch args launches",
                                 "expect.kernel");
    bad = bad < 0 ? bad : spec_check_text(r, kernel, "source", "expect.kernel");
    bad = bad < 0 || !list ? bad : refuse_both(r, kernel, "expect.kernel.");
    if (bad < 0) {
        return bad;
    }
    spec->reference_source = json_get_string(kernel, "source", NULL);
    if (list) {
        return read_launch_list(r, list, "expect.kernel.launches", &spec->reference,
                                &spec->reference_count);
    }
    spec->reference = xcalloc(1, sizeof *spec->reference);
    spec->reference_count = 1;
    int n = spec_read_launch(r, spec->reference, kernel, "expect.kernel.");
    if (n < 0) {
        return n;
    }
    /* Without arguments of its own it takes those of the kernel in its place. */
    struct spec_launch *own = spec->reference, *first = &spec->launches[0];
    if (!json_object_get(kernel, "args")) {
        spec_launch_finish(own);
        own->args = xcalloc(first->arg_count ? first->arg_count : 1, sizeof *own->args);
        memcpy(own->args, first->args, first->arg_count * sizeof *own->args);
        own->arg_count = first->arg_count;
    }
    if (!json_object_get(kernel, "launch")) {
        own->grid = first->grid;
        own->block = first->block;
        own->cluster = first->cluster;
        own->shared_bytes = first->shared_bytes;
        own->cooperative = first->cooperative;
    }
    return 0;
}

static int read_expected(struct spec_reader *r, const json_t *expected,
                         enum spec_expect_kind kind) {
    struct check_spec *spec = r->spec;
    const char *word = kind == EXPECT_VALUES  ? "values"
                       : kind == EXPECT_FILES ? "files"
                                              : "expression";
    spec->expect = kind;
    spec->expected = expected;
    if (!json_is_object(expected) || !json_object_size(expected)) {
        return err_set(r->err, -EINVAL, "expect.%s: an object by output name is expected",
                       word);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)expected, name, value) {
        size_t buffer = check_spec_buffer(spec, name);
        if (buffer == SIZE_MAX || !spec->buffers[buffer].output) {
            return err_set(r->err, -EINVAL,
                           "expect.%s.%.64s: there is no output of that name", word,
                           name);
        }
        bool fits = kind == EXPECT_VALUES ? json_is_array(value) : json_is_string(value);
        if (!fits) {
            return err_set(r->err, -EINVAL, "expect.%s.%.64s: %s is expected", word, name,
                           kind == EXPECT_VALUES ? "a flat list of numbers" : "a text");
        }
        char at[96];
        snprintf(at, sizeof at, "expect.%s.%.64s", word, name);
        int n = kind == EXPECT_FILES ? spec_read_array(r, value, buffer, true, at)
                : json_array_size(value)
                    ? spec_check_values(r, spec->buffers[buffer].type, value, at)
                    : 0;
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* {"op": "softmax", …}: the members beside "op" are the operator's own. */
static int read_operator(struct spec_reader *r, const json_t *expect) {
    r->spec->expect = EXPECT_OPERATOR;
    r->spec->expect_operator = expect;
    return expect_operator_read(r->spec, expect, r->err);
}

static int read_expect(struct spec_reader *r, const json_t *expect) {
    if (!expect || json_is_null(expect)) {
        return 0;
    }
    const json_t *value = json_object_get(expect, "op");
    if (value) {
        return read_operator(r, expect);
    }
    if (json_object_size(expect) != 1) {
        return err_set(
            r->err, -EINVAL,
            "expect: one of kernel, expression, values, files and op is expected");
    }
    if ((value = json_object_get(expect, "kernel"))) {
        return read_reference(r, value);
    }
    if ((value = json_object_get(expect, "expression"))) {
        return read_expected(r, value, EXPECT_EXPRESSION);
    }
    if ((value = json_object_get(expect, "values"))) {
        return read_expected(r, value, EXPECT_VALUES);
    }
    if ((value = json_object_get(expect, "files"))) {
        return read_expected(r, value, EXPECT_FILES);
    }
    return err_set(r->err, -EINVAL,
                   "expect: kernel, expression, values, files or op is expected");
}

/* --- the rest --- */

bool spec_is_special(const json_t *value) {
    const char *word = json_string_value(value);
    return word && (!strcmp(word, "NaN") || !strcmp(word, "Infinity") ||
                    !strcmp(word, "-Infinity"));
}

double spec_number(const json_t *value) {
    const char *word = json_string_value(value);
    return json_is_true(value)    ? 1
           : !word                ? json_number_value(value) /* -0 stays -0 */
           : !strcmp(word, "NaN") ? NAN
           : *word == '-'         ? -INFINITY
                                  : INFINITY;
}

int check_seed_read(const json_t *value, uint64_t *ret) {
    if (json_is_integer(value)) {
        *ret = (uint64_t)json_integer_value(value);
        return json_integer_value(value) < 0 ? -EINVAL : 0;
    }
    const char *text = json_string_value(value);
    if (!text || *text < '0' || *text > '9' || strlen(text) > 20) {
        return -EINVAL;
    }
    char *end;
    errno = 0;
    *ret = strtoull(text, &end, 0);
    return *end || errno ? -EINVAL : 0;
}

static int read_checks(struct spec_reader *r, const json_t *checks) {
    static const char *const names[] = {"memory", "initialized", "race", "barrier"};
    if (!checks) {
        r->spec->checks = SPEC_CHECK_MEMORY | SPEC_CHECK_INITIALIZED | SPEC_CHECK_BARRIER;
        return 0;
    }
    size_t i;
    json_t *item;
    json_array_foreach(checks, i, item) {
        unsigned k = 0;
        const char *word = json_string_value(item);
        while (k < ARRAY_LEN(names) && (!word || strcmp(word, names[k]) != 0)) {
            k++;
        }
        if (k == ARRAY_LEN(names)) {
            return err_set(r->err, -EINVAL,
                           "checks[%zu]: memory, initialized, race or barrier", i);
        }
        r->spec->checks |= 1u << k;
    }
    return json_is_array(checks) ? 0
                                 : err_set(r->err, -EINVAL, "checks: a list of names");
}

/* A check spec of a file has passed no schema: what is of the wrong type must not become
 * a default silently. */
static int check_types(struct spec_reader *r, const json_t *params) {
    static const char *const whole[] = {"trials", "timeout_s", "instructions"};
    static const char *const texts[] = {"arch", "backend", "compare"};
    int n = spec_check_flag(r, params, "odd_sizes", "");
    for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
        const json_t *value = json_object_get(params, whole[i]);
        if (n == 0 && value && !json_is_integer(value)) {
            n = err_set(r->err, -EINVAL, "%s: an integer is expected", whole[i]);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        n = n < 0 ? n : spec_check_text(r, params, texts[i], "");
    }
    return n;
}

static int read_numbers(struct spec_reader *r, const json_t *params) {
    struct check_spec *spec = r->spec;
    int bad = check_types(r, params);
    if (bad < 0) {
        return bad;
    }
    json_int_t trials = json_get_integer(params, "trials", 3);
    json_int_t timeout = json_get_integer(params, "timeout_s", 30);
    json_int_t budget = json_get_integer(params, "instructions", 0);
    if (trials < 1 || trials > SPEC_MAX_TRIALS) {
        return err_set(r->err, -EINVAL, "trials: 1 to %d", SPEC_MAX_TRIALS);
    }
    if (timeout < 1 || timeout > 3600) {
        return err_set(r->err, -EINVAL, "timeout_s: 1 to 3600");
    }
    if (budget < 0) {
        return err_set(r->err, -EINVAL, "instructions: not negative");
    }
    spec->odd_sizes = json_get_bool(params, "odd_sizes", 1);
    spec->arch = json_get_string(params, "arch", "sm_90a");
    spec->trials = (unsigned)trials;
    spec->timeout_s = (unsigned)timeout;
    spec->instructions = (uint64_t)budget;
    const json_t *seed = json_object_get(params, "seed");
    spec->has_seed = seed != NULL;
    if (seed && check_seed_read(seed, &spec->seed) < 0) {
        return err_set(r->err, -EINVAL, "seed: a number below 2^64, \"0x…\" or decimal");
    }
    spec->backend = json_get_string(params, "backend", "auto");
    if (strcmp(spec->backend, "auto") != 0 && strcmp(spec->backend, "cuda") != 0 &&
        strcmp(spec->backend, "emulator") != 0) {
        return err_set(r->err, -EINVAL, "backend: auto, cuda or emulator");
    }
    return read_checks(r, json_object_get(params, "checks"));
}

static int read_benchmark(struct spec_reader *r, const json_t *json) {
    struct spec_benchmark *ret = &r->spec->benchmark;
    const json_t *samples = json_object_get(json, "samples");
    const char *cache = json_get_string(json, "cache", "cold");
    if (!json || json_is_null(json) || json_is_false(json)) {
        return 0;
    }
    if (!json_is_object(json) && !json_is_true(json)) {
        return err_set(r->err, -EINVAL,
                       "benchmark: {\"samples\", \"cache\"}, or true, is expected");
    }
    int n = spec_check_members(r, json, "samples cache", "benchmark");
    n = n < 0 ? n : spec_check_text(r, json, "cache", "benchmark");
    if (n < 0) {
        return n;
    }
    json_int_t count = samples ? json_integer_value(samples) : SPEC_BENCHMARK_SAMPLES;
    if (count < 1 || count > SPEC_MAX_SAMPLES) {
        return err_set(r->err, -EINVAL, "benchmark.samples: 1 to %d", SPEC_MAX_SAMPLES);
    }
    ret->warm = !strcmp(cache, "warm");
    if (!ret->warm && strcmp(cache, "cold") != 0) {
        return err_set(r->err, -EINVAL, "benchmark.cache: cold or warm");
    }
    ret->samples = (unsigned)count;
    return 0;
}

static int read_work(struct spec_reader *r, const json_t *value, const char *at,
                     const json_t **ret) {
    *ret = value;
    return value ? spec_check_size(r, value, at) : 0;
}

static int read_roofline(struct spec_reader *r, const json_t *json) {
    struct spec_roofline *ret = &r->spec->roofline;
    const char *type = json_get_string(json, "type", NULL);
    ret->type = type ? tensor_type_find(type) : TENSOR_TYPES;
    if (!json) {
        return 0;
    }
    if (!json_is_object(json)) {
        return err_set(r->err, -EINVAL,
                       "roofline: {\"flops\", \"bytes\", \"type\"} is expected");
    }
    int bad = spec_check_members(r, json, "flops bytes type", "roofline");
    if (bad < 0) {
        return bad;
    }
    if (json_object_get(json, "type") && ret->type == TENSOR_TYPES) {
        return err_set(r->err, -EINVAL, "roofline.type: a type like float16 is expected");
    }
    int n = read_work(r, json_object_get(json, "flops"), "roofline.flops", &ret->flops);
    return n < 0 ? n
                 : read_work(r, json_object_get(json, "bytes"), "roofline.bytes",
                             &ret->bytes);
}

/* "GPU-…", "MIG-…" or an ordinal. */
static int read_device(struct spec_reader *r, const json_t *device) {
    static const char letters[] = "0123456789abcdefABCDEFGHIJKLMNOPQRSTUVWXYZ-/";
    const char *text = json_string_value(device);
    if (!device) {
        return 0;
    }
    size_t len = text ? strlen(text) : 0;
    if (!len || len > 96 || strspn(text, letters) != len) {
        return err_set(r->err, -EINVAL,
                       "device: a GPU's UUID, or its number as a text, is expected");
    }
    r->spec->device = text;
    return 0;
}

static const char members[] =
    "$schema path source name arch std defines include_roots headers fast_math options "
    "kernel sizes launch args launches buffers globals expect tolerance compare trials "
    "seed benchmark roofline device odd_sizes backend checks instructions timeout_s save";

static int read_all(struct spec_reader *r, const json_t *params) {
    int n = spec_check_members(r, params, members, "");
    n = n < 0 ? n : read_cases(r, json_object_get(params, "sizes"));
    n = n < 0 ? n : read_numbers(r, params);
    n = n < 0 ? n : read_benchmark(r, json_object_get(params, "benchmark"));
    n = n < 0 ? n : read_roofline(r, json_object_get(params, "roofline"));
    n = n < 0 ? n : read_device(r, json_object_get(params, "device"));
    n = n < 0 ? n : spec_read_save(r, json_object_get(params, "save"));
    n = n < 0 ? n : read_globals(r, json_object_get(params, "globals"));
    n = n < 0 ? n : read_buffers(r, json_object_get(params, "buffers"));
    n = n < 0 ? n : read_launches(r, params);
    return n < 0 ? n : read_expect(r, json_object_get(params, "expect"));
}

int check_spec_read(struct check_spec *ret, const json_t *params, struct err *err) {
    struct check_spec spec = {.json = json_deep_copy(params)};
    struct spec_reader r = {
        .spec = &spec,
        .err = err,
        .tolerance = json_object_get(spec.json, "tolerance"),
        .compare = json_get_string(spec.json, "compare", NULL),
    };
    spec.buffers = xcalloc(SPEC_MAX_BUFFERS, sizeof *spec.buffers);
    int n = read_all(&r, spec.json);
    if (n < 0) {
        check_spec_finish(&spec);
        return n;
    }
    *ret = spec;
    return 0;
}

static void launches_free(struct spec_launch *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        spec_launch_finish(&list[i]);
    }
    free(list);
}

void check_spec_finish(struct check_spec *spec) {
    launches_free(spec->launches, spec->launch_count);
    launches_free(spec->reference, spec->reference_count);
    free(spec->buffers);
    for (size_t i = 0; i < spec->array_count; i++) {
        free(spec->arrays[i].data);
    }
    free(spec->arrays);
    json_decref(spec->added);
    json_decref(spec->json);
    *spec = (struct check_spec){0};
}

size_t check_spec_buffer(const struct check_spec *spec, const char *name) {
    for (size_t i = 0; i < spec->buffer_count; i++) {
        if (!strcmp(spec->buffers[i].name, name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

const struct spec_array *check_spec_array(const struct check_spec *spec, size_t buffer,
                                          bool expected) {
    for (size_t i = 0; i < spec->array_count; i++) {
        const struct spec_array *a = &spec->arrays[i];
        if (a->buffer == buffer && a->expected == expected) {
            return a;
        }
    }
    return NULL;
}
