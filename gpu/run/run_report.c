#include "gpu/run/run_report.h"

#include "base/find.h"

#include "base/text.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/ptx/state/findings.h"
#include "gpu/run/trial_checks.h"

#include <inttypes.h>

enum {
    MAX_FINDINGS = 100, /* of an answer, whoever found them */
    /* Fewer elements may honestly be right as they are (one is sorted), or all alike. */
    PROVING_MANY = 8,
};
#define MAX_PRINTED (64u << 10)

void run_report_start(struct run_report *r, const struct kernel_spec *spec) {
    *r = (struct run_report){
        .spec = spec, .cases = json_array(), .findings = json_array()};
}

void run_report_finish(struct run_report *r) {
    json_decref(r->cases);
    json_decref(r->findings);
    json_decref(r->printed);
    json_decref(r->counters);
    *r = (struct run_report){0};
}

/* --- findings --- */

static bool same_text(const json_t *a, const json_t *b, const char *member) {
    return json_says(a, member, json_get_string(b, member, ""));
}

/* The finding's k-th call of an inlined function; NULL after the last. */
static const json_t *call_at(const json_t *finding, size_t k) {
    const json_t *item = json_array_get(json_object_get(finding, "related"), k);
    return strcmp(json_get_string(item, "message", ""), FINDING_CALL) ? NULL : item;
}

/* Whether both were found in the same calls. A helper's line can have several errors, for
 * different reasons. */
static bool same_calls(const json_t *a, const json_t *b) {
    for (size_t k = 0;; k++) {
        const json_t *x = call_at(a, k), *y = call_at(b, k);
        if (!x || !y) {
            return x == y;
        }
        if (json_get_integer(x, "line", 0) != json_get_integer(y, "line", 0) ||
            !same_text(x, y, "file")) {
            return false;
        }
    }
}

/* The other side of a race of two lines, after the calls of inlined functions; NULL: no
 * race. */
static const json_t *other_side(const json_t *finding) {
    const json_t *related = json_object_get(finding, "related");
    bool race = strstr(json_get_string(finding, "code", ""), "race") != NULL;
    size_t calls = 0;
    while (call_at(finding, calls)) {
        calls++;
    }
    return race ? json_array_get(related, calls) : NULL;
}

static bool same_line(const json_t *a, const json_t *b) {
    return json_get_integer(a, "line", 0) == json_get_integer(b, "line", 0) &&
           same_text(a, b, "file");
}

/* A line may race with several others. */
static bool same_other_side(const json_t *a, const json_t *b) {
    const json_t *x = other_side(a), *y = other_side(b);
    return x && y ? same_line(x, y) : x == y;
}

/* Those who wait at one line may wait for different things, as in a helper of all waits:
 * one of them is why the others do. And a line may fail with several odd sizes. */
static bool same_place(const json_t *a, const json_t *b) {
    static const char *const members[] = {"code", "severity", "kernel",
                                          "file", "line",     "buffer"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const json_t *x = json_object_get(a, members[i]);
        const json_t *y = json_object_get(b, members[i]);
        if (x != y && !(x && y && json_equal(x, y))) {
            return false;
        }
    }
    bool one_by_one =
        json_says(a, "code", "deadlock") || json_says(a, "code", "odd_size");
    return same_calls(a, b) && same_other_side(a, b) &&
           (!one_by_one || same_text(a, b, "message"));
}

/* Missing synchronisation between two lines is one error, whichever comes first in time:
 * the write after the read and the read after the write. */
static bool same_race(const json_t *a, const json_t *b) {
    const json_t *x = other_side(a), *y = other_side(b);
    return x && y && same_text(a, b, "code") && same_text(a, b, "kernel") &&
           same_text(a, b, "buffer") && same_line(a, y) && same_line(b, x) &&
           same_calls(a, b);
}

static bool reads_what_was_written(const json_t *race) {
    return strstr(json_get_string(race, "message", ""), "read after write") != NULL;
}

/* Which of the two to report: the more severe, or else the read that got the wrong value.
 * Order in time differs from run to run. */
static bool tells_more(const json_t *a, const json_t *b) {
    const char *x = json_get_string(a, "severity", ""),
               *y = json_get_string(b, "severity", "");
    return strcmp(x, y) != 0 ? !strcmp(x, "error") || !strcmp(y, "info")
                             : reads_what_was_written(a) && !reads_what_was_written(b);
}

