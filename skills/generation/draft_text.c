#include "skills/generation/draft_text.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "skills/format/skill_name.h"
#include "skills/generation/draft_files.h"

#define DRAFT_MAX_LINES 500
#define DRAFT_MAX_CITED 2000u

/* --- wrappings --- */

/* The text in {"draft": …} or {"frontmatter": {…}, "body": …}, or NULL; what it has under
 * paths, or in "files", goes to files. */
static char *unwrap_json(const char *text, size_t len, json_t *files, struct err *err) {
    static const char *const keys[] = {"draft",    "skill",   "skill_md",
                                       "SKILL.md", "content", "text"};
    autofree char *copy = xstrndup(text, len);
    autojson *value = json_parse(copy, len, NULL);
    if (draft_files_take(value, files, err) < 0 ||
        draft_files_take(json_object_get(value, "files"), files, err) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const json_t *inner = json_object_get(value, keys[i]);
        if (json_is_string(inner)) {
            return xstrdup(json_string_value(inner));
        }
    }
    const char *body = json_get_string(value, "body", NULL);
    const char *name = json_get_string(value, "name", NULL);
    const char *about = json_get_string(value, "description", NULL);
    if (body && name && about) {
        autojson *front = json_pack("{s:s,s:s}", "name", name, "description", about);
        return skill_text_new(front, body);
    }
    return json_is_string(value) ? xstrdup(json_string_value(value)) : NULL;
}

static size_t fence_at(const char *line) {
    size_t ticks = strspn(line, "`");
    return ticks >= 3 ? ticks : 0;
}

/* The line that opens the frontmatter, or NULL. */
static const char *find_opening(const char *text, size_t *fence) {
    *fence = 0;
    for (const char *line = text; *line; line = text_next_line(line)) {
        size_t bare = strcspn(line, "\n");
        while (bare && isspace((unsigned char)line[bare - 1])) {
            bare--;
        }
        if (bare == 3 && strncmp(line, "---", 3) == 0) {
            return line;
        }
        *fence = fence_at(line) ? fence_at(line) : (bare ? 0 : *fence);
    }
    return NULL;
}

/* Where the fence around the whole text is closed: the last line of so many ticks. */
static size_t without_fence(const char *text, size_t ticks) {
    size_t end = strlen(text);
    for (const char *line = text; *line; line = text_next_line(line)) {
        size_t n = strspn(line, "`");
        if (n >= ticks && n == strcspn(line, "\n")) {
            end = (size_t)(line - text);
        }
    }
    return end;
}

/* The document without what surrounds it. A fence around document and files is closed in
 * the last file: then the document holds an even number of other fences. */
static char *take_off(const char *text, bool has_files) {
    size_t fence;
    const char *open = find_opening(text, &fence);
    if (!open) {
        return xstrdup(text);
    }
    bool closed = fence && (!has_files || draft_fence_lines(open, fence) % 2 == 1);
    return closed ? xstrndup(open, without_fence(open, fence)) : xstrdup(open);
}

/* The draft itself, malloc'ed; the text as it is where no frontmatter is in sight. NULL
 * for files that may not be. */
static char *unwrap(const char *text, size_t len, json_t *files, struct err *err) {
    struct buf clean = BUF_INIT(2 * SKILL_MAX_TEXT);
    struct err why = {0};
    text_clean(&clean, text, len);
    autofree char *whole = buf_detach(&clean);
    const char *first = whole + strspn(whole, " \t\n");
    autofree char *inner = *first == '{' || *first == '"'
                               ? unwrap_json(first, strlen(first), files, &why)
                               : NULL;
    autofree char *head =
        why.code ? NULL : draft_files_split(inner ? inner : whole, files, &why);
    if (!head) {
        *err = why;
        return NULL;
    }
    return take_off(head, json_object_size(files) > 0);
}

/* --- citations --- */

/* The length of "[t1 e17, t1 e20]" at s, else 0. */
static size_t citation_at(const char *s) {
    unsigned trace, event;
    size_t len = 1 + strspn(s + 1, "te0123456789, ");
    return s[len] == ']' && evidence_read(s + 1, &trace, &event) ? len + 1 : 0;
}

/* file: NULL for SKILL.md. */
static void cite(json_t *evidence, const char *file, int line, const char *s, size_t len) {
    for (const char *at = s + 1; at < s + len;) {
        unsigned trace, event;
        if (evidence_read(at, &trace, &event)) {
            autofree char *name = xasprintf("t%u e%u", trace, event);
            json_array_append_new(evidence,
                                  json_pack("{s:s*,s:i,s:s}", "file", file, "line", line, "event", name));
        }
        at += strcspn(at, ",]") + 1;
        at += strspn(at, " ");
    }
}

static char *take_citations(const char *file, const char *text, json_t *evidence) {
    struct buf out = BUF_INIT(2 * SKILL_MAX_TEXT);
    int line = 1;
    for (const char *s = text; *s;) {
        size_t len = *s == '[' ? citation_at(s) : 0;
        if (len) {
            cite(evidence, file, line, s, len);
            s += len;
            while (out.len && out.data[out.len - 1] == ' ') {
                out.data[--out.len] = '\0';
            }
            continue;
        }
        line += *s == '\n';
        buf_addc(&out, *s++);
    }
    return buf_detach(&out);
}

