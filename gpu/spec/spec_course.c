/* How a check spec's kernel is run: repetitions, time limits, checks, device and
 * timing. */
#include "base/err.h"
#include "gpu/spec/spec_internal.h"

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

static void read_checks(struct kernel_spec *spec, const json_t *params) {
    spec->default_checks = !json_object_get(params, "checks");
    spec->checks = spec->default_checks
                       ? SPEC_CHECK_MEMORY | SPEC_CHECK_INITIALIZED | SPEC_CHECK_BARRIER
                       : spec_words(KERNEL_SPEC_MEMBERS, params, "checks");
}

static int read_numbers(struct spec_reader *r, const json_t *json) {
    struct kernel_spec *ret = r->spec;
    SPEC_READ(KERNEL_SPEC_VALUES)
    ret->arch = json_get_string(json, "arch", "sm_90a");
    ret->instructions = (uint64_t)json_get_integer(json, "instructions", 0);
    read_checks(ret, json);
    const json_t *seed = json_object_get(json, "seed");
    ret->has_seed = seed != NULL;
    return seed && spec_seed_read(seed, &ret->seed) < 0
               ? err_set(r->err, -EINVAL, "seed: a number below 2^64, \"0x…\" or decimal")
               : 0;
}

static int read_benchmark(struct spec_reader *r, const json_t *json) {
    struct spec_benchmark *ret = &r->spec->benchmark;
    if (!json || json_is_null(json) || json_is_false(json)) {
        return 0;
    }
    if (!json_is_object(json) && !json_is_true(json)) {
        return err_set(r->err, -EINVAL,
                       "benchmark: true, or an object of its settings, is expected");
    }
    ret->wanted = true;
    SPEC_READ(KERNEL_SPEC_BENCHMARK_VALUES)
    return spec_check_members(r, json, KERNEL_SPEC_BENCHMARK_MEMBERS, "benchmark");
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
    ret->flops = json_object_get(json, "flops");
    ret->bytes = json_object_get(json, "bytes");
    int n = ret->flops ? spec_check_size(r, ret->flops, "roofline.flops") : 0;
    return n < 0 || !ret->bytes ? n : spec_check_size(r, ret->bytes, "roofline.bytes");
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
    n = n < 0 ? n : read_benchmark(r, json_object_get(params, "benchmark"));
    n = n < 0 ? n : read_roofline(r, json_object_get(params, "roofline"));
    return n < 0 ? n : read_device(r, json_object_get(params, "device"));
}
