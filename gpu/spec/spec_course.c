/* How a check spec's kernel is run: how often, for how long, with which checks, on what
 * device, and how it is timed. */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/kernel_spec.schema.h"
#include "gpu/spec/spec_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int spec_seed_read(const json_t *value, uint64_t *ret) {
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
        r->spec->default_checks = true;
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
    static const char *const texts[] = {"arch", "backend", "compare", "numerics"};
    int n = spec_check_flag(r, params, "odd_sizes", "");
    n = n < 0 ? n : spec_check_flag(r, params, "strict", "");
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

static int read_numerics(struct spec_reader *r, const json_t *params) {
    const char *word = json_get_string(params, "numerics", "h100");
    r->spec->ideal_sums = strcmp(word, "ideal") == 0;
    return r->spec->ideal_sums || strcmp(word, "h100") == 0
               ? 0
               : err_set(r->err, -EINVAL, "numerics: h100 or ideal");
}

static int read_numbers(struct spec_reader *r, const json_t *params) {
    struct kernel_spec *spec = r->spec;
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
    spec->strict = json_get_bool(params, "strict", 0);
    spec->arch = json_get_string(params, "arch", "sm_90a");
    spec->trials = (unsigned)trials;
    spec->timeout_s = (unsigned)timeout;
    spec->instructions = (uint64_t)budget;
    const json_t *seed = json_object_get(params, "seed");
    spec->has_seed = seed != NULL;
    if (seed && spec_seed_read(seed, &spec->seed) < 0) {
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
    int n = spec_check_members(r, json, KERNEL_SPEC_BENCHMARK_MEMBERS, "benchmark");
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
    int bad = spec_check_members(r, json, KERNEL_SPEC_ROOFLINE_MEMBERS, "roofline");
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

int spec_read_course(struct spec_reader *r, const json_t *params) {
    int n = read_numbers(r, params);
    n = n < 0 ? n : read_numerics(r, params);
    n = n < 0 ? n : read_benchmark(r, json_object_get(params, "benchmark"));
    n = n < 0 ? n : read_roofline(r, json_object_get(params, "roofline"));
    return n < 0 ? n : read_device(r, json_object_get(params, "device"));
}