static void take_files_citations(json_t *files, json_t *evidence) {
    json_each_member(files, path, text) {
        autofree char *clean = take_citations(path, json_string_value(text), evidence);
        json_string_set(text, clean);
    }
}

const char *draft_says_nothing(const char *answer) {
    static const char word[] = "NOTHING:";
    answer += strspn(answer, " \t\r\n");
    return strncmp(answer, word, sizeof word - 1) == 0 ? answer + sizeof word - 1 : NULL;
}

/* --- reading --- */

/* Each is looked for in all traces. */
static int check_citations(const json_t *evidence, struct err *err) {
    size_t count = json_array_size(evidence);
    return count <= DRAFT_MAX_CITED ? 0
                                    : err_set(err, -EINVAL, "the draft cites events %zu times; at most %u are taken",
                                              count, DRAFT_MAX_CITED);
}

static int check_frontmatter(const struct skill_text *t, struct err *err) {
    if (!t->frontmatter) {
        return err_set(err, -EINVAL, "the draft is not a SKILL.md: line %d: %s",
                       t->problem.line, t->problem.message);
    }
    if (!t->name || !t->description) {
        return err_set(err, -EINVAL, "the frontmatter lacks %s",
                       t->name ? "description" : "name");
    }
    if (strspn(t->text + t->body, " \t\r\n") == t->len - t->body) {
        return err_set(err, -EINVAL,
                       "the draft has no instructions below its frontmatter");
    }
    size_t lines = t->lines.count - (t->len && t->text[t->len - 1] == '\n') -
                   (size_t)(t->body_line > 0 ? t->body_line - 1 : 0);
    if (lines > DRAFT_MAX_LINES) {
        return err_set(err, -EINVAL,
                       "the instructions have %zu lines; at most %d are taken: leave out "
                       "what is rarely needed, or put it under references/",
                       lines, DRAFT_MAX_LINES);
    }
    return 0;
}

/* An improved skill keeps the fields that the draft does not know. */
static char *with_fields_of(const struct skill_text *t, const char *name,
                            const struct skill_text *base) {
    autojson *changes = json_object();
    json_each_member(base ? base->frontmatter : NULL, key, value) {
        if (!json_object_get(t->frontmatter, key)) {
            json_object_set(changes, key, value);
        }
    }
    /* The writer of a skill does not decide what it may do without asking. */
    if (json_object_get(t->frontmatter, "allowed-tools")) {
        json_t *own = json_object_get(base ? base->frontmatter : NULL, "allowed-tools");
        json_object_set_new(changes, "allowed-tools",
                            own ? json_incref(own) : json_null());
    }
    if (name && strcmp(name, t->name) != 0) {
        json_object_set_new(changes, "name", json_string(name));
    }
    return json_object_size(changes) ? skill_text_write(t, changes, NULL)
                                     : xstrndup(t->text, t->len);
}

int draft_text_read(struct skill_draft *ret, const char *answer, size_t len,
                    const char *name, const struct skill_text *base, struct err *err) {
    if (len > SKILL_MAX_TEXT) {
        return err_set(err, -EINVAL,
                       "the draft has %zu bytes; at most %u MiB are accepted, and it "
                       "should have fewer than 500 lines",
                       len, SKILL_MAX_TEXT >> 20);
    }
    autojson *files = json_object(), *evidence = json_array();
    autofree char *raw = unwrap(answer, len, files, err);
    if (!raw) {
        return -EINVAL;
    }
    autofree char *text = take_citations(NULL, raw, evidence);
    take_files_citations(files, evidence);
    struct skill_text t;
    skill_text_read(&t, text, strlen(text));
    int rc = check_citations(evidence, err) < 0 ? -EINVAL : check_frontmatter(&t, err);
    const char *called = rc < 0 ? NULL : (name ? name : t.name);
    if (rc == 0 && !skill_name_is_valid(called)) {
        rc = err_set(err, -EINVAL,
                     "%.80s is not a name for a skill: lower-case letters, digits "
                     "and single hyphens, at most 64",
                     called);
    }
    if (rc == 0) {
        *ret = (struct skill_draft){
            .name = xstrdup(called),
            .text = with_fields_of(&t, name, base),
            .files = take(files),
            .evidence = take(evidence),
            .counts = json_object(),
        };
    }
    skill_text_finish(&t);
    return rc;
}

void draft_rename(struct skill_draft *d, const char *name) {
    struct skill_text t;
    autojson *change = json_pack("{s:s}", "name", name);
    skill_text_read(&t, d->text, strlen(d->text));
    char *text = skill_text_write(&t, change, NULL);
    skill_text_finish(&t);
    free(d->text);
    free(d->name);
    d->text = text;
    d->name = xstrdup(name);
}
