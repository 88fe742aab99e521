#include "gpu/runtime/launch_record.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/runtime/report.h"
#include "gpu/runtime/run_report.h"
#include "gpu/runtime/runtime.h"
#include "gpu/source/kernel_name.h"
#include "gpu/tensor/tensor_range.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MOST_POINTERS (64u << 10) /* bytes of an array that is looked at for pointers */

static struct {
    char *kernel, *folder; /* NULL: nothing is recorded */
    json_t *event;         /* while the launch runs */
    const struct allocation *memory[RUN_RECORD_MAX_MEMORY];
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

static bool is_meant(const char *symbol) {
    autofree char *own = kernel_name_new(symbol);
    return !strcmp(symbol, record.kernel) || kernel_spelt_alike(own, record.kernel) ||
           kernel_name_ends_with(own, record.kernel);
}

/* --- memory --- */

static void add_memory(const struct allocation *a) {
    for (unsigned i = 0; i < record.count; i++) {
        if (record.memory[i] == a) {
            return;
        }
    }
    if (record.count < RUN_RECORD_MAX_MEMORY) {
        record.memory[record.count++] = a;
    }
}

static void add_pointed(const uint8_t *bytes, size_t len) {
    for (size_t at = 0; at + 8 <= len; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        const struct allocation *a = device_memory_at(&runtime.device, word, 0);
        if (a) {
            add_memory(a);
        }
    }
}

static const struct ptx_variable *variable_of(const struct kernel *k,
                                              const struct allocation *a) {
    const struct ptx_module *m = k->module->ptx;
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const struct ptx_variable *v = &m->variables[i];
        if (v->function < 0 && v->size == a->bytes && !strcmp(v->name, a->name)) {
            return v;
        }
    }
    return NULL;
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
    for (unsigned i = 0, direct = record.count; i < direct; i++) {
        const struct allocation *a = record.memory[i];
        add_pointed(a->host, a->bytes < MOST_POINTERS ? a->bytes : MOST_POINTERS);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        const struct allocation *a = m->table[i];
        bool variable = a->kind == MEMORY_VARIABLE || a->kind == MEMORY_CONSTANT;
        if (variable && !a->freed && is_set(k, a)) {
            add_memory(a);
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

static bool memory_write(unsigned i, const struct allocation *a) {
    autofree char *path = xasprintf("%s" RUN_RECORD_FILE, record.folder, i);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && file_write_all(fd, a->host, a->bytes) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return good;
}

/* Whoever reads it knows which type it has. */
static json_t *ranges_json(const struct allocation *a) {
    static const enum tensor_type types[] = {
        TENSOR_FLOAT32, TENSOR_FLOAT64, TENSOR_FLOAT16, TENSOR_BFLOAT16,
        TENSOR_INT32,   TENSOR_INT64,   TENSOR_UINT8};
    json_t *ret = json_object();
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        uint64_t count = a->bytes / tensor_type_bytes(types[i]);
        const struct tensor_range r = tensor_range_of(types[i], a->host, count);
        if (r.finite && count) {
            json_object_set_new(ret, tensor_type_name(types[i]),
                                json_pack("[f, f, b]", r.low, r.high, r.sorted));
        }
    }
    return ret;
}

static json_t *memory_json(unsigned i, const struct allocation *a) {
    const char *before = defined(a);
    bool given = a->kind == MEMORY_VARIABLE || a->kind == MEMORY_CONSTANT;
    bool kept = strcmp(before, "none") != 0, fits = a->bytes <= record.room;
    if (kept && fits && memory_write(i, a)) {
        record.room -= a->bytes;
    }
    json_t *ret = json_pack("{s:I, s:I, s:s}", "address", (json_int_t)a->address, "bytes",
                            (json_int_t)a->bytes, "before", before);
    if (kept && !fits) {
        json_object_set_new(ret, "ranges", ranges_json(a));
    }
    if (given) {
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
        json_array_append_new(memory, memory_json(i, record.memory[i]));
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
        const struct allocation *a = record.memory[i];
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
