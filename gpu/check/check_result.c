#include "gpu/check/check_result.h"

#include "base/buf.h"
#include "gpu/check/script_fields.h"
#include "gpu/check/uncompiled.h"
#include "gpu/check/unused.h"
#include "gpu/fixes/consequences.h"
#include "gpu/fixes/fixes.h"
#include "gpu/lint/lint.h"

static bool is_missing_include(const json_t *finding) {
    const char *message = json_get_string(finding, "message", "");
    return strstr(message, "cannot open source file") ||
           strstr(message, "could not open source file");
}

static bool same_line(const json_t *a, const json_t *b) {
    return json_get_integer(a, "line", 0) == json_get_integer(b, "line", -1) &&
           json_says(a, "file", json_get_string(b, "file", ""));
}

/* An include that was refused here is then missing for the compiler: one finding is
 * enough, the one that says why. */
static void drop_told(json_t *findings, const json_t *told) {
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        for (size_t k = 0; is_missing_include(finding) && k < json_array_size(told);
             k++) {
            if (same_line(finding, json_array_get(told, k))) {
                json_array_remove(findings, i);
                break;
            }
        }
    }
}

/* The assembler's advice on speed is about code of the cheapest optimisation: full checks
 * give the true one. */
static void drop_speed_advice(json_t *findings) {
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        if (json_says(finding, "source", "ptxas") &&
            strncmp(json_get_string(finding, "message", ""), "Potential Performance Loss",
                    26) == 0) {
            json_array_remove(findings, i);
        }
    }
}

static json_t *copied(const json_t *answer, const char *key, json_t *fallback) {
    json_t *value = json_object_get(answer, key);
    if (!value) {
        return fallback;
    }
    json_decref(fallback);
    return json_deep_copy(value);
}

/* More than a correct worker sends: processing takes quadratic time. */
#define MAX_ITEMS 5000

static bool answer_is_sound(const json_t *answer) {
    static const char *const lists[] = {"diagnostics", "kernels"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const json_t *list = json_object_get(answer, lists[i]);
        if (list && (!json_is_array(list) || json_array_size(list) > MAX_ITEMS)) {
            return false;
        }
        json_each(list, k, item) {
            if (!json_is_object(item)) {
                return false;
            }
        }
    }
    return json_is_string(json_object_get(answer, "outcome"));
}

/* By the worker, which may say anything. */
static json_int_t omitted_of(const json_t *answer) {
    json_int_t omitted = json_get_integer(answer, "omitted", 0);
    return omitted < 0 ? 0 : omitted > INT32_MAX ? INT32_MAX : omitted;
}

/* Beside kernels that were compiled only templates may be left. */
static bool may_be_left(const struct check_input *input, const json_t *kernels) {
    const struct source_set *sources = &input->closure.sources;
    const struct source_file *unit = &sources->files[source_set_unit(sources)];
    return !json_array_size(kernels) || memmem(unit->text, unit->len, "template", 8);
}

json_t *check_result_new(const struct check_input *input, const json_t *answer,
                         json_t *note, bool *keep) {
    if (!answer_is_sound(answer)) {
        return NULL;
    }
    const char *outcome = json_get_string(answer, "outcome", "");
    *keep = strcmp(outcome, "compiled") == 0 || strcmp(outcome, "rejected") == 0;
    json_t *findings = copied(answer, "diagnostics", json_array());
    json_t *kernels = copied(answer, "kernels", json_array());
    drop_told(findings, input->closure.findings);
    if (input->host_left_out) {
        unused_drop(findings, &input->closure.sources);
    }
    if (input->options.quick) {
        drop_speed_advice(findings);
    }
    json_array_extend(findings, input->closure.findings);
    lint_compiled(kernels, &input->options, &input->closure.sources, findings);
    if (json_array_size(findings) && !input->is_ptx) {
        fixes_add(findings, &input->closure.sources, input->options.arch);
        project_flags_tell_outside(input->flags, findings);
        consequences_fold(findings);
    }
    autobuf summary = BUF_INIT(1024);
    const char *nothing = NULL;
    autojson *uncompiled = NULL;
    if (note) {
        json_array_append(findings, note);
    }
    if (*keep && !findings_count(findings, FINDING_ERROR) &&
        may_be_left(input, kernels)) {
        nothing = uncompiled_tell(input, answer, note == NULL, findings, &summary);
        bool tells = !note && !input->options.quick;
        uncompiled =
            nothing ? NULL : uncompiled_templates(input, answer, tells ? findings : NULL);
    }
    size_t more = findings_tidy(findings, CHECK_MAX_FINDINGS);
    json_t *result = json_pack(
        "{s:b, s:o, s:s, s:s, s:o, s:b, s:o, s:o, s:I, s:o, s:o}", "ok", 0, "summary",
        json_text(summary.data, summary.len), "arch", input->options.arch, "mode",
        input->is_ptx          ? "ptx"
        : input->host_stripped ? "host-stripped"
                               : "device",
        "compiler", copied(answer, "compiler", json_null()), "cached", 0, "compile_ms",
        copied(answer, "compile_ms", json_real(0)), "diagnostics", findings, "omitted",
        omitted_of(answer) + (json_int_t)more, "confinement",
        copied(answer, "confinement", json_array()), "kernels", kernels);
    if (nothing || !*keep) {
        const char *told = nothing ? nothing : outcome;
        json_object_set_new(result, "outcome", json_text(told, strlen(told)));
    }
    if (json_get_integer(answer, "functions", 0) > 0) {
        json_object_set(result, "functions", json_object_get(answer, "functions"));
    }
    if (json_array_size(uncompiled)) {
        json_object_set(result, "uncompiled", uncompiled);
    }
    if (input->flags) {
        json_object_set(result, "flags", input->flags);
    }
    if (input->host_left_out) {
        json_object_set_new(result, "host_code", json_string("not_checked"));
    }
    json_object_set_new(result, "precompiled",
                        copied(answer, "precompiled", json_string("none")));
    if (input->options.want_ptx && json_is_string(json_object_get(answer, "ptx"))) {
        json_object_set(result, "ptx", json_object_get(answer, "ptx"));
    }
    if (input->options.want_cubin && json_is_string(json_object_get(answer, "cubin"))) {
        json_object_set(result, "cubin", json_object_get(answer, "cubin"));
    }
    return result;
}

