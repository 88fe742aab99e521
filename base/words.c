#include "base/words.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"

#include <math.h>

struct told {
    struct buf *out;
    const struct words_manner *manner;
    const json_t *value;
    const char *name; /* in its object, or NULL: an item of a list */
    size_t index;
    const struct told *in; /* whose item it is, or NULL */
};

static const char *tell(const struct told *w, const char *at, bool *whole);

/* --- values --- */

/* The member at the path, which has len bytes: a new reference, or NULL. */
static json_t *member_new(const struct told *w, const char *path, size_t len) {
    for (; len && *path == '^' && w->in; path++, len--) {
        w = w->in;
    }
    const json_t *value = w->value;
    if (len == 1 && *path == '@') {
        return w->name ? json_string(w->name) : json_integer((json_int_t)w->index);
    }
    for (size_t n; len && !(len == 1 && *path == '.'); path += n, len -= n) {
        n = strcspn(path, ".");
        n = n < len ? n : len;
        value = json_object_getn(value, path, n);
        n += n < len;
    }
    return json_incref((json_t *)(uintptr_t)value);
}

static size_t size_of(const json_t *v) {
    return json_is_object(v) ? json_object_size(v) : json_array_size(v);
}

static bool has_value(const json_t *v) {
    bool empty = json_is_string(v)
                     ? !json_string_length(v)
                     : (json_is_array(v) || json_is_object(v)) && !size_of(v);
    return v && !json_is_null(v) && !empty;
}

static double number_of(const json_t *v) {
    return json_is_number(v) ? json_number_value(v) : (double)size_of(v);
}

/* --- places --- */

/* Of a number, or of the member with a path; of neither, nothing is equal or greater. */
static double limit_of(const struct told *w, const char *text, size_t len) {
    char *end;
    double number = strtod(text, &end);
    autojson *v = end == text ? member_new(w, text, len) : NULL;
    return v ? number_of(v) : end == text ? NAN : number;
}

/* at: behind the path; the end of the place is returned. */
static const char *condition(const struct told *w, const json_t *v, bool wanted,
                             const char *at, bool *whole) {
    const char *end = at + strcspn(at, "}");
    size_t len = *at == '}' ? 0 : (size_t)(end - at - 1);
    bool holds =
        has_value(v) && !json_is_false(v) && !(json_is_number(v) && !number_of(v));
    if (*at == '>') {
        holds = number_of(v) > limit_of(w, at + 1, len);
    } else if (*at == '=' && at[1] == '*') {
        holds = v && !json_is_null(v);
    } else if (*at == '=' && json_is_boolean(v)) {
        holds = json_is_true(v) == (at[1] == 't');
    } else if (*at == '=' && json_is_string(v)) {
        holds =
            len == json_string_length(v) && !memcmp(json_string_value(v), at + 1, len);
    } else if (*at == '=') {
        holds = v && !json_is_null(v) && number_of(v) == limit_of(w, at + 1, len);
    }
    *whole = *whole && holds == wanted;
    return end;
}

/* The percentage of a share; halves are rounded up, as people do. */
static double percentage(double share, const char *format) {
    const char *point = strchr(format, '.');
    double scale = pow(10, point ? strtod(point + 1, NULL) : 6);
    return round(100 * share * scale) / scale;
}

