#include "gpu/draft/run_draft.h"
#include "base/find.h"

#include "gpu/draft/draft_kernels.h"
#include "gpu/draft/kernel_use.h"
#include "gpu/draft/recorded_launch.h"
#include "gpu/draft/spec_draft.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/host/host_type.h"
#include "gpu/spec/spec_npy.h"
#include "gpu/spec/spec_struct.h"

enum { MEMBERS_MAX = 256 };
#define SLOW_US 2000000                /* a launch that is run once */
#define LARGE_BYTES (INT64_C(1) << 30) /* that few want to fill for a check */

struct size {
    const char *name;
    int64_t value;
    bool used;
};

struct drafted_run {
    struct host_program *p;
    const struct declaration *kernel;
    const json_t *record, *memory;
    struct recorder recorder;
    json_t *spec, *unknown, *buffers;
    struct host_param params[HOST_PARAMS_MAX];
    size_t count, pointed;
    const char *root; /* of the names of buffers that it leads to */
    struct size sizes[HOST_PARAMS_MAX];
    char names[RECORDED_MEMORY][HOST_PARAM_NAME]; /* of buffers that are described */
};

/* Memory of unknown elements. */
static const struct host_param of_bytes = {.type = TENSOR_TYPES, .lanes = 1};

/* --- parameters --- */

/* "k<float>(float*, int)": a symbol knows the types that a source only names. How many
 * there are; 0: it tells none. */
static size_t types_of_symbol(const char *symbol, struct host_param *ret) {
    autofree char *text = kernel_signature_new(symbol);
    int count = host_signature_params(text, ret, HOST_PARAMS_MAX);
    return count < 0 ? 0 : (size_t)count;
}

/* A kernel's parameters, where they may be those of the symbol. */
static bool params_fit(struct drafted_run *r, const struct declaration *kernel,
                       const struct host_param *types, size_t told, size_t given) {
    struct host_param list[HOST_PARAMS_MAX];
    int count = host_params(&r->p->b.tokens, kernel, list, HOST_PARAMS_MAX);
    bool fit = count >= 0 && (size_t)count == given;
    for (size_t i = 0; fit && i < given; i++) {
        const struct host_param *p = &list[i], *type = &types[i];
        host_type_resolve(r->p, NULL, &list[i]);
        fit = i >= told || p->type == TENSOR_TYPES || type->type == TENSOR_TYPES ||
              (p->type == type->type && p->lanes == type->lanes && p->kind == type->kind);
    }
    if (fit) {
        memcpy(r->params, list, sizeof list);
    }
    return fit;
}

/* By the first kernel of its name that fits; of a pack of parameters no names are known.
 */
static bool params_read(struct drafted_run *r) {
    const struct code_tokens *t = &r->p->b.tokens;
    const struct declaration *all[DRAFT_KERNELS_MAX];
    struct host_param types[HOST_PARAMS_MAX];
    size_t kernels = draft_kernels(r->p, all, DRAFT_KERNELS_MAX);
    size_t told = types_of_symbol(json_get_string(r->record, "symbol", ""), types);
    size_t given = json_array_size(json_object_get(r->record, "params"));
    r->count = given < HOST_PARAMS_MAX ? given : HOST_PARAMS_MAX;
    bool found = params_fit(r, r->kernel, types, told, r->count);
    for (size_t i = 0; i < kernels && !found; i++) {
        found = code_token_hash(t, all[i]->name) == code_token_hash(t, r->kernel->name) &&
                params_fit(r, all[i], types, told, r->count);
        r->kernel = found ? all[i] : r->kernel;
    }
    for (size_t i = 0; i < r->count; i++) {
        struct host_param *p = &r->params[i], one = i < told ? types[i] : *p;
        snprintf(one.name, sizeof one.name, "%s", p->name);
        if (!*one.name) {
            snprintf(one.name, sizeof one.name, "arg%zu", i);
        }
        memcpy(one.type_name, p->type_name, sizeof one.type_name);
        *p = one;
    }
    return given == r->count;
}

/* --- sizes --- */

