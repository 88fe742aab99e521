#include "gpu/runtime/launch_record.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/find.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/runtime/report.h"
#include "gpu/runtime/run_report.h"
#include "gpu/runtime/runtime.h"
#include "gpu/source/kernel_name.h"
#include "gpu/tensor/tensor_range.h"

#include <fcntl.h>
#include <unistd.h>

#define MOST_POINTERS (64u << 10) /* bytes of an array that is looked at for pointers */

static struct {
    char *kernel, *folder; /* NULL: nothing is recorded */
    json_t *event;         /* while the launch runs */
    struct record_list {
        const struct allocation *in;
        const struct image *image; /* of a texture or surface; NULL: all of the memory */
        uint64_t address;          /* or the image's handle */
    } memory[RUN_RECORD_MAX_MEMORY];
    unsigned count;
    uint64_t room, begun_us;
} record;

void launch_record_open(const json_t *asked) {
    const char *kernel = json_get_string(asked, "kernel", NULL);
    const char *report = getenv(RUN_REPORT_VARIABLE);
    if (kernel && report) {
        record.kernel = xstrdup(kernel);
        record.folder = xstrndup(report, (size_t)(path_basename(report) - report));
        record.room = RUN_RECORD_MAX_BYTES;
    }
}

bool launch_record_is_open(void) {
    return record.kernel != NULL;
}

static bool is_meant(const char *symbol) {
    const char *name = record.kernel;
    bool with_types = name[strlen(name) - 1] == ')';
    autofree char *own =
        with_types ? kernel_signature_new(symbol) : kernel_name_new(symbol);
    return !strcmp(symbol, name) || kernel_spelt_alike(own, name) ||
           (!with_types && kernel_name_ends_with(own, name));
}

/* --- memory --- */

static void add_memory(const struct allocation *a, const struct image *image,
                       uint64_t address) {
    for (unsigned i = 0; i < record.count; i++) {
        if (record.memory[i].address == address) {
            return;
        }
    }
    if (record.count < RUN_RECORD_MAX_MEMORY) {
        record.memory[record.count++] = (struct record_list){a, image, address};
    }
}

static void add_pointed(const uint8_t *bytes, size_t len) {
    for (size_t at = 0; at + 8 <= len; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        const struct allocation *a = device_memory_at(&runtime.device, word, 0);
        const struct image *image = images_find(&runtime.device.images, word);
        if (a) {
            add_memory(a, NULL, a->address);
        } else if (image) {
            add_memory(image->in, image, word);
        }
    }
}

static const struct ptx_variable *variable_of(const struct kernel *k,
                                              const struct allocation *a) {
    const struct ptx_module *m = k->module->ptx;
    return list_find(v, m->variables, m->variable_count,
                     v->function < 0 && v->size == a->bytes && !strcmp(v->name, a->name));
}

/* The program gave the variable another value than its source does. */
static bool is_set(const struct kernel *k, const struct allocation *a) {
    const struct ptx_variable *v = variable_of(k, a);
    bool set = v && v->relocation_count == 0 && v->initialiser &&
               memcmp(a->host, v->initialiser, a->bytes) != 0;
    for (uint64_t i = 0; v && !v->initialiser && i < a->bytes && !set; i++) {
        set = a->host[i] != 0;
    }
    return set;
}

static void find_memory(const struct kernel *k, const uint8_t *params) {
    const struct memory *m = &runtime.device.memory;
    add_pointed(params, k->entry->param_bytes);
    for (unsigned i = 0; i < record.count; i++) { /* and what those lead to */
        const struct allocation *a = record.memory[i].in;
        add_pointed(a->host, record.memory[i].image     ? 0
                             : a->bytes < MOST_POINTERS ? a->bytes
                                                        : MOST_POINTERS);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        const struct allocation *a = m->table[i];
        bool variable = a->kind == MEMORY_VARIABLE || a->kind == MEMORY_CONSTANT;
        if (variable && !a->freed && is_set(k, a)) {
            add_memory(a, NULL, a->address);
        }
    }
}

/* "none", "some" or "all" of its bytes were ever written. */
static const char *defined(const struct allocation *a) {
    bool any = false, all = true;
    for (uint64_t i = 0; a->shadow && i < a->bytes; i++) {
        bool one = a->shadow[i / 4] >> (i % 4) & 1;
        any |= one;
        all &= one;
    }
    return all ? "all" : any ? "some" : "none";
}

static uint64_t image_rows(const struct image *im) {
    return (uint64_t)(im->layers ? im->layers : 1) * im->extent[2] * im->extent[1];
}

