#include "gpu/validate/argument_order.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/check/kernel_entries.h"
#include "protocol/finding.h"

/* "" of what a worker made up. */
static const char *name_at(const json_t *names, size_t i) {
    const char *name = json_string_value(json_array_get(names, i));
    return name ? name : "";
}

static size_t place_in_names(const json_t *names, const char *name) {
    size_t i = 0;
    while (*name && i < json_array_size(names) && strcmp(name_at(names, i), name) != 0) {
        i++;
    }
    return *name && i < json_array_size(names) ? i : SIZE_MAX;
}

static bool is_argument(const struct spec_launch *launch, const char *name) {
    return any_of(i, 0, launch->arg_count, !strcmp(launch->args[i].name, name));
}

/* The names that both have stand at the same places, and not each at its own. */
static bool is_permuted(const struct spec_launch *launch, const json_t *names) {
    bool moved = false;
    for (size_t i = 0; i < launch->arg_count; i++) {
        size_t at = place_in_names(names, launch->args[i].name);
        if (at == SIZE_MAX) {
            continue;
        }
        if (!is_argument(launch, name_at(names, i))) {
            return false;
        }
        moved |= at != i;
    }
    return moved && launch->arg_count == json_array_size(names);
}

static bool same_kernel(const struct spec_launch *a, const struct spec_launch *b) {
    return !strcmp(a->kernel ? a->kernel : "", b->kernel ? b->kernel : "");
}

/* Of all launches of a kernel the first speaks. */
static bool is_first_and_alike(const struct kernel_spec *spec, size_t i,
                               const json_t *names) {
    for (size_t k = 0; k < spec->launch_count; k++) {
        bool same = same_kernel(&spec->launches[k], &spec->launches[i]);
        if (same && (k < i || !is_permuted(&spec->launches[k], names))) {
            return false;
        }
    }
    return true;
}

static void name_both(const struct spec_launch *launch, const json_t *names,
                      struct buf *given, struct buf *wanted) {
    for (size_t k = 0; k < launch->arg_count; k++) {
        const char *name = launch->args[k].name;
        buf_addf(given, "%s%.64s", k ? ", " : "", *name ? name : "?");
    }
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *name = name_at(names, k);
        buf_addf(wanted, "%s%.64s", k ? ", " : "", *name ? name : "?");
    }
}

char *argument_count_words(const struct kernel_spec *spec, const json_t *kernels) {
    list_each(i, launch, spec->launches, spec->launch_count) {
        size_t matches;
        const json_t *kernel = kernel_entry_find(kernels, launch->kernel, &matches);
        const json_t *names = json_object_get(kernel, "parameters");
        if (names && json_array_size(names) != launch->arg_count) {
            autobuf given = BUF_INIT(16384), wanted = BUF_INIT(16384);
            name_both(launch, names, &given, &wanted);
            return xasprintf("the kernel's parameters are (%s), the spec's arguments "
                             "(%s)",
                             wanted.data ? wanted.data : "",
                             given.data ? given.data : "");
        }
    }
    return NULL;
}

char *argument_order_words(const struct kernel_spec *spec, size_t i,
                           const json_t *names) {
    const struct spec_launch *launch = &spec->launches[i];
    autobuf given = BUF_INIT(16384), wanted = BUF_INIT(16384);
    if (!is_first_and_alike(spec, i, names)) {
        return NULL;
    }
    name_both(launch, names, &given, &wanted);
    return xasprintf("the arguments are named (%s), the kernel's parameters (%s): they "
                     "are passed in the order of the list, whatever their names",
                     given.data, wanted.data);
}

void argument_order_note(const struct kernel_spec *spec, const json_t *kernels,
                         json_t *findings) {
    for (size_t i = 0; i < spec->launch_count; i++) {
        size_t matches;
        const json_t *kernel =
            kernel_entry_find(kernels, spec->launches[i].kernel, &matches);
        autofree char *words =
            argument_order_words(spec, i, json_object_get(kernel, "parameters"));
        int line = (int)json_get_integer(kernel, "line", 0);
        const struct finding_span span = {.line = line};
        if (words) {
            json_array_append_new(
                findings, finding_new("run", "argument_order", FINDING_WARNING, words,
                                      json_get_string(kernel, "file", NULL), &span));
        }
    }
}

static bool has_value_of(const struct spec_arg *arg, const char *name) {
    const char *value = arg->kind == ARG_SCALAR ? json_string_value(arg->value) : NULL;
    return value && !strcmp(value, name);
}

static void note_values(const struct spec_launch *launch, json_t *findings) {
    const struct finding_span none = {0};
    list_each(i, one, launch->args, launch->arg_count) {
        const struct spec_arg *other =
            list_find(b, launch->args, i,
                      strcmp(b->name, one->name) != 0 && has_value_of(b, one->name) &&
                          has_value_of(one, b->name));
        if (other) {
            autofree char *words = xasprintf(
                "%sthe argument %.64s has the value %.64s, and %.64s the value %.64s: "
                "each has that of the other's name",
                launch->at, other->name, one->name, one->name, other->name);
            json_array_append_new(findings, finding_new("run", "argument_order",
                                                        FINDING_WARNING, words, NULL,
                                                        &none));
        }
    }
}

void argument_values_note(const struct kernel_spec *spec, json_t *findings) {
    for (size_t i = 0; i < spec->launch_count; i++) {
        note_values(&spec->launches[i], findings);
    }
}