static void sizes_read(struct drafted_run *r) {
    struct recorded_param b;
    for (size_t i = 0; i < r->count; i++) {
        const struct host_param *p = &r->params[i];
        bool integer = p->kind == HOST_SCALAR && p->lanes == 1 &&
                       !tensor_type_float(p->type) && p->type != TENSOR_BOOL;
        if (integer && recorded_param(r->record, i, &b) &&
            b.len == tensor_type_bytes(p->type)) {
            r->sizes[i] = (struct size){p->name, 0, false};
            r->sizes[i].value = (int64_t)tensor_get(p->type, b.data, 0);
        }
    }
}

static json_t *use_size(struct size *s) {
    s->used = true;
    return json_string(s->name);
}

/* Rows of as many elements as an argument says, one for each block along a dimension. */
static json_t *rows_of_blocks(struct drafted_run *r, int64_t n, int64_t ret[2],
                              size_t *rank) {
    const json_t *grid = json_object_get(r->record, "grid");
    for (size_t i = 0; i < 3 * r->count; i++) {
        struct size *s = &r->sizes[i % r->count];
        json_int_t blocks = json_integer_value(json_array_get(grid, i / r->count));
        if (s->name && s->value > 1 && blocks > 1 && n % s->value == 0 &&
            n / s->value == blocks) {
            ret[0] = blocks;
            ret[1] = s->value;
            *rank = 2;
            return json_pack("[I, o]", blocks, use_size(s));
        }
    }
    return NULL;
}

/* Rows and columns where the kernel shows which is which, else their product: a shape that
 * was guessed would be believed. */
static json_t *extents_of_two(struct drafted_run *r, const char *buffer, struct size *a,
                              struct size *b, int64_t ret[2], size_t *rank) {
    int row = a == b ? 1
                     : kernel_row_of(r->p, r->kernel, buffer,
                                     (const char *const[]){a->name, b->name}, 2);
    if (row < 0) {
        a->used = b->used = true;
        return json_pack("[o]", json_sprintf("%s * %s", a->name, b->name));
    }
    struct size *rows = row ? a : b, *columns = row ? b : a;
    ret[0] = rows->value;
    ret[1] = columns->value;
    *rank = 2;
    return json_pack("[o, o]", use_size(rows), use_size(columns));
}

/* An extent by the names of arguments, where it is one or a product of two. */
static json_t *extents_of(struct drafted_run *r, const char *buffer, int64_t n,
                          int64_t ret[2], size_t *rank) {
    *rank = 1;
    ret[0] = n;
    for (size_t i = 0; i < r->count; i++) {
        if (r->sizes[i].name && r->sizes[i].value == n && n > 1) {
            return json_pack("[o]", use_size(&r->sizes[i]));
        }
    }
    for (size_t i = 0; i < 2 * r->count * r->count; i++) { /* different ones first */
        struct size *a = &r->sizes[i / r->count % r->count];
        struct size *b = &r->sizes[i % r->count];
        bool turn = (a == b) == (i >= r->count * r->count);
        if (turn && a->name && b->name && a->value > 1 && b->value > 1 &&
            n % a->value == 0 && n / a->value == b->value) {
            return extents_of_two(r, buffer, a, b, ret, rank);
        }
    }
    json_t *rows = rows_of_blocks(r, n, ret, rank);
    return rows ? rows : json_pack("[I]", (json_int_t)n);
}

static void add_sizes(struct drafted_run *r) {
    autojson *sizes = json_object();
    for (size_t i = 0; i < r->count; i++) {
        if (r->sizes[i].used) {
            json_object_set_new(sizes, r->sizes[i].name, json_integer(r->sizes[i].value));
        }
    }
    if (json_object_size(sizes)) {
        json_object_set(r->spec, "sizes", sizes);
        json_object_set_new(r->spec, "odd_sizes", json_false());
    }
}

/* --- buffers --- */

