/* The values of kernel-builder's keys: types, names, versions, paths, lists of words. */
#include "skills/kernel_project/build_toml_report.h"

#include "base/buf.h"
#include "base/strings.h"

#include <ctype.h>

struct backend_name {
    const char *said, *meant;
};
#include "skills/backend_names.h"

static const char *const kind_names[] = {
    [TOML_STRING] = "a string",
    [TOML_INTEGER] = "a whole number",
    [TOML_FLOAT] = "a number with a point",
    [TOML_BOOLEAN] = "a boolean",
    [TOML_DATE] = "a date",
    [TOML_ARRAY] = "an array",
    [TOML_TABLE] = "a table",
    [TOML_INLINE_TABLE] = "a table",
    [TOML_TABLES] = "an array of tables",
};

/* The value as text if it only lacks quotes, else NULL. Freed by the caller. */
static char *quoted(const struct build_toml_report *r, const struct toml_node *node) {
    if (node->kind != TOML_INTEGER && node->kind != TOML_FLOAT) {
        return NULL;
    }
    return xasprintf("\"%.*s\"", (int)(node->end - node->start), r->text + node->start);
}

static bool wants_text(enum build_toml_type type) {
    return type == KEY_TEXT || type == KEY_VERSION || type == KEY_RELEASE ||
           type == KEY_STABLE_ABI || type == KEY_BACKEND || type == KEY_NAME;
}

static bool wants_texts(enum build_toml_type type) {
    return type == KEY_TEXTS || type == KEY_PATHS || type == KEY_BACKENDS ||
           type == KEY_DEPENDS || type == KEY_CAPABILITIES || type == KEY_PYTHON_DEPENDS;
}

/* The first part of "1.0", 1.0, "v2.3.1" or "5" as a whole number, because a kernel's
 * version counts its interfaces. NULL if there is none; freed by the caller. */
static char *whole_number(const struct build_toml_report *r, const struct toml_node *node,
                          bool edition) {
    const char *said = json_string_value(node->value);
    autofree char *text =
        said ? xstrdup(said) : xstrndup(r->text + node->start, node->end - node->start);
    const char *digits = text + (text[0] == 'v');
    size_t n = strspn(digits, "0123456789");
    bool number = node->kind == TOML_STRING || node->kind == TOML_FLOAT;
    if (!number || n == 0 || n > 9 || strspn(digits, "0123456789.") != strlen(digits)) {
        return NULL;
    }
    long value = strtol(digits, NULL, 10);
    value = value || edition ? value : 1; /* "0.1.0" is a first one */
    return edition && value != 5 ? NULL : xasprintf("%ld", value);
}

static void wrong_type(struct build_toml_report *r, const struct build_toml_key *key,
                       const struct toml_node *node) {
    json_t *finding =
        build_toml_add(r, "build_toml_wrong_type", FINDING_ERROR, toml_value_range(node),
                       "%s is %s, not %s", key->name, build_toml_type_name(key->type),
                       kind_names[node->kind]);
    autofree char *number = quoted(r, node);
    if (number && wants_text(key->type)) {
        build_toml_fix_replace(r, finding, "Write it as a string", node->start, node->end,
                               number);
    } else if (node->kind == TOML_STRING && wants_texts(key->type)) {
        autofree char *list =
            xasprintf("[%.*s]", (int)(node->end - node->start), r->text + node->start);
        build_toml_fix_replace(r, finding, "Write it as an array", node->start, node->end,
                               list);
    } else if (key->type == KEY_NUMBER || key->type == KEY_EDITION) {
        autofree char *whole = whole_number(r, node, key->type == KEY_EDITION);
        autofree char *title = whole ? xasprintf("Write %s", whole) : NULL;
        if (whole) {
            build_toml_fix_replace(r, finding, title, node->start, node->end, whole);
        }
    }
}

/* --- names --- */

static bool name_is_good(const char *s) {
    size_t n = strlen(s);
    return n >= 2 && n == strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") &&
           islower((unsigned char)s[0]) && s[n - 1] != '-';
}

/* The nearest name that the pattern takes, or NULL. Freed by the caller. */
static char *corrected_name(const char *s) {
    char *name = xstrdup(s), *to = name;
    for (const char *from = s; *from; from++) {
        char c = (char)tolower((unsigned char)*from);
        bool letter = islower((unsigned char)c);
        bool plain = letter || isdigit((unsigned char)c);
        if (to > name ? plain : letter) {
            *to++ = c;
        } else if (to > name && to[-1] != '-') {
            *to++ = '-';
        }
    }
    while (to > name && to[-1] == '-') {
        to--;
    }
    *to = '\0';
    if (!name_is_good(name)) {
        free(name);
        return NULL;
    }
    return name;
}

