#include "gpu/draft/spec_draft.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "gpu/draft/draft_kernels.h"
#include "gpu/draft/draft_launch.h"
#include "gpu/draft/draft_rows.h"
#include "gpu/draft/draft_sizes.h"
#include "gpu/draft/host_buffer.h"
#include "gpu/draft/kernel_use.h"
#include "gpu/host/host_type.h"

#include <stdarg.h>

#define STANDS_IN_DECIMAL 0.5

struct draft {
    struct host_program *p;
    const struct declaration *kernel;
    struct kernel_launch launch;
    struct host_sizes sizes;
    json_t *spec, *unknown;
    bool stands_in;   /* zeros stand in for integers that the host gives the kernel */
    uint64_t outside; /* arguments whose extent is a number from outside that the kernel
                         is not told */
};

void draft_note(json_t *unknown, const char *member, const char *format, ...) {
    char why[600];
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    json_array_append_new(unknown, json_pack("{s:o, s:o}", "member", json_clean_z(member),
                                             "why", json_clean_z(why)));
}

static json_t *amount_json(const struct amount *a) {
    char text[AMOUNT_WRITTEN];
    amount_write(a, text);
    return *a->text ? json_string(text) : json_integer(a->value);
}

/* --- buffers --- */

static json_t *init_of(const struct host_param *p, bool zeros) {
    return zeros ? json_pack("{s:i}", "fill", 0)
           : tensor_type_float(p->type)
               ? json_pack("{s:[i,i]}", "normal", 0, 1)
               : json_pack("{s:[i,i]}", "integers", 0, p->type == TENSOR_BOOL ? 2 : 100);
}

/* A product of names alone has one extent for each, until the kernel is asked for its
 * rows. */
static json_t *factors_json(const struct amount *a) {
    json_t *extents = json_array();
    for (const char *at = a->text; a->multiplier == 1; at += 3) {
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_");
        json_array_append_new(extents, json_stringn(at, len));
        at += len;
        if (!*at && len) {
            return extents;
        }
        if (strncmp(at, " * ", 3) != 0) {
            break;
        }
    }
    json_decref(extents);
    return json_pack("[o]", amount_json(a));
}

/* The elements of what was allocated; NULL: not known. */
static json_t *shape_of(struct draft *d, const struct host_buffer *b, size_t bytes) {
    struct amount a;
    if (b->bytes.from == b->bytes.to || !host_amount(d->p, &d->sizes, &b->bytes, &a) ||
        a.value <= 0 || !amount_divide(&a, (int64_t)bytes)) {
        return NULL;
    }
    return factors_json(&a);
}

/* What the first contents of a buffer are: zeros where any number may be an index, or
 * bits of a structure. */
static void fill_buffer(struct draft *d, json_t *arg, const struct host_param *p,
                        const struct host_buffer *b, const char *member, bool structure) {
    struct amount fill;
    bool zero_set = b->contents == CONTENTS_SET &&
                    host_amount(d->p, &d->sizes, &b->fill, &fill) && fill.value == 0;
    bool zeros = zero_set || structure || !tensor_type_float(p->type);
    json_object_set_new(arg, "init", init_of(p, zeros));
    if (zeros && !zero_set) {
        d->stands_in = true;
        draft_note(
            d->unknown, member,
            "the data that the host copies there is unknown, so it has zeros, which are "
            "safe as indices");
    }
}

static bool varies(const struct draft *d) {
    return any_of(i, 0, d->sizes.count, !d->sizes.list[i].fixed);
}

/* Whether the kernel must write all of it: the host reads all of it afterwards, and what
 * the kernel is told here is what the host tells it. Other integers may leave out
 * elements, and so may a size that the extent does not know. */
static bool is_written_whole(struct draft *d, const json_t *arg,
                             const struct host_buffer *b) {
    struct amount all, back;
    bool read = b->copied_back.from < b->copied_back.to &&
                host_amount(d->p, &d->sizes, &b->bytes, &all) &&
                host_amount(d->p, &d->sizes, &b->copied_back, &back) &&
                all.value == back.value;
    const json_t *extent = json_array_get(json_object_get(arg, "shape"), 0);
    return read && !d->stands_in && (json_is_string(extent) || !varies(d));
}

