#include "skills/build_toml.h"

#include "base/buf.h"
#include "skills/build_toml_report.h"

#include <stdio.h>
#include <string.h>

static bool is_table(const struct toml_node *node) {
    return node && (node->kind == TOML_TABLE || node->kind == TOML_INLINE_TABLE);
}

static const struct toml_node *table_at(const struct build_toml_report *r,
                                        const char *pointer) {
    const struct toml_node *node = toml_find(r->doc, pointer);
    return is_table(node) ? node : NULL;
}

/* --- kernels --- */

struct kernels {
    const struct toml_node *list[64]; /* tables; more are judged, but not moved into */
    size_t count;
};

static unsigned backend_of(const struct build_toml_report *r,
                           const struct toml_node *kernel) {
    const struct toml_node *node = toml_member(r->doc, kernel, "backend");
    return node && node->kind == TOML_STRING
               ? build_toml_backend(json_string_value(node->value))
               : 0;
}

/* Those whose backend is one of `backends` and that lack the key. */
static void find_kernels(const struct build_toml_report *r, unsigned backends,
                         const char *without, struct kernels *ret) {
    const struct toml_node *all = table_at(r, "/kernel");
    const char *name;
    json_t *index;
    ret->count = 0;
    json_object_foreach(all ? all->children : NULL, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        if (is_table(kernel) && (backend_of(r, kernel) & backends) &&
            !toml_member(r->doc, kernel, without) && ret->count < ARRAY_LEN(ret->list)) {
            ret->list[ret->count++] = kernel;
        }
    }
}

/* --- unknown keys --- */

static void with_separators(const char *name, char from, char to, char *out,
                            size_t size) {
    snprintf(out, size, "%s", name);
    for (char *s = out; *s; s++) {
        *s = *s == from ? to : *s;
    }
}

static bool rename_separators(struct build_toml_report *r, const char *section,
                              const struct toml_node *node, const char *name) {
    char dashes[64], underscores[64];
    with_separators(name, '_', '-', dashes, sizeof dashes);
    with_separators(name, '-', '_', underscores, sizeof underscores);
    const struct build_toml_key *key = build_toml_key_find(section, dashes, r->edition);
    if (!key) {
        key = build_toml_key_find(section, underscores, r->edition);
    }
    if (!key) {
        return false;
    }
    json_t *finding = build_toml_add_key(r, "build_toml_key_separator", FINDING_ERROR,
                                         node, "this key is written %s here", key->name);
    autofree char *title = xasprintf("Rename to %s", key->name);
    build_toml_fix_replace(r, finding, title, node->key_start, node->key_end, key->name);
    return true;
}

/* [general.cuda] capabilities and [general.rocm] were taken by some releases that read
 * edition 4, and by none that reads edition 5. */
static enum finding_severity once_taken(const struct build_toml_report *r) {
    return r->edition == BUILD_TOML_4 ? FINDING_WARNING : FINDING_ERROR;
}

/* [general.cuda] capabilities and its like: they belong to each CUDA kernel. */
static bool move_capabilities(struct build_toml_report *r, const char *section,
                              const struct toml_node *table, const struct toml_node *node,
                              const char *name) {
    bool known = strcmp(name, "capabilities") == 0 ||
                 strcmp(name, "cuda-capabilities") == 0 ||
                 strcmp(name, "cuda_capabilities") == 0;
    if (!known || node->kind != TOML_ARRAY || strncmp(section, "kernel.", 7) == 0) {
        return false;
    }
    struct kernels kernels;
    find_kernels(r, BACKEND_CUDA, "cuda-capabilities", &kernels);
    bool once = strcmp(section, "general.cuda") == 0 && strcmp(name, "capabilities") == 0;
    json_t *finding = build_toml_add_key(
        r, "build_toml_capabilities_section", once ? once_taken(r) : FINDING_ERROR, node,
        "%s %s in [%s]: %s", once ? "edition 5 does not take" : "no edition takes", name,
        section,
        table_at(r, "/torch-noarch") ? "[torch-noarch] has them as cuda_capabilities"
                                     : "each CUDA kernel has its own, as "
                                       "cuda-capabilities in its [kernel.<name>]");
    build_toml_fix_move(r, finding, "Move to the CUDA kernels", table, node, kernels.list,
                        kernels.count, "cuda-capabilities");
    return true;
}