static void check_name(struct build_toml_report *r, const struct toml_node *node) {
    const char *name = json_string_value(node->value);
    if (name_is_good(name)) {
        return;
    }
    autofree char *better = corrected_name(name);
    json_t *finding = build_toml_add(
        r, "build_toml_name", FINDING_ERROR, toml_value_range(node),
        "the name \"%.60s\" is refused: lowercase letters, digits and dashes, a letter "
        "first, no dash last, two characters at least%s%s",
        name, better ? "; write " : "", better ? better : "");
    if (better) {
        autofree char *text = xasprintf("\"%s\"", better);
        autofree char *title = xasprintf("Rename to %s", better);
        build_toml_fix_replace(r, finding, title, node->start, node->end, text);
    }
}

/* --- versions and numbers --- */

static void check_version(struct build_toml_report *r, const struct build_toml_key *key,
                          const struct toml_node *node) {
    const char *s = json_string_value(node->value);
    size_t parts = 0, n = strspn(s, "0123456789");
    size_t wanted = key->type == KEY_RELEASE ? 3 : 2;
    const char *such = key->type == KEY_RELEASE ? "0.17.0" : "12.8";
    while (n) {
        parts++;
        s += n;
        n = *s == '.' ? strspn(s + 1, "0123456789") : 0;
        s += n ? 1 : 0;
    }
    if (*s || !parts) {
        build_toml_add(r, "build_toml_version", FINDING_ERROR, toml_value_range(node),
                       "%s is numbers with dots, such as \"%s\"", key->name, such);
    } else if (parts != wanted) {
        build_toml_add(
            r, "build_toml_version", FINDING_WARNING, toml_value_range(node),
            "%s: newer kernel-builders take exactly %s numbers, such as \"%s\"",
            key->name, wanted == 3 ? "three" : "two", such);
    }
}

static void check_number(struct build_toml_report *r, const struct build_toml_key *key,
                         const struct toml_node *node) {
    if (json_integer_value(node->value) < 0) {
        build_toml_add(r, "build_toml_wrong_type", FINDING_ERROR, toml_value_range(node),
                       "%s can't be negative", key->name);
    }
}

/* --- items of lists --- */

static bool leads_out(const char *path) {
    for (const char *part = path;; part++) {
        size_t n = strcspn(part, "/");
        if (n == 2 && part[0] == '.' && part[1] == '.') {
            return true;
        }
        part += n;
        if (!*part) {
            return false;
        }
    }
}

static void check_path(struct build_toml_report *r, const struct toml_node *item) {
    const char *path = json_string_value(item->value);
    const char *why = NULL;
    if (!*path) {
        why = "is empty";
    } else if (strlen(path) != json_string_length(item->value)) {
        why = "holds U+0000";
    } else if (*path == '/') {
        why = "is absolute";
    } else if (leads_out(path)) {
        why = "leads out of the project's folder";
    }
    if (why) {
        build_toml_add(r, "build_toml_path", FINDING_ERROR, toml_value_range(item),
                       "the path \"%.100s\" %s: paths are relative to build.toml and stay "
                       "in its folder",
                       path, why);
    }
}

static void suggest(struct build_toml_report *r, json_t *finding,
                    const struct toml_node *item, const char *word) {
    if (word) {
        autofree char *text = xasprintf("\"%s\"", word);
        autofree char *title = xasprintf("Write %s", text);
        build_toml_fix_replace(r, finding, title, item->start, item->end, text);
    }
}

/* Reports an unknown word, with `what` it should be and all known words. */
static json_t *refuse_word(struct build_toml_report *r, const char *code,
                           enum finding_severity severity, const struct toml_node *item,
                           const char *what, const char *const *known) {
    autobuf list = BUF_INIT(1024);
    for (size_t i = 0; known[i]; i++) {
        buf_addf(&list, "%s%s", i ? ", " : "", known[i]);
    }
    return build_toml_add(r, code, severity, toml_value_range(item),
                          "\"%.60s\" is not %s: %s", json_string_value(item->value), what,
                          list.data);
}

/* The backend that is meant by other letter case, by its maker or toolkit, or with a
 * typing mistake. */
static const char *meant_backend(const char *word, const char *const *known) {
    for (const struct backend_name *n = backend_names; n->said; n++) {
        if (strcasecmp(n->said, word) == 0) {
            return n->meant;
        }
    }
    return build_toml_nearest(word, known);
}

static void check_backend(struct build_toml_report *r, const struct toml_node *node,
                          const char *const *known, const char *what) {
    const char *word = json_string_value(node->value);
    bool early = strcmp(word, "tpu") == 0 && r->edition == BUILD_TOML_4;
    if (!strings_have(known, word) || early) {
        json_t *finding = refuse_word(r, "build_toml_backend", FINDING_ERROR, node,
                                      early ? "a backend before edition 5" : what, known);
        suggest(r, finding, node, early ? NULL : meant_backend(word, known));
    }
}

