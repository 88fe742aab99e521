#include "gpu/run/roofline.h"

#include "base/err.h"

#include <math.h>

/* --- devices --- */

struct peaks {
    const char *called, *name, *source;
    double memory_gb, fp64, tf32, fp16, fp8, int8;
    double sms, boost_ghz, l2_mib;
};

#include "gpu/gpu_peaks_table.h"

enum { THE_H100 = 2, STORE_BYTES_PER_CLOCK = 64 };

static const struct peaks *find_peaks(const char *name) {
    const struct peaks *p = known;
    while (p->called && !strstr(name, p->called)) {
        p++;
    }
    return p->called ? p : NULL;
}

static void take_peaks(struct roofline_device *ret, const struct peaks *p) {
    ret->bytes_per_s = p->memory_gb * 1e9;
    ret->store_bytes_per_s = p->sms * STORE_BYTES_PER_CLOCK * p->boost_ghz * 1e9;
    ret->l2_bytes = (uint64_t)(p->l2_mib * (1 << 20));
    ret->flops_per_s[TENSOR_FLOAT64] = p->fp64 * 1e12;
    ret->flops_per_s[TENSOR_FLOAT32] = p->tf32 * 1e12;
    ret->flops_per_s[TENSOR_FLOAT16] = p->fp16 * 1e12;
    ret->flops_per_s[TENSOR_BFLOAT16] = p->fp16 * 1e12;
    ret->flops_per_s[TENSOR_FLOAT8_E4M3] = p->fp8 * 1e12;
    ret->flops_per_s[TENSOR_FLOAT8_E5M2] = p->fp8 * 1e12;
    ret->flops_per_s[TENSOR_INT8] = p->int8 * 1e12;
    ret->flops_per_s[TENSOR_UINT8] = p->int8 * 1e12;
    ret->source = p->source;
    snprintf(ret->name, sizeof ret->name, "%s", p->name);
}

static double number(const json_t *facts, const char *name) {
    double value = json_number_value(json_object_get(facts, name));
    return value > 0 && isfinite(value) ? value : 0;
}

void roofline_device_of(struct roofline_device *ret, const json_t *facts) {
    const char *name = json_get_string(facts, "name", "");
    const struct peaks *p = facts ? find_peaks(name) : &known[THE_H100];
    *ret = (struct roofline_device){.source = "the device's attributes"};
    snprintf(ret->name, sizeof ret->name, "%.63s", name);
    if (p) {
        take_peaks(ret, p);
    }
    /* A slice of a GPU has part of its multiprocessors and L2, which CUDA reports; its
     * share of the bandwidth is not reported. */
    double stores = number(facts, "sms") * number(facts, "sm_clock_mhz") * 1e6 *
                    STORE_BYTES_PER_CLOCK;
    ret->store_bytes_per_s = stores > 0 ? stores : ret->store_bytes_per_s;
    double l2 = number(facts, "l2_bytes");
    ret->l2_bytes = l2 > 0 ? (uint64_t)l2 : ret->l2_bytes;
    if (!p) {
        ret->bytes_per_s = number(facts, "memory_bytes_per_s");
    }
}

/* --- the work --- */

static bool narrower(enum tensor_type a, enum tensor_type b) {
    if (tensor_type_float(a) != tensor_type_float(b)) {
        return tensor_type_float(a);
    }
    return tensor_type_bytes(a) < tensor_type_bytes(b);
}

static void count_buffer(struct roofline_work *work, const struct spec_buffer *spec,
                         uint64_t bytes, bool *typed) {
    bool is_input = spec->init || !spec->output || spec->is_global;
    if (spec->scratch) {
        return; /* a better kernel may do without */
    }
    work->read_bytes += is_input ? bytes : 0;
    work->written_bytes += spec->output ? bytes : 0;
    work->forced_bytes += is_input ? 0 : bytes;
    if (is_input && (!*typed || narrower(spec->type, work->type))) {
        work->type = spec->type;
        *typed = true;
    }
}

/* An integer or expression of the spec's roofline, where there is one. */
static int said(const struct spec_case *c, const json_t *value, const char *name,
                int64_t *ret, struct err *err) {
    int r = value ? case_size_value(c, value, ret, err) : 0;
    if (r == 0 && value && *ret < 0) {
        r = err_set(err, -EINVAL, "it is negative");
    }
    return r < 0 ? (err_wrap(err, "roofline.%s", name), r) : 0;
}

int roofline_work_of(struct roofline_work *ret, const struct spec_case *c, double flops,
                     struct err *err) {
    const struct kernel_spec *spec = c->spec;
    struct roofline_work work = {.type = TENSOR_FLOAT32};
    int64_t own_flops = 0, own_bytes = 0;
    bool typed = false;
    int r = said(c, spec->roofline.flops, "flops", &own_flops, err);
    r = r < 0 ? r : said(c, spec->roofline.bytes, "bytes", &own_bytes, err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < spec->buffer_count; i++) {
        count_buffer(&work, &spec->buffers[i], c->buffers[i].bytes, &typed);
    }
    work.bytes =
        spec->roofline.bytes ? (uint64_t)own_bytes : work.read_bytes + work.written_bytes;
    work.flops = spec->roofline.flops ? (double)own_flops : flops;
    if (spec->roofline.type < TENSOR_TYPES && json_object_get(spec->json, "roofline")) {
        work.type = spec->roofline.type;
    }
    *ret = work;
    return 0;
}

/* --- bounds --- */

/* Seconds that this work takes at the least, and which of the two is the limit; 0 where
 * nothing is known. */
static double roofline_limit_s(const struct roofline_work *work,
                               const struct roofline_device *device,
                               bool *ret_compute_bound) {
    double rate = device->flops_per_s[work->type];
    double memory =
        device->bytes_per_s > 0 ? (double)work->bytes / device->bytes_per_s : 0;
    double compute = rate > 0 ? work->flops / rate : 0;
    *ret_compute_bound = compute > memory;
    return fmax(memory, compute);
}

enum roofline_speed roofline_judge(const struct roofline_work *work,
                                   const struct roofline_device *device,
                                   double measured_s, bool cold) {
    double floor = ROOFLINE_FLOOR_S;
    if (device->store_bytes_per_s > 0) {
        floor = fmax(floor, (double)work->forced_bytes / device->store_bytes_per_s);
    }
    if (measured_s < floor) {
        return ROOFLINE_IMPOSSIBLE;
    }
    uint64_t kept = device->l2_bytes, written = work->written_bytes;
    uint64_t reads = work->read_bytes < work->bytes ? work->read_bytes : work->bytes;
    double moved = (double)reads + (double)(written > kept ? written - kept : 0);
    return cold && device->bytes_per_s > 0 && measured_s < moved / device->bytes_per_s
               ? ROOFLINE_SUSPICIOUS
               : ROOFLINE_POSSIBLE;
}

json_t *roofline_to_json(const struct roofline_work *work,
                         const struct roofline_device *device, double measured_s) {
    bool compute = false;
    double limit = roofline_limit_s(work, device, &compute);
    if (!(limit > 0)) {
        return NULL;
    }
    return json_pack(
        "{s:o, s:s, s:o, s:o*, s:s, s:I, s:o*, s:s}", "device",
        json_clean_z(device->name), "bound", compute ? "compute" : "memory", "limit_us",
        json_double(limit * 1e6), "percent",
        measured_s > 0 ? json_double(100 * limit / measured_s) : NULL, "method",
        measured_s > 0 ? "measured" : "bound", "bytes", (json_int_t)work->bytes, "flops",
        work->flops > 0 ? json_double(work->flops) : NULL, "source", device->source);
}
