#include "gpu/spec/rounded_args.h"

#include <inttypes.h>

/* "1.0 / d" for "1 / d"; else the whole in floating point by its first factor. */
static void suggest(const char *text, char *to, size_t size) {
    size_t blanks = strspn(text, " "), digits = strspn(text + blanks, "0123456789");
    if (digits) {
        snprintf(to, size, "%.*s.0%.200s", (int)(blanks + digits), text,
                 text + blanks + digits);
    } else {
        snprintf(to, size, "1.0 * %.200s", text);
    }
}

static bool tell(const struct spec_case *c, const struct spec_launch *launch, size_t i,
                 char *message, size_t size) {
    const struct spec_arg *arg = &launch->args[i];
    const char *text = json_string_value(arg->value);
    int64_t value;
    if (arg->kind != ARG_SCALAR || !tensor_type_float(arg->type) || !text ||
        !integer_expression_rounds(text, &c->size_list) ||
        integer_expression(text, &c->size_list, &value, NULL) < 0) {
        return false;
    }
    char better[256];
    suggest(text, better, sizeof better);
    snprintf(message, size,
             "%sargs[%zu].value: '%.200s' divides whole numbers and is %" PRId64
             ": a %s that is to keep the fraction is written '%s'",
             launch->at, i, text, value, tensor_type_name(arg->type), better);
    return true;
}

static bool tell_first(const struct spec_case *c, const struct spec_launch *launches,
                       size_t count, char *message, size_t size) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < launches[i].arg_count; k++) {
            if (tell(c, &launches[i], k, message, size)) {
                return true;
            }
        }
    }
    return false;
}

bool case_rounded_argument(const struct spec_case *c, char *message, size_t size) {
    const struct kernel_spec *spec = c->spec;
    return tell_first(c, spec->launches, spec->launch_count, message, size) ||
           tell_first(c, spec->reference, spec->reference_count, message, size);
}
