/* A key that its section does not have: moved, renamed, old, another edition's, misspelt.
 */
#include "base/mem.h"
#include "skills/kernel_project/build_toml_report.h"

#include <stdio.h>
#include <string.h>

struct kernels {
    const struct toml_node *list[64]; /* tables; more are judged, but not moved into */
    size_t count;
};

static void with_separators(const char *name, char from, char to, char *out,
                            size_t size) {
    snprintf(out, size, "%s", name);
    for (char *s = out; *s; s++) {
        *s = *s == from ? to : *s;
    }
}

/* Those whose backend is one of `backends` and that lack the key. */
static void find_kernels(const struct build_toml_report *r, unsigned backends,
                         const char *without, struct kernels *ret) {
    const struct toml_node *all = build_toml_table_at(r, "/kernel");
    const char *name;
    json_t *index;
    char misspelt[64];
    with_separators(without, '-', '_', misspelt, sizeof misspelt);
    ret->count = 0;
    json_object_foreach(all ? all->children : NULL, name, index) {
        const struct toml_node *kernel = toml_member(r->doc, all, name);
        if (build_toml_is_table(kernel) &&
            (build_toml_backend_of(r, kernel) & backends) &&
            !toml_member(r->doc, kernel, without) &&
            !toml_member(r->doc, kernel, misspelt) && ret->count < ARRAY_LEN(ret->list)) {
            ret->list[ret->count++] = kernel;
        }
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
    autofree char *place =
        section[0] ? xasprintf("[%s]", section) : xstrdup("no section");
    bool once = strcmp(section, "general.cuda") == 0 && strcmp(name, "capabilities") == 0;
    json_t *finding = build_toml_add_key(
        r, "build_toml_capabilities_section", once ? once_taken(r) : FINDING_ERROR, node,
        "%s %s in %s: %s", once ? "edition 5 does not take" : "no edition takes", name,
        place,
        build_toml_table_at(r, "/torch-noarch")
            ? "[torch-noarch] has them as cuda_capabilities"
            : "each CUDA kernel has its own, as "
              "cuda-capabilities in its [kernel.<name>]");
    build_toml_fix_move(r, finding, "Move to the CUDA kernels", table, node, kernels.list,
                        kernels.count, "cuda-capabilities");
    return true;
}

/* rocm-archs outside of the kernels that they are for. */
static bool move_archs(struct build_toml_report *r, const char *section,
                       const struct toml_node *table, const struct toml_node *node,
                       const char *name) {
    bool known = strcmp(name, "rocm-archs") == 0 || strcmp(name, "rocm_archs") == 0;
    if (!known || node->kind != TOML_ARRAY || strncmp(section, "kernel.", 7) == 0 ||
        strcmp(section, "torch-noarch") == 0) {
        return false;
    }
    struct kernels kernels;
    find_kernels(r, BACKEND_ROCM, "rocm-archs", &kernels);
    autofree char *place =
        section[0] ? xasprintf("[%s]", section) : xstrdup("no section");
    json_t *finding = build_toml_add_key(
        r, "build_toml_capabilities_section", FINDING_ERROR, node,
        "no edition takes %s in %s: each ROCm kernel has its own, as rocm-archs in its "
        "[kernel.<name>]",
        name, place);
    build_toml_fix_move(r, finding, "Move to the ROCm kernels", table, node, kernels.list,
                        kernels.count, "rocm-archs");
    return true;
}

/* [general.rocm] archs, the only thing there. */
static void fix_rocm_table(struct build_toml_report *r, json_t *finding,
                           const struct toml_node *table) {
    const struct toml_node *archs =
        build_toml_is_table(table) ? toml_member(r->doc, table, "archs") : NULL;
    struct kernels kernels;
    if (archs && archs->kind == TOML_ARRAY && toml_count(table) == 1) {
        find_kernels(r, BACKEND_ROCM, "rocm-archs", &kernels);
        build_toml_fix_move(r, finding, "Move to the ROCm kernels", table, archs,
                            kernels.list, kernels.count, "rocm-archs");
    }
}

/* [general.cuda] with the pair's value, at the end of the file. */
static void move_to_new_section(const struct build_toml_report *r, json_t *finding,
                                const struct toml_node *node, const char *key) {
    struct finding_span end = build_toml_span(r, r->len, r->len);
    bool newline = r->len && r->text[r->len - 1] != '\n';
    autofree char *value = xstrndup(r->text + node->start, node->end - node->start);
    autofree char *text =
        xasprintf("%s\n[general.cuda]\n%s = %s\n", newline ? "\n" : "", key, value);
    build_toml_fix_remove(r, finding, "Move to [general.cuda]", node);
    if (json_object_get(finding, "fixes")) {
        finding_add_edit(finding, r->file, &end, text);
    }
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
    const struct toml_node *cuda = build_toml_table_at(r, "/general/cuda");
    if (cuda && !toml_member(r->doc, cuda, key)) {
        build_toml_fix_move(r, finding, "Move to [general.cuda]", table, node, &cuda, 1,
                            key);
    } else if (!cuda) {
        move_to_new_section(r, finding, node, key);
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
        if (rocm) {
            fix_rocm_table(r, finding, node);
        } else if (strcmp(name, "universal") == 0 && json_is_false(node->value)) {
            build_toml_fix_remove(r, finding, "Remove universal = false", node);
        } else if (strcmp(json_string_value(node->value) ? json_string_value(node->value)
                                                         : "",
                          "cuda-hipify") == 0) {
            build_toml_fix_replace(r, finding, "Write backend = \"cuda\"",
                                   node->key_start, node->end, "backend = \"cuda\"");
        } else if (moved->rename && !toml_member(r->doc, table, moved->rename)) {
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

void build_toml_unknown_key(struct build_toml_report *r, const char *section,
                            const struct toml_node *table, const struct toml_node *node,
                            const char *name) {
    if (move_capabilities(r, section, table, node, name) ||
        move_archs(r, section, table, node, name) ||
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
        "\"%.60s\" is not a key of %s%s%s%s, and unknown keys are errors", name, shown,
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