static uint64_t recorded_bytes(const struct record_list *r) {
    const struct image *im = r->image;
    return im ? image_rows(im) * im->extent[0] * im->bytes : r->in->bytes;
}

/* Row by row: what an image shows may have gaps. */
static int bytes_write(int fd, const struct record_list *r) {
    const struct image *im = r->image;
    int rc = im ? 0 : file_write_all(fd, r->in->host, r->in->bytes);
    for (uint64_t row = 0; im && rc == 0 && row < image_rows(im); row++) {
        rc = file_write_all(fd, r->in->host + im->offset + row * im->pitch,
                            (size_t)im->extent[0] * im->bytes);
    }
    return rc;
}

static bool memory_write(unsigned i, const struct record_list *r) {
    autofree char *path = xasprintf("%s" RUN_RECORD_FILE, record.folder, i);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && bytes_write(fd, r) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return good;
}

/* --- images --- */

static enum tensor_type texel_type(const struct image *im) {
    static const struct {
        enum ptx_type ptx;
        enum tensor_type type;
    } types[] = {{PTX_F32, TENSOR_FLOAT32}, {PTX_F16, TENSOR_FLOAT16},
                 {PTX_U8, TENSOR_UINT8},    {PTX_S8, TENSOR_INT8},
                 {PTX_U16, TENSOR_UINT16},  {PTX_S16, TENSOR_INT16},
                 {PTX_U32, TENSOR_UINT32},  {PTX_S32, TENSOR_INT32}};
    size_t at = first_of(i, 0, ARRAY_LEN(types), types[i].ptx == im->type);
    return at < ARRAY_LEN(types) ? types[at].type : TENSOR_TYPES;
}

/* As a check spec has it: the slowest dimension first, channels last. */
static json_t *image_shape(const struct image *im) {
    json_t *ret = json_array();
    json_int_t faces = im->is_cube ? 6 : 1;
    if (im->layers && im->is_layered) {
        json_array_append_new(ret, json_integer(im->layers / faces));
    }
    if (im->is_cube) {
        json_array_append_new(ret, json_integer(6));
    }
    for (unsigned d = im->rank; d-- > 0;) {
        json_array_append_new(ret, json_integer(im->extent[d]));
    }
    if (im->channels > 1) {
        json_array_append_new(ret, json_integer(im->channels));
    }
    return ret;
}

/* A spec's "texture" or "surface", but for the buffer's name. */
static json_t *image_modes(const struct image *im) {
    static const char *const modes[] = {"wrap", "clamp", "mirror", "border"};
    autojson *address = json_array();
    json_t *ret = json_pack("{s:i}", "channels", (int)im->channels);
    for (unsigned d = im->rank; d-- > 0;) { /* as the shape's extents */
        json_array_append_new(address, json_string(modes[im->address[d] % 4]));
    }
    if (im->is_layered) {
        json_object_set_new(ret, "layered", json_true());
    }
    if (!im->is_surface) {
        autojson *more = json_pack(
            "{s:b, s:b, s:s, s:s, s:b, s:s, s:O}", "cube", im->is_cube, "seamless",
            im->is_seamless, "memory", im->is_linear ? "linear" : "array", "filter",
            im->filters ? "linear" : "point", "normalized", im->is_normalized, "read",
            im->reads_floats ? "normalized_float" : "element", "address", address);
        json_object_update(ret, more);
    }
    return ret;
}

static json_t *image_json(const struct image *im) {
    enum tensor_type type = texel_type(im);
    return json_pack("{s:s, s:s, s:o, s:o}", "kind",
                     im->is_surface ? "surface" : "texture", "type",
                     type == TENSOR_TYPES ? "" : tensor_type_name(type), "shape",
                     image_shape(im), "modes", image_modes(im));
}

/* Whoever reads it knows which type it has. */
static json_t *range_json(const struct tensor_range *r) {
    return json_pack("[f, f, b]", r->low, r->high, r->sorted);
}

static json_t *ranges_json(const struct allocation *a) {
    json_t *ret = json_object();
    for (enum tensor_type type = 0; type < TENSOR_TYPES; type++) {
        uint64_t count = a->bytes / tensor_type_bytes(type);
        const struct tensor_range r = tensor_range_of(type, a->host, count);
        if (r.finite && count) {
            json_object_set_new(ret, tensor_type_name(type), range_json(&r));
        }
    }
    return ret;
}

