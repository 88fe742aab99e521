#include "gpu/kernel_entries.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

/* Equal but for blanks. */
static bool same_name(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b) {
            return false;
        }
        if (!*a) {
            return true;
        }
    }
}

/* "ns::k<float>(int)" by "ns::k<float>", "k<float>" or its symbol. */
static bool is_named(const json_t *kernel, const char *wanted) {
    const char *name = json_get_string(kernel, "name", "");
    const char *last = name;
    for (const char *c = name; *c && *c != '<' && *c != '('; c++) {
        last = c[0] == ':' && c[1] == ':' ? c + 2 : last;
    }
    return same_name(name, wanted) || same_name(last, wanted) ||
           !strcmp(json_get_string(kernel, "symbol", ""), wanted);
}

const json_t *kernel_entry_find(const json_t *kernels, const char *wanted,
                                size_t *ret_count) {
    const json_t *found = NULL, *kernel;
    size_t i;
    *ret_count = 0;
    json_array_foreach(kernels, i, kernel) {
        if (!wanted || is_named(kernel, wanted)) {
            found = kernel;
            ++*ret_count;
        }
    }
    return found;
}

static void tell_names(struct buf *out, const json_t *kernels) {
    const json_t *kernel;
    size_t i;
    json_array_foreach(kernels, i, kernel) {
        if (i < 12) {
            buf_addf(out, "%s%.80s", i ? ", " : " ",
                     json_get_string(kernel, "name", "?"));
        }
    }
}

static void not_one(const json_t *kernels, const char *wanted, size_t matches,
                    const char **ret_code, struct err *err) {
    autobuf text = BUF_INIT(2048);
    tell_names(&text, kernels);
    *ret_code = matches ? "ambiguous_kernel" : "unknown_kernel";
    err_set(err, -EINVAL, "%s%.200s; the source has:%s",
            !wanted   ? "say which kernel is meant with \"kernel\""
            : matches ? "more than one kernel is called "
                      : "there is no kernel ",
            wanted ? wanted : "", text.data);
}

json_t *kernel_entries(const json_t *kernels, const struct spec_launch *launches,
                       size_t count, const char **ret_code, struct err *err) {
    json_t *entries = json_object();
    for (size_t i = 0; i < count; i++) {
        const char *wanted = launches[i].kernel;
        size_t matches;
        const json_t *kernel = kernel_entry_find(kernels, wanted, &matches);
        if (matches != 1) {
            not_one(kernels, wanted, matches, ret_code, err);
            json_decref(entries);
            return NULL;
        }
        json_object_set_new(entries, wanted ? wanted : "",
                            json_pack("{s:O, s:O}", "symbol",
                                      json_object_get(kernel, "symbol"), "name",
                                      json_object_get(kernel, "name")));
    }
    return entries;
}