static void give_contents(struct drafted_run *r, json_t *arg, const char *member,
                          const struct recorded *c) {
    const char *after = json_get_string(c->memory, "after", "");
    bool output = json_object_get(arg, "output") != NULL;
    bool held = !json_says(c->memory, "before", "none");
    if (held) {
        const char *name = json_get_string(arg, "name", "");
        json_object_set_new(arg, "init", recorded_init(&r->recorder, name, member, c));
    } else if (!output || strcmp(after, "all") != 0) { /* it may leave a part alone */
        json_object_set_new(arg, "init",
                            recorded_unwritten(&r->recorder, member, c, output));
    }
}

/* The launch wrote to it, or the kernel's text says that it may. */
static bool is_written(const struct drafted_run *r, const json_t *memory,
                       const struct host_param *p) {
    uint64_t hash = code_hash(p->name, strlen(p->name));
    bool told = *p->name && !p->is_const &&
                kernel_use_of(r->p, r->kernel, hash) & (USE_WRITES | USE_UNCLEAR);
    return told || json_get_bool(memory, "written", !p->is_const);
}

static const char *name_pointed(struct drafted_run *r, uint64_t address,
                                const struct host_param *of, uint64_t *offset);

/* {"of": "x", "at": 64}, a member of a structure; NULL: no pointer. */
static json_t *pointer_member(struct drafted_run *r, uint64_t address,
                              const struct host_param *of) {
    uint64_t offset;
    const char *buffer = name_pointed(r, address, of, &offset);
    json_t *ret = buffer ? json_pack("{s:s}", "of", buffer) : NULL;
    if (buffer && offset) {
        json_object_set_new(ret, "at", json_integer((json_int_t)offset));
    }
    return ret;
}

/* Of a structure the bytes: eight, four or one at a time, and pointers where they lead to
 * memory. */
static json_t *members_of(struct drafted_run *r, const uint8_t *data, size_t len,
                          const struct host_param *of) {
    size_t width = len % 8 == 0 ? 8 : len % 4 == 0 ? 4 : 1;
    enum tensor_type type = width == 8   ? TENSOR_INT64
                            : width == 4 ? TENSOR_INT32
                                         : TENSOR_UINT8;
    json_t *list = json_array(), *values = NULL;
    for (size_t at = 0; at < len; at += width) {
        json_t *pointer =
            width == 8 ? pointer_member(r, recorded_word(data + at), of) : NULL;
        if (pointer) {
            json_array_append_new(list, pointer);
            values = NULL;
            continue;
        }
        if (!values) {
            values = json_array();
            json_array_append_new(list,
                                  json_pack("{s:s, s:o}", "type", tensor_type_name(type),
                                            "values", values));
        }
        int64_t word = 0;
        memcpy(&word, data + at, width);
        json_array_append_new(values, width == 4 ? json_integer((int32_t)word)
                                                 : json_integer(word));
    }
    return list;
}

/* A structure with addresses, which another run gives other values. */
static void give_members(struct drafted_run *r, json_t *arg, const char *member,
                         const json_t *memory, const struct host_param *of) {
    size_t len;
    autofree unsigned char *data =
        spec_array_decode(json_object_get(memory, "data"), &len);
    json_t *list = len <= SPEC_STRUCT_MAX_BYTES ? members_of(r, data, len, of) : NULL;
    if (list && json_array_size(list) <= MEMBERS_MAX) {
        json_object_set_new(arg, "init", json_pack("{s:o}", "struct", list));
    } else {
        json_decref(list);
        json_object_set_new(arg, "init", json_null());
        draft_note(r->unknown, member,
                   "it holds too many pointers for a check spec: have a kernel of one "
                   "thread write them in a launch before");
    }
    if (json_object_get(arg, "output")) {
        json_object_set_new(arg, "judge", json_false());
        draft_note(r->unknown, member,
                   "it holds addresses, so it is not compared: say with `judge` which of "
                   "its bytes are");
    }
}

