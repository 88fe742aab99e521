#include "gpu/spec/spec_blanks.h"

#include "base/buf.h"
#include "base/err.h"
#include "gpu/spec/spec_schema.h"

#include <ctype.h>

enum { PATH_MAX_BYTES = 200, MAX_DEPTH = 16, MAX_TOLD = 12 };

struct blanks {
    json_t *schema;  /* parsed with the first of them */
    json_t *members; /* those that were described */
    struct buf text;
    size_t count;
};

/* The schema's description of a member with this name, anywhere in it; NULL: none. */
static const char *described(const json_t *schema, const char *name) {
    const json_t *own = json_object_get(json_object_get(schema, "properties"), name);
    const char *text = json_get_string(own, "description", NULL);
    json_each_member(schema, key, member) {
        text = text ? text : described(member, name);
    }
    json_each(schema, i, item) {
        text = text ? text : described(item, name);
    }
    return text;
}

/* " (threads in x, y, z)": the first words, and once. */
static void describe(struct blanks *b, const char *path, const char *name) {
    b->schema = b->schema ? b->schema : json_loads(spec_schema(), 0, NULL);
    const char *text =
        strncmp(path, "sizes", 5) ? described(b->schema, name) : "An integer";
    if (text && !json_object_get(b->members, name)) {
        json_object_set_new(b->members, name, json_true());
        buf_addf(&b->text, " (%c%.*s)", tolower((unsigned char)*text),
                 (int)strcspn(text, ";:.") - 1, text + 1);
    }
}

static void add(struct blanks *b, const char *path, const char *name) {
    if (b->count++ < MAX_TOLD) {
        buf_addf(&b->text, "%s%s", b->count > 1 ? ", " : "", path);
        describe(b, path, name);
    }
}

static void look(struct blanks *b, const json_t *value, const char *path,
                 const char *name, int depth) {
    char inner[PATH_MAX_BYTES];
    if (json_is_null(value)) {
        add(b, path, name);
    }
    if (depth == MAX_DEPTH) {
        return;
    }
    json_each(value, i, item) {
        if (!json_is_number(item)) { /* there may be a million */
            snprintf(inner, sizeof inner, "%s[%zu]", path, i);
            look(b, item, inner, name, depth + 1);
        }
    }
    json_each_member(value, key, member) {
        if (depth || strcmp(key, "expect") != 0) {
            snprintf(inner, sizeof inner, "%s%s%.64s", path, *path ? "." : "", key);
            look(b, member, inner, key, depth + 1);
        }
    }
}

int spec_blanks_refuse(const json_t *spec, struct err *err) {
    struct blanks b = {.members = json_object(), .text = BUF_INIT(4096)};
    int r = 0;
    look(&b, spec, "", "", 0);
    if (b.count > MAX_TOLD) {
        buf_addf(&b.text, " and %zu more", b.count - MAX_TOLD);
    }
    if (b.count) {
        r = err_set(err, -EINVAL, "left to fill in: %s", b.text.data);
    }
    buf_finish(&b.text);
    json_decref(b.members);
    json_decref(b.schema);
    return r;
}
