/* A comparison as kernel/validate's answer has it. */
#include "gpu/run/compare_internal.h"
#include "base/find.h"

#include <inttypes.h>
#include <math.h>

void compare_index(const struct compare_input *in, uint64_t i, uint64_t *ret) {
    for (size_t d = in->rank; d-- > 0;) {
        uint64_t extent = in->shape[d] > 0 ? (uint64_t)in->shape[d] : 1;
        ret[d] = i % extent;
        i /= extent;
    }
}

static json_t *bits_json(enum tensor_type type, const void *data, uint64_t i) {
    return json_sprintf("0x%0*" PRIx64, (int)(2 * tensor_type_bytes(type)),
                        tensor_bits(type, data, i));
}

static json_t *index_json(const uint64_t *at, size_t rank) {
    return json_list(d, 0, rank, json_integer((json_int_t)at[d]));
}

static json_t *number_at(enum tensor_type type, const void *data, uint64_t i) {
    if (type == TENSOR_INT64 ||
        (type == TENSOR_UINT64 && !(tensor_bits(type, data, i) >> 63))) {
        return json_integer((json_int_t)tensor_bits(type, data, i));
    }
    return tensor_type_float(type) || type == TENSOR_UINT64
               ? json_double(tensor_get(type, data, i))
               : json_integer((json_int_t)tensor_get(type, data, i));
}

/* A sample; of its expected element, only the value may be left. */
static json_t *element_json(const struct comparing *c, size_t k) {
    const struct compare_input *in = c->in;
    uint64_t at[TENSOR_MAX_RANK] = {0}, i = c->samples[k], place = in->source ? k : i;
    const void *expected = in->source ? c->sample_expected : in->expected;
    compare_index(in, i, at);
    bool same = in->expected_type == in->buffer->type;
    const char *state = in->state ? in->state(in->state_data, i) : NULL;
    return json_pack("{s:o, s:o, s:o, s:o*, s:o, s:s*}", "index",
                     index_json(at, in->rank), "expected",
                     number_at(in->expected_type, expected, place), "actual",
                     number_at(in->buffer->type, in->actual, i), "expected_bits",
                     same ? bits_json(in->buffer->type, expected, place) : NULL, "actual_bits",
                     bits_json(in->buffer->type, in->actual, i), "state", state);
}

static json_t *histogram_json(const struct comparing *c) {
    json_t *list = json_array();
    if (c->exact) {
        json_array_append_new(list, json_pack("{s:o, s:I}", "log2_error",
                                              json_double(-INFINITY), "count",
                                              (json_int_t)c->exact));
    }
    for (int i = 0; i < BUCKETS; i++) {
        if (c->buckets[i]) {
            json_array_append_new(list,
                                  json_pack("{s:i, s:I}", "log2_error", i + LOG2_LOWEST,
                                            "count", (json_int_t)c->buckets[i]));
        }
    }
    return list;
}

static void mismatches_to_json(const struct comparing *c, json_t *json) {
    if (c->in->buffer->tolerance.mode == COMPARE_MULTISET) {
        return; /* sorted places are not indices */
    }
    json_object_set_new(json, "first_mismatch", element_json(c, 0));
    json_object_set_new(json, "region",
                        json_pack("{s:o, s:o}", "low", index_json(c->low, c->in->rank),
                                  "high", index_json(c->high, c->in->rank)));
    json_t *samples = json_list(i, 0, c->sample_count, element_json(c, i));
    json_object_set_new(json, "samples", samples);
}

json_t *compare_json(const struct comparing *c, const struct compare_result *result,
                     json_t *tolerance) {
    const struct compare_input *in = c->in;
    json_t *json =
        json_pack("{s:o, s:s, s:I, s:o*, s:I, s:I, s:o, s:o, s:o, s:o*}", "name",
                  json_clean_z(in->buffer->name), "verdict", result->pass ? "pass" : "fail",
                  "elements", (json_int_t)in->count, "judged",
                  in->judged ? json_integer((json_int_t)c->judged) : NULL, "mismatches",
                  (json_int_t)result->mismatches, "nonfinite", (json_int_t)c->nonfinite,
                  "max_abs_error", json_double(c->max_abs), "max_rel_error",
                  json_double(c->max_rel), "tolerance", tolerance, "unwritten",
                  in->unwritten ? json_integer((json_int_t)in->unwritten) : NULL);
    if (c->mismatches) {
        mismatches_to_json(c, json);
    }
    json_object_set_new(json, "histogram", histogram_json(c));
    return json;
}