static bool move_versions(struct build_toml_report *r, const char *section,
                          const struct toml_node *table, const struct toml_node *node,
                          const char *name) {
    const char *key = strcmp(name, "cuda-minver") == 0   ? "minver"
                      : strcmp(name, "cuda-maxver") == 0 ? "maxver"
                                                         : NULL;
    if (!key || strcmp(section, "general") != 0) {
        return false;
    }
    json_t *finding =
        build_toml_add_key(r, "build_toml_old_key", FINDING_ERROR, node,
                           "%s is edition 2's: write %s in [general.cuda]", name, key);
    const struct toml_node *cuda = table_at(r, "/general/cuda");
    if (cuda && !toml_member(r->doc, cuda, key)) {
        build_toml_fix_move(r, finding, "Move to [general.cuda]", table, node, &cuda, 1,
                            key);
    }
    return true;
}

static bool old_key(struct build_toml_report *r, const char *section,
                    const struct toml_node *table, const struct toml_node *node,
                    const char *name) {
    const char *known = build_toml_section_key(section);
    for (size_t i = 0; i < build_toml_moved_count; i++) {
        const struct build_toml_moved *moved = &build_toml_moved[i];
        if (strcmp(moved->section, known) != 0 || strcmp(moved->name, name) != 0) {
            continue;
        }
        bool rocm = strcmp(known, "general") == 0 && strcmp(name, "rocm") == 0;
        json_t *finding = build_toml_add_key(
            r, "build_toml_old_key", rocm ? once_taken(r) : FINDING_ERROR, node,
            "%s is not read %s: %s", name, rocm ? "by edition 5" : "here",
            moved->instead);
        if (moved->rename && !toml_member(r->doc, table, moved->rename)) {
            autofree char *title = xasprintf("Rename to %s", moved->rename);
            build_toml_fix_replace(r, finding, title, node->key_start, node->key_end,
                                   moved->rename);
        }
        return true;
    }
    return false;
}

/* The section of [general…], [torch] or a kernel that does know the key, or NULL. */
static const char *section_of(const char *name, unsigned editions, const char *not_this) {
    for (size_t i = 0; i < build_toml_key_count; i++) {
        const struct build_toml_key *key = &build_toml_keys[i];
        if ((key->editions & editions) && strcmp(key->name, name) == 0 &&
            strcmp(key->section, not_this) != 0 && key->section[0]) {
            return strcmp(key->section, "kernel.*") == 0 ? "kernel.<name>" : key->section;
        }
    }
    return NULL;
}

static const char *nearest_key(const char *section, const char *name, unsigned editions) {
    const char *names[32] = {NULL};
    size_t n = 0;
    section = build_toml_section_key(section);
    for (size_t i = 0; i < build_toml_key_count && n + 1 < ARRAY_LEN(names); i++) {
        const struct build_toml_key *key = &build_toml_keys[i];
        if ((key->editions & editions) && strcmp(key->section, section) == 0) {
            names[n++] = key->name;
        }
    }
    return build_toml_nearest(name, names);
}

static void unknown_key(struct build_toml_report *r, const char *section,
                        const struct toml_node *table, const struct toml_node *node,
                        const char *name) {
    if (move_capabilities(r, section, table, node, name) ||
        move_versions(r, section, table, node, name) ||
        rename_separators(r, section, node, name) ||
        old_key(r, section, table, node, name)) {
        return;
    }
    const char *shown = section[0] ? section : "the file";
    if (build_toml_key_find(section, name, BUILD_TOML_5)) {
        build_toml_add_key(r, "build_toml_needs_edition", FINDING_ERROR, node,
                           "%s is edition 5's: add edition = 5 to [general]", name);
        return;
    }
    const char *near = nearest_key(section, name, r->edition);
    const char *elsewhere =
        near ? NULL : section_of(name, r->edition, build_toml_section_key(section));
    json_t *finding = build_toml_add_key(
        r, "build_toml_unknown_key", FINDING_ERROR, node,
        "\"%.60s\" is no key of %s%s%s%s, and unknown keys are errors", name, shown,
        near        ? "; did you mean "
        : elsewhere ? "; it belongs in ["
                    : "",
        near        ? near
        : elsewhere ? elsewhere
                    : "",
        elsewhere ? "]" : "");
    if (near && !toml_member(r->doc, table, near)) {
        autofree char *title = xasprintf("Rename to %s", near);
        build_toml_fix_replace(r, finding, title, node->key_start, node->key_end, near);
    }
}