/* Row by row, as an image's bytes are written. */
static json_t *image_ranges_json(const struct record_list *r) {
    const struct image *im = r->image;
    enum tensor_type type = texel_type(im);
    struct tensor_range all = {0};
    if (type == TENSOR_TYPES) {
        return json_object();
    }
    uint64_t count = (uint64_t)im->extent[0] * im->bytes / tensor_type_bytes(type);
    for (uint64_t row = 0; row < image_rows(im); row++) {
        const uint8_t *at = r->in->host + im->offset + row * im->pitch;
        const struct tensor_range own = tensor_range_of(type, at, count);
        if (!own.finite) {
            return json_object();
        }
        all.low = row && all.low < own.low ? all.low : own.low;
        all.high = row && all.high > own.high ? all.high : own.high;
    }
    return json_pack("{s:o}", tensor_type_name(type), range_json(&all));
}

static json_t *memory_json(unsigned i, const struct record_list *r) {
    const struct allocation *a = r->in;
    const char *before = defined(a);
    uint64_t bytes = recorded_bytes(r);
    bool given = a->kind == MEMORY_VARIABLE || a->kind == MEMORY_CONSTANT;
    bool kept = strcmp(before, "none") != 0, fits = bytes <= record.room;
    if (kept && fits && memory_write(i, r)) {
        record.room -= bytes;
    }
    json_t *ret = json_pack("{s:I, s:I, s:s}", "address", (json_int_t)r->address, "bytes",
                            (json_int_t)bytes, "before", before);
    if (kept && !fits) {
        json_object_set_new(ret, "ranges",
                            r->image ? image_ranges_json(r) : ranges_json(a));
    }
    if (r->image) {
        json_object_set_new(ret, "image", image_json(r->image));
    } else if (given) {
        json_object_set_new(ret, "variable", json_clean_z(a->name));
    }
    return ret;
}

/* --- the launch --- */

static json_t *bytes_json(const uint8_t *bytes, size_t len) {
    static const char digits[] = "0123456789abcdef";
    autofree char *text = xmalloc(2 * len + 1);
    for (size_t i = 0; i < len; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return json_stringn(text, 2 * len);
}

static json_t *params_json(const struct kernel *k, const uint8_t *params) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < k->entry->param_count; i++) {
        const struct ptx_variable *v = &k->module->ptx->variables[k->entry->params[i]];
        json_array_append_new(list, bytes_json(params + v->offset, v->size));
    }
    return list;
}

static json_t *extents_json(const uint32_t e[3]) {
    return json_pack("[I, I, I]", (json_int_t)e[0], (json_int_t)e[1], (json_int_t)e[2]);
}

static json_t *event_of(const struct kernel *k, const struct launch_shape *shape,
                        const uint8_t *params) {
    json_t *event = report_event("record", 1, NULL), *memory = json_array();
    json_object_set_new(event, "symbol", json_clean_z(k->entry->name));
    json_object_set_new(event, "grid", extents_json(shape->grid));
    json_object_set_new(event, "block", extents_json(shape->block));
    if (shape->cluster[0]) {
        json_object_set_new(event, "cluster", extents_json(shape->cluster));
    }
    json_object_set_new(event, "shared_bytes", json_integer(shape->shared_bytes));
    json_object_set_new(event, "cooperative", json_boolean(shape->cooperative));
    json_object_set_new(event, "params", params_json(k, params));
    for (unsigned i = 0; i < record.count; i++) {
        json_array_append_new(memory, memory_json(i, &record.memory[i]));
    }
    json_object_set_new(event, "memory", memory);
    return event;
}

void launch_record_before(const struct kernel *k, const struct launch_shape *shape,
                          const uint8_t *params) {
    if (!record.kernel || !is_meant(k->entry->name)) {
        return;
    }
    find_memory(k, params);
    record.event = event_of(k, shape, params);
    record.begun_us = clock_us();
    report_line(json_deep_copy(record.event));
}

void launch_record_after(void) {
    uint32_t launch = runtime.device.memory.launch;
    if (!record.event) {
        return;
    }
    for (unsigned i = 0; i < record.count; i++) {
        const struct allocation *a = record.memory[i].in;
        json_t *one = json_array_get(json_object_get(record.event, "memory"), i);
        json_object_set_new(one, "read", json_boolean(a->read_in == launch));
        json_object_set_new(one, "written", json_boolean(a->written_in == launch));
        json_object_set_new(one, "after", json_string(defined(a)));
    }
    json_object_set_new(record.event, "us",
                        json_integer((json_int_t)(clock_us() - record.begun_us)));
    report_line(record.event);
    _exit(0);
}