/* "_ZZ1kPfE1s" is shown as s; the function is reported beside it. */
void run_report_name_buffer(json_t *finding) {
    const char *symbol = json_get_string(finding, "buffer", "");
    autofree char *name = strncmp(symbol, "_Z", 2) ? NULL : kernel_name_new(symbol);
    const char *last = name ? strrchr(name, ':') : NULL;
    const char *message = json_get_string(finding, "message", "");
    const char *at = name ? strstr(message, symbol) : NULL;
    last = last ? last + 1 : name;
    if (at) {
        autofree char *text = xasprintf("%.*s%s%s", (int)(at - message), message, last,
                                        at + strlen(symbol));
        json_object_set_new(finding, "message", json_clean_z(text));
    }
    if (name) {
        json_object_set_new(finding, "buffer", json_clean_z(last));
    }
}

/* "r0/k.cu" is how the compiler knows a file of the first root, and so __FILE__. */
static const char *skip_root(const char *file) {
    const char *at = file + (*file == 'r');
    size_t digits = strspn(at, "0123456789");
    return at > file && digits && at[digits] == '/' ? at + digits + 1 : file;
}

/* __FILE__ in what a kernel printed: the same there, where a name with a dot follows. */
static void name_files(char *text) {
    static const char path[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_+-/";
    char *to = text;
    bool inside = false; /* a word has begun */
    for (const char *at = text; *at; inside = strchr(path, *at) != NULL, *to++ = *at++) {
        const char *name = inside ? at : skip_root(at);
        if (name != at && name[strspn(name, path)] == '.') {
            at = name;
        }
    }
    *to = '\0';
}

/* File, line and kernel are separate members: the message is the same on every
 * backend. */
static void name_assertion(json_t *finding) {
    static const char mark[] = ": assertion `", end[] = "' failed";
    const char *message = json_get_string(finding, "message", "");
    const char *file = json_get_string(finding, "file", NULL);
    const char *words = strstr(message, mark);
    size_t len = words ? strlen(words += sizeof mark - 1) : 0;
    if (!json_says(finding, "code", "assert")) {
        return;
    }
    if (len >= sizeof end - 1 && !strcmp(words + len - (sizeof end - 1), end)) {
        autofree char *text =
            xasprintf("assertion `%.*s` failed", (int)(len - (sizeof end - 1)), words);
        json_object_set_new(finding, "message", json_clean_z(text));
    }
    if (file && skip_root(file) != file) {
        autofree char *name = xstrdup(skip_root(file));
        json_object_set_new(finding, "file", json_clean_z(name));
    }
}

bool run_report_is_known(json_t *findings, json_t *finding) {
    json_each(findings, i, known) {
        if (same_place(known, finding) || same_race(known, finding)) {
            json_int_t count = json_get_integer(known, "count", 1) +
                               json_get_integer(finding, "count", 1);
            if (tells_more(finding, known)) {
                json_object_update(known, finding);
            }
            json_object_set_new(known, "count", json_integer(count));
            return true;
        }
    }
    return false;
}

void run_report_finding(struct run_report *r, json_t *finding) {
    run_report_name_buffer(finding);
    name_assertion(finding);
    r->error_finding |= !strcmp(json_get_string(finding, "severity", "error"), "error");
    if (run_report_is_known(r->findings, finding)) {
        return;
    }
    r->omitted += !run_report_keep(r->findings, finding);
}

bool run_report_keep(json_t *findings, json_t *finding) {
    return json_array_size(findings) < MAX_FINDINGS &&
           json_array_append(findings, finding) == 0;
}

/* A read of what was not written is what an error at the same line about the same memory
 * led to: a race with the write that should have come first. */
static bool explains(const json_t *cause, const json_t *effect) {
    bool there =
        same_line(cause, effect) ||
        json_any(json_object_get(cause, "related"), side, same_line(side, effect));
    return there && json_says(effect, "code", "uninitialized") &&
           !same_text(cause, effect, "code") && same_text(cause, effect, "buffer") &&
           same_text(cause, effect, "kernel") && json_says(cause, "severity", "error");
}

void run_report_causes_first(json_t *findings) {
    for (size_t i = 1; i < json_array_size(findings); i++) {
        autojson *finding = json_incref(json_array_get(findings, i));
        size_t at = 0;
        while (at < i && !explains(finding, json_array_get(findings, at))) {
            at++;
        }
        json_array_remove(findings, i);
        json_array_insert(findings, at, finding);
    }
}

/* `looked_at`: nothing else tells whether it is right; where `expect` speaks of other
 * outputs alone, this one may be workspace. */
static void add_unwritten(struct run_report *r, const struct trial *t, size_t buffer,
                          uint64_t elements, uint64_t first, bool looked_at) {
    const struct spec_buffer *spec = &r->spec->buffers[buffer];
    char message[400];
    snprintf(message, sizeof message,
             "%" PRIu64 " of %" PRIu64 " elements of the output '%s' were never written, "
             "the first is element %" PRIu64 "%s",
             elements, t->check->buffers[buffer].count, spec->name,
             first / tensor_type_bytes(spec->type),
             looked_at ? ""
                       : ". \"expect\" does not mention it: if it is workspace, say "
                         "\"scratch\": true instead of \"output\"");
    autojson *finding =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "source", "run", "code",
                  "unwritten_output", "severity", looked_at ? "error" : "warning",
                  "message", message, "buffer", spec->name, "offset", (json_int_t)first,
                  "count", (json_int_t)elements);
    run_report_finding(r, finding);
}