static void check_depend(struct build_toml_report *r, const struct toml_node *item) {
    const char *word = json_string_value(item->value);
    if (!strings_have(build_toml_depends, word)) {
        json_t *finding =
            refuse_word(r, "build_toml_depends", FINDING_ERROR, item,
                        "a dependency of kernel-builder", build_toml_depends);
        suggest(r, finding, item, build_toml_nearest(word, build_toml_depends));
    }
}

static void check_python_depend(struct build_toml_report *r,
                                const struct build_toml_key *key,
                                const struct toml_node *item) {
    const char *word = json_string_value(item->value);
    bool of_cuda = strings_have(build_toml_cuda_python_depends, word);
    if (strings_have(build_toml_python_depends, word) ||
        (of_cuda && strcmp(key->section, "general.cuda") == 0) ||
        (strcmp(word, "nki") == 0 && strcmp(key->section, "general.neuron") == 0)) {
        return;
    }
    json_t *finding =
        of_cuda ? build_toml_add(r, "build_toml_python_depends", FINDING_WARNING,
                                 toml_value_range(item),
                                 "\"%.60s\" belongs in python-depends of [general.cuda]",
                                 word)
                : refuse_word(r, "build_toml_python_depends", FINDING_WARNING, item,
                              "a Python dependency that kernel-builder knows (for CUDA "
                              "nvidia-cutlass-dsl is one, too)",
                              build_toml_python_depends);
    suggest(r, finding, item, build_toml_nearest(word, build_toml_python_depends));
}

/* --- capabilities --- */

/* "sm_90a", "90a", "compute_90", "9" to "9.0a"; NULL when it can't be told. */
static char *corrected_capability(const char *s) {
    s += strncmp(s, "sm_", 3) == 0 ? 3 : strncmp(s, "compute_", 8) == 0 ? 8 : 0;
    size_t n = strspn(s, "0123456789");
    const char *letter = s + n;
    bool plain = !*letter || (strchr("af", *letter) && !letter[1]);
    if (!plain || n < 1 || n > 3) {
        return NULL;
    }
    char *word = n == 1 ? xasprintf("%.1s.0%s", s, letter)
                        : xasprintf("%.*s.%c%s", (int)n - 1, s, s[n - 1], letter);
    if (!strings_have(build_toml_capabilities, word)) {
        free(word);
        return NULL;
    }
    return word;
}

static bool is_capability(const char *s) {
    size_t major = strspn(s, "0123456789");
    if (major < 1 || major > 2 || s[major] != '.') {
        return false;
    }
    s += major + 1;
    return *s >= '0' && *s <= '9' && (!s[1] || (strchr("af", s[1]) && !s[2]));
}

static void check_capability(struct build_toml_report *r, const struct toml_node *item) {
    const char *word = json_string_value(item->value);
    if (strings_have(build_toml_capabilities, word)) {
        return;
    }
    bool shaped = is_capability(word);
    autofree char *better = shaped ? NULL : corrected_capability(word);
    /* One that is not supported is left out of the build; 99999.0 is a mistake. */
    enum finding_severity severity = shaped ? FINDING_WARNING : FINDING_ERROR;
    json_t *finding = refuse_word(r, "build_toml_capability", severity, item,
                                  "a compute capability that kernel-builder supports",
                                  build_toml_capabilities);
    suggest(r, finding, item, better);
}

static void check_capabilities(struct build_toml_report *r,
                               const struct toml_node *node) {
    bool specific = false;
    for (size_t i = 0; i < toml_count(node); i++) {
        const char *word = json_string_value(toml_item(r->doc, node, i)->value);
        specific |= word && *word && strchr("af", word[strlen(word) - 1]);
    }
    if (!specific) {
        build_toml_add(r, "build_toml_capabilities_discouraged", FINDING_INFO,
                       toml_key_range(node),
                       "without this key kernel-builder builds for every capability it "
                       "supports: keep it only where the kernel needs them, as wgmma "
                       "and TMA need \"9.0a\"");
    }
}

/* --- lists --- */

static void check_item(struct build_toml_report *r, const struct build_toml_key *key,
                       const struct toml_node *item) {
    switch (key->type) {
    case KEY_PATHS:
        check_path(r, item);
        break;
    case KEY_BACKENDS:
        check_backend(r, item, build_toml_backends, "a backend");
        break;
    case KEY_DEPENDS:
        check_depend(r, item);
        break;
    case KEY_CAPABILITIES:
        check_capability(r, item);
        break;
    case KEY_PYTHON_DEPENDS:
        check_python_depend(r, key, item);
        break;
    default:
        break;
    }
}

