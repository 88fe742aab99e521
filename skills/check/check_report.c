#include "skills/check/check_report.h"

#include "base/find.h"
#include "protocol/finding.h"

#include <ctype.h>

#define MARK "upskilld-allow:"
#define MAX_ALLOWANCES 200
#define MAX_MARKS 1000 /* read per file; further ones suppress nothing */
#define MAX_COMMENT 2048

static size_t word_length(const char *s, const char *end) {
    const char *at = s;
    while (at < end &&
           (islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_')) {
        at++;
    }
    return (size_t)(at - s);
}

static const char *skip_space(const char *s, const char *end) {
    while (s < end && isspace((unsigned char)*s)) {
        s++;
    }
    return s;
}

/* The place of the last finding: the next line number is counted from here, not from the
 * start of the file. */
struct report_place {
    const char *at;
    int line;
};

static int line_of(struct report_place *last, const char *at) {
    for (; last->at < at; last->at++) {
        last->line += *last->at == '\n' || (*last->at == '\r' && last->at[1] != '\n');
    }
    return last->line;
}

static void add_bare_suppression(json_t *findings, const char *code, size_t len,
                                 const char *file, int line) {
    autofree char *message = xasprintf(
        "the suppression of %.*s has no reason and was not applied", (int)len, code);
    json_array_append_new(findings, finding_new("skill", "suppression_without_reason",
                                                FINDING_WARNING, message, file,
                                                &(struct finding_span){.line = line}));
}

void check_read_allowances(const char *file, const char *text, size_t len,
                           json_t *allowed, json_t *findings) {
    const char *end = text + len, *at = text;
    struct report_place last = {text, 1};
    size_t marks = 0;
    while (marks++ < MAX_MARKS &&
           (at = memmem(at, (size_t)(end - at), MARK, strlen(MARK)))) {
        const char *start = at;
        size_t left = (size_t)(end - at);
        const char *close = memmem(at, left < MAX_COMMENT ? left : MAX_COMMENT, "-->", 3);
        const char *open = at;
        while (open > text && isspace((unsigned char)open[-1])) {
            open--;
        }
        at += strlen(MARK);
        if (!close || open - text < 4 || memcmp(open - 4, "<!--", 4) != 0 ||
            json_array_size(allowed) >= MAX_ALLOWANCES) {
            continue;
        }
        const char *code = skip_space(at, close);
        size_t n = word_length(code, close);
        if (n == 0 || skip_space(code + n, close) == close) {
            add_bare_suppression(findings, code, n, file, line_of(&last, start));
            continue;
        }
        json_array_append_new(allowed, json_pack("{s:o, s:o}", "code", json_text(code, n),
                                                 "file", json_text(file, strlen(file))));
    }
}

static bool same_code(const json_t *entry, const json_t *finding) {
    return strcmp(json_get_string(entry, "code", "?"),
                  json_get_string(finding, "code", "")) == 0;
}

static bool has_reason(const json_t *entry) {
    const char *reason = json_get_string(entry, "reason", "");
    return reason[strspn(reason, " \t\r\n")] != '\0';
}

static bool is_suppressed(const json_t *finding, const json_t *allowed,
                          const json_t *suppress) {
    json_each(suppress, i, entry) {
        if (same_code(entry, finding) && has_reason(entry)) {
            return true;
        }
    }
    /* The file itself never excuses an error. */
    if (json_says(finding, "severity", "error")) {
        return false;
    }
    return json_any(allowed, entry,
                    same_code(entry, finding) &&
                        json_says(entry, "file", json_get_string(finding, "file", "?")));
}

/* A wrong hardware fact in others' text is only a warning: no reason to refuse the
 * skill. */
static void soften(json_t *finding) {
    if (json_says(finding, "code", "hardware_fact_wrong")) {
        json_object_set_new(finding, "severity",
                            json_string(finding_severity_name(FINDING_WARNING)));
    }
}

static void add_bare_suppressions(json_t *findings, const json_t *suppress) {
    json_each(suppress, i, entry) {
        if (!has_reason(entry)) {
            const char *code = json_get_string(entry, "code", "");
            add_bare_suppression(findings, code, strlen(code), NULL, 0);
        }
    }
}

json_t *check_result(json_t *findings, const json_t *allowed, const json_t *suppress,
                     enum skill_check_mode mode, size_t body_tokens,
                     size_t catalogue_tokens) {
    json_t *kept = json_array();
    json_int_t suppressed = 0;
    json_each(findings, i, finding) {
        if (mode == SKILL_CHECK_LENIENT) {
            soften(finding);
        }
        if (is_suppressed(finding, allowed, suppress)) {
            suppressed++;
        } else {
            json_array_append(kept, finding);
        }
    }
    add_bare_suppressions(kept, suppress);
    json_decref(findings);
    bool ok = !findings_first_error(kept);
    json_int_t omitted = (json_int_t)findings_tidy(kept, CHECK_MAX_FINDINGS);
    return json_pack("{s:b, s:o, s:I, s:I, s:{s:I, s:I}}", "ok", ok, "findings", kept,
                     "omitted", omitted, "suppressed", suppressed, "tokens", "body",
                     (json_int_t)body_tokens, "catalogue", (json_int_t)catalogue_tokens);
}
