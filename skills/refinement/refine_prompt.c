#include "skills/refinement/refine_prompt.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/words.h"
#include "skills/grading/suite.h"
#include "skills/refinement/patch.h"
#include "skills/traces/redaction.h"

#define MAX_CHECKS 6u    /* failed checks of one test */
#define CHECK_BYTES 400u /* of one check's words */
#define MAX_ATTEMPT 4096 /* bytes of one attempt's edits in a prompt */
#define MARKER "REFINE-DATA-"

#include "skills/refine_texts.h"

const char *refine_prompt_system(void) {
    return system_prompt;
}

/* --- failures --- */

/* Head and tail of a text, cleaned. */
static void add_cut(struct buf *out, const char *text, size_t len, size_t max) {
    if (len <= max) {
        text_clean(out, text, len);
        return;
    }
    size_t head = text_cut(text, len, max * 2 / 3), tail = len - max / 3;
    while (tail < len && ((unsigned char)text[tail] & 0xC0) == 0x80) {
        tail++;
    }
    text_clean(out, text, head);
    buf_addf(out, "\n[… %zu bytes left out …]\n", tail - head);
    text_clean(out, text + tail, len - tail);
}

static json_t *cut_text(const char *text, size_t len, size_t max) {
    autobuf out = BUF_INIT(4 * max + 256);
    add_cut(&out, text, len, max);
    return json_text(out.data, out.len);
}

/* "expected" may be any JSON: shown as it would be written. */
static json_t *words_of(const json_t *value) {
    autobuf out = BUF_INIT(64u << 10);
    if (json_is_string(value)) {
        return cut_text(json_string_value(value), json_string_length(value), CHECK_BYTES);
    }
    if (!value || json_is_null(value) || json_write(&out, value) < 0) {
        return json_string("");
    }
    return cut_text(out.data, out.len, CHECK_BYTES);
}

static json_t *failed_checks(const json_t *assertions) {
    json_t *checks = json_array();
    json_each(assertions, i, one) {
        if (json_is_true(json_object_get(one, "passed")) ||
            json_array_size(checks) == MAX_CHECKS) {
            continue;
        }
        json_array_append_new(
            checks,
            json_pack("{s:o,s:o,s:o}", "check", words_of(json_object_get(one, "check")),
                      "expected", words_of(json_object_get(one, "expected")), "message",
                      words_of(json_object_get(one, "message"))));
    }
    return checks;
}

json_t *refine_failure(const struct test_case *test, const json_t *assertions,
                       const char *answer, size_t len, unsigned passed, unsigned asked) {
    json_t *files = test->files ? json_object() : NULL;
    json_each_member(test->files, name, text) {
        size_t share = REFINE_INPUT_BYTES / json_object_size(test->files);
        json_object_set_new(
            files, name,
            cut_text(json_string_value(text), json_string_length(text), share));
    }
    return json_pack("{s:s,s:o,s:o,s:o,s:i,s:i,s:o*}", "test", test->id, "input",
                     cut_text(test->input, strlen(test->input), REFINE_INPUT_BYTES),
                     "checks", failed_checks(assertions), "answer",
                     cut_text(answer, len, REFINE_ANSWER_BYTES), "passed", (int)passed,
                     "asked", (int)asked, "files", files);
}

/* --- what was tried --- */

void refine_history_add(struct refine_history *h, const json_t *edits, const char *result,
                        const char *reason) {
    char hex[HASH_HEX_SIZE];
    if (result) {
        hash_bytes_hex(result, strlen(result), hex);
    }
    h->list = h->list ? h->list : json_array();
    json_array_append_new(h->list, json_pack("{s:O*,s:o,s:s*}", "edits", edits, "reason",
                                             json_text(reason, strlen(reason)), "digest",
                                             result ? hex : NULL));
    if (json_array_size(h->list) > REFINE_HISTORY) {
        json_array_remove(h->list, 0);
    }
}

