/* What teachers are told; the longer texts are in teacher_texts.json. Answers of earlier
 * words are cached by them. */
#include "skills/generation/teacher_prompts.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/text.h"
#include "skills/format/tokens.h"
#include "skills/generation/teacher_facts.h"
#include "skills/teacher_texts.h"

#define BYTES_A_TOKEN 3 /* of prose and code, rather too few: for cutting */
#define MAX_NAME 120u
#define MAX_BASE (96u << 10)
#define MAX_THERE 48u /* inputs that are shown so that they are not asked again */
#define MAX_INPUT 160u

const char *const teacher_format = format_text, *const teacher_system = system_text,
                  *const teacher_tests_system = tests_system_text,
                  *const teacher_tests_format = tests_format_text,
                  *const teacher_host_data = host_data_text,
                  *const teacher_host_order = host_order_text;

/* --- data --- */

void teacher_data(struct buf *out, const char *kind, const char *name, const char *text,
                  size_t len) {
    autobuf inner = BUF_INIT(TEACHER_MAX_PROMPT);
    if (name) {
        autobuf clean = BUF_INIT(8 * MAX_NAME);
        text_clean(&clean, name, text_cut(name, strlen(name), MAX_NAME));
        for (char *c = clean.data; clean.len && *c; c++) {
            *c = *c == '\n' || *c == '\t' ? ' ' : *c;
        }
        buf_addf(&inner, "(%s)\n", clean.data);
    }
    text_clean(&inner, text, len);
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(inner.data, inner.len, hex);
    buf_addf(out, "<<<%s-DATA-%.16s\n", kind, hex);
    buf_add(out, inner.data, inner.len);
    buf_addf(out, "\n%s-DATA-%.16s>>>\n", kind, hex);
}

/* As much of a text as `tokens` hold; says what was left out. */
static void add_cut(struct buf *out, const char *kind, const char *name, const char *text,
                    size_t tokens) {
    size_t len = strlen(text), kept = len;
    if (tokens_estimate(text, len) > tokens) {
        kept = text_cut(text, len, tokens * BYTES_A_TOKEN);
    }
    teacher_data(out, kind, name, text, kept);
    if (kept < len) {
        buf_addf(out, "(%zu of its %zu bytes are shown.)\n", kept, len);
    }
}

static void add_documents(struct buf *out, const struct teacher_material *m) {
    size_t budget = m->document_tokens ? m->document_tokens : TEACHER_DOCUMENT_TOKENS;
    size_t left = json_object_size(m->documents);
    json_each_member(m->documents, name, text) {
        size_t share = budget / left--;
        size_t wants = tokens_estimate(json_string_value(text), json_string_length(text));
        buf_adds(out, "\nA document:\n");
        add_cut(out, "DOCUMENT", name, json_string_value(text), share);
        budget -= wants < share ? wants : share;
    }
}

static void add_base(struct buf *out, const struct teacher_material *m) {
    if (!m->base) {
        return;
    }
    size_t len = strlen(m->base);
    buf_adds(out, "\nImprove this skill: keep what is right, mend and add what the "
                  "material shows. Its other fields are kept without you.\n");
    teacher_data(out, "SKILL", NULL, m->base, text_cut(m->base, len, MAX_BASE));
    if (json_array_size(m->base_files)) {
        buf_adds(out, "Beside it lie, and stay:");
        json_each(m->base_files, i, file) {
            autobuf clean = BUF_INIT(8 * MAX_NAME);
            const char *path = json_string_value(file);
            text_clean(&clean, path, text_cut(path, strlen(path), MAX_NAME));
            buf_addf(out, "%s %s", i ? "," : "", clean.data);
        }
        buf_adds(out, ".\n");
    }
}

json_t *teacher_told(const struct lessons *l, size_t part_tokens) {
    size_t tokens = lessons_digest_tokens(l, TEACHER_LEAST_DIGEST, TEACHER_DIGEST_TOKENS);
    autojson *digest = lessons_digest(l, tokens, part_tokens ? (tokens + part_tokens - 1) / part_tokens : 1);
    return json_incref(json_object_get(digest, "parts"));
}

