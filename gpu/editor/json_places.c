#include "gpu/editor/json_places.h"

#include "base/find.h"

#define NONE SIZE_MAX

/* --- reading --- */

struct reader {
    struct json_places *p;
    size_t at, cap;
    size_t container; /* NONE: outside of everything */
    size_t members;   /* of the container so far */
    size_t pending;   /* a member that waits for its value, or NONE */
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool ends_word(char c) {
    return is_blank(c) || (c && strchr("{}[],:\"", c));
}

/* The end of a string; one that is not closed ends with its line. */
static size_t string_end(const struct json_places *p, size_t at) {
    for (at++; at < p->len && p->text[at] != '\n'; at++) {
        if (p->text[at] == '"') {
            return at + 1;
        }
        at += p->text[at] == '\\' && at + 1 < p->len && p->text[at + 1] != '\n';
    }
    return at;
}

static size_t token_end(const struct json_places *p, size_t at) {
    if (p->text[at] == '"') {
        return string_end(p, at);
    }
    while (at < p->len && !ends_word(p->text[at])) {
        at++;
    }
    return at;
}

/* NONE when there are too many. */
static size_t add(struct reader *r, struct json_place place) {
    struct json_places *p = r->p;
    if (p->count == JSON_PLACES_MAX) {
        return NONE;
    }
    list_room(p->list, p->count, r->cap, 64);
    place.parent = r->container == NONE ? p->count : r->container;
    place.index = r->members++;
    p->list[p->count] = place;
    return p->count++;
}

static bool in_object(const struct reader *r) {
    return r->container != NONE && r->p->list[r->container].kind == '{';
}

/* A value begins: the pending member's, or a new element. */
static size_t value_begin(struct reader *r, char kind, size_t start, size_t end) {
    size_t i = r->pending;
    r->pending = NONE;
    if (i == NONE) {
        i = add(r, (struct json_place){0});
    }
    if (i != NONE) {
        r->p->list[i].kind = kind;
        r->p->list[i].start = start;
        r->p->list[i].end = end;
    }
    return i;
}

static void container_begin(struct reader *r, char kind) {
    size_t i = value_begin(r, kind, r->at, r->p->len);
    r->at++;
    if (i != NONE) {
        r->container = i;
        r->members = 0;
    }
}

static void container_end(struct reader *r) {
    r->pending = NONE;
    r->at++;
    if (r->container == NONE) {
        return;
    }
    struct json_place *c = &r->p->list[r->container];
    c->end = r->at;
    c->closed = true;
    r->members = c->index + 1;
    r->container = c->parent == r->container ? NONE : c->parent;
}

static void word(struct reader *r) {
    size_t start = r->at, end = token_end(r->p, start);
    char kind = r->p->text[start] == '"' ? '"' : 'v';
    r->at = end > start ? end : start + 1;
    if (in_object(r) && (r->pending == NONE || !r->p->list[r->pending].colon)) {
        r->pending = add(r, (struct json_place){
                                .key = start, .key_end = end, .start = end, .end = end});
    } else {
        value_begin(r, kind, start, end);
    }
}

static void colon(struct reader *r) {
    r->at++;
    if (r->pending != NONE) {
        struct json_place *m = &r->p->list[r->pending];
        m->colon = m->start = m->end = r->at;
    }
}

void json_places_read(struct json_places *ret, const char *text, size_t len) {
    *ret = (struct json_places){.text = text, .len = len};
    struct reader r = {.p = ret, .container = NONE, .pending = NONE};
    while (r.at < len && ret->count < JSON_PLACES_MAX) {
        char c = text[r.at];
        if (is_blank(c)) {
            r.at++;
        } else if (c == '{' || c == '[') {
            container_begin(&r, c);
        } else if (c == '}' || c == ']') {
            container_end(&r);
        } else if (c == ':') {
            colon(&r);
        } else if (c == ',') {
            r.at++;
            r.pending = NONE;
        } else {
            word(&r);
        }
    }
}

void json_places_finish(struct json_places *p) {
    free(p->list);
    *p = (struct json_places){0};
}

/* --- finding --- */

static const char *unquoted(const struct json_places *p, size_t start, size_t end,
                            size_t *ret_len) {
    if (start < end && p->text[start] == '"') {
        start++;
        end -= end > start && p->text[end - 1] == '"';
    }
    *ret_len = end - start;
    return p->text + start;
}

const char *json_place_key(const struct json_places *p, size_t i, size_t *ret_len) {
    return unquoted(p, p->list[i].key, p->list[i].key_end, ret_len);
}

const char *json_place_string(const struct json_places *p, size_t i, size_t *ret_len) {
    return unquoted(p, p->list[i].start, p->list[i].end, ret_len);
}

static size_t member(const struct json_places *p, size_t object, const char *name,
                     size_t name_len) {
    size_t end = p->list[object].end; /* places stand in the order of the text */
    for (size_t i = object + 1; i < p->count && p->list[i].start <= end; i++) {
        size_t len;
        const char *key = json_place_key(p, i, &len);
        if (p->list[i].parent == object && p->list[i].key_end && len == name_len &&
            memcmp(key, name, len) == 0) {
            return i;
        }
    }
    return NONE;
}

size_t json_place_member(const struct json_places *p, size_t object, const char *name) {
    return member(p, object, name, strlen(name));
}

static size_t element(const struct json_places *p, size_t array, size_t index) {
    size_t at = first_of(i, array + 1, p->count,
                         p->list[i].parent == array && p->list[i].index == index);
    return at < p->count ? at : NONE;
}

/* One step of a path from `from`; *at is moved behind it. */
static size_t step(const struct json_places *p, size_t from, const char *path, size_t len,
                   size_t *at) {
    size_t start = *at;
    if (path[start] == '[') {
        char *end;
        unsigned long index = strtoul(path + start + 1, &end, 10);
        *at = (size_t)(end - path) + (*end == ']');
        return p->list[from].kind == '[' ? element(p, from, index) : NONE;
    }
    while (*at < len && path[*at] != '.' && path[*at] != '[') {
        ++*at;
    }
    return p->list[from].kind == '{' ? member(p, from, path + start, *at - start) : NONE;
}

size_t json_places_find(const struct json_places *p, const char *path, size_t len,
                        bool *ret_whole) {
    size_t found = NONE, at = 0;
    bool whole = p->count > 0;
    while (whole && at < len) {
        at += path[at] == '.';
        size_t before = at;
        size_t next =
            at < len ? step(p, found == NONE ? 0 : found, path, len, &at) : NONE;
        whole = at >= len || at > before;
        if (next == NONE) {
            whole = before >= len;
            break;
        }
        found = next;
    }
    if (ret_whole) {
        *ret_whole = whole && found != NONE;
    }
    return found;
}

size_t json_places_pointer(const struct json_places *p, const char *pointer) {
    size_t found = NONE;
    while (p->count && *pointer == '/') {
        const char *name = ++pointer;
        size_t len = strcspn(name, "/"), from = found == NONE ? 0 : found;
        size_t next = p->list[from].kind == '['
                          ? element(p, from, strtoul(name, NULL, 10))
                          : member(p, from, name, len);
        if (next == NONE) {
            break;
        }
        found = next;
        pointer += len;
    }
    return found;
}

/* --- what stands at an offset --- */

static bool holds(const struct json_place *c, size_t offset) {
    return (c->kind == '{' || c->kind == '[') && c->start < offset &&
           (offset < c->end || (offset == c->end && !c->closed));
}

/* The last member or element of the container that begins before or at the offset. */
static size_t child_at(const struct json_places *p, size_t container, size_t offset) {
    size_t found = NONE;
    for (size_t i = container + 1; i < p->count; i++) {
        const struct json_place *c = &p->list[i];
        if (c->parent == container && (c->key_end ? c->key : c->start) <= offset) {
            found = i;
        }
    }
    return found;
}

/* A ',' between the end of a child and the offset starts a new one. */
static bool parted(const struct json_places *p, size_t from, size_t offset) {
    return from < offset && memchr(p->text + from, ',', offset - from);
}

void json_places_at(const struct json_places *p, size_t offset, struct json_spot *ret) {
    *ret = (struct json_spot){NONE, NONE, false, offset, offset};
    for (size_t i = 0; i < p->count; i++) {
        if (holds(&p->list[i], offset)) {
            ret->container = i; /* later ones lie within earlier ones */
        }
    }
    if (ret->container == NONE) {
        return;
    }
    ret->is_key = p->list[ret->container].kind == '{';
    size_t child = child_at(p, ret->container, offset);
    if (child == NONE || parted(p, p->list[child].end, offset)) {
        return;
    }
    const struct json_place *c = &p->list[child];
    bool at_key = c->key_end && (!c->colon || offset < c->colon);
    if (at_key ? !c->colon && offset > c->key_end : c->kind && offset > c->end) {
        return; /* behind it */
    }
    ret->place = child;
    if (at_key) {
        ret->start = c->key;
        ret->end = c->key_end;
    } else {
        ret->is_key = false;
        ret->start = c->kind ? c->start : offset;
        ret->end = c->kind ? c->end : offset;
    }
}
