/* Everything that a request names, read, redacted and distilled. */
#include "skills/generation/generate_request.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "skills/traces/redaction.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_DOCUMENT (1u << 20)
#define MAX_TASK (64u << 10)

static char *redacted(const struct redaction *r, const char *text, size_t len,
                      size_t max) {
    struct buf out = BUF_INIT(2 * max);
    redaction_apply(r, &out, text, len > max ? max : len);
    return buf_detach(&out);
}

static void note_trace(json_t *provenance, const struct trace *t) {
    json_array_append_new(
        json_object_get(provenance, "traces"),
        json_pack("{s:o,s:s,s:s,s:I,s:I,s:I,s:I}", "name", json_clean_z(t->name),
                  "format", trace_format_name(t->format), "digest", t->digest, "bytes",
                  (json_int_t)t->bytes, "events", (json_int_t)t->count, "broken",
                  (json_int_t)t->broken, "dropped", (json_int_t)t->dropped));
}

static int read_one(struct trace *ret, const struct given *g,
                    const volatile bool *cancelled, struct err *err) {
    if (g->path) {
        return trace_read(ret, g->path, cancelled, err);
    }
    return trace_read_text(ret, g->name, json_string_value(g->text),
                           json_string_length(g->text), err);
}

static int read_traces(struct material *m, const struct generate_request *r,
                       const struct redaction *redaction, const volatile bool *cancelled,
                       struct err *err) {
    struct trace *traces = xcalloc(r->trace_count + 1, sizeof *traces);
    size_t count = 0;
    int rc = 0;
    for (; rc == 0 && count < r->trace_count; count += rc == 0) {
        rc = read_one(&traces[count], &r->traces[count], cancelled, err);
        if (rc == 0) {
            note_trace(m->provenance, &traces[count]);
        } else {
            err_wrap(err, "%.200s", r->traces[count].name);
        }
    }
    if (rc == 0) {
        lessons_extract(&m->lessons, traces, count, redaction);
    }
    for (size_t i = 0; i < count; i++) {
        trace_finish(&traces[i]);
    }
    free(traces);
    return rc;
}

static int read_document(struct material *m, const struct given *g,
                         const struct redaction *redaction, struct err *err) {
    autobuf text = BUF_INIT(MAX_DOCUMENT);
    struct err why = {0};
    int rc = 0;
    if (g->path) {
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
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(text.data, text.len, hex);
    autofree char *digest = xasprintf("sha256:%s", hex);
    json_array_append_new(
        json_object_get(m->provenance, "documents"),
        json_pack("{s:o,s:s}", "name", json_clean_z(g->name), "digest", digest));
    autofree char *clean = redacted(redaction, text.data, text.len, MAX_DOCUMENT);
    json_object_set_new(m->documents, g->name, json_clean_z(clean));
    return 0;
}

static void read_words(struct material *m, const struct generate_request *r,
                       const struct redaction *redaction) {
    size_t i;
    const json_t *one;
    m->task = r->task ? redacted(redaction, r->task, strlen(r->task), MAX_TASK) : NULL;
    m->examples = json_array();
    json_array_foreach(r->examples, i, one) {
        const char *text = json_string_value(one);
        autofree char *clean = redacted(redaction, text, strlen(text), MAX_TASK);
        json_array_append_new(m->examples, json_clean_z(clean));
    }
}

int material_read(struct material *ret, const struct generate_request *r,
                  const volatile bool *cancelled, struct err *err) {
    *ret = (struct material){
        .documents = json_object(),
        .provenance = json_pack("{s:[],s:[]}", "traces", "documents"),
    };
    struct redaction *redaction = redaction_new(NULL);
    int rc = read_traces(ret, r, redaction, cancelled, err);
    for (size_t i = 0; rc == 0 && i < r->document_count; i++) {
        rc = read_document(ret, &r->documents[i], redaction, err);
    }
    read_words(ret, r, redaction);
    redaction_free(redaction);
    if (rc == 0 && r->improved) {
        rc = skill_open(&ret->base, r->improved, true, err);
        ret->has_base = rc == 0;
    }
    return rc;
}

void material_finish(struct material *m) {
    lessons_finish(&m->lessons);
    json_decref(m->documents);
    json_decref(m->examples);
    json_decref(m->provenance);
    free(m->task);
    if (m->has_base) {
        skill_finish(&m->base);
    }
    *m = (struct material){0};
}
