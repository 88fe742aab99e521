#include "gpu/check/kernel_entries.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/source/kernel_name.h"

#include <ctype.h>

/* --- one template-id in two spellings --- */

/* A stretch of a name, without blanks around it. */
struct entry_part {
    const char *at;
    size_t len;
};

static struct entry_part part_of(const char *from, const char *to) {
    while (from < to && *from == ' ') {
        from++;
    }
    while (to > from && to[-1] == ' ') {
        to--;
    }
    return (struct entry_part){from, (size_t)(to - from)};
}

static bool part_is(struct entry_part p, const char *word) {
    return p.len == strlen(word) && memcmp(p.at, word, p.len) == 0;
}

/* The template argument at *at, which is advanced past the comma, or to the '>' that ends
 * the list. False after the last. */
static bool next_argument(const char **at, struct entry_part *ret) {
    const char *from = *at, *c = from;
    int depth = 0;
    if (!*c || *c == '>') {
        return false;
    }
    for (; *c && (depth > 0 || (*c != ',' && *c != '>')); c++) {
        depth += *c == '<' || *c == '(';
        depth -= *c == '>' || *c == ')';
    }
    *ret = part_of(from, c);
    *at = *c == ',' ? c + 1 : c;
    return true;
}

/* 128, 128ul, (Mode)1, true, 0x10: whole numbers that need no knowledge of the source. */
static bool read_number(struct entry_part p, int64_t *ret) {
    if (part_is(p, "true") || part_is(p, "false")) {
        *ret = *p.at == 't';
        return true;
    }
    const char *end = p.at + p.len, *close = memrchr(p.at, ')', p.len);
    if (p.len && *p.at == '(' && close) {
        p = part_of(close + 1, end);
    }
    if (!p.len || !(isdigit((unsigned char)p.at[*p.at == '-' && p.len > 1]))) {
        return false;
    }
    char *rest;
    errno = 0;
    *ret = strtoll(p.at, &rest, 0);
    while (rest < end && strchr("uUlL", *rest)) {
        rest++;
    }
    return rest == end && !errno;
}

/* The compiler's spelling of a type that it is known by elsewhere; else the part. */
static struct entry_part type_name(struct entry_part p) {
    static const char *const aliases[][2] = {
        {"half", "__half"},
        {"half2", "__half2"},
        {"nv_bfloat16", "__nv_bfloat16"},
        {"nv_bfloat162", "__nv_bfloat162"},
        {"int8_t", "signed char"},
        {"uint8_t", "unsigned char"},
        {"int16_t", "short"},
        {"uint16_t", "unsigned short"},
        {"int32_t", "int"},
        {"uint32_t", "unsigned int"},
        {"unsigned", "unsigned int"},
        {"uint", "unsigned int"},
        {"int64_t", "long long"},
        {"uint64_t", "unsigned long long"},
        {"size_t", "unsigned long"},
    };
    if (p.len > 5 && memcmp(p.at, "std::", 5) == 0) {
        p = part_of(p.at + 5, p.at + p.len);
    }
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
        if (part_is(p, aliases[i][0])) {
            return (struct entry_part){aliases[i][1], strlen(aliases[i][1])};
        }
    }
    return p;
}

/* Types that no source can have an alias of another type for. */
static bool is_plain_type(struct entry_part p) {
    static const char *const plain[] = {
        "bool",          "char",           "signed char", "unsigned char",
        "short",         "unsigned short", "int",         "unsigned int",
        "long",          "unsigned long",  "long long",   "float",
        "double",        "__half",         "__half2",     "__nv_bfloat16",
        "__nv_bfloat162"};
    return any_of(i, 0, ARRAY_LEN(plain), part_is(p, plain[i]));
}

/* Whether an argument as the spec has it can't be the compiler's. An alias of the source,
 * an enumerator or a sum can be any. */
static bool contradicts(struct entry_part wanted, struct entry_part actual) {
    int64_t a, b;
    if (read_number(wanted, &a) && read_number(actual, &b)) {
        return a != b;
    }
    wanted = type_name(wanted);
    return is_plain_type(wanted) && is_plain_type(actual) &&
           (wanted.len != actual.len || memcmp(wanted.at, actual.at, wanted.len) != 0);
}

/* "k<half, 128>" may be "k<__half, 128ul>"; arguments with a default are the compiler's
 * alone. */
static bool may_be(const char *wanted, const char *actual) {
    size_t base = strcspn(wanted, "<");
    if (strncmp(wanted, actual, base) != 0 || !wanted[base] || actual[base] != '<') {
        return false;
    }
    const char *w = wanted + base + 1, *a = actual + base + 1;
    struct entry_part from_spec, compiled;
    while (next_argument(&w, &from_spec)) {
        if (!next_argument(&a, &compiled) || contradicts(from_spec, compiled)) {
            return false;
        }
    }
    return true;
}

/* "k" for the only "k<…>", whose arguments may fill pages. */
static bool is_template_of(const char *wanted, const char *actual) {
    size_t len = strlen(wanted);
    return strncmp(wanted, actual, len) == 0 && actual[len] == '<';
}

/* --- which kernel --- */

/* "ns::k<float>(int)" by "ns::k<float>", "k<float>", all of it, or its symbol. */
static bool is_named(const json_t *kernel, const char *wanted,
                     bool same(const char *, const char *)) {
    const char *symbol = json_get_string(kernel, "symbol", "");
    bool with_types = strchr(wanted, '(') && wanted[strlen(wanted) - 1] == ')';
    autofree char *name = with_types ? kernel_signature_new(symbol)
                                     : xstrdup(json_get_string(kernel, "name", ""));
    size_t len;
    const char *last = kernel_plain_name(name, &len);
    return same(wanted, name) || same(wanted, last) || !strcmp(symbol, wanted);
}

static const json_t *find(const json_t *kernels, const char *wanted,
                          bool same(const char *, const char *), size_t *ret_count) {
    const json_t *found = NULL;
    *ret_count = 0;
    json_each(kernels, i, kernel) {
        if (!wanted || is_named(kernel, wanted, same)) {
            found = kernel;
            ++*ret_count;
        }
    }
    return found;
}

/* A template-id that a spec names was instantiated for it, so it is there, in whichever
 * spelling: what nothing contradicts, if that is one kernel, is it. */
const json_t *kernel_entry_find(const json_t *kernels, const char *wanted,
                                size_t *ret_count) {
    const json_t *found = find(kernels, wanted, kernel_spelt_alike, ret_count);
    if (!found && wanted && strchr(wanted, '<')) {
        found = find(kernels, wanted, may_be, ret_count);
    } else if (!found && wanted && *wanted) {
        found = find(kernels, wanted, is_template_of, ret_count);
    }
    return found;
}

/* with_types: the names alone are ambiguous. */
static void tell_names(struct buf *out, const json_t *kernels, bool with_types) {
    json_each(kernels, i, kernel) {
        autofree char *signature =
            kernel_signature_new(json_get_string(kernel, "symbol", "?"));
        if (i < 12) {
            buf_addf(out, "%s%.80s", i ? ", " : " ",
                     with_types ? signature : json_get_string(kernel, "name", "?"));
        }
    }
}

static void not_one(const json_t *kernels, const char *wanted, size_t matches,
                    const char **ret_code, struct err *err) {
    autobuf text = BUF_INIT(2048);
    tell_names(&text, kernels, matches > 1);
    *ret_code = matches ? "ambiguous_kernel" : "unknown_kernel";
    err_set(err, -EINVAL, "%s%.200s; the source has:%s",
            !wanted   ? "choose one with \"kernel\""
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
