#include "gpu/validate/argument_type.h"

#include "base/find.h"
#include "base/mem.h"
#include "gpu/check/kernel_entries.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/host/host_params.h"

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