/* All of one allocation, described once. */
static json_t *buffer_of(struct drafted_run *r, size_t at, const char *name,
                         const struct host_param *p, const char *member) {
    const json_t *memory = json_array_get(r->memory, at);
    uint64_t bytes = (uint64_t)json_get_integer(memory, "bytes", 0);
    bool twice = p->kind == HOST_UNKNOWN; /* "T **x" leads to pointers to T */
    bool structure =
        twice || p->type == TENSOR_TYPES || bytes % tensor_type_bytes(p->type);
    bool wide =
        !structure && !tensor_type_float(p->type) && tensor_type_bytes(p->type) == 8;
    bool pointers = (structure || wide) && recorded_pointers(r->record, memory);
    struct host_param one = *p;
    one.kind = HOST_POINTER;
    enum tensor_type type = structure || pointers ? TENSOR_UINT8 : p->type;
    bool written = is_written(r, memory, p);
    struct recorded c = {
        .memory = memory, .type = type, .structure = structure, .varies = !written};
    json_t *arg = json_pack(
        "{s:s, s:s, s:o}", "name", name, "type", tensor_type_name(type), "shape",
        extents_of(r, name, (int64_t)(bytes / tensor_type_bytes(type)), c.extents, &c.rank));
    if (written) {
        json_object_set_new(arg, "output", json_true());
    }
    snprintf(r->names[at], sizeof r->names[at], "%s", name);
    if (pointers) {
        give_members(r, arg, member, memory, twice ? &one : &of_bytes);
    } else {
        give_contents(r, arg, member, &c);
    }
    return arg;
}

/* The name of the buffer at an address, described beside the arguments if nobody has yet;
 * NULL: the address leads nowhere. */
static const char *name_pointed(struct drafted_run *r, uint64_t address,
                                const struct host_param *of, uint64_t *offset) {
    size_t at;
    char own[HOST_PARAM_NAME];
    const json_t *memory = recorded_memory(r->record, address, &at, offset);
    if (!memory || json_object_get(memory, "image")) {
        return NULL;
    }
    if (!*r->names[at]) {
        snprintf(own, sizeof own, "%.50s_%zu", r->root, r->pointed++);
        json_array_append_new(r->buffers, buffer_of(r, at, own, of, own));
    }
    return r->names[at];
}

/* --- arguments --- */

static json_t *cannot(struct drafted_run *r, const char *member,
                      const struct host_param *p, const char *why) {
    draft_note(r->unknown, member, "%s", why);
    return json_pack("{s:s, s:n}", "name", p->name, "value");
}

static json_t *pointer_of(struct drafted_run *r, size_t i, uint64_t address,
                          const char *member) {
    const struct host_param *p = &r->params[i];
    size_t at;
    uint64_t offset;
    if (!address) {
        return json_pack("{s:s, s:s, s:i}", "name", p->name, "type", "uint64", "value",
                         0);
    }
    if (!recorded_memory(r->record, address, &at, &offset)) {
        return cannot(r, member, p, "it points to no memory of the device");
    }
    if (offset) {
        return json_pack("{s:s, s:[o]}", "name", p->name, "struct",
                         pointer_member(r, address, p));
    }
    return *r->names[at] ? json_string(r->names[at])
                         : buffer_of(r, at, p->name, p, member);
}

/* A texture or surface, and a buffer of its texels. */
static json_t *image_of(struct drafted_run *r, const struct host_param *p,
                        const json_t *memory, const char *member) {
    const json_t *image = json_object_get(memory, "image");
    const char *kind = json_get_string(image, "kind", "texture");
    struct recorded c = {.memory = memory,
                         .type = tensor_type_find(json_get_string(image, "type", "")),
                         .structure = true};
    json_t *shape = json_object_get(image, "shape"), *modes;
    if (c.type == TENSOR_TYPES || json_array_size(shape) > RECORDED_RANK) {
        return cannot(r, member, p, "its texels have a type that check specs lack");
    }
    json_each(shape, i, extent) {
        c.extents[c.rank++] = json_integer_value(extent);
    }
    autofree char *name = xasprintf("%.50s_texels", p->name);
    json_t *buffer = json_pack("{s:s, s:s, s:O}", "name", name, "type",
                               tensor_type_name(c.type), "shape", shape);
    if (strcmp(kind, "surface") == 0 && json_get_bool(memory, "written", 1)) {
        json_object_set_new(buffer, "output", json_true());
    }
    give_contents(r, buffer, member, &c);
    json_array_append_new(r->buffers, buffer);
    modes = json_pack("{s:s}", "of", name);
    json_object_update(modes, json_object_get(image, "modes"));
    return json_pack("{s:s, s:o}", "name", p->name, kind, modes);
}

