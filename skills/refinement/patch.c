#include "skills/refinement/patch.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "skills/format/markdown.h"
#include "skills/format/skill.h"

#define ALL SIZE_MAX
#define QUOTE 60 /* bytes of a text that a complaint repeats */

/* One edit as bytes: [start, end) of the old text becomes `text`. */
struct span {
    size_t start, end, edit;
    struct buf text;
};

struct patching {
    const char *text;
    size_t len;
    struct skill_text skill;
    struct markdown body;
    struct span spans[PATCH_MAX_EDITS];
    size_t count;
    json_t *problems;
};

#include "skills/patch_texts.h"

json_t *patch_schema(void) {
    return json_loads(schema, 0, NULL);
}

/* --- complaints --- */

/* edit ALL: of the edits together. */
static void complain(struct patching *p, size_t edit, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(struct patching *p, size_t edit, const char *fmt, ...) {
    char words[512];
    text_format(words, fmt);
    autofree char *sentence =
        edit == ALL ? xstrdup(words) : xasprintf("edit %zu: %s", edit + 1, words);
    json_array_append_new(p->problems, json_clean_z(sentence));
}

static int quoted(const char *text, size_t len) {
    return (int)text_cut(text, len, QUOTE);
}

/* --- places --- */

static size_t count_of(const struct patching *p, const char *what, size_t len,
                       size_t *first) {
    size_t count = 0;
    const char *at = p->text, *end = p->text + p->len;
    while ((at = memmem(at, (size_t)(end - at), what, len))) {
        *first = count++ ? *first : (size_t)(at - p->text);
        at++;
    }
    return count;
}

static void find_text(struct patching *p, size_t i, const json_t *find,
                      const json_t *replace) {
    const char *what = json_string_value(find);
    size_t len = json_string_length(find), start = 0;
    size_t count = len ? count_of(p, what, len, &start) : 0;
    if (!replace) {
        complain(p, i, "it has find but no replace");
    } else if (count != 1) {
        complain(p, i,
                 count ? "the text to find, \"%.*s\", appears %zu times: quote more of "
                         "what is around it"
                       : "the text to find, \"%.*s\", is not in the file (%zu times); "
                         "copy it exactly",
                 quoted(what, len), what, count);
    } else {
        struct span *s = &p->spans[p->count++];
        *s = (struct span){start, start + len, i, BUF_INIT(4 * PATCH_MAX_BYTES)};
        text_clean(&s->text, json_string_value(replace), json_string_length(replace));
    }
}

/* A heading's words without the marks that teachers add. */
static void bare_heading(const char **text, size_t *len) {
    const char *s = *text, *end = s + *len;
    while (s < end && (*s == '#' || *s == ' ')) {
        s++;
    }
    while (end > s && (end[-1] == ' ' || end[-1] == '#' || end[-1] == '\n')) {
        end--;
    }
    *text = s;
    *len = (size_t)(end - s);
}

static bool same_heading(const char *a, size_t a_len, const char *b) {
    size_t b_len = strlen(b);
    bare_heading(&a, &a_len);
    bare_heading(&b, &b_len);
    return a_len == b_len && strncasecmp(a, b, a_len) == 0;
}

static size_t line_start(const struct patching *p, int line) {
    size_t i = (size_t)line - 1;
    return i < p->skill.lines.count ? p->skill.lines.starts[i] : p->len;
}

/* "# …" at the margin: headings within quotes and lists are no sections. */
static bool is_section(const struct patching *p, const struct markdown_heading *h) {
    return p->text[line_start(p, h->line)] == '#';
}

/* The text beneath the heading: [*start, *end). */
static size_t find_section(const struct patching *p, const char *name, size_t len,
                           size_t *start, size_t *end) {
    size_t count = 0;
    list_each(i, h, p->body.headings, p->body.heading_count) {
        if (!is_section(p, h) || !same_heading(name, len, h->text) || count++) {
            continue;
        }
        *start = line_start(p, h->line + 1);
        *end = p->len;
        for (size_t k = i + 1; k < p->body.heading_count && *end == p->len; k++) {
            const struct markdown_heading *next = &p->body.headings[k];
            if (next->level <= h->level && is_section(p, next)) {
                *end = line_start(p, next->line);
            }
        }
    }
    return count;
}

/* --- sections --- */

/* Without blank lines around it and without the heading, should it be repeated. */
static void trimmed(const json_t *value, const char *heading, size_t heading_len,
                    struct buf *out) {
    autobuf clean = BUF_INIT(4 * PATCH_MAX_BYTES);
    text_clean(&clean, json_string_value(value), json_string_length(value));
    const char *s = clean.data, *end = s + clean.len;
    s += strspn(s, "\n");
    if (*s == '#') {
        size_t line = strcspn(s, "\n");
        autofree char *name = xstrndup(heading, heading_len);
        s += same_heading(s, line, name) ? line : 0;
        s += strspn(s, "\n");
    }
    while (end > s && strchr(" \t\n", end[-1])) {
        end--;
    }
    out->full |= clean.full;
    buf_add(out, s, (size_t)(end - s));
}

static bool is_item(const char *s, size_t len) {
    return len > 1 && (strchr("-*+", *s) || (*s >= '0' && *s <= '9'));
}

static void frame(struct span *s, const char *before, const char *after) {
    struct buf whole = BUF_INIT(4 * PATCH_MAX_BYTES + 4);
    buf_adds(&whole, before);
    buf_add(&whole, s->text.data, s->text.len);
    buf_adds(&whole, after);
    buf_finish(&s->text);
    s->text = whole;
}

/* After the last line of [start, end) that says something. */
static void append_to(struct patching *p, struct span *s, size_t start) {
    size_t at = s->end, line;
    while (at > start && strchr(" \t\r\n", p->text[at - 1])) {
        at--;
    }
    for (line = at; line > 0 && p->text[line - 1] != '\n'; line--) {}
    bool list = at > start && is_item(p->text + line, at - line) &&
                is_item(s->text.data, s->text.len);
    frame(s, at > start ? (list ? "\n" : "\n\n") : "\n",
          at == p->len || (at == start && at < p->len) ? "\n" : "");
    s->start = s->end = at;
}

static void replace_all(const struct patching *p, struct span *s) {
    bool joined = s->start == p->len && s->start && p->text[s->start - 1] != '\n';
    frame(s, joined ? "\n\n" : "\n", s->end == p->len ? "\n" : "\n\n");
}

static void edit_section(struct patching *p, size_t i, const json_t *section,
                         const json_t *replace, const json_t *append) {
    const char *name = json_string_value(section);
    size_t len = json_string_length(section), start = p->skill.body, end = p->len;
    bool whole = append && len == 0;
    size_t count = whole ? 1 : find_section(p, name, len, &start, &end);
    if ((replace == NULL) == (append == NULL)) {
        complain(p, i, "say either replace or append of a section");
        return;
    }
    if (count != 1) {
        complain(p, i, "there are %zu headings \"%.*s\": name one that is there once",
                 count, quoted(name, len), name);
        return;
    }
    struct span *s = &p->spans[p->count++];
    *s = (struct span){start, end, i, BUF_INIT(4 * PATCH_MAX_BYTES)};
    trimmed(replace ? replace : append, name, len, &s->text);
    if (append) {
        append_to(p, s, start);
    } else {
        replace_all(p, s);
    }
}

static void read_edit(struct patching *p, size_t i, const json_t *edit) {
    const json_t *find = json_object_get(edit, "find");
    const json_t *section = json_object_get(edit, "section");
    const json_t *replace = json_object_get(edit, "replace");
    const json_t *append = json_object_get(edit, "append");
    /* Some endpoints fill every member that a schema names. */
    find = section && json_string_length(find) == 0 ? NULL : find;
    section = find && json_string_length(section) == 0 ? NULL : section;
    if (replace && append) {
        append = json_string_length(append) == 0 ? NULL : append;
        replace = append && json_string_length(replace) == 0 ? NULL : replace;
    }
    if (json_is_string(find) == json_is_string(section)) {
        complain(p, i, "say either find or section");
    } else if (find) {
        find_text(p, i, find, json_is_string(replace) && !append ? replace : NULL);
    } else {
        edit_section(p, i, section, json_is_string(replace) ? replace : NULL,
                     json_is_string(append) ? append : NULL);
    }
}

/* --- together --- */

static int by_place(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
           : x->end != y->end   ? (x->end > y->end) - (x->end < y->end)
                                : (x->edit > y->edit) - (x->edit < y->edit);
}

static void check_together(struct patching *p) {
    size_t added = 0, removed = 0;
    qsort(p->spans, p->count, sizeof *p->spans, by_place);
    list_each(i, s, p->spans, p->count) {
        added += s->text.full ? PATCH_MAX_BYTES + 1 : s->text.len;
        removed += s->end - s->start;
        if (i + 1 < p->count && p->spans[i + 1].start < s->end) {
            complain(p, p->spans[i + 1].edit, "it overlaps with edit %zu", s->edit + 1);
        }
    }
    if (added > PATCH_MAX_BYTES || removed > PATCH_MAX_BYTES) {
        complain(p, ALL,
                 "the edits change too much (%zu bytes added, %zu taken away, at "
                 "most %u of each): make them smaller",
                 added, removed, PATCH_MAX_BYTES);
    }
}

static char *write_all(const struct patching *p) {
    autobuf out = BUF_INIT(SKILL_MAX_TEXT);
    size_t at = 0;
    list_each(i, s, p->spans, p->count) {
        buf_add(&out, p->text + at, s->start - at);
        buf_add(&out, s->text.data, s->text.len);
        at = s->end;
    }
    buf_add(&out, p->text + at, p->len - at);
    return out.full ? NULL : buf_detach(&out);
}

static json_t *fixed_fields(const struct skill_text *t) {
    json_t *fields = json_deep_copy(t->frontmatter);
    if (fields) {
        json_object_del(fields, "description");
    }
    return fields;
}

/* Anything but the description: what a skill may do is not a teacher's to change. */
static void check_frontmatter(struct patching *p, const char *result) {
    struct skill_text after;
    skill_text_read(&after, result, strlen(result));
    autojson *was = fixed_fields(&p->skill), *is = fixed_fields(&after);
    if (after.problem.line || !is) {
        complain(p, ALL, "the frontmatter cannot be read any more: %s",
                 after.problem.message);
    } else if (!was || !json_equal(was, is)) {
        complain(p, ALL, "of the frontmatter only the description may change");
    }
    skill_text_finish(&after);
}

static char *apply_all(struct patching *p, const json_t *edits) {
    size_t count = json_array_size(edits);
    if (count == 0 || count > PATCH_MAX_EDITS) {
        complain(p, ALL, "there are %zu edits: make 1 to %u", count, PATCH_MAX_EDITS);
        return NULL;
    }
    json_each(edits, i, edit) {
        read_edit(p, i, edit);
    }
    check_together(p);
    char *result = json_array_size(p->problems) ? NULL : write_all(p);
    if (result) {
        check_frontmatter(p, result);
        if (strlen(result) == p->len && memcmp(result, p->text, p->len) == 0) {
            complain(p, ALL, "the edits change nothing");
        }
    } else if (!json_array_size(p->problems)) {
        complain(p, ALL, "the file becomes too long");
    }
    return result;
}

int patch_apply(const json_t *edits, const char *text, size_t len, char **ret,
                json_t **problems) {
    struct patching p = {.text = text, .len = len, .problems = json_array()};
    skill_text_read(&p.skill, text, len);
    markdown_read(&p.body, p.skill.text + p.skill.body, p.skill.len - p.skill.body,
                  p.skill.body_line);
    char *result = p.skill.len == len ? apply_all(&p, edits) : NULL;
    bool good = result && json_array_size(p.problems) == 0;
    for (size_t i = 0; i < p.count; i++) {
        buf_finish(&p.spans[i].text);
    }
    markdown_finish(&p.body);
    skill_text_finish(&p.skill);
    if (good) {
        *ret = result;
        json_decref(p.problems);
        return 0;
    }
    free(result);
    *problems = p.problems;
    return -EINVAL;
}