void teacher_tell_part(struct buf *out, const struct teacher_material *m) {
    buf_adds(out, json_string_value(json_array_get(m->told, m->part)));
}

void teacher_tell_material(struct buf *out, const struct teacher_material *m) {
    size_t start = out->len;
    if (m->name) {
        buf_addf(out, "\nIts name is %s.\n", m->name);
    }
    if (m->task) {
        buf_addf(out, "\nThe skill is for this task:\n%s\n", m->task);
    }
    json_each(m->examples, i, text) {
        buf_adds(out, "\nAn example of what is wanted:\n");
        teacher_data(out, "EXAMPLE", NULL, json_string_value(text),
                     json_string_length(text));
    }
    add_documents(out, m);
    add_base(out, m);
    if (m->told) {
        buf_adds(out, traces_text);
        teacher_tell_part(out, m);
    }
    autofree char *shown = xstrndup(out->len ? out->data + start : "", out->len - start);
    teacher_tell_facts(out, shown);
}

/* --- questions --- */

void teacher_ask_draft(struct buf *out, const struct teacher_material *m) {
    buf_adds(out, "Write the skill.\n");
    teacher_tell_material(out, m);
}

void teacher_ask_repair(struct buf *out, const char *problem) {
    buf_addf(out,
             "This cannot be saved yet: %s\nMend that, keep the rest, and give the whole "
             "document again.",
             problem);
}

void teacher_ask_review(struct buf *out, const json_t *review, size_t part, const char *remarks) {
    buf_adds(out, part ? "" : review_text);
    if (!part && *remarks) {
        buf_addf(out, "Mend, too: %s.\n", remarks);
    }
    buf_adds(out, json_string_value(json_array_get(review, part)));
}

static void add_there(struct buf *out, const json_t *there) {
    autobuf list = BUF_INIT(256u << 10);
    size_t count = json_array_size(there);
    json_each(there, i, test) {
        const char *input = json_get_string(test, "input", "");
        if (i + MAX_THERE >= count) {
            buf_addf(&list, "- %.*s\n", (int)text_cut(input, strlen(input), MAX_INPUT),
                     input);
        }
    }
    if (count) {
        buf_adds(out, "\nThere already are these; ask for other things:\n");
        teacher_data(out, "TESTS", NULL, list.data, list.len);
    }
}

static void add_refused(struct buf *out, const json_t *refused) {
    autobuf list = BUF_INIT(64u << 10);
    json_each(refused, i, one) {
        const char *input = json_get_string(one, "input", "");
        buf_addf(&list, "- %.*s: %s\n", (int)text_cut(input, strlen(input), MAX_INPUT),
                 input, json_get_string(one, "why", ""));
    }
    if (json_array_size(refused)) {
        buf_adds(out, "\nThese of your last tests were not taken, for these reasons; "
                      "write better ones:\n");
        teacher_data(out, "REFUSED", NULL, list.data, list.len);
    }
}

void teacher_ask_tests(struct buf *out, const struct teacher_tests *q) {
    buf_addf(out, "Write %zu tests for this skill. Kinds of checks: %s%s, judge. %s%s\n",
             q->count, test_checks, q->kernels ? test_kernel_checks : "", test_forms,
             q->kernels ? test_kernel_forms : "");
    teacher_data(out, "SKILL", NULL, q->skill, strlen(q->skill));
    if (q->material->task) {
        buf_addf(out, "\nThe skill is for this task:\n%s\n", q->material->task);
    }
    add_there(out, q->there);
    add_refused(out, q->refused);
}

/* Behind it in the list of kinds stand those of kernels. */
#define LAST_KIND 7

json_t *teacher_tests_schema(bool kernels) {
    autofree char *text = xstrdup(tests_schema);
    json_t *schema = json_parse(text, strlen(text), NULL), *kinds;
    (void)json_unpack(schema, "{s:{s:{s:{s:{s:{s:{s:{s:{s:o}}}}}}}}}", "properties",
                      "tests", "items", "properties", "checks", "items", "properties",
                      "kind", "enum", &kinds);
    while (!kernels && json_array_size(kinds) > LAST_KIND + 1) {
        json_array_remove(kinds, LAST_KIND + 1);
    }
    return schema;
}