static unsigned use_of(struct draft *d, const struct host_param *p) {
    uint64_t name = code_hash(p->name, strlen(p->name));
    return p->is_const ? USE_READS : kernel_use_of(d->p, d->kernel, name);
}

static void give_contents(struct draft *d, json_t *arg, const struct host_param *p,
                          const struct host_buffer *b, size_t i, bool structure) {
    char member[64];
    bool filled = b->contents != CONTENTS_NONE || b->launched_before;
    snprintf(member, sizeof member, "args[%zu].init", i);
    if (use_of(d, p) != USE_WRITES || filled) {
        fill_buffer(d, arg, p, b, member, structure);
    } else if (!is_written_whole(d, arg, b)) {
        /* The kernel may leave a part of it alone: nothing says that it must not. */
        json_object_set_new(
            arg, "init",
            tensor_type_float(p->type)
                ? json_pack("{s:s}", "fill", "NaN")
                : json_pack("{s:i}", "fill", p->type == TENSOR_BOOL ? 1 : 100));
    }
}

static void give_role(struct draft *d, json_t *arg, const struct host_param *p,
                      const struct host_buffer *b, size_t i) {
    char member[64];
    unsigned use = use_of(d, p);
    bool kept = b->bytes.from < b->bytes.to && b->contents != CONTENTS_MANAGED &&
                b->copied_back.from == b->copied_back.to;
    snprintf(member, sizeof member, "args[%zu].output", i);
    if (use & (USE_WRITES | USE_UNCLEAR)) {
        json_object_set_new(arg, "output", json_true());
    }
    if (use & USE_WRITES && kept) {
        draft_note(d->unknown, member,
                   "no copy of %s to the host was found: it is an output, or workspace "
                   "(\"scratch\": true)",
                   p->name);
    } else if (!(use & USE_WRITES) && use & USE_UNCLEAR) {
        draft_note(d->unknown, member,
                   "the source does not show whether %s is "
                   "an output",
                   p->name);
    }
}

/* Of no known type are a template's parameter, and a structure whose bytes are not
 * counted. */
static json_t *buffer_of(struct draft *d, const struct host_param *param, size_t i,
                         const struct place *given) {
    struct host_param p = *param;
    struct host_buffer b = {.contents = CONTENTS_NONE};
    char member[64];
    bool followed = given && host_buffer_read(d->p, given, d->launch.open, &b);
    bool structure = p.type == TENSOR_TYPES;
    size_t bytes = structure ? 1 : tensor_type_bytes(p.type);
    bool outside = d->outside >> i & 1;
    json_t *shape = followed && !outside ? shape_of(d, &b, bytes) : NULL;
    bool typed = !structure || shape;
    if (structure) {
        p.type = TENSOR_UINT8;
    }
    json_t *type = typed ? json_string(tensor_type_name(p.type)) : json_null(),
           *arg = json_pack("{s:s, s:o}", "name", p.name, "type", type);
    snprintf(member, sizeof member, "args[%zu].type", i);
    if (structure) {
        draft_note(d->unknown, member,
                   typed ? "elements of the type %s are given as bytes"
                         : "the source does not show the type of %s: name one, such as "
                           "float32",
                   p.type_name);
    }
    if (!shape) {
        snprintf(member, sizeof member, "args[%zu].shape", i);
        draft_note(d->unknown, member,
                   outside ? "the size of %s comes from outside of the source"
                           : "the host code does not show the size of %s",
                   p.name);
    }
    json_object_set_new(arg, "shape", shape ? shape : json_null());
    if (typed) {
        give_contents(d, arg, &p, &b, i, structure);
    }
    give_role(d, arg, &p, &b, i);
    return arg;
}

/* --- arguments --- */

static json_t *integer_of(struct draft *d, const struct host_param *p, size_t i,
                          const struct place *given) {
    struct amount a;
    char member[64];
    snprintf(member, sizeof member, "args[%zu].value", i);
    if (given && host_amount(d->p, &d->sizes, given, &a)) {
        return amount_json(&a);
    }
    draft_note(d->unknown, member, "the host code does not show the value of %s",
               p->name);
    return json_null();
}

