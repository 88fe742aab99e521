/* SKILL.md's text written anew, or changed with the rest as it is. */
#include "base/buf.h"
#include "base/find.h"
#include "skills/format/skill.h"

/* The limits on reading, with room for what quoting adds. */
#define WRITE_MAX (4u * SKILL_MAX_TEXT)

/* --- a new text --- */

static void write_field(struct buf *out, const char *key, const json_t *value,
                        const char *newline) {
    yaml_write_key(out, key);
    buf_addc(out, ':');
    yaml_write_value(out, value, 2, newline);
    buf_adds(out, newline);
}

static void write_frontmatter(struct buf *out, const json_t *frontmatter,
                              const char *newline) {
    buf_addf(out, "---%s", newline);
    json_each_member(frontmatter, key, value) {
        write_field(out, key, value, newline);
    }
    buf_addf(out, "---%s", newline);
}

char *skill_text_new(const json_t *frontmatter, const char *body) {
    struct buf out = BUF_INIT(WRITE_MAX);
    write_frontmatter(&out, frontmatter, "\n");
    bool blank = *body != '\n' && *body != '\0';
    buf_adds(&out, blank ? "\n" : "");
    buf_adds(&out, body);
    return buf_detach(&out);
}

/* --- an old text, changed --- */

struct writer {
    const struct skill_text *text;
    const json_t *changes;
    const char *newline;
    struct buf out;
    size_t done; /* copied so far */
};

static void copy_to(struct writer *w, size_t end) {
    if (end > w->done) {
        buf_add(&w->out, w->text->text + w->done, end - w->done);
        w->done = end;
    }
}

static size_t line_start(const struct skill_text *t, size_t at) {
    return t->lines.starts[lines_at(&t->lines, at)];
}

/* Behind the line ending of the line that holds `at`. */
static size_t line_behind(const struct skill_text *t, size_t at) {
    size_t line = lines_at(&t->lines, at);
    return line + 1 < t->lines.count ? t->lines.starts[line + 1] : t->len;
}

static size_t last_byte(const struct yaml_pair *p) {
    return p->end > p->key_end ? p->end - 1 : p->key_end;
}

static bool is_multiline(const char *text, size_t len) {
    return memchr(text, '\n', len) != NULL;
}

static void replace_value(struct writer *w, const struct yaml_pair *p,
                          const json_t *value) {
    copy_to(w, p->key_end);
    buf_addc(&w->out, ':');
    size_t before = w->out.len;
    yaml_write_value(&w->out, value, 2, w->newline);
    w->done = p->end > p->key_end ? p->end : p->key_end;
    if (p->end <= p->key_end || p->at == p->end) {
        const char *colon =
            memchr(w->text->text + p->key_end, ':', w->text->len - p->key_end);
        w->done = (size_t)(colon - w->text->text) + 1;
    }
    if (is_multiline(w->out.data + before, w->out.len - before)) {
        w->done = line_behind(w->text, w->done - 1);
        buf_adds(&w->out, w->newline);
    }
}

static void change_field(struct writer *w, const struct yaml_pair *p,
                         const json_t *value) {
    if (json_is_null(value)) {
        copy_to(w, line_start(w->text, p->key_at));
        w->done = line_behind(w->text, last_byte(p));
    } else {
        replace_value(w, p, value);
    }
}

static void change_fields(struct writer *w) {
    const struct yaml_map *places = &w->text->places;
    list_each(i, p, places->pairs, places->count) {
        const json_t *value = json_object_get(w->changes, p->key);
        if (p->depth == 0 && value) {
            change_field(w, p, value);
        }
    }
}

/* New fields follow the last one, before comments that end the frontmatter. */
static void add_fields(struct writer *w) {
    size_t end = w->text->yaml;
    list_each(i, p, w->text->places.pairs, w->text->places.count) {
        end = p->depth == 0 ? line_behind(w->text, last_byte(p)) : end;
    }
    copy_to(w, end);
    json_each_member(w->changes, key, value) {
        if (!json_is_null(value) && !json_object_get(w->text->frontmatter, key)) {
            write_field(&w->out, key, value, w->newline);
        }
    }
}

static void write_body(struct writer *w, const char *body) {
    if (body) {
        copy_to(w, w->text->body);
        buf_adds(&w->out, body);
    } else {
        copy_to(w, w->text->len);
    }
}

static json_t *merged(const json_t *frontmatter, const json_t *changes) {
    json_t *all = frontmatter ? json_deep_copy(frontmatter) : json_object();
    json_each_member(changes, key, value) {
        if (json_is_null(value)) {
            json_object_del(all, key);
        } else {
            json_object_set(all, key, value);
        }
    }
    return all;
}

/* The frontmatter anew, the body as it is. */
static char *rewrite(const struct skill_text *t, const json_t *wanted, const char *body,
                     const char *newline) {
    struct buf out = BUF_INIT(WRITE_MAX);
    write_frontmatter(&out, wanted, newline);
    if (body) {
        buf_adds(&out, body);
    } else {
        buf_add(&out, t->text + t->body, t->len - t->body);
    }
    return buf_detach(&out);
}

/* "? key" and what is not followed by its colon cannot be changed in place. */
static bool can_change(const struct skill_text *t) {
    list_each(i, p, t->places.pairs, t->places.count) {
        size_t at = p->key_end;
        while (at < t->yaml_end && (t->text[at] == ' ' || t->text[at] == '\t')) {
            at++;
        }
        if (p->depth == 0 && (at >= t->yaml_end || t->text[at] != ':' ||
                              line_start(t, p->key_at) != p->key_at)) {
            return false;
        }
    }
    return !t->places.flow;
}

static bool says(const char *text, size_t len, const json_t *wanted) {
    struct skill_text again;
    skill_text_read(&again, text, len);
    bool same = again.frontmatter && json_equal(again.frontmatter, wanted);
    skill_text_finish(&again);
    return same;
}

static const char *newline_of(const struct skill_text *t) {
    const char *end = memchr(t->text, '\n', t->len);
    return end && end > t->text && end[-1] == '\r' ? "\r\n" : "\n";
}

/* SKILL.md with the quotes that reading had to imagine. */
static char *write_repaired(const struct skill_text *t, const json_t *changes,
                            const char *body) {
    autobuf whole = BUF_INIT(WRITE_MAX);
    buf_add(&whole, t->text, t->yaml);
    buf_adds(&whole, t->repair.yaml);
    buf_add(&whole, t->text + t->yaml_end, t->len - t->yaml_end);
    struct skill_text sound;
    skill_text_read(&sound, whole.data, whole.len);
    char *written = skill_text_write(&sound, changes, body);
    skill_text_finish(&sound);
    return written;
}

char *skill_text_write(const struct skill_text *t, const json_t *changes,
                       const char *body) {
    const char *newline = newline_of(t);
    autojson *wanted = merged(t->frontmatter, changes);
    if (t->repaired) {
        return write_repaired(t, changes, body);
    }
    if (!t->frontmatter || !can_change(t)) {
        return rewrite(t, wanted, body, newline);
    }
    struct writer w = {
        .text = t, .changes = changes, .newline = newline, .out = BUF_INIT(WRITE_MAX)};
    change_fields(&w);
    add_fields(&w);
    write_body(&w, body);
    if (!says(w.out.data, w.out.len, wanted)) {
        buf_finish(&w.out);
        return rewrite(t, wanted, body, newline);
    }
    return buf_detach(&w.out);
}