/* format: "%.3g}" */
static bool add_formatted(struct buf *out, const json_t *v, const char *format) {
    size_t len = strcspn(format, "}") - 1;
    char kind = format[len];
    autofree char *shape =
        xasprintf("%.*s%s", (int)len, format,
                  kind == 's'   ? "s"
                  : kind == 'd' ? "lld"
                                : (char[]){kind == 'p' ? 'f' : kind, 0});
    if (kind == 's' ? !json_is_string(v) : !json_is_number(v)) {
        return false;
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the words are constants */
    if (kind == 's') {
        buf_addf(out, shape, json_string_value(v));
    } else if (kind == 'd') {
        buf_addf(out, shape, (long long)json_number_value(v));
    } else {
        double number = json_number_value(v);
        buf_addf(out, shape, kind == 'p' ? percentage(number, shape) : number);
    }
#pragma GCC diagnostic pop
    return true;
}

/* most: "~200}", or "~200!}" */
static bool add_cut(struct buf *out, const json_t *v, const char *most) {
    char *end;
    size_t max = strtoul(most + 1, &end, 10), len = json_string_length(v);
    const char *text = len ? json_string_value(v) : "";
    size_t cut = text_cut(text, len, max);
    buf_add(out, text, cut);
    buf_adds(out, cut < len ? "…" : "");
    if (*end == '!' && len && (cut < len || text[len - 1] != '\n')) {
        buf_addc(out, '\n');
    }
    return len;
}

static bool add_count(struct buf *out, const json_t *v, size_t from) {
    size_t count = size_of(v);
    return count > from && buf_addf(out, "%zu", count - from) == 0;
}

static bool add_member(struct buf *out, const json_t *v) {
    bool shown = json_is_string(v) || json_is_number(v);
    if (shown) {
        json_tell(out, v);
    }
    return (shown || json_is_true(v)) && has_value(v);
}

/* Behind the text at `at`: its closing bracket or bar. */
static const char *behind(const char *at) {
    int depth = 0;
    for (; *at && (depth || !strchr("}]|", *at)); at++) {
        at += *at == '\\' && at[1];
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    }
    return at;
}

struct loop {
    size_t most;
    const char *separator, *text;
    int separator_len;
};

static struct loop loop_read(const char *at) {
    struct loop l = {.most = SIZE_MAX, .separator = ""};
    if (*at == '<') {
        char *end;
        l.most = strtoul(at + 1, &end, 10);
        at = end;
    }
    if (*at == '/') {
        l.separator = at + 1;
        l.separator_len = (int)strcspn(at + 1, "/");
        at = l.separator + l.separator_len;
        at += *at == '/';
    }
    l.text = at + (*at == ':');
    return l;
}

static void tell_one(const struct loop *l, const struct told *one) {
    bool whole = true;
    if (one->index < l->most) {
        buf_add(one->out, l->separator, one->index ? (size_t)l->separator_len : 0);
        tell(one, l->text, &whole);
    }
}

static const char *tell_each(const struct told *w, const json_t *v, const char *at,
                             bool *whole) {
    struct loop l = loop_read(at);
    size_t index = 0;
    json_each(v, i, item) {
        tell_one(&l, &(struct told){w->out, w->manner, item, NULL, i, w});
    }
    json_each_member(json_is_object(v) ? v : NULL, name, item) {
        tell_one(&l, &(struct told){w->out, w->manner, item, name, index++, w});
    }
    *whole = *whole && size_of(v);
    return behind(l.text);
}

static bool add_part(const struct told *w, const json_t *v, const char *name) {
    const struct words_part *part = w->manner->parts;
    size_t len = strcspn(name, "}");
    while (part->name && (strncmp(part->name, name, len) != 0 || part->name[len])) {
        part++;
    }
    if (part->name && has_value(v)) {
        part->add(w->out, v, w->manner->data);
    }
    return part->name && has_value(v);
}

/* A value, or what stands for it, up to the closing brace. */
static bool add_value(const struct told *w, const json_t *v, const char *at) {
    size_t from = w->out->len, len = strcspn(at, "}");
    bool done = *at == '%'   ? add_formatted(w->out, v, at)
                : *at == '~' ? add_cut(w->out, v, at)
                : *at == '-' ? add_count(w->out, v, strtoul(at + 1, NULL, 10))
                             : add_member(w->out, v);
    if (!done && *at == '|') {
        done = buf_add(w->out, at + 1, len - 1) == 0;
    }
    if (w->manner->escape) {
        w->manner->escape(w->out, from);
    }
    return done;
}

/* at: behind the brace. Behind the closing one is returned. */
static const char *tell_place(const struct told *w, const char *at, bool *whole) {
    char test = *at == '?' || *at == '!' ? *at++ : '\0';
    size_t len = strcspn(at, "}|%~-<>=/:#");
    autojson *v = member_new(w, at, len);
    bool done = true;
    at += len;
    if (test) {
        at = condition(w, v, test == '?', at, whole);
    } else if (*at && strchr("</:", *at)) {
        at = tell_each(w, v, at, whole);
    } else {
        done = *at == '#' ? add_part(w, v, at + 1) : add_value(w, v, at);
        at += strcspn(at, "}");
    }
    *whole = *whole && done;
    return at + (*at == '}');
}

static const char *tell_group(const struct told *w, const char *at) {
    for (bool done = false;; at++) {
        size_t from = w->out->len;
        bool whole = true;
        at = done ? behind(at) : tell(w, at, &whole);
        if (!whole) {
            w->out->len = from;
            w->out->data[from] = '\0';
        }
        done = done || whole;
        if (*at != '|') {
            return at + (*at == ']');
        }
    }
}

/* Up to the bracket or bar that ends the text. whole: nothing in it was without value. */
static const char *tell(const struct told *w, const char *at, bool *whole) {
    while (*at && !strchr("}]|", *at)) {
        if (*at == '{') {
            at = tell_place(w, at + 1, whole);
        } else if (*at == '[') {
            at = tell_group(w, at + 1);
        } else {
            at += *at == '\\' && at[1];
            size_t len = 1 + strcspn(at + 1, "\\{}[]|");
            buf_add(w->out, at, len);
            at += len;
        }
    }
    return at;
}

void words_add(struct buf *out, const char *words, const json_t *value) {
    words_add_as(out, &(struct words_manner){0}, words, value);
}

void words_add_as(struct buf *out, const struct words_manner *manner, const char *words,
                  const json_t *value) {
    bool whole = true;
    tell(&(struct told){.out = out, .manner = manner, .value = value}, words, &whole);
}

void words_one_line(struct buf *out, size_t from) {
    for (char *c = out->data + from; *c; c++) {
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    }
}