static json_t *decimal_of(struct draft *d, const struct host_param *p, size_t i,
                          const struct place *given) {
    double value = STANDS_IN_DECIMAL;
    char member[64];
    if (!given || !host_decimal(d->p, given, &value)) {
        snprintf(member, sizeof member, "args[%zu].value", i);
        draft_note(d->unknown, member,
                   "the host code does not show the value of %s: %g is an example",
                   p->name, value);
    }
    return json_real(value);
}

static json_t *arg_of(struct draft *d, const struct host_param *p, size_t i,
                      const struct place *given) {
    char member[64];
    if (p->kind == HOST_POINTER) {
        return buffer_of(d, p, i, given);
    }
    if (p->kind == HOST_SCALAR && p->lanes > 1) { /* float3 and the like */
        json_t *value = tensor_type_float(p->type) ? decimal_of(d, p, i, NULL)
                                                   : integer_of(d, p, i, NULL);
        return json_pack("{s:s, s:[{s:s, s:o, s:i}]}", "name", p->name, "struct", "type",
                         tensor_type_name(p->type), "value", value, "count",
                         (int)p->lanes);
    }
    if (p->kind == HOST_SCALAR) {
        json_t *value = tensor_type_float(p->type) ? decimal_of(d, p, i, given)
                                                   : integer_of(d, p, i, given);
        return json_pack("{s:s, s:s, s:o}", "name", p->name, "type",
                         tensor_type_name(p->type), "value", value);
    }
    snprintf(member, sizeof member, "args[%zu]", i);
    draft_note(d->unknown, member, "a %s is passed by value: describe it", p->type_name);
    return p->kind == HOST_TENSOR_MAP
               ? json_pack("{s:s, s:n}", "name", p->name, "tensor_map")
               : json_pack("{s:s, s:n}", "name", p->name, "struct");
}

static json_t *args_of(struct draft *d, struct host_param *params, int count) {
    json_t *args = json_array();
    for (int i = 0; i < count; i++) {
        host_type_resolve(d->p, NULL, &params[i]);
    }
    for (int i = 0; i < count; i++) {
        struct place part;
        bool given = d->launch.found && host_part(&d->launch.args, (size_t)i, &part);
        if (!*params[i].name) {
            snprintf(params[i].name, HOST_PARAM_NAME, "arg%d", i);
        }
        json_array_append_new(args,
                              arg_of(d, &params[i], (size_t)i, given ? &part : NULL));
    }
    draft_rows_show(d->p, d->kernel, args);
    return args;
}

/* --- the launch --- */

static json_t *extents_json(struct draft *d, const struct amount list[3], bool known,
                            const char *member) {
    json_t *ret = json_array();
    int count = list[2].value != 1 || *list[2].text   ? 3
                : list[1].value != 1 || *list[1].text ? 2
                                                      : 1;
    for (int i = 0; known && i < count; i++) {
        json_array_append_new(ret, amount_json(&list[i]));
    }
    if (!known) {
        json_decref(ret);
        draft_note(d->unknown, member,
                   d->launch.found
                       ? "the launch in the source has no value that can be read"
                       : "no launch kernel<<<grid, block>>>(…) is in the source");
    }
    return known ? ret : json_null();
}

static json_t *launch_of(struct draft *d) {
    struct kernel_launch *l = &d->launch;
    if (l->found) {
        kernel_launch_read(d->p, &d->sizes, l);
    }
    json_t *ret = json_object();
    json_object_set_new(ret, "grid",
                        extents_json(d, l->grid, l->has_grid, "launch.grid"));
    json_object_set_new(ret, "block",
                        extents_json(d, l->block, l->has_block, "launch.block"));
    if (l->found && !l->has_shared) {
        json_object_set_new(ret, "shared_bytes", json_null());
        draft_note(d->unknown, "launch.shared_bytes",
                   "the launch in the source has no value that can be read");
    } else if (l->found && (l->shared.value > 0 || *l->shared.text)) {
        json_object_set_new(ret, "shared_bytes", amount_json(&l->shared));
    }
    return ret;
}