/* --- tables --- */

static void wrong_backend(struct build_toml_report *r, const struct build_toml_key *key,
                          const struct toml_node *node, unsigned backend) {
    build_toml_add_key(r, "build_toml_key_of_other_backend", FINDING_ERROR, node,
                       "%s belongs to %s kernels; this one is for %s", key->name,
                       build_toml_backend_name(key->backends),
                       build_toml_backend_name(backend));
}

static void check_missing(struct build_toml_report *r, const char *section,
                          const struct toml_node *table,
                          const struct build_toml_key *key) {
    static const struct {
        const char *name, *line;
    } defaults[] = {{"version", "version = 1"},
                    {"edition", "edition = 5"},
                    {"depends", "depends = [\"torch\"]"}};
    json_t *finding =
        build_toml_add_key(r, "build_toml_missing_key", FINDING_ERROR, table,
                           "[%s] lacks %s: %s", section, key->name, key->meaning);
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        if (strcmp(defaults[i].name, key->name) == 0) {
            autofree char *title = xasprintf("Add %s", defaults[i].line);
            build_toml_fix_insert(r, finding, title, table, defaults[i].line);
        }
    }
}

static void check_table(struct build_toml_report *r, const char *section,
                        const struct toml_node *table);

static void check_kernels(struct build_toml_report *r, const struct toml_node *all) {
    const char *name;
    json_t *index;
    json_object_foreach(all->children, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        autofree char *section = xasprintf("kernel.%.100s", name);
        if (is_table(kernel)) {
            check_table(r, strchr(name, '.') ? "kernel.*" : section, kernel);
        } else {
            build_toml_add_key(r, "build_toml_wrong_type", FINDING_ERROR, kernel,
                               "kernel holds tables: write [kernel.%.60s]", name);
        }
    }
}

static void check_pair(struct build_toml_report *r, const char *section,
                       const struct toml_node *table, const char *name) {
    const struct toml_node *node = toml_member(r->doc, table, name);
    const struct build_toml_key *key = build_toml_key_find(section, name, r->edition);
    if (!key) {
        unknown_key(r, section, table, node, name);
        return;
    }
    unsigned backend = key->backends ? backend_of(r, table) : 0;
    if (backend && !(backend & key->backends)) {
        wrong_backend(r, key, node, backend);
        return;
    }
    build_toml_check_value(r, key, node);
    if (!is_table(node)) {
        return;
    }
    if (key->type == KEY_KERNELS) {
        check_kernels(r, node);
    } else if (key->type == KEY_TABLE) {
        autofree char *below =
            section[0] ? xasprintf("%s.%s", section, name) : xstrdup(name);
        check_table(r, below, node);
    }
}

static void check_table(struct build_toml_report *r, const char *section,
                        const struct toml_node *table) {
    const char *name;
    json_t *index;
    json_object_foreach(table->children, name, index) {
        check_pair(r, section, table, name);
    }
    const char *known = build_toml_section_key(section);
    for (size_t i = 0; section[0] && i < build_toml_key_count; i++) {
        const struct build_toml_key *key = &build_toml_keys[i];
        bool here = key->required && (key->editions & r->edition) &&
                    strcmp(key->section, known) == 0;
        if (here && !toml_member(r->doc, table, key->name)) {
            check_missing(r, section, table, key);
        }
    }
}

/* --- the file as a whole --- */