void run_report_note(struct run_report *r, const char *code, const char *severity,
                     const char *buffer, const char *fmt, ...) {
    char message[1024];
    text_format(message, fmt);
    autojson *finding =
        json_pack("{s:s, s:s, s:s, s:o, s:s*}", "source", "run", "code", code, "severity",
                  severity, "message", json_clean_z(message), "buffer", buffer);
    run_report_finding(r, finding);
}

/* --- what a trial showed besides its outputs --- */

void run_report_observe(struct run_report *r, const struct trial *t, unsigned trial) {
    uint64_t omitted = 0;
    autojson *findings = t->class->findings(t->backend, &omitted);
    json_each(findings, i, finding) {
        run_report_finding(r, finding);
    }
    r->omitted += omitted;
    const char *printed = t->class->printed(t->backend);
    if (*printed && !trial) {
        const char *before = r->printed ? json_string_value(r->printed) : "";
        size_t room = strlen(before) < MAX_PRINTED ? MAX_PRINTED - strlen(before) : 0;
        autofree char *named = xstrdup(printed);
        name_files(named);
        autofree char *text = xasprintf("%s%.*s", before, (int)room, named);
        json_decref(r->printed);
        r->printed = json_clean_z(text);
    }
    uint64_t spent = t->class->spent(t->backend);
    if (t->class->counters && !trial && spent >= r->counted) {
        json_decref(r->counters);
        r->counters = t->class->counters(t->backend);
        r->counted = spent;
    }
}

/* --- outputs --- */

static void note_strength(struct run_report *r, const struct compare_result *result,
                          size_t buffer, uint64_t held) {
    struct output_strength *s = &r->outputs[buffer];
    uint64_t count = result->judged;
    s->held += held;
    if (count) {
        s->shift = s->compared ? s->shift : result->shift;
        s->shift_fails |= !result->shift_passes;
        s->differs |= result->varies || (s->compared && s->value != result->mean);
        s->elements += count;
        s->value = result->mean;
        s->compared = true;
    }
    if (result->narrowed && !s->narrowed) {
        s->narrowed = result->narrowed;
        s->scale = result->scale;
        s->largest = result->largest;
    }
    s->sized += result->sized;
    s->loose += result->loose;
    s->inexact |= result->inexact;
    s->nonzero |= result->nonzero;
    s->varies |= result->varies;
    s->zero_fails |= !result->zero_passes;
    s->constant_fails |= !result->constant_passes;
    s->finite |= result->finite;
}

void run_report_weakness(const struct run_report *r, struct report_weakness *ret) {
    bool differs = false;
    *ret = (struct report_weakness){0};
    for (size_t i = 0; i < SPEC_MAX_BUFFERS; i++) {
        const struct output_strength *s = &r->outputs[i];
        bool zeros = s->nonzero && !s->zero_fails;
        bool constant = s->varies && !s->constant_fails;
        bool nonfinite = s->compared && !s->finite;
        ret->compared |= s->compared;
        differs |= s->compared && (s->differs || s->elements < PROVING_MANY);
        ret->zeros |= zeros;
        ret->constant |= constant;
        ret->nonfinite |= nonfinite;
        ret->buffer = zeros || constant || nonfinite ? i : ret->buffer;
    }
    ret->same = ret->compared && !differs;
    ret->unchanged = r->stays && !r->does_something;
}

/* Notes whether the buffer's previous contents would fail as the output. Once is
 * enough. */
static void note_change(struct run_report *r, const struct trial *t, size_t i,
                        const struct expected_output *expected, uint64_t count) {
    const struct spec_buffer *spec = &r->spec->buffers[i];
    bool had = spec->init || spec->is_global;
    if (!r->does_something && count) {
        r->does_something = !had || !trial_unchanged_passes(t, i, expected);
        r->stays |= count >= PROVING_MANY;
    }
}

static int compare_buffer(struct run_report *r, const struct trial *t, size_t i,
                          const struct expected_output *expected, json_t *outputs,
                          bool *ret_pass, struct err *err) {
    struct compare_result result;
    uint64_t unwritten, first;
    int n = trial_compare_output(t, i, expected, &result, &unwritten, &first, err);
    if (n < 0) {
        return n;
    }
    if (unwritten) {
        add_unwritten(r, t, i, unwritten, first, true);
    }
    note_strength(r, &result, i, t->check->buffers[i].count);
    note_change(r, t, i, expected, result.judged);
    json_array_append_new(outputs, result.json);
    *ret_pass = *ret_pass && result.pass;
    return 0;
}