const char *refine_history_knows(const struct refine_history *h, const char *result) {
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(result, strlen(result), hex);
    json_each(h->list, i, attempt) {
        if (json_says(attempt, "digest", hex)) {
            return json_get_string(attempt, "reason", "");
        }
    }
    return NULL;
}

static void write_attempt(const json_t *a, size_t number, struct buf *out) {
    const json_t *given = json_object_get(a, "edits");
    autobuf edits = BUF_INIT(MAX_ATTEMPT);
    buf_addf(out, "Attempt %zu: ", number);
    if (given && json_write(&edits, given) == 0) {
        buf_add(out, edits.data, edits.len);
    } else {
        buf_adds(out, given ? "(edits too long to repeat)" : "(no edits)");
    }
    buf_addf(out, "\nNot taken: %s\n", json_get_string(a, "reason", ""));
}

void refine_history_write(const struct refine_history *h, size_t max, struct buf *out) {
    size_t count = json_array_size(h->list), first = count, used = 0;
    while (first > 0) {
        autobuf one = BUF_INIT(2 * MAX_ATTEMPT);
        write_attempt(json_array_get(h->list, first - 1), first, &one);
        if (used + one.len > max) {
            break;
        }
        used += one.len;
        first--;
    }
    for (size_t i = first; i < count; i++) {
        write_attempt(json_array_get(h->list, i), i + 1, out);
    }
}

void refine_history_finish(struct refine_history *h) {
    json_decref(take(h->list));
}

/* --- the prompt --- */

/* text without its secrets, between two lines that nothing in it can forge. The lines are
 * written last: to a redaction that reads them they look like a token. */
static void add_data(struct buf *out, const struct redaction *r, const char *text,
                     size_t len) {
    autobuf clean = BUF_INIT(REFINE_PROMPT_MAX);
    char hex[HASH_HEX_SIZE];
    redaction_apply(r, &clean, text, len);
    hash_bytes_hex(clean.data, clean.len, hex);
    bool ends = clean.len && clean.data[clean.len - 1] == '\n';
    buf_addf(out, "<<<" MARKER "%.16s\n", hex);
    buf_add(out, clean.data, clean.len);
    buf_addf(out, "%s" MARKER "%.16s>>>\n", ends ? "" : "\n", hex);
}

static const char failure_words[] =
    "## Failure {number} (passed {passed|0} of {asked|0})\n\n### Task\n{input|}\n"
    "{files:\n### File {@}\n{.}\n}"
    "\n### What the answer failed\n"
    "{checks:- {check|check}[ {expected}][: {message}]\n}"
    "\n### The answer\n{answer|}\n\n";

static void add_failures(struct buf *out, const struct redaction *r,
                         const json_t *failures) {
    autobuf all = BUF_INIT(REFINE_PROMPT_MAX / 4);
    json_each(failures, i, one) {
        autojson *told = json_clean_all(one);
        json_object_set_new(told, "number", json_integer((json_int_t)i + 1));
        words_add(&all, i < REFINE_FAILURES ? failure_words : "", told);
    }
    add_data(out, r, all.data, all.len);
}

void refine_prompt_write(struct buf *out, const char *text, const json_t *failures,
                         const struct refine_history *history, const struct redaction *r,
                         const char *form) {
    autobuf past = BUF_INIT(256u << 10);
    buf_adds(out, "SKILL.md as it is:\n");
    add_data(out, r, text, strlen(text));
    buf_addf(out, "\nTasks that models failed with this skill (%zu, %u at most shown):\n",
             json_array_size(failures), REFINE_FAILURES);
    add_failures(out, r, failures);
    refine_history_write(history, REFINE_HISTORY_BYTES, &past);
    if (past.len) {
        buf_adds(out, "\nEdits that were tried and not taken:\n");
        add_data(out, r, past.data, past.len);
    }
    if (form) {
        buf_adds(out, form);
    } else {
        buf_addf(out, answer_form, PATCH_MAX_EDITS, PATCH_MAX_BYTES, PATCH_MAX_BYTES);
    }
}
