/* The parameter block of a launch. */
#include "base/err.h"
#include "gpu/spec/spec_case.h"
#include "gpu/spec/spec_struct.h"

struct packing {
    const struct spec_case *c;
    const struct spec_launch *launch;
    const struct kernel_param *params;
    const struct case_places *places;
    char at[128]; /* what is packed, for errors */
    char *to;
    struct err *err;
};

static int wrong_size(const struct packing *p, size_t i, size_t given) {
    const char *name = p->launch->args[i].name;
    return err_set(p->err, -EINVAL,
                   "%sargs[%zu]%s%.64s has %zu bytes, the kernel's parameter %llu",
                   p->launch->at, i, *name ? " " : "", name, given,
                   (unsigned long long)p->params[i].bytes);
}

int case_scalar(const struct spec_case *c, enum tensor_type type, const json_t *value,
                const char *at, void *to, struct err *err) {
    if (tensor_type_float(type) && (json_is_number(value) || spec_is_special(value))) {
        tensor_set(type, to, 0, spec_number(value));
        return 0;
    }
    if (tensor_type_float(type) && json_is_string(value)) {
        double real = 0;
        int n = value_expression_number(json_string_value(value), &c->size_list, &real, err);
        tensor_set(type, to, 0, real);
        return n;
    }
    int64_t number = json_is_boolean(value) ? json_is_true(value) : 0;
    int n = json_is_boolean(value) ? 0 : case_size_value(c, value, &number, err);
    if (n == 0 && !tensor_type_holds(type, number)) {
        return err_set(err, -EINVAL, "%s: the value %lld is not a valid %s", at,
                       (long long)number, tensor_type_name(type));
    }
    tensor_set_integer(type, to, 0, number);
    return n;
}

static int scalar_to(const struct packing *p, enum tensor_type type, const json_t *value,
                     void *to) {
    return case_scalar(p->c, type, value, p->at, to, p->err);
}

static int pack_value(const struct spec_struct_value *value, void *data) {
    const struct packing *p = data;
    char *to = p->to + value->offset;
    if (value->type < TENSOR_TYPES) {
        return scalar_to(p, value->type, value->value, to);
    }
    size_t buffer = kernel_spec_buffer(p->c->spec, json_string_value(value->value));
    uint64_t address = p->places->addresses[buffer];
    int64_t at = 0;
    int n = value->at ? case_size_value(p->c, value->at, &at, p->err) : 0;
    if (n == 0 && (at < 0 || (uint64_t)at > p->c->buffers[buffer].bytes)) {
        return err_set(p->err, -EINVAL, "%s: %s has %zu bytes, \"at\" is %lld", p->at,
                       json_string_value(value->value), p->c->buffers[buffer].bytes,
                       (long long)at);
    }
    address += (uint64_t)at;
    memcpy(to, &address, sizeof address);
    return n;
}

static int pack_pointer(const struct packing *p, size_t i, uint64_t address) {
    if (p->params[i].bytes != sizeof address) {
        return wrong_size(p, i, sizeof address);
    }
    memcpy(p->to, &address, sizeof address);
    return 0;
}

static int pack_arg(struct packing *p, size_t i) {
    const struct spec_arg *arg = &p->launch->args[i];
    size_t bytes;
    switch (arg->kind) {
    case ARG_BUFFER:
        return pack_pointer(p, i, p->places->addresses[arg->buffer]);
    case ARG_POINTERS:
    case ARG_TEXTURE:
    case ARG_SURFACE:
        return pack_pointer(p, i, p->places->handles[i]);
    case ARG_TENSOR_MAP:
        if (p->params[i].bytes != TENSOR_MAP_BYTES) {
            return wrong_size(p, i, TENSOR_MAP_BYTES);
        }
        memcpy(p->to, p->places->tensor_maps[i], TENSOR_MAP_BYTES);
        return 0;
    case ARG_CONTENTS: /* filled when the launch begins */
        bytes = p->c->buffers[arg->buffer].bytes;
        return bytes < p->params[i].bytes ? wrong_size(p, i, bytes) : 0;
    case ARG_STRUCT:
        bytes = spec_struct_layout(arg->json).bytes;
        return bytes != p->params[i].bytes ? wrong_size(p, i, bytes)
                                           : spec_struct_each(arg->json, pack_value, p);
    default:
        bytes = tensor_type_bytes(arg->type);
        return bytes != p->params[i].bytes ? wrong_size(p, i, bytes)
                                           : scalar_to(p, arg->type, arg->value, p->to);
    }
}

int spec_case_params(const struct spec_case *c, const struct spec_launch *launch,
                     const struct kernel_param *params, size_t param_count,
                     const struct case_places *places, void *block, struct err *err) {
    struct packing p = {c, launch, params, places, "", NULL, err};
    if (launch->arg_count != param_count) {
        return err_set(err, -EINVAL,
                       "%sargs: the kernel takes %zu arguments, the spec gives %zu",
                       launch->at, param_count, launch->arg_count);
    }
    for (size_t i = 0; i < param_count; i++) {
        snprintf(p.at, sizeof p.at, "%sargs[%zu]", launch->at, i);
        p.to = (char *)block + params[i].offset;
        int n = pack_arg(&p, i);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

int spec_case_struct(const struct spec_case *c, size_t buffer, const uint64_t *addresses,
                     void *to, struct err *err) {
    const struct spec_buffer *b = &c->spec->buffers[buffer];
    const struct case_places places = {.addresses = addresses};
    struct packing p = {.c = c, .places = &places, .to = to, .err = err};
    size_t bytes = spec_struct_layout(b->init).bytes;
    snprintf(p.at, sizeof p.at, "%.64s.init", b->name);
    if (bytes > c->buffers[buffer].bytes) {
        return err_set(err, -EINVAL, "%s: the structure has %zu bytes, the buffer %zu",
                       p.at, bytes, c->buffers[buffer].bytes);
    }
    memset(to, 0, c->buffers[buffer].bytes);
    return spec_struct_each(b->init, pack_value, &p);
}
