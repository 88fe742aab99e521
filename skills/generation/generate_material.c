/* Everything that a request names, read, redacted and distilled. */
#include "skills/generation/generate_request.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/link.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/generation/page_text.h"
#include "skills/traces/redaction.h"

#define MAX_DOCUMENT (1u << 20)
#define MAX_TASK (64u << 10)

/* Cleaned first: what is invisible would hide a secret from the redaction. */
static char *redacted(const struct redaction *r, const char *text, size_t len,
                      size_t max) {
    autobuf clean = BUF_INIT(2 * max);
    struct buf out = BUF_INIT(4 * max);
    text_clean(&clean, text, len > max ? text_cut(text, len, max) : len);
    redaction_apply(r, &out, clean.data, clean.len);
    return buf_detach(&out);
}

static void learn(struct redaction *r, const char *text, size_t len) {
    autobuf clean = BUF_INIT(2 * MAX_DOCUMENT);
    text_clean(&clean, text, len);
    redaction_learn(r, clean.data, clean.len);
}

/* A secret found in one event is hidden in all. */
static void learn_trace(struct redaction *r, const struct trace *t) {
    for (size_t i = 0; i < t->count && !work_is_stopped(); i++) {
        const struct trace_event *e = &t->events[i];
        if (e->command) {
            learn(r, e->command, strlen(e->command));
        }
        if (e->text) {
            learn(r, e->text, e->text_len);
        }
    }
}

static void note_trace(json_t *provenance, const struct redaction *r,
                       const struct trace *t) {
    autofree char *name = redacted(r, t->name, strlen(t->name), MAX_TASK);
    json_t *note = json_pack("{s:o,s:s,s:s,s:I,s:I,s:I,s:I,s:o*}", "name", json_clean_z(name), "format",
                             t->format, "digest", t->digest, "bytes", (json_int_t)t->bytes,
                             "events", (json_int_t)t->count, "broken", (json_int_t)t->broken,
                             "dropped", (json_int_t)t->dropped, "truncated",
                             t->truncated ? json_true() : NULL);
    if (t->others) {
        json_object_set_new(note, "left_out",
                            json_pack("{s:s,s:I}", "format", t->other, "records", (json_int_t)t->others));
    }
    json_array_append_new(json_object_get(provenance, "traces"), note);
}

static int read_one(struct trace *ret, const struct given *g, struct err *err) {
    if (g->path) {
        return trace_read(ret, g->path, err);
    }
    return trace_read_text(ret, g->name, json_string_value(g->text),
                           json_string_length(g->text), err);
}

static int read_traces(struct material *m, const struct generate_request *r,
                       struct redaction *redaction, struct err *err) {
    autofree struct trace *traces = xcalloc(r->trace_count + 1, sizeof *traces);
    size_t count = 0;
    int rc = 0;
    for (; rc == 0 && count < r->trace_count; count += rc == 0) {
        rc = read_one(&traces[count], &r->traces[count], err);
        if (rc == 0) {
            learn_trace(redaction, &traces[count]);
            note_trace(m->provenance, redaction, &traces[count]);
        } else if (*r->traces[count].name) { /* "folder/" has none */
            err_wrap(err, "%.200s", r->traces[count].name);
        }
    }
    if (rc == 0) {
        lessons_extract(&m->lessons, traces, count, redaction);
    }
    for (size_t i = 0; i < count; i++) {
        trace_finish(&traces[i]);
    }
    return rc;
}

/* The bytes of a link, as a text. */
static void read_link(struct buf *out, const struct given *g) {
    autobuf wide = BUF_INIT(2 * g->len + 1);
    for (size_t i = 0; g->latin1 && i < g->len; i++) {
        char utf8[4];
        buf_add(&wide, utf8, text_encode((unsigned char)g->bytes[i], utf8));
    }
    const char *bytes = g->latin1 ? wide.data : g->bytes;
    size_t len = g->latin1 ? wide.len : g->len;
    if (g->html) {
        page_text(out, bytes, len);
    } else {
        buf_add(out, bytes,
                len < MAX_DOCUMENT ? len : text_cut(bytes, len, MAX_DOCUMENT));
    }
}

/* Under which name its text is kept, and what provenance says of it. */
static char *note_document(struct material *m, const struct given *g,
                           const struct redaction *redaction, const char *bytes,
                           size_t len) {
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(bytes, len, hex);
    autofree char *digest = xasprintf("sha256:%s", hex);
    autofree char *clean = redacted(redaction, g->name, strlen(g->name), MAX_TASK);
    char *name = g->url ? link_name(clean) : xstrdup(clean);
    json_array_append_new(json_object_get(m->provenance, "documents"),
                          json_pack("{s:o,s:s,s:o*}", "name", json_clean_z(name),
                                    "digest", digest, "url",
                                    g->url ? json_clean_z(clean) : NULL));
    return name;
}

