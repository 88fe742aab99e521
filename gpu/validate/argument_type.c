#include "gpu/validate/argument_type.h"

#include "base/find.h"
#include "gpu/check/kernel_entries.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/host/host_params.h"

#include <float.h>
#include <math.h>

static bool is_misread(enum tensor_type given, enum tensor_type taken) {
    size_t size = given == TENSOR_TYPES ? 0 : tensor_type_bytes(given);
    return size > 1 && taken != TENSOR_TYPES && tensor_type_bytes(taken) > 1 &&
           (size != tensor_type_bytes(taken) ||
            tensor_type_float(given) != tensor_type_float(taken));
}

/* The sentence about an argument; NULL: there is nothing to say. */
static char *words_of(const struct kernel_spec *spec, const struct spec_arg *arg,
                      const struct host_param *param) {
    bool buffer = arg->kind == ARG_BUFFER && param->kind == HOST_POINTER;
    bool scalar = arg->kind == ARG_SCALAR && param->kind == HOST_SCALAR;
    enum tensor_type given = buffer   ? spec->buffers[arg->buffer].type
                             : scalar ? arg->type
                                      : TENSOR_TYPES;
    if (!is_misread(given, param->type)) {
        return NULL;
    }
    const char *taken = tensor_type_name(param->type);
    return xasprintf("the argument '%.64s' %s %s, the kernel's parameter %s %s: give %s, "
                     "or its bytes are misread",
                     arg->name, buffer ? "has elements of type" : "is of type",
                     tensor_type_name(given), buffer ? "points to" : "is", taken, taken);
}

/* Once, of a kernel that is launched often. */
static void add(json_t *list, json_t *finding) {
    bool known = json_any(list, one, json_equal(one, finding));
    if (!known) {
        json_array_append(list, finding);
    }
}

static void note_launch(const struct kernel_spec *spec, const struct spec_launch *launch,
                        const json_t *kernel, enum finding_severity severity,
                        json_t *found) {
    const struct finding_span span = {.line = (int)json_get_integer(kernel, "line", 0)};
    const char *file = json_get_string(kernel, "file", NULL);
    autofree char *signature =
        kernel_signature_new(json_get_string(kernel, "symbol", ""));
    struct host_param params[HOST_PARAMS_MAX];
    int count = host_signature_params(signature, params, HOST_PARAMS_MAX);
    for (size_t k = 0; k < launch->arg_count && (int)k < count; k++) {
        autofree char *words = words_of(spec, &launch->args[k], &params[k]);
        if (words) {
            autojson *finding =
                finding_new("run", "argument_type", severity, words, file, &span);
            add(found, finding);
        }
    }
}

void argument_type_note(const struct kernel_spec *spec, const json_t *kernels,
                        enum finding_severity severity, json_t *findings) {
    autojson *found = json_array();
    list_each(i, launch, spec->launches, spec->launch_count) {
        size_t matches;
        note_launch(spec, launch, kernel_entry_find(kernels, launch->kernel, &matches),
                    severity, found);
    }
    json_array_extend(found, findings);
    json_array_clear(findings);
    json_array_extend(findings, found);
}

/* --- numbers without a type --- */

/* Unlike tensor_type_holds: of its sign. */
static bool holds_integer(enum tensor_type type, json_int_t n) {
    bool is_unsigned = *tensor_type_name(type) == 'u';
    unsigned bits = 8 * (unsigned)tensor_type_bytes(type);
    return is_unsigned ? n >= 0 && tensor_type_holds(type, n)
                       : n >> (bits - 1) == 0 || n >> (bits - 1) == -1;
}

static bool holds(enum tensor_type type, const json_t *value) {
    if (type == TENSOR_TYPES || tensor_type_float(type)) {
        return type == TENSOR_FLOAT64 ||
               (type != TENSOR_TYPES && fabs(json_number_value(value)) <= FLT_MAX);
    }
    return json_is_integer(value) && holds_integer(type, json_integer_value(value));
}