json_t *case_sizes_to_json(const struct spec_case *c) {
    json_t *json = json_object();
    for (size_t i = 0; i < c->size_list.count; i++) {
        json_object_set_new(json, c->sizes[i].name, json_integer(c->sizes[i].value));
    }
    return json;
}

static json_t *case_json(const struct trial *t, unsigned trial) {
    const struct spec_case *c = t->check;
    json_t *json = json_pack("{s:o, s:o, s:i}", "sizes", case_sizes_to_json(c), "seed",
                             trial_seed_to_json(t->seed), "trial", (int)trial);
    if (c->spec->launch_count == 1) {
        json_object_set_new(json, "launch", case_launch_to_json(&c->launches[0]));
    } else {
        json_t *list =
            json_list(i, 0, c->spec->launch_count, case_launch_to_json(&c->launches[i]));
        json_object_set_new(json, "launches", list);
    }
    return json;
}

void run_report_add_ended(struct run_report *r, const struct trial *t, unsigned trial,
                          const char *verdict) {
    json_t *json = case_json(t, trial);
    json_object_set_new(json, "outputs", json_array());
    json_object_set_new(json, "verdict", json_string(verdict));
    json_array_append_new(r->cases, json);
}

static bool is_known(const struct run_report *r, const char *code, const char *buffer) {
    return json_any(r->findings, f,
                    json_says(f, "code", code) && json_says(f, "buffer", buffer));
}

/* Inputs must be what they were. A backend that saw the store has told its place. */
static int check_input(struct run_report *r, const struct trial *t, size_t i,
                       struct err *err) {
    const char *name = r->spec->buffers[i].name;
    uint64_t first = 0;
    int64_t changed = trial_input_changes(t, i, &first, err);
    if (changed > 0 && !is_known(r, "input_modified", name)) {
        run_report_note(r, "input_modified", "error", name,
                        "the kernel changed %" PRId64 " bytes of the input '%s', the "
                        "first at offset %" PRIu64,
                        changed, name, first);
    }
    return changed < 0 ? (int)changed : 0;
}

/* Outputs that nothing is said about are still to be written. */
static void check_written(struct run_report *r, const struct trial *t, size_t i,
                          const bool *judged, bool others_expected) {
    const struct spec_buffer *spec = &r->spec->buffers[i];
    uint64_t first, size = tensor_type_bytes(spec->type);
    if (spec->init || spec->is_global || spec->scratch) {
        return;
    }
    r->does_something |= t->check->buffers[i].count > 0;
    uint64_t bytes = trial_unwritten(t, i, judged, &first);
    if (bytes) {
        add_unwritten(r, t, i, (bytes + size - 1) / size, first, !others_expected);
    }
}

/* An output that must be judged, but has no expectation. */
static void add_unjudged(struct run_report *r, const struct trial *t, size_t i,
                         json_t *outputs) {
    r->unjudged = true;
    json_array_append_new(outputs,
                          json_pack("{s:s, s:s, s:I}", "name", r->spec->buffers[i].name,
                                    "verdict", "unjudged", "elements",
                                    (json_int_t)t->check->buffers[i].count));
}

/* Its entry in `outputs`, if it has one. */
static int add_buffer(struct run_report *r, const struct trial *t, size_t i,
                      const struct expected_output *expected, json_t *outputs,
                      bool *ret_pass, struct err *err) {
    const struct kernel_spec *spec = r->spec;
    if (!spec->buffers[i].output) {
        return check_input(r, t, i, err);
    }
    if (expectation_has(expected)) {
        return compare_buffer(r, t, i, expected, outputs, ret_pass, err);
    }
    check_written(r, t, i, expected->judged, spec->expect != EXPECT_NONE);
    if (spec->buffers[i].judged) {
        add_unjudged(r, t, i, outputs);
    }
    return 0;
}

int run_report_add(struct run_report *r, const struct trial *t, unsigned trial,
                   const struct expectation *expected, struct err *err) {
    json_t *json = case_json(t, trial), *outputs = json_array();
    json_array_append_new(r->cases, json);
    json_object_set_new(json, "outputs", outputs);
    bool pass = true;
    for (size_t i = 0; i < r->spec->buffer_count; i++) {
        int n = add_buffer(r, t, i, &expected->outputs[i], outputs, &pass, err);
        if (n < 0) {
            json_object_set_new(json, "verdict",
                                json_string(n == -ETIME ? "timeout" : "error"));
            return n;
        }
    }
    r->mismatch |= !pass;
    json_object_set_new(json, "verdict",
                        json_string(!pass         ? "fail"
                                    : r->unjudged ? "unjudged"
                                                  : "pass"));
    return 0;
}