static int read_document(struct material *m, const struct given *g,
                         struct redaction *redaction, struct err *err) {
    autobuf text = BUF_INIT(MAX_DOCUMENT);
    struct err why = {0};
    int rc = 0;
    if (g->url) {
        read_link(&text, g);
    } else if (g->path) {
        rc = file_read(g->path, &text, &why);
    } else {
        rc = buf_add(&text, json_string_value(g->text), json_string_length(g->text));
    }
    if (rc < 0 || memchr(text.data, '\0', text.len)) {
        return err_set(err, rc < 0 ? rc : -EINVAL, "%.200s: %s", g->name,
                       rc == -EMSGSIZE || rc == -EFBIG ? "over 1 MiB"
                       : rc < 0                        ? why.msg
                                                       : "not a text");
    }
    autofree char *name = note_document(m, g, redaction, g->url ? g->bytes : text.data,
                                        g->url ? g->len : text.len);
    learn(redaction, text.data, text.len);
    autofree char *clean = redacted(redaction, text.data, text.len, MAX_DOCUMENT);
    json_object_set_new(m->documents, name, json_clean_z(clean));
    return 0;
}

static void learn_words(struct redaction *redaction, const struct generate_request *r) {
    if (r->task) {
        learn(redaction, r->task, strlen(r->task));
    }
    json_each(r->examples, i, one) {
        learn(redaction, json_string_value(one), json_string_length(one));
    }
}

/* With what the traces gave away. */
static void redact_documents(struct material *m) {
    const char *name;
    json_t *text;
    void *next;
    json_object_foreach_safe(m->documents, next, name, text) {
        autofree char *clean = redacted(m->redaction, json_string_value(text),
                                        json_string_length(text), 2 * MAX_DOCUMENT);
        json_string_set(text, clean);
    }
}

static void read_words(struct material *m, const struct generate_request *r,
                       const struct redaction *redaction) {
    m->task = r->task ? redacted(redaction, r->task, strlen(r->task), MAX_TASK) : NULL;
    const char *name = r->folder_name ? r->folder_name : r->name;
    m->name = name ? redacted(redaction, name, strlen(name), MAX_TASK) : NULL;
    m->examples = json_array();
    json_each(r->examples, i, one) {
        const char *text = json_string_value(one);
        autofree char *clean = redacted(redaction, text, strlen(text), MAX_TASK);
        json_array_append_new(m->examples, json_clean_z(clean));
    }
}

/* --- the skill that is improved --- */

static json_t *redacted_tests(const struct redaction *r, const json_t *value) {
    autojson *copy = json_deep_copy(value);
    json_each(copy, i, test) {
        const char *input = json_get_string(test, "input", "");
        autofree char *clean = redacted(r, input, strlen(input), MAX_TASK);
        json_array_set_new(copy, i, json_pack("{s:o}", "input", json_clean_z(clean)));
    }
    return take(copy);
}

static void read_base(struct material *m, const struct redaction *redaction) {
    const struct skill *s = &m->base;
    m->base_text = redacted(redaction, s->text.text, s->text.len, SKILL_MAX_TEXT);
    m->base_files = json_array();
    for (size_t i = 0; i < s->file_count; i++) {
        const char *path = s->files[i].path;
        if (strcmp(path, "SKILL.md") != 0 && !skill_holds_tests(path)) {
            autofree char *clean = redacted(redaction, path, strlen(path), MAX_TASK);
            json_array_append_new(m->base_files, json_clean_z(clean));
        }
    }
    autojson *meta = skill_meta_tests(s);
    json_t *tests = json_object_get(meta, "tests");
    m->base_tests = json_is_array(tests) ? json_incref(tests) : json_array();
    m->asked_tests = redacted_tests(redaction, m->base_tests);
}

int material_read(struct material *ret, const struct generate_request *r,
                  struct err *err) {
    *ret = (struct material){
        .documents = json_object(),
        .provenance = json_pack("{s:[],s:[]}", "traces", "documents"),
    };
    struct redaction *redaction = ret->redaction = redaction_new(r->hidden);
    int rc = 0;
    learn_words(redaction, r);
    for (size_t i = 0; rc == 0 && i < r->document_count; i++) {
        rc = read_document(ret, &r->documents[i], redaction, err);
    }
    rc = rc < 0 ? rc : read_traces(ret, r, redaction, err);
    redact_documents(ret);
    read_words(ret, r, redaction);
    if (rc == 0 && r->improved) {
        rc = skill_open(&ret->base, r->improved, true, err);
        ret->has_base = rc == 0;
    }
    if (ret->has_base) {
        read_base(ret, redaction);
    }
    return rc;
}

const char *material_task(const struct material *m) {
    return m->task ? m->task : m->lessons.task;
}

void material_finish(struct material *m) {
    lessons_finish(&m->lessons);
    redaction_free(m->redaction);
    json_decref(m->documents);
    json_decref(m->examples);
    json_decref(m->provenance);
    json_decref(m->base_files);
    json_decref(m->base_tests);
    json_decref(m->asked_tests);
    free(m->base_text);
    free(m->name);
    free(m->task);
    if (m->has_base) {
        skill_finish(&m->base);
    }
    *m = (struct material){0};
}