/* --- sizes --- */

static bool has_name(const char *text, const char *name) {
    size_t len = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += len) {
        if ((at == text || !text_is_word(at[-1])) && !text_is_word(at[len])) {
            return true;
        }
    }
    return false;
}

static bool list_names(const json_t *list, const char *name) {
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item) {
        if (json_is_string(item) && has_name(json_string_value(item), name)) {
            return true;
        }
    }
    return false;
}

/* A number that the kernel is not told, neither as an argument nor as blocks for a buffer
 * that grows with it, is not to be varied. */
static bool is_told(const json_t *spec, const char *name) {
    const json_t *arg, *launch = json_object_get(spec, "launch");
    bool blocks = list_names(json_object_get(launch, "grid"), name), shape = false;
    size_t i;
    json_array_foreach(json_object_get(spec, "args"), i, arg) {
        if (has_name(json_get_string(arg, "value", ""), name)) {
            return true;
        }
        shape |= list_names(json_object_get(arg, "shape"), name);
    }
    return blocks && shape;
}

/* A fixed extent that may be just enough for this value: another one would go beyond. */
static bool is_confined(const json_t *spec, int64_t value) {
    json_each(json_object_get(spec, "args"), i, arg) {
        const json_t *shape = json_object_get(arg, "shape");
        int64_t elements = json_integer_value(json_array_get(shape, 0));
        if (json_array_size(shape) == 1 && elements >= value) {
            return true;
        }
    }
    return false;
}

/* False: none had to be fixed. */
static bool fix_sizes(struct draft *d) {
    bool changed = false;
    const json_t *arg, *args = json_object_get(d->spec, "args");
    for (size_t i = 0, at; i < d->sizes.count; i++) {
        struct host_size *s = &d->sizes.list[i];
        bool told = is_told(d->spec, s->name);
        bool fixed = !told || is_confined(d->spec, s->value);
        changed |= fixed && !s->fixed;
        s->fixed |= fixed;
        json_array_foreach(args, at, arg) {
            if (!told && s->stands_in &&
                list_names(json_object_get(arg, "shape"), s->name)) {
                d->outside |= UINT64_C(1) << at;
            }
        }
    }
    return changed;
}

static void add_sizes(struct draft *d) {
    json_t *sizes = json_object();
    const struct host_sizes before = d->sizes;
    char member[HOST_SIZE_NAME + 8];
    draft_sizes_shrink(&d->sizes, d->spec);
    for (size_t i = 0; i < d->sizes.count; i++) {
        const struct host_size *s = &d->sizes.list[i];
        snprintf(member, sizeof member, "sizes.%s", s->name);
        if (s->stands_in) {
            draft_note(d->unknown, member,
                       "it comes from outside of the source: %lld is an example",
                       (long long)s->value);
        } else if (s->value != before.list[i].value) {
            draft_note(d->unknown, member,
                       "the source has %lld: smaller, for the CPU backend",
                       (long long)before.list[i].value);
        }
        if (!s->fixed) {
            json_object_set_new(sizes, s->name, json_integer(s->value));
        }
    }
    if (json_object_size(sizes)) {
        json_object_set_new(d->spec, "sizes", sizes);
    } else {
        json_decref(sizes);
    }
}

/* --- the draft --- */

/* What was not known of an argument's value is not known of the size. */
static void rename_unknown(json_t *unknown, size_t arg, const char *size) {
    char member[64];
    snprintf(member, sizeof member, "args[%zu].value", arg);
    json_each(unknown, i, one) {
        if (json_says(one, "member", member)) {
            autofree char *name = xasprintf("sizes.%s", size);
            json_object_set_new(one, "member", json_clean_z(name));
        }
    }
}

