#include "gpu/draft/recorded_contents.h"

#include "gpu/draft/spec_draft.h"
#include "gpu/spec/spec_npy.h"
#include "gpu/tensor/npy.h"
#include "gpu/tensor/tensor_range.h"

#include <math.h>

enum { FEW = 8 };   /* elements, as a vector has */
#define MANY 0x1p24 /* of a constant: no ordinary number */

void recorded_files_finish(struct recorded_files *f) {
    for (size_t i = 0; i < f->count; i++) {
        free(f->list[i].name);
        buf_finish(&f->list[i].bytes);
    }
    f->count = 0;
}

json_t *recorded_number(enum tensor_type type, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.*g", type == TENSOR_FLOAT64 ? 17 : 9, value);
    return tensor_type_float(type) ? json_double(strtod(text, NULL))
                                   : json_integer((json_int_t)value);
}

static json_t *file_init(struct recorder *r, const char *name, const struct recorded *c,
                         const void *data, size_t bytes) {
    struct recorded_files *f = r->files;
    if (f->count == RECORDED_FILES) {
        return NULL;
    }
    struct recorded_file *file = &f->list[f->count++];
    *file = (struct recorded_file){.name = xasprintf("%s.%s.npy", r->stem, name),
                                   .bytes = BUF_INIT(bytes + 4096)};
    (void)npy_write_header(&file->bytes, c->type, c->extents, c->rank);
    (void)buf_add(&file->bytes, data, bytes);
    return json_pack("{s:s}", "file", file->name);
}

static double count_of(const struct recorded *c) {
    json_int_t bytes = json_get_integer(c->memory, "bytes", 0);
    return (double)(bytes / tensor_type_bytes(c->type));
}

/* With one number everywhere, x[0] or another buffer may pass for x[i]. Numbers from half
 * of it to itself have its sign and are no larger: what is computed from them, an index
 * even, stays in range. A very large one stands for infinity. */
static json_t *constant_init(struct recorder *r, const char *member,
                             const struct recorded *c, double value) {
    double half = value != 0 ? value / 2 : 0.5;
    json_t *ret = json_pack("{s:o}", "fill", recorded_number(c->type, value));
    bool plain = fabs(value) < MANY && tensor_type_float(c->type) && !c->structure;
    if (plain && c->varies && count_of(c) > FEW) {
        json_decref(ret);
        ret = json_pack("{s:[o, o]}", "uniform",
                        recorded_number(c->type, fmin(value, half)),
                        recorded_number(c->type, fmax(value, half)));
        draft_note(r->unknown, member,
                   "the program has %.9g in all of it, which would hide mistakes, so it "
                   "varies: if the kernel needs that, its `init` is {\"fill\": %.9g}",
                   value, value);
    }
    return ret;
}

/* Random in the range that it had; NULL: only the bytes themselves will do. */
static json_t *range_init(struct recorder *r, const char *member,
                          const struct recorded *c, const struct tensor_range *range) {
    bool exact = fabs(range->low) < 0x1p53;
    if (range->low == range->high && range->finite && exact) {
        return constant_init(r, member, c, range->low);
    }
    bool random = tensor_type_float(c->type) && range->finite && range->low < range->high;
    return random && !range->sorted && !c->structure
               ? json_pack("{s:[o, o]}", "uniform", recorded_number(c->type, range->low),
                           recorded_number(c->type, range->high))
               : NULL;
}

/* As many sorted numbers, or random integers, of the same range. */
static json_t *like(const struct recorded *c, const struct tensor_range *range) {
    double count = count_of(c);
    double step = (range->high - range->low) / (count > 1 ? count - 1 : 1);
    bool whole = !tensor_type_float(c->type);
    return range->sorted
               ? json_pack("{s:[o, o]}", "arange", recorded_number(c->type, range->low),
                           recorded_number(c->type, whole ? floor(step) : step))
               : json_pack("{s:[o, o]}", "integers", recorded_number(c->type, range->low),
                           recorded_number(c->type, range->high + 1));
}

/* Of what was too much to be recorded. */
static json_t *large_init(struct recorder *r, const char *member,
                          const struct recorded *c) {
    const json_t *known =
        json_object_get(json_object_get(c->memory, "ranges"), tensor_type_name(c->type));
    const struct tensor_range range = {json_number_value(json_array_get(known, 0)),
                                       json_number_value(json_array_get(known, 1)),
                                       known != NULL,
                                       json_is_true(json_array_get(known, 2))};
    bool typed = tensor_type_float(c->type) || !c->structure; /* else bytes of anything */
    bool exact = fabs(range.low) < 0x1p53 && fabs(range.high) < 0x1p53;
    struct recorded any = *c;
    any.structure = false; /* floats are so only as texels */
    json_t *init = known ? range_init(r, member, &any, &range) : NULL;
    if (!init) {
        init = known && typed && exact ? like(c, &range) : json_pack("{s:i}", "fill", 0);
        draft_note(r->unknown, member,
                   "its contents are too large to record, so it has %s: give the "
                   "program smaller sizes",
                   json_object_get(init, "fill")     ? "zeros"
                   : json_object_get(init, "arange") ? "sorted numbers of its range"
                                                     : "random integers of its range");
    }
    return init;
}

/* Numbers that nobody expects, for an output that the launch does not read, else 0. */
static json_t *unwritten_value(const struct recorded *c, bool output) {
    size_t bytes = tensor_type_bytes(c->type);
    bool read = json_get_bool(c->memory, "read", 1);
    int poison = c->type == TENSOR_BOOL ? 1
                 : bytes == 1           ? 0x5a
                 : bytes == 2           ? 0x5a5a
                                        : 0x5a5a5a5a;
    return !output || (read && !tensor_type_float(c->type)) ? json_integer(0)
           : tensor_type_float(c->type)                     ? json_string("NaN")
                                                            : json_integer(poison);
}

json_t *recorded_unwritten(struct recorder *r, const char *member,
                           const struct recorded *c, bool output) {
    const char *after = json_get_string(c->memory, "after", "");
    json_t *value = unwritten_value(c, output);
    if (output && *after) {
        autofree char *number = xasprintf("%lld", (long long)json_integer_value(value));
        draft_note(r->unknown, member,
                   "the launch wrote %s of it, and what it leaves alone holds %s: say "
                   "with `judge` which elements matter",
                   strcmp(after, "none") ? "only a part" : "nothing",
                   json_is_string(value) ? "NaN" : number);
    }
    return json_pack("{s:o}", "fill", value);
}

json_t *recorded_init(struct recorder *r, const char *name, const char *member,
                      const struct recorded *c) {
    size_t len;
    autofree unsigned char *data =
        spec_array_decode(json_object_get(c->memory, "data"), &len);
    if (!data || len != (size_t)json_get_integer(c->memory, "bytes", -1)) {
        return large_init(r, member, c);
    }
    const struct tensor_range range =
        tensor_range_of(c->type, data, len / tensor_type_bytes(c->type));
    json_t *init = range_init(r, member, c, &range);
    return init ? init : file_init(r, name, c, data, len);
}