static json_t *lanes_of(const struct host_param *p, const struct recorded_param *b) {
    json_t *values = json_list(k, 0, p->lanes,
                               recorded_number(p->type, tensor_get(p->type, b->data, k)));
    return json_pack("{s:s, s:[{s:s, s:o}], s:I}", "name", p->name, "struct", "type",
                     tensor_type_name(p->type), "values", values, "align",
                     (json_int_t)(p->lanes == 3 ? tensor_type_bytes(p->type) : b->len));
}

static json_t *scalar_of(struct drafted_run *r, size_t i,
                         const struct recorded_param *b) {
    const struct host_param *p = &r->params[i];
    int64_t whole = 0;
    memcpy(&whole, b->data, b->len < sizeof whole ? b->len : sizeof whole);
    json_t *value = r->sizes[i].used ? json_string(p->name)
                    : tensor_type_bytes(p->type) == 8 && !tensor_type_float(p->type)
                        ? json_integer(whole)
                        : recorded_number(p->type, tensor_get(p->type, b->data, 0));
    return json_pack("{s:s, s:s, s:o}", "name", p->name, "type",
                     tensor_type_name(p->type), "value", value);
}

static bool is_handle(const struct host_param *p) {
    return strstr(p->type_name, "cudaTextureObject") ||
           strstr(p->type_name, "cudaSurfaceObject");
}

static json_t *arg_of(struct drafted_run *r, size_t i) {
    const struct host_param *p = &r->params[i];
    struct recorded_param b;
    char member[64];
    size_t at;
    uint64_t offset;
    r->root = p->name;
    snprintf(member, sizeof member, "args[%zu]", i);
    if (!recorded_param(r->record, i, &b)) {
        return cannot(r, member, p, "its bytes were not recorded");
    }
    const json_t *memory =
        b.len == 8 ? recorded_memory(r->record, recorded_word(b.data), &at, &offset)
                   : NULL;
    if (json_object_get(memory, "image")) {
        return image_of(r, p, memory, member);
    }
    if (p->kind == HOST_TENSOR_MAP || is_handle(p)) {
        return cannot(r, member, p, "the object behind a handle is not recorded");
    }
    bool pointer =
        b.len == 8 && (p->kind == HOST_POINTER ||
                       (p->kind == HOST_UNKNOWN &&
                        recorded_memory(r->record, recorded_word(b.data), &at, &offset)));
    if (pointer) {
        return pointer_of(r, i, recorded_word(b.data), member);
    }
    bool known = p->kind == HOST_SCALAR && p->type != TENSOR_TYPES;
    size_t bytes = known ? tensor_type_bytes(p->type) : 0;
    return known && p->lanes == 1 && bytes == b.len ? scalar_of(r, i, &b)
           : known && p->lanes > 1 && bytes * p->lanes == b.len
               ? lanes_of(p, &b)
               : json_pack("{s:s, s:o}", "name", p->name, "struct",
                           members_of(r, b.data, b.len, &of_bytes));
}

/* Extents first: they say which arguments are sizes. */
static void add_args(struct drafted_run *r) {
    json_t *args =
        json_list(i, 0, r->count, r->sizes[i].name ? json_null() : arg_of(r, i));
    for (size_t i = 0; i < r->count; i++) {
        if (r->sizes[i].name) {
            json_array_set_new(args, i, arg_of(r, i));
        }
    }
    json_object_set_new(r->spec, "args", args);
    if (json_array_size(r->buffers)) {
        json_object_set(r->spec, "buffers", r->buffers);
    }
}

