#include "gpu/check/unused.h"

#include "base/find.h"
#include "gpu/fixes/fix_text.h"

#define MAX_LOOKED_AT 256 /* variables: each takes the time of its file's length */

/* The file of a finding, and its tokens. */
struct unused_place {
    const struct source_file *file;
    struct fix_text text;
};

static void place_open(struct unused_place *p, const struct source_file *file) {
    p->file = file;
    fix_text_init(&p->text, file);
}

/* Namespaces and extern "C" are no scope of their own. */
static bool is_at_file_scope(const struct fix_text *t, size_t offset) {
    size_t inner = 0, spaces = 0;
    bool space = false;
    for (size_t i = 0; i < t->count && t->tokens[i].start < offset; i++) {
        if (fix_text_is(t, i, "{")) {
            *(inner || !space ? &inner : &spaces) += 1;
            space = false;
        } else if (fix_text_is(t, i, "}")) {
            size_t *open = inner ? &inner : &spaces;
            *open -= *open > 0;
        } else if (fix_text_is(t, i, ";")) {
            space = false;
        }
        space |= fix_text_is(t, i, "namespace") || fix_text_is(t, i, "extern");
    }
    return inner == 0;
}

/* Whether a token of this name is among what was blanked. */
static bool host_names(const struct unused_place *p, const char *name, size_t len) {
    for (size_t i = 0; i < p->text.count; i++) {
        size_t at = p->text.tokens[i].start;
        if (p->file->text[at] != p->text.text[at] &&
            fix_text_has(&p->text, i, name, len)) {
            return true;
        }
    }
    return false;
}

/* "variable \"ns::x\" was declared …": x; NULL: no variable. */
static const char *name_of(const json_t *finding, size_t *ret_len) {
    static const char start[] = "variable \"";
    const char *message = json_get_string(finding, "message", "");
    if (strncmp(message, start, sizeof start - 1) != 0) {
        return NULL;
    }
    const char *name = message + sizeof start - 1, *end = name + strcspn(name, "\"");
    for (const char *c = name; c < end; c++) {
        name = *c == ':' ? c + 1 : name;
    }
    *ret_len = (size_t)(end - name);
    return name;
}

static bool is_hosts(const json_t *finding, const struct unused_place *at,
                     const struct unused_place *unit) {
    size_t len,
        offset = fix_text_offset(&at->text, (int)json_get_integer(finding, "line", 0),
                                 (int)json_get_integer(finding, "column", 0));
    const char *name = name_of(finding, &len);
    return name && is_at_file_scope(&at->text, offset) &&
           (host_names(at, name, len) || host_names(unit, name, len));
}

static const struct source_file *file_of(const json_t *finding,
                                         const struct source_set *sources) {
    const char *display = json_get_string(finding, "file", "");
    return list_find(one, sources->files, sources->count,
                     strcmp(one->display, display) == 0);
}

static bool is_unused(const json_t *finding) {
    return json_says(finding, "code", "177");
}

static bool is_function(const json_t *finding) {
    return strncmp(json_get_string(finding, "message", ""), "function ", 9) == 0;
}

static void drop_variables(json_t *findings, const struct source_set *sources) {
    struct unused_place unit, at = {0};
    place_open(&unit, &sources->files[source_set_unit(sources)]);
    int left = MAX_LOOKED_AT;
    for (size_t i = json_array_size(findings); i-- > 0 && left;) {
        const json_t *finding = json_array_get(findings, i);
        const struct source_file *file =
            is_unused(finding) ? file_of(finding, sources) : NULL;
        if (!file) {
            continue;
        }
        left--;
        if (file != unit.file && file != at.file) {
            fix_text_finish(&at.text);
            place_open(&at, file);
        }
        if (is_hosts(finding, file == unit.file ? &unit : &at, &unit)) {
            json_array_remove(findings, i);
        }
    }
    fix_text_finish(&at.text);
    fix_text_finish(&unit.text);
}

void unused_drop(json_t *findings, const struct source_set *sources) {
    size_t variables = 0;
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        if (is_unused(finding) && is_function(finding)) {
            json_array_remove(findings, i);
        } else {
            variables += is_unused(finding);
        }
    }
    if (variables) {
        drop_variables(findings, sources);
    }
}
