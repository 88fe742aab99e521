#include "skills/kernel_project/build_toml.h"

#include "base/buf.h"
#include "skills/kernel_project/build_toml_report.h"

/* --- tables --- */

static void wrong_backend(struct build_toml_report *r, const struct build_toml_key *key,
                          const struct toml_node *node, unsigned backend) {
    json_t *finding = build_toml_add(
        r, "build_toml_key_of_other_backend", FINDING_ERROR, toml_key_range(node),
        "%s belongs to %s kernels; this one is for %s", key->name,
        build_toml_backend_name(key->backends), build_toml_backend_name(backend));
    autofree char *title = xasprintf("Remove %s", key->name);
    build_toml_fix_remove(r, finding, title, node);
}

/* backends = […] as the kernels say, or NULL when none does. */
static char *backends_line(const struct build_toml_report *r) {
    const struct toml_node *all = build_toml_table_at(r, "/kernel");
    autobuf line = BUF_INIT(500);
    unsigned built = 0;
    json_each_member(all ? all->children : NULL, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        built |= build_toml_is_table(kernel) ? build_toml_backend_of(r, kernel) : 0;
    }
    for (unsigned bit = 1; built && bit <= BACKEND_XPU; bit <<= 1) {
        if (built & bit) {
            buf_addf(&line, "%s\"%s\"", line.len ? ", " : "",
                     build_toml_backend_name(bit));
        }
    }
    return built ? xasprintf("backends = [%s]", line.data) : NULL;
}

/* backend = … of a kernel, where [general] builds for one thing; or NULL. */
static char *backend_line(const struct build_toml_report *r) {
    const struct toml_node *list = toml_find(r->doc, "/general/backends");
    if (!list || list->kind != TOML_ARRAY || toml_count(list) != 1) {
        return NULL;
    }
    const char *word = json_string_value(toml_item(r->doc, list, 0)->value);
    return word && build_toml_backend(word) ? xasprintf("backend = \"%s\"", word) : NULL;
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
        build_toml_add(r, "build_toml_missing_key", FINDING_ERROR, toml_key_range(table),
                       "[%s] lacks %s: %s", section, key->name, key->meaning);
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        if (strcmp(defaults[i].name, key->name) == 0) {
            autofree char *title = xasprintf("Add %s", defaults[i].line);
            build_toml_fix_insert(r, finding, title, table, defaults[i].line);
        }
    }
    autofree char *line = strcmp(key->name, "backends") == 0  ? backends_line(r)
                          : strcmp(key->name, "backend") == 0 ? backend_line(r)
                                                              : NULL;
    if (line) {
        autofree char *title = xasprintf("Add %s", line);
        build_toml_fix_insert(r, finding, title, table, line);
    }
}

static void check_table(struct build_toml_report *r, const char *section,
                        const struct toml_node *table);