/* Variables of the device that the program gave a value. */
static void add_globals(struct drafted_run *r) {
    autojson *globals = json_object();
    json_each(r->memory, i, memory) {
        const char *symbol = json_get_string(memory, "variable", NULL);
        r->root = symbol;
        if (symbol && i < RECORDED_MEMORY) {
            json_t *one = buffer_of(r, i, symbol, &of_bytes, "globals");
            json_object_del(one, "name");
            json_object_del(one, "output");
            if (json_get_bool(memory, "written", 1)) {
                json_object_set_new(one, "scratch", json_true());
            }
            autofree char *name = kernel_name_new(symbol);
            json_object_set_new(globals, name, one);
        }
    }
    if (json_object_size(globals)) {
        json_object_set(r->spec, "globals", globals);
    }
}

/* --- the launch --- */

static json_t *grid_of(const json_t *extents) {
    json_t *ret = json_array();
    size_t count = json_integer_value(json_array_get(extents, 2)) != 1   ? 3
                   : json_integer_value(json_array_get(extents, 1)) != 1 ? 2
                                                                         : 1;
    for (size_t i = 0; i < count; i++) {
        json_array_append(ret, json_array_get(extents, i));
    }
    return ret;
}

static void add_launch(struct drafted_run *r) {
    const json_t *record = r->record, *cluster = json_object_get(record, "cluster");
    json_int_t shared = json_get_integer(record, "shared_bytes", 0);
    json_t *launch =
        json_pack("{s:o, s:o}", "grid", grid_of(json_object_get(record, "grid")), "block",
                  grid_of(json_object_get(record, "block")));
    if (cluster) {
        json_object_set_new(launch, "cluster", grid_of(cluster));
    }
    if (shared) {
        json_object_set_new(launch, "shared_bytes", json_integer(shared));
    }
    if (json_get_bool(record, "cooperative", 0)) {
        json_object_set_new(launch, "cooperative", json_true());
    }
    json_object_set_new(r->spec, "launch", launch);
}

static json_int_t all_bytes(const struct drafted_run *r) {
    json_int_t bytes = 0;
    json_each(r->memory, i, one) {
        json_int_t own = json_get_integer(one, "bytes", 0);
        bytes = __builtin_add_overflow(bytes, own, &bytes) ? INT64_MAX : bytes;
    }
    return bytes;
}

/* A validation runs it several times, once with a search for races. */
static void add_course(struct drafted_run *r) {
    json_int_t us = json_get_integer(r->record, "us", -1), bytes = all_bytes(r);
    if (us < 0) {
        draft_note(r->unknown, "sizes",
                   "the launch did not end in time: give the program smaller sizes as "
                   "arguments, or more `timeout_s`");
    } else if (bytes > LARGE_BYTES) {
        draft_note(r->unknown, "sizes",
                   "its arrays have %.1f GB: give the program smaller sizes as arguments "
                   "for a quick check",
                   (double)bytes / 1e9);
    }
    if (us > SLOW_US) {
        json_int_t s = us / 1000000 * 15;
        json_object_set_new(r->spec, "trials", json_integer(1));
        json_object_set_new(r->spec, "timeout_s", json_integer(s < 3600 ? s : 3600));
    }
}

json_t *run_draft(struct host_program *p, const struct declaration *kernel, bool named,
                  const json_t *record, const char *stem, struct recorded_files *files,
                  json_t **unknown) {
    autofree struct drafted_run *r = xcalloc(1, sizeof *r);
    *r = (struct drafted_run){.p = p,
                              .kernel = kernel,
                              .record = record,
                              .memory = json_object_get(record, "memory"),
                              .spec = json_object(),
                              .unknown = json_array(),
                              .buffers = json_array()};
    r->recorder = (struct recorder){stem, files, r->unknown};
    const char *symbol = json_get_string(record, "symbol", "");
    autofree char *name = draft_kernel_overloaded(p, kernel)
                              ? kernel_signature_new(symbol)
                              : kernel_name_new(symbol);
    json_t *ret = NULL;
    if (params_read(r)) {
        sizes_read(r);
        add_launch(r);
        add_args(r);
        add_globals(r);
        add_sizes(r);
        add_course(r);
        ret = draft_close(take(r->spec), named || strchr(name, '<') ? name : NULL,
                          r->unknown);
    }
    *unknown = r->unknown;
    json_decref(r->spec);
    json_decref(r->buffers);
    return ret;
}