static void check_texts(struct build_toml_report *r, const struct build_toml_key *key,
                        const struct toml_node *node) {
    for (size_t i = 0; i < toml_count(node); i++) {
        const struct toml_node *item = toml_item(r->doc, node, i);
        if (item->kind == TOML_STRING) {
            check_item(r, key, item);
            continue;
        }
        json_t *finding = build_toml_add(
            r, "build_toml_wrong_type", FINDING_ERROR, toml_value_range(item),
            "%s holds strings, not %s", key->name, kind_names[item->kind]);
        autofree char *text = quoted(r, item);
        if (text) {
            build_toml_fix_replace(r, finding, "Write it as a string", item->start,
                                   item->end, text);
        }
    }
    if (key->type == KEY_CAPABILITIES) {
        check_capabilities(r, node);
    }
    if (key->type == KEY_BACKENDS && toml_count(node) == 0) {
        build_toml_add(r, "build_toml_backend", FINDING_ERROR, toml_value_range(node),
                       "backends names nothing to build for");
    }
}

static void check_kernel_depend(struct build_toml_report *r,
                                const struct toml_node *item) {
    if (item->kind != TOML_INLINE_TABLE && item->kind != TOML_TABLE) {
        build_toml_add(r, "build_toml_kernel_depends", FINDING_ERROR,
                       toml_value_range(item),
                       "a kernel is named by { repo-id = \"org/name\", version = 1 } "
                       "or { repo-id = …, revision = \"…\" }");
        return;
    }
    const struct toml_node *repo = toml_member(r->doc, item, "repo-id");
    const struct toml_node *version = toml_member(r->doc, item, "version");
    const struct toml_node *revision = toml_member(r->doc, item, "revision");
    size_t known = (size_t) !!repo + !!version + !!revision;
    if (!repo || repo->kind != TOML_STRING || !version == !revision ||
        (version && version->kind != TOML_INTEGER) ||
        (revision && revision->kind != TOML_STRING) || known != toml_count(item)) {
        build_toml_add(r, "build_toml_kernel_depends", FINDING_ERROR,
                       toml_value_range(item),
                       "a kernel has repo-id (a string) and either version (a whole "
                       "number) or revision (a string), nothing else");
    }
}

static void check_stable_abi(struct build_toml_report *r,
                             const struct build_toml_key *key,
                             const struct toml_node *table) {
    if (r->edition == BUILD_TOML_4) {
        wrong_type(r, key, table);
        return;
    }
    json_each_member(table->children, name, index) {
        const struct build_toml_key *backend =
            build_toml_key_find("torch.stable-abi", name, r->edition);
        const struct toml_node *node = toml_member(r->doc, table, name);
        if (backend) {
            build_toml_check_value(r, backend, node);
        } else {
            build_toml_add(r, "build_toml_unknown_key", FINDING_ERROR,
                           toml_key_range(node),
                           "\"%.60s\" is not a backend with a stable ABI: cpu, cuda, "
                           "metal, rocm, xpu",
                           name);
        }
    }
}

static bool kind_fits(enum build_toml_type type, enum toml_kind kind) {
    bool table = kind == TOML_TABLE || kind == TOML_INLINE_TABLE;
    switch (type) {
    case KEY_NUMBER:
    case KEY_EDITION:
        return kind == TOML_INTEGER;
    case KEY_KERNEL_DEPENDS:
        return kind == TOML_ARRAY || kind == TOML_TABLES;
    case KEY_STABLE_ABI:
        return kind == TOML_STRING || table;
    case KEY_TABLE:
    case KEY_KERNELS:
        return table;
    default:
        return kind == (wants_text(type) ? TOML_STRING : TOML_ARRAY);
    }
}

void build_toml_check_value(struct build_toml_report *r, const struct build_toml_key *key,
                            const struct toml_node *node) {
    if (!kind_fits(key->type, node->kind)) {
        wrong_type(r, key, node);
        return;
    }
    if (node->kind == TOML_STRING &&
        strlen(json_string_value(node->value)) != json_string_length(node->value)) {
        build_toml_add(r, "build_toml_wrong_type", FINDING_ERROR, toml_value_range(node),
                       "%s may not hold U+0000", key->name);
        return;
    }
    if (wants_texts(key->type)) {
        check_texts(r, key, node);
    } else if (key->type == KEY_NAME) {
        check_name(r, node);
    } else if (key->type == KEY_NUMBER) {
        check_number(r, key, node);
    } else if (key->type == KEY_BACKEND) {
        check_backend(r, node, build_toml_kernel_backends, "a backend of a kernel");
    } else if (node->kind == TOML_STRING && key->type != KEY_TEXT) {
        check_version(r, key, node);
    } else if (key->type == KEY_STABLE_ABI) {
        check_stable_abi(r, key, node);
    }
    for (size_t i = 0; key->type == KEY_KERNEL_DEPENDS && i < toml_count(node); i++) {
        check_kernel_depend(r, toml_item(r->doc, node, i));
    }
}