static void check_kernels(struct build_toml_report *r, const struct toml_node *all) {
    json_each_member(all->children, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        autofree char *section = xasprintf("kernel.%.100s", name);
        if (build_toml_is_table(kernel)) {
            check_table(r, strchr(name, '.') ? "kernel.*" : section, kernel);
        } else {
            build_toml_add(r, "build_toml_wrong_type", FINDING_ERROR,
                           toml_key_range(kernel),
                           "kernel holds tables: write [kernel.%.60s]", name);
        }
    }
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
    if (build_toml_key_find(section, name, BUILD_TOML_5)) {
        build_toml_add(r, "build_toml_needs_edition", FINDING_ERROR, toml_key_range(node),
                       "%s is edition 5's: add edition = 5 to [general]", name);
        return;
    }
    const char *near = nearest_key(section, name, r->edition);
    json_t *finding =
        build_toml_add(r, "build_toml_unknown_key", FINDING_ERROR, toml_key_range(node),
                       "\"%.60s\" is not a key of %s%s%s, and unknown keys are errors",
                       name, section[0] ? section : "the file",
                       near ? "; did you mean " : "", near ? near : "");
    if (near && !toml_member(r->doc, table, near)) {
        autofree char *title = xasprintf("Rename to %s", near);
        build_toml_fix_replace(r, finding, title, node->key_start, node->key_end, near);
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
    unsigned backend = key->backends ? build_toml_backend_of(r, table) : 0;
    if (backend && !(backend & key->backends)) {
        wrong_backend(r, key, node, backend);
        return;
    }
    build_toml_check_value(r, key, node);
    if (!build_toml_is_table(node)) {
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
    json_each_member(table->children, name, index) {
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
            build_toml_add(r, "build_toml_framework", FINDING_ERROR,
                           toml_key_range(later ? node : first),
                           "[%s] and [%s]: exactly one of [torch], [torch-noarch] and "
                           "[tvm-ffi] may be there",
                           first_name, names[i]);
        }
        first = first ? first : node;
        first_name = first_name ? first_name : node ? names[i] : NULL;
    }
    const struct toml_node *kernels = build_toml_table_at(r, "/kernel");
    size_t count = kernels ? toml_count(kernels) : 0;
    if (!first) {
        json_t *finding = build_toml_add(
            r, "build_toml_framework", FINDING_ERROR, (struct toml_range){0},
            "one of [torch], [torch-noarch] and [tvm-ffi] must be there");
        if (!count) {
            bool ended = r->len == 0 || r->text[r->len - 1] == '\n';
            build_toml_fix_replace(r, finding, "Add [torch-noarch]", r->len, r->len,
                                   ended ? "\n[torch-noarch]\n" : "\n\n[torch-noarch]\n");
        }
    } else if (strcmp(first_name, "torch-noarch") == 0 && count) {
        build_toml_add(r, "build_toml_framework", FINDING_WARNING, toml_key_range(first),
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
    const struct toml_node *all = build_toml_table_at(r, "/kernel");
    unsigned listed = listed_backends(r, list), built = 0;
    if (!list || list->kind != TOML_ARRAY || !all) {
        return;
    }
    json_each_member(all->children, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        unsigned backend =
            build_toml_is_table(kernel) ? build_toml_backend_of(r, kernel) : 0;
        built |= backend;
        if (backend && !(backend & listed)) {
            json_t *finding = build_toml_add(r, "build_toml_backend_unlisted",
                                             FINDING_WARNING, toml_key_range(kernel),
                                             "kernel %.60s is for %s, which backends "
                                             "in [general] does not name: it is "
                                             "never built",
                                             name, build_toml_backend_name(backend));
            add_backend(r, finding, list, build_toml_backend_name(backend));
        }
    }
    for (unsigned bit = 1; built && bit <= BACKEND_XPU; bit <<= 1) {
        if (listed & ~built & bit) {
            build_toml_add(r, "build_toml_backend_without_kernel", FINDING_INFO,
                           toml_key_range(list),
                           "backends names %s, but no kernel is for it",
                           build_toml_backend_name(bit));
        }
    }
}

/* --- editions --- */

static bool any_kernel_has(const struct build_toml_report *r, const char *key) {
    const struct toml_node *all = build_toml_table_at(r, "/kernel");
    json_each_member(all ? all->children : NULL, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        if (build_toml_is_table(kernel) && toml_member(r->doc, kernel, key)) {
            return true;
        }
    }
    return false;
}

/* The edition, 1 to 4, of a file in a format that does not name its edition. */
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
        finding = build_toml_add(r, "build_toml_edition_missing", FINDING_WARNING,
                                 toml_key_range(general),
                                 "no edition: read as edition 4 and upgraded at every "
                                 "build; write edition = 5");
    } else {
        finding = build_toml_add(
            r, "build_toml_edition_old", FINDING_ERROR, toml_key_range(general),
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
    const struct toml_node *general = build_toml_table_at(r, "/general");
    const struct toml_node *node = toml_find(r->doc, "/general/edition");
    r->edition = BUILD_TOML_5;
    if (!general) {
        build_toml_add(r, "build_toml_missing_key", FINDING_ERROR, (struct toml_range){0},
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
        return true; /* wrong types are reported with those of the other keys */
    }
    if (edition > 5) {
        build_toml_add(
            r, "build_toml_edition_unknown", FINDING_WARNING, toml_value_range(node),
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
    json_t *finding = build_toml_add(
        r, "build_toml_edition_unknown", FINDING_ERROR, toml_value_range(node),
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
        asked |= json_says(f, "code", "build_toml_edition_old");
        if (asked && json_says(f, "code", "build_toml_missing_key") &&
            strstr(json_get_string(f, "message", ""), "lacks edition")) {
            json_array_remove(r->findings, i);
            return;
        }
    }
}

/* Whether the file belongs to another program: no key at its top is one of ours or
 * resembles one. */
bool build_toml_is_foreign(const struct toml_document *doc) {
    static const char *const ours[] = {"general", "torch",  "torch-noarch",
                                       "tvm-ffi", "kernel", NULL};
    const struct toml_node *top = toml_find(doc, "");
    json_each_member(top->children, name, index) {
        if (build_toml_nearest(name, ours)) {
            return false;
        }
    }
    return json_object_size(top->children) > 0;
}

static void check_document(struct build_toml_report *r) {
    size_t from = json_array_size(r->findings);
    if (build_toml_is_foreign(r->doc)) {
        build_toml_add(
            r, "build_toml_foreign", FINDING_ERROR, (struct toml_range){0},
            "this does not seem to be a build.toml of kernel-builder: none of "
            "[general], [torch], [torch-noarch], [tvm-ffi] and [kernel.<name>] "
            "is here; nothing else was checked");
        return;
    }
    if (!check_edition(r)) {
        return;
    }
    check_table(r, "", toml_find(r->doc, ""));
    check_frameworks(r);
    check_backends(r);
    drop_edition_echo(r, from);
}

void build_toml_drop_foreign(json_t *findings) {
    size_t last = json_array_size(findings);
    const json_t *finding = last ? json_array_get(findings, last - 1) : NULL;
    if (json_says(finding, "code", "build_toml_foreign")) {
        json_array_remove(findings, last - 1);
    }
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