/* --- what a turn of the loop has time for --- */

#define MAX_INLINE 64               /* kernels, findings: a millisecond or two */
#define MAX_INLINE_BYTES (4u << 10) /* of sources that are searched */

static bool list_is_long(const json_t *object, const char *list) {
    return json_array_size(json_object_get(object, list)) > MAX_INLINE;
}

bool check_is_long(const json_t *base) {
    return list_is_long(base, "kernels");
}

bool check_making_is_long(const struct check_making *m) {
    return m->failed || !json_says(m->answer, "outcome", "compiled") ||
           m->input.closure.sources.bytes > MAX_INLINE_BYTES ||
           list_is_long(m->answer, "kernels") || list_is_long(m->answer, "diagnostics");
}

/* --- from one attempt to the next --- */

/* NULL note: there is nothing to report about other attempts. */
static void make_base(struct check_making *m, const json_t *answer, json_t *note) {
    m->base = check_result_new(&m->input, answer, note, &m->keep);
    if (m->base) {
        json_object_set(m->base, "worker", m->worker);
    }
}

/* Adds the notes about earlier attempts. */
static void settle(struct check_making *m) {
    autojson *left = omissions_settle(&m->omissions, m->answer);
    const json_t *last = left ? left : m->answer;
    autojson *own = guess_attempts_settle(&m->attempts, &m->input, last);
    json_t *note = guess_attempts_note(&m->attempts, &m->input, last);
    bool missed = omissions_missed(&m->omissions, m->answer);
    const json_t *answer = own && !missed ? own : last;
    autojson *filled = script_fields_settle(&m->input, answer, &note);
    make_base(m, filled ? filled : answer, note);
    json_decref(note);
    m->keep &= !m->attempts.shortened; /* the time may be this moment's */
}

void check_make(struct check_making *m) {
    bool compiled = json_says(m->answer, "outcome", "compiled");
    m->failed |= !compiled;
    m->again = !compiled && !m->input.is_ptx &&
               (omissions_next(&m->omissions, &m->input, m->answer) ||
                guess_attempts_next(&m->attempts, &m->input, m->answer));
    if (!m->failed) {
        make_base(m, m->answer, NULL);
    } else if (!m->again) {
        settle(m);
    }
}

void check_making_finish(struct check_making *m) {
    check_input_finish(&m->input);
    if (m->failed) {
        guess_attempts_finish(&m->attempts);
        omissions_finish(&m->omissions);
    }
}

/* --- for one request --- */

json_t *check_result_complete(const json_t *base, const json_t *launch, bool cached) {
    json_t *findings = json_deep_copy(json_object_get(base, "diagnostics"));
    json_t *kernels = json_deep_copy(json_object_get(base, "kernels"));
    lint_launched(kernels, json_get_string(base, "arch", ""), launch, findings);
    size_t more = findings_tidy(findings, CHECK_MAX_FINDINGS);
    json_int_t omitted = json_get_integer(base, "omitted", 0) + (json_int_t)more;
    json_t *result = json_copy((json_t *)(uintptr_t)base); /* it changes nothing */
    json_object_set_new(result, "diagnostics", findings);
    json_object_set_new(result, "kernels", kernels);
    json_object_set_new(result, "omitted", json_integer(omitted));
    json_object_set_new(result, "cached", json_boolean(cached));
    return result;
}
