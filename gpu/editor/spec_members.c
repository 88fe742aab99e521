#include "gpu/editor/spec_members.h"

#include "gpu/spec/spec_schema.h"

#include <pthread.h>

enum { MAX_DEPTH = 24 };

static json_t *schema_json;

static void read_schema(void) {
    schema_json = json_loads(spec_schema(), 0, NULL);
}

const json_t *spec_members_schema(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_schema);
    return schema_json;
}

static void add(struct spec_members *m, const json_t *schema) {
    const json_t *any = json_object_get(schema, "anyOf");
    if (any) {
        json_each(any, i, one) {
            add(m, one);
        }
    }
    if (schema && m->count < CHECK_MEMBERS_MAX &&
        (!any || json_object_get(schema, "description"))) {
        m->list[m->count++] = schema;
    }
}

/* --- alternatives for an object --- */

static bool names(const json_t *schema, const char *name, size_t len) {
    const json_t *more = json_object_get(schema, "additionalProperties");
    return json_object_getn(json_object_get(schema, "properties"), name, len) ||
           json_is_object(more) || (!more && json_object_get(schema, "required"));
}

/* Has it all the members that stand there? */
static bool names_all(const struct json_places *p, size_t object, const json_t *schema) {
    for (size_t i = object + 1; i < p->count; i++) {
        size_t len;
        const char *key = json_place_key(p, i, &len);
        if (p->list[i].parent == object && p->list[i].key_end && p->list[i].colon &&
            !names(schema, key, len)) {
            return false;
        }
    }
    return true;
}

static void narrow(const struct json_places *p, size_t object, struct spec_members *m) {
    struct spec_members fitting = {0};
    for (size_t i = 0; i < m->count; i++) {
        if (names_all(p, object, m->list[i])) {
            fitting.list[fitting.count++] = m->list[i];
        }
    }
    if (fitting.count) {
        *m = fitting;
    }
}

/* --- from the top to a place --- */

static void named(const struct spec_members *from, const char *name, size_t len,
                  struct spec_members *ret) {
    *ret = (struct spec_members){0};
    for (size_t i = 0; i < from->count; i++) {
        const json_t *own =
            json_object_getn(json_object_get(from->list[i], "properties"), name, len);
        const json_t *more = json_object_get(from->list[i], "additionalProperties");
        if (own || json_is_object(more)) {
            add(ret, own ? own : more);
        }
    }
}

static void items(const struct spec_members *from, struct spec_members *ret) {
    *ret = (struct spec_members){0};
    for (size_t i = 0; i < from->count; i++) {
        const json_t *own = json_object_get(from->list[i], "items");
        if (own) {
            add(ret, own);
        }
    }
}

void spec_members_of(const struct json_places *p, size_t place,
                     struct spec_members *ret) {
    size_t chain[MAX_DEPTH], depth = 0;
    for (size_t at = place; depth < MAX_DEPTH; at = p->list[at].parent) {
        chain[depth++] = at;
        if (p->list[at].parent == at) {
            break;
        }
    }
    *ret = (struct spec_members){0};
    if (depth == MAX_DEPTH) {
        return;
    }
    add(ret, spec_members_schema());
    while (--depth) {
        struct spec_members next;
        size_t child = chain[depth - 1], len;
        const char *key = json_place_key(p, child, &len);
        if (p->list[child].key_end) {
            named(ret, key, len, &next);
        } else {
            items(ret, &next);
        }
        *ret = next;
        if (p->list[child].kind == '{') {
            narrow(p, child, ret);
        }
    }
}

void spec_members_named(const struct json_places *p, size_t object, const char *name,
                        size_t len, struct spec_members *ret) {
    struct spec_members own;
    spec_members_of(p, object, &own);
    named(&own, name, len, ret);
}

const char *spec_members_description(const struct spec_members *m) {
    const char *text = NULL;
    for (size_t i = 0; i < m->count && !(text && *text); i++) {
        text = json_get_string(m->list[i], "description", NULL);
    }
    return text && *text ? text : NULL;
}
