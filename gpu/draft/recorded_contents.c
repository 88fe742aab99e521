#include "gpu/draft/recorded_contents.h"

#include "gpu/draft/spec_draft.h"
#include "gpu/spec/spec_npy.h"
#include "gpu/tensor/npy.h"
#include "gpu/tensor/tensor_range.h"

#include <math.h>
#include <stdio.h>

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

/* Random in the range that it had; NULL: only the bytes themselves will do. */
static json_t *range_init(const struct recorded *c, const struct tensor_range *range) {
    bool exact = fabs(range->low) < 0x1p53;
    if (range->low == range->high && range->finite && exact) {
        return json_pack("{s:o}", "fill", recorded_number(c->type, range->low));
    }
    bool random = tensor_type_float(c->type) && range->finite && range->low < range->high;
    return random && !range->sorted && !c->structure
               ? json_pack("{s:[o, o]}", "uniform", recorded_number(c->type, range->low),
                           recorded_number(c->type, range->high))
               : NULL;
}

/* As many sorted numbers, or random integers, of the same range. */
static json_t *like(const struct recorded *c, const struct tensor_range *range) {
    json_int_t bytes = json_get_integer(c->memory, "bytes", 0);
    double count = (double)(bytes / tensor_type_bytes(c->type));
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
    json_t *init = known ? range_init(&any, &range) : NULL;
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
    json_t *init = range_init(c, &range);
    return init ? init : file_init(r, name, c, data, len);
}