/* Without a launch integers are sizes of the parameters' own names. */
void draft_free_sizes(json_t *spec, json_t *unknown) {
    json_t *sizes = json_object(), *arg;
    size_t i;
    json_array_foreach(json_object_get(spec, "args"), i, arg) {
        const char *name = json_get_string(arg, "name", "");
        if (json_is_null(json_object_get(arg, "value"))) {
            json_object_set_new(arg, "value", json_string(name));
            json_object_set_new(sizes, name, json_null());
            rename_unknown(unknown, i, name);
        }
    }
    if (json_object_size(sizes)) {
        json_object_set_new(spec, "sizes", sizes);
    } else {
        json_decref(sizes);
    }
}

static bool draft_once(struct draft *d) {
    struct host_param params[HOST_PARAMS_MAX];
    int count = host_params(&d->p->b.tokens, d->kernel, params, HOST_PARAMS_MAX);
    if (count < 0) {
        return false;
    }
    json_array_clear(d->unknown);
    json_object_clear(d->spec);
    json_object_set_new(d->spec, "launch", launch_of(d));
    json_object_set_new(d->spec, "args", args_of(d, params, count));
    return true;
}

/* In the order in which people read a spec. */
json_t *draft_close(json_t *spec, const char *kernel, json_t *unknown) {
    static const char *const order[] = {"kernel",    "sizes",   "odd_sizes", "launch",
                                        "args",      "buffers", "globals",   "trials",
                                        "timeout_s", "expect"};
    json_t *ret = json_object();
    if (kernel) {
        json_object_set_new(spec, "kernel", json_string(kernel));
    }
    json_object_set_new(spec, "expect", json_null());
    draft_note(unknown, "expect",
               "the expected outputs, such as {\"op\": \"softmax\"}: without them, nothing "
               "is judged");
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        json_t *value = json_object_get(spec, order[i]);
        if (value) {
            json_object_set(ret, order[i], value);
        }
    }
    json_decref(spec);
    return ret;
}

json_t *spec_draft(struct host_program *p, const struct declaration *kernel, bool named,
                   json_t **unknown) {
    struct draft d = {
        .p = p, .kernel = kernel, .spec = json_object(), .unknown = json_array()};
    bool alone = draft_launch_find(p, kernel, &d.launch);
    autofree char *name = draft_launch_kernel(p, &d.sizes, kernel, &d.launch);
    json_t *ret = NULL;
    if (!draft_once(&d)) {
        json_decref(d.spec);
    } else {
        bool changed;
        do { /* once more, for what an argument says of those before it */
            changed = fix_sizes(&d);
            draft_once(&d);
        } while (changed);
        if (d.launch.found) {
            add_sizes(&d);
        } else {
            draft_free_sizes(d.spec, d.unknown);
        }
        if (d.launch.found && !strchr(name, '<') &&
            code_word(d.launch.name.t, d.launch.name.from + 1) == WORD_LESS) {
            draft_note(
                d.unknown, "kernel",
                "the host code does not show its template arguments: name it with them, "
                "such as %.60s<float>",
                name);
        }
        if (draft_kernel_overloaded(p, kernel)) {
            draft_note(d.unknown, "kernel",
                       "the source has several kernels of this name: also give the types "
                       "of its parameters, such as %.60s(float*, int)",
                       name);
        }
        if (!alone) {
            draft_note(d.unknown, "launch",
                       "the source has several different launches of it: this is the "
                       "first with known extents");
        }
        ret = draft_close(d.spec, named || strchr(name, '<') ? name : NULL, d.unknown);
    }
    *unknown = d.unknown;
    return ret;
}

/* --- as text --- */

static void write_list(struct buf *out, const json_t *list) {
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) {
        autofree char *text = json_shown(item, 0);
        buf_addf(out, "%s\n    %s", i ? "," : "", text);
    }
}

char *spec_draft_text(const json_t *draft) {
    autobuf out = BUF_INIT(64u << 10);
    const char *name, *separator = "{";
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)draft, name, value) {
        buf_addf(&out, "%s\n  \"%s\": ", separator, name);
        if (json_is_array(value) && json_array_size(value)) {
            buf_addc(&out, '[');
            write_list(&out, value);
            buf_adds(&out, "\n  ]");
        } else {
            autofree char *text = json_shown(value, 0);
            buf_adds(&out, text);
        }
        separator = ",";
    }
    buf_adds(&out, "\n}\n");
    return buf_detach(&out);
}