static void check_frameworks(struct build_toml_report *r) {
    static const char *const names[] = {"torch", "torch-noarch", "tvm-ffi"};
    const struct toml_node *root = toml_find(r->doc, ""), *first = NULL;
    const char *first_name = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct toml_node *node = toml_member(r->doc, root, names[i]);
        if (node && first) {
            bool later = node->key_start > first->key_start;
            build_toml_add_key(
                r, "build_toml_framework", FINDING_ERROR, later ? node : first,
                "[%s] and [%s]: exactly one of [torch], [torch-noarch] and "
                "[tvm-ffi] may be there",
                first_name, names[i]);
        }
        first = first ? first : node;
        first_name = first_name ? first_name : node ? names[i] : NULL;
    }
    const struct toml_node *kernels = table_at(r, "/kernel");
    size_t count = kernels ? toml_count(kernels) : 0;
    if (!first) {
        json_t *finding =
            build_toml_add(r, "build_toml_framework", FINDING_ERROR, 0, 0,
                           "one of [torch], [torch-noarch] and [tvm-ffi] must be there");
        if (!count) {
            bool ended = r->len == 0 || r->text[r->len - 1] == '\n';
            build_toml_fix_replace(r, finding, "Add [torch-noarch]", r->len, r->len,
                                   ended ? "\n[torch-noarch]\n" : "\n\n[torch-noarch]\n");
        }
    } else if (strcmp(first_name, "torch-noarch") == 0 && count) {
        build_toml_add_key(r, "build_toml_framework", FINDING_WARNING, first,
                           "[torch-noarch] compiles nothing, yet there are kernels: "
                           "[torch] with the binding's src is meant");
    }
}

static unsigned listed_backends(const struct build_toml_report *r,
                                const struct toml_node *list) {
    unsigned set = 0;
    for (size_t i = 0; list && list->kind == TOML_ARRAY && i < toml_count(list); i++) {
        const char *word = json_string_value(toml_item(r->doc, list, i)->value);
        set |= word ? build_toml_backend(word) : 0;
    }
    return set;
}

static void add_backend(struct build_toml_report *r, json_t *finding,
                        const struct toml_node *list, const char *name) {
    size_t count = toml_count(list);
    size_t at = count ? toml_item(r->doc, list, count - 1)->end : list->start + 1;
    autofree char *text = xasprintf("%s\"%s\"", count ? ", " : "", name);
    autofree char *title = xasprintf("Add %s to backends", name);
    build_toml_fix_replace(r, finding, title, at, at, text);
}

static void check_backends(struct build_toml_report *r) {
    const struct toml_node *list = toml_find(r->doc, "/general/backends");
    const struct toml_node *all = table_at(r, "/kernel");
    unsigned listed = listed_backends(r, list), built = 0;
    const char *name;
    json_t *index;
    if (!list || list->kind != TOML_ARRAY || !all) {
        return;
    }
    json_object_foreach(all->children, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        unsigned backend = is_table(kernel) ? backend_of(r, kernel) : 0;
        built |= backend;
        if (backend && !(backend & listed)) {
            json_t *finding = build_toml_add_key(r, "build_toml_backend_unlisted",
                                                 FINDING_WARNING, kernel,
                                                 "kernel %.60s is for %s, which backends "
                                                 "in [general] does not name: it is "
                                                 "never built",
                                                 name, build_toml_backend_name(backend));
            add_backend(r, finding, list, build_toml_backend_name(backend));
        }
    }
    for (unsigned bit = 1; built && bit <= BACKEND_XPU; bit <<= 1) {
        if (listed & ~built & bit) {
            build_toml_add_key(r, "build_toml_backend_without_kernel", FINDING_INFO, list,
                               "backends names %s, but no kernel is for it",
                               build_toml_backend_name(bit));
        }
    }
}

/* --- editions --- */

static bool any_kernel_has(const struct build_toml_report *r, const char *key) {
    const struct toml_node *all = table_at(r, "/kernel");
    const char *name;
    json_t *index;
    json_object_foreach(all ? all->children : NULL, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        if (is_table(kernel) && toml_member(r->doc, kernel, key)) {
            return true;
        }
    }
    return false;
}

/* Which of the formats that say no edition this is: 1 to 4. */
static int old_edition(const struct build_toml_report *r) {
    static const char *const two[] = {"/general/universal", "/general/cuda-minver",
                                      "/general/cuda-maxver"};
    if (any_kernel_has(r, "language") || toml_find(r->doc, "/torch/universal")) {
        return 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(two); i++) {
        if (toml_find(r->doc, two[i])) {
            return 2;
        }
    }
    if (!toml_find(r->doc, "/general/backends")) {
        return 2;
    }
    bool framework = toml_find(r->doc, "/torch") || toml_find(r->doc, "/torch-noarch") ||
                     toml_find(r->doc, "/tvm-ffi");
    return framework && toml_find(r->doc, "/general/version") &&
                   toml_find(r->doc, "/general/license")
               ? 4
               : 3;
}

