/* What happened in the sessions as a text for a teacher, within a budget. */

#include "base/buf.h"
#include "base/find.h"
#include "base/hash.h"
#include "base/json.h"
#include "skills/format/tokens.h"
#include "skills/traces/lessons_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define MAX_TEXT (2u << 20)
#define MAX_CITED 3u
#define FRAME_TOKENS 60u /* markers and titles */
#define FILES_SHARE 0.12
#define VERSIONS_SHARE 0.05
#define QUIET_SHARE 0.25 /* for steps that tell little: they may prove or refute what is said */
#define MARKER "TRACE-DATA-"

/* A share of the text with a budget of its own. */
struct share {
    const char *title;
    struct buf text;
    size_t left, left_out; /* tokens, items */
};

static void cite(struct buf *out, const struct evidence_list *e) {
    for (size_t i = 0; i < e->count && i < MAX_CITED; i++) {
        char name[EVIDENCE_NAME_SIZE];
        evidence_name(name, e->list[i]);
        buf_addf(out, "%s%s", i ? ", " : "", name);
    }
    buf_adds(out, " ");
}

/* Adds the item if there is room; before its words stands what shows them. */
__attribute__((format(printf, 3, 4))) static void
add_item(struct share *p, const struct evidence_list *evidence, const char *fmt, ...) {
    va_list args;
    autofree char *words = NULL;
    autobuf item = BUF_INIT(MAX_TEXT);
    va_start(args, fmt);
    int len = vasprintf(&words, fmt, args);
    va_end(args);
    cite(&item, evidence);
    lessons_add_set_in(&item, len > 0 ? words : "");
    size_t tokens = tokens_estimate(item.data, item.len);
    if (tokens > p->left) {
        p->left_out++;
        return;
    }
    buf_adds(&p->text, p->text.len ? "" : p->title);
    buf_add(&p->text, item.data, item.len);
    p->left -= tokens;
}

/* Those whose contents are known and whose change ended a failure: others misled more than they told. */
static void add_files(struct share *p, const struct lessons *l) {
    for (size_t i = 0; i < l->files.count; i++) {
        const struct lesson *f = &l->files.list[i];
        bool mends = list_any(e, f->evidence.list, f->evidence.count, lessons_history_tells(l, *e));
        if (mends && !f->unsure && !lesson_is_prose(f->key)) {
            add_item(p, &f->evidence, "%s%s:\n%s", f->key,
                     f->partial ? ", its changes" : "", f->text);
        }
    }
}

static void add_versions(struct share *p, const struct lessons *l) {
    for (size_t i = 0; i < l->limits.count; i++) {
        add_item(p, &l->limits.list[i].evidence, "%s", l->limits.list[i].key);
    }
}

/* Where the part with this index begins: at a line. */
static size_t part_start(const struct buf *text, size_t part, size_t parts) {
    size_t at = text->len * part / parts;
    const char *line = part && part < parts ? strchr(text->data + at, '\n') : NULL;
    return line ? (size_t)(line + 1 - text->data) : at;
}

/* The end marker holds the digest of what it ends, so no text can hold its own. */
static json_t *wrap(const struct buf *text, size_t part, size_t parts) {
    autobuf out = BUF_INIT(MAX_TEXT);
    char hex[HASH_HEX_SIZE];
    size_t from = part_start(text, part, parts), end = part_start(text, part + 1, parts);
    hash_bytes_hex(text->data + from, end - from, hex);
    buf_addf(&out, "<<<" MARKER "%.16s\n%.*s\n" MARKER "%.16s>>>\n", hex, (int)(end - from),
             text->data + from, hex);
    return json_clean(out.data, out.len);
}

json_t *lessons_wrap(const struct buf *text, size_t parts) {
    json_t *texts = json_array();
    for (size_t part = 0; part < parts; part++) {
        json_array_append_new(texts, wrap(text, part, parts));
    }
    return texts;
}

size_t lessons_digest_tokens(const struct lessons *l, size_t least, size_t most) {
    double needs = (double)lessons_history_needs(&l->history) / (1 - FILES_SHARE - VERSIONS_SHARE - QUIET_SHARE) + FRAME_TOKENS;
    return needs < (double)least ? least : needs > (double)most ? most : (size_t)needs;
}

json_t *lessons_digest(const struct lessons *l, size_t tokens, size_t parts) {
    autobuf body = BUF_INIT(MAX_TEXT), history = BUF_INIT(MAX_TEXT);
    size_t told = 0;
    struct share files = {.title = "\n## Final files\n", .text = BUF_INIT(MAX_TEXT),
                         .left = (size_t)(FILES_SHARE * (double)tokens)};
    struct share versions = {.title = "\n## Versions\n", .text = BUF_INIT(MAX_TEXT),
                            .left = (size_t)(VERSIONS_SHARE * (double)tokens)};
    add_files(&files, l);
    add_versions(&versions, l);
    size_t used = FRAME_TOKENS + tokens_estimate(files.text.data, files.text.len) +
                  tokens_estimate(versions.text.data, versions.text.len);
    size_t left_out = lessons_write_history(&history, &l->history, tokens > used ? tokens - used : 0);
    buf_adds(&body, "## What happened");
    if (left_out) { /* what is not told may have happened */
        buf_addf(&body, " (%zu of %zu steps are left out)", left_out, l->history.count);
    }
    buf_addc(&body, '\n');
    buf_add(&body, history.data, history.len);
    buf_add(&body, files.text.data, files.text.len);
    if (files.left_out) {
        buf_addf(&body, "## %zu more files are left out\n", files.left_out);
    }
    buf_add(&body, versions.text.data, versions.text.len);
    json_t *texts = lessons_wrap(&body, parts);
    json_each(texts, i, text) {
        told += tokens_estimate(json_string_value(text), json_string_length(text));
    }
    buf_finish(&files.text);
    buf_finish(&versions.text);
    left_out += files.left_out + versions.left_out;
    return json_pack("{s:o,s:I,s:I}", "parts", texts, "tokens", (json_int_t)told, "left_out",
                     (json_int_t)left_out);
}