/* Behind "(" of the entry; NULL: the PTX has none of that name. */
static const char *ptx_parameters(const char *ptx, const char *symbol) {
    size_t len = strlen(symbol);
    for (const char *at = ptx; (at = strstr(at, ".entry "));) {
        at += strlen(".entry ");
        if (strncmp(at, symbol, len) == 0 && at[len] == '(') {
            return at + len + 1;
        }
    }
    return NULL;
}

/* "f32" of ".param .f32 k_param_1"; at: behind ".param". A struct's ".align 4 .b8" has no
 * type, and ".u32" says nothing of the sign. */
static enum tensor_type ptx_type(const char *at, const json_t *value) {
    char name[16], kind = '\0';
    unsigned bits = 0;
    if (sscanf(at, " .%c%2u", &kind, &bits) != 2) {
        return TENSOR_TYPES;
    }
    bool is_float = kind == 'f';
    snprintf(name, sizeof name, is_float ? "float%u" : "int%u", bits);
    if (!is_float && !holds(tensor_type_find(name), value)) {
        snprintf(name, sizeof name, "uint%u", bits);
    }
    return tensor_type_find(name);
}

static void settle(struct spec_arg *arg, const char *ptx,
                   const struct host_param *param) {
    bool told = param && param->kind == HOST_SCALAR && param->type != TENSOR_TYPES;
    enum tensor_type type = told  ? param->type
                            : ptx ? ptx_type(ptx, arg->value)
                                  : TENSOR_TYPES;
    arg->type = holds(type, arg->value) ? type : arg->type;
}

static void settle_launch(struct spec_launch *launch, const json_t *kernel,
                          const char *ptx) {
    const char *symbol = json_get_string(kernel, "symbol", "");
    autofree char *signature = kernel_signature_new(symbol);
    struct host_param params[HOST_PARAMS_MAX];
    int count = host_signature_params(signature, params, HOST_PARAMS_MAX);
    const char *at = ptx ? ptx_parameters(ptx, symbol) : NULL;
    const char *end = at ? strchr(at, ')') : NULL;
    for (size_t k = 0; k < launch->arg_count; k++) {
        at = at ? strstr(at, ".param ") : NULL;
        at = at && at < end ? at + strlen(".param ") : NULL;
        if (launch->args[k].open) {
            settle(&launch->args[k], at, (int)k < count ? &params[k] : NULL);
        }
    }
}

void argument_types_settle(struct kernel_spec *spec, const json_t *compiled) {
    const json_t *kernels = json_object_get(compiled, "kernels");
    const char *ptx = json_get_string(compiled, "ptx", NULL);
    list_each(i, launch, spec->launches, spec->launch_count) {
        size_t matches;
        bool open = any_of(k, 0, launch->arg_count, launch->args[k].open);
        if (open) {
            settle_launch(launch, kernel_entry_find(kernels, launch->kernel, &matches),
                          ptx);
        }
    }
}

/* In place of `args` of the launch's own object. */
static void tell_launch(const struct spec_launch *launch, json_t *holder) {
    json_t *args = json_copy(json_object_get(holder, "args"));
    for (size_t k = 0; k < launch->arg_count; k++) {
        const json_t *given = json_array_get(args, k);
        if (launch->args[k].open && json_is_object(given)) {
            json_t *arg = json_copy((json_t *)(uintptr_t)given);
            const char *type = tensor_type_name(launch->args[k].type);
            json_object_set_new(arg, "type", json_string(type));
            json_array_set_new(args, k, arg);
        }
    }
    json_object_set_new(holder, "args", args);
}

void argument_types_tell(const struct kernel_spec *spec, json_t *plain) {
    json_t *launches = json_copy(json_object_get(plain, "launches"));
    if (!launches && spec->launch_count) {
        tell_launch(&spec->launches[0], plain);
    }
    for (size_t i = 0; i < json_array_size(launches); i++) {
        json_t *launch = json_copy(json_array_get(launches, i));
        tell_launch(&spec->launches[i], launch);
        json_array_set_new(launches, i, launch);
    }
    if (launches) {
        json_object_set_new(plain, "launches", launches);
    }
}