static void no_edition(struct build_toml_report *r, const struct toml_node *general) {
    int edition = old_edition(r);
    json_t *finding;
    if (edition == 4) {
        r->edition = BUILD_TOML_4;
        finding =
            build_toml_add_key(r, "build_toml_edition_missing", FINDING_WARNING, general,
                               "no edition: read as edition 4 and upgraded at every "
                               "build; write edition = 5");
    } else {
        finding = build_toml_add_key(
            r, "build_toml_edition_old", FINDING_ERROR, general,
            "the format of edition %d, which kernel-builder no longer builds: %s; then "
            "write edition = 5 (kernel-builder update-build does this)",
            edition,
            edition == 3
                ? "version, license, backends and one of [torch], [torch-noarch] "
                  "and [tvm-ffi] are required now"
                : "list backends in [general], give every kernel a backend, and "
                  "add version and license");
    }
    build_toml_fix_insert(r, finding, "Add edition = 5", general, "edition = 5");
}

/* False when the keys can't be judged. */
static bool check_edition(struct build_toml_report *r) {
    const struct toml_node *general = table_at(r, "/general");
    const struct toml_node *node = toml_find(r->doc, "/general/edition");
    r->edition = BUILD_TOML_5;
    if (!general) {
        build_toml_add(r, "build_toml_missing_key", FINDING_ERROR, 0, 0,
                       "[general] is missing: name, version, edition = 5, license, "
                       "backends");
        return true;
    }
    if (!node) {
        no_edition(r, general);
        return true;
    }
    json_int_t edition = json_integer_value(node->value);
    if (node->kind != TOML_INTEGER || edition == 5) {
        return true; /* a wrong type is found with the other keys */
    }
    if (edition > 5) {
        build_toml_add_value(
            r, "build_toml_edition_unknown", FINDING_WARNING, node,
            "edition %lld is newer than 5, the newest one checked here: its keys were "
            "not "
            "checked%s",
            (long long)edition,
            edition == 6 ? " (it was proposed for kernels in Rust, with language and "
                           "cargo-manifest; kernel-builder releases up to edition 5 "
                           "refuse it)"
                         : "");
        return false;
    }
    json_t *finding = build_toml_add_value(
        r, "build_toml_edition_unknown", FINDING_ERROR, node,
        "unsupported edition %lld: older editions were written without this key; write 5",
        (long long)edition);
    build_toml_fix_replace(r, finding, "Write edition = 5", node->start, node->end, "5");
    return true;
}

/* With the edition just asked for, a second finding about the missing key says nothing.
 */
static void drop_edition_echo(struct build_toml_report *r, size_t from) {
    bool asked = false;
    for (size_t i = from; i < json_array_size(r->findings); i++) {
        const json_t *f = json_array_get(r->findings, i);
        asked |= strcmp(json_get_string(f, "code", ""), "build_toml_edition_old") == 0;
        if (asked &&
            strcmp(json_get_string(f, "code", ""), "build_toml_missing_key") == 0 &&
            strstr(json_get_string(f, "message", ""), "lacks edition")) {
            json_array_remove(r->findings, i);
            return;
        }
    }
}

static void check_document(struct build_toml_report *r) {
    size_t from = json_array_size(r->findings);
    if (!check_edition(r)) {
        return;
    }
    check_table(r, "", toml_find(r->doc, ""));
    check_frameworks(r);
    check_backends(r);
    drop_edition_echo(r, from);
}

static void add_syntax(const char *file, const struct toml_error *error, int first_line,
                       json_t *findings) {
    int line = error->line + first_line - 1;
    struct finding_span span = {line, error->column, line, error->column};
    autofree char *message = xasprintf("not TOML: %s", error->msg);
    json_array_append_new(findings, finding_new("skill", "build_toml_syntax",
                                                FINDING_ERROR, message, file, &span));
}

void build_toml_check(const char *file, const char *text, size_t len, int first_line,
                      json_t *findings) {
    struct toml_error error;
    autoptr(toml_free) struct toml_document *doc = toml_parse(text, len, &error);
    if (!doc) {
        add_syntax(file, &error, first_line, findings);
        return;
    }
    struct build_toml_report report = {.file = file,
                                       .text = text,
                                       .len = len,
                                       .first_line = first_line,
                                       .doc = doc,
                                       .findings = findings};
    check_document(&report);
}
