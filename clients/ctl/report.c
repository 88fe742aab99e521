#include "clients/ctl/report.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/file.h"
#include "base/find.h"
#include "clients/ctl/render.h"
#include "protocol/finding.h"

#include <limits.h>
#include <unistd.h>

#define MAX_REPORT (64u << 20)

/* One answer: {operation, path, status, findings, error}. */
struct report {
    enum report_format format;
    json_t *answers;
};

char *report_format_read(const char *name, enum report_format *ret) {
    static const char *const names[] = {"text", "json", "sarif", "github", "junit"};
    static const enum report_format formats[] = {REPORT_NONE, REPORT_NONE, REPORT_SARIF,
                                                 REPORT_GITHUB, REPORT_JUNIT};
    struct nearest_name near = {.said = name, .limit = 2};
    for (size_t i = 0; name && i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *ret = formats[i];
            return NULL;
        }
        nearest_name_try(&near, names[i]);
    }
    const char *meant = name && strcasecmp(name, "xml") == 0 ? "junit" : near.best;
    autofree char *said = name ? xasprintf(", not \"%.64s\"", name) : xstrdup("");
    return xasprintf("--output-format: text, json, sarif, github or junit%s%s%s%s", said,
                     meant ? "; did you mean " : "", meant ? meant : "",
                     meant ? "?" : "");
}

json_t *report_findings(const json_t *result) {
    json_t *all = json_array();
    json_t *check = json_object_get(result, "check");
    json_array_extend(all, json_object_get(check, "diagnostics"));
    json_array_extend(all, json_object_get(result, "diagnostics"));
    json_array_extend(all, json_object_get(result, "findings"));
    return all;
}

struct report *report_new(enum report_format format) {
    struct report *r = xcalloc(1, sizeof *r);
    r->format = format;
    r->answers = json_array();
    return r;
}

/* Of the first case that is wrong. */
static bool add_wrong_outputs(json_t *findings, const json_t *result) {
    bool any = false;
    json_each(json_object_get(result, "cases"), i, item) {
        json_each(json_object_get(item, "outputs"), k, output) {
            json_int_t wrong = json_get_integer(output, "mismatches", 0);
            if (wrong > 0) {
                autofree char *sizes = render_sizes(json_object_get(item, "sizes"));
                autofree char *words = xasprintf(
                    "output %.64s: %lld of %lld elements are wrong%s%s, trial %lld, "
                    "seed %.32s",
                    json_get_string(output, "name", "?"), (long long)wrong,
                    (long long)json_get_integer(output, "elements", 0),
                    *sizes ? " in " : "", sizes,
                    (long long)json_get_integer(item, "trial", 0),
                    json_get_string(item, "seed", "?"));
                json_array_append_new(findings,
                                      json_pack("{s:s,s:s,s:s}", "severity", "error",
                                                "code", "mismatch", "message", words));
                any = true;
            }
        }
        if (any) {
            break;
        }
    }
    return any;
}

/* A no that no finding of error stands for, such as a kernel that did not end, is one
 * of its own: the words of the answer, for the whole file. */
static void add_answer(json_t *findings, const json_t *result, int status) {
    bool said = status != 1 || add_wrong_outputs(findings, result) ||
                findings_first_error(findings);
    const json_t *error = json_object_get(result, "error");
    const char *verdict = json_get_string(result, "verdict", "not ok");
    const char *words = json_get_string(result, "sentence", verdict);
    words = json_get_string(result, "summary", words);
    if (!said) {
        json_array_append_new(
            findings, json_pack("{s:s,s:s,s:s}", "severity", "error", "code",
                                json_get_string(result, "verdict", "not_ok"), "message",
                                json_get_string(error, "message", words)));
    }
}

/* --- evaluations --- */

/* How many of a test's runs passed in an arm. */
static int passes(const json_t *test, const char *arm) {
    return json_total(int, json_object_get(test, "pairs"), pair,
                    json_is_true(json_object_get(pair, arm)));
}

/* One with a single finding. What failed where the whole is good is no failure: skipped. */
static json_t *answer_new(const char *operation, const char *path, bool failed, int status,
                          json_t *finding) {
    return json_pack("{s:s,s:s,s:i,s:b,s:[o]}", "operation", operation, "path", path, "status",
                     failed ? status : 0, "skipped", failed && !status, "findings", finding);
}

/* A test with one student: failed where no more than half of its runs pass with the
 * skill. */
static json_t *test_answer(const char *student, const json_t *test, int status) {
    int runs = (int)json_array_size(json_object_get(test, "pairs"));
    int skill = passes(test, "skill"), baseline = passes(test, "baseline");
    bool failed = 2 * skill <= runs;
    autofree char *words = xasprintf("%d of %d runs pass with the skill, %d without it",
                                     skill, runs, baseline);
    return answer_new(student, json_get_string(test, "id", "?"), failed, status,
                      json_pack("{s:s,s:s,s:s}", "severity", failed ? "error" : "info",
                                "code", "test", "message", words));
}

/* The skill's place, as it was named, or, where that was a name, from here. */
static char *skill_place(const char *said, const json_t *result) {
    char here[PATH_MAX];
    const json_t *from = json_object_get(result, "provenance");
    const char *path = json_get_string(from, "path", "");
    size_t len = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (strchr(said, '/') || !*path) {
        return xstrdup(said);
    }
    bool beneath = len && path_is_beneath(path, here) && path[len] == '/';
    return xstrdup(beneath ? path + len + 1 : path);
}

/* GitHub shows an annotation of a file only. */
static char *skill_file(const char *path) {
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/') {
        len--;
    }
    char *file = xasprintf("%.*s/SKILL.md", (int)len, path);
    if (access(file, F_OK) == 0) {
        return file;
    }
    free(file);
    return xstrdup(path);
}

/* The student's verdict, which stands for the whole skill. */
static json_t *verdict_answer(const char *path, const json_t *result,
                              const json_t *student, int status) {
    autofree char *place = skill_place(path, result), *file = skill_file(place);
    const char *verdict = json_get_string(student, "verdict", "");
    bool helps = strcmp(verdict, "helps") == 0, hurts = strcmp(verdict, "hurts") == 0;
    return answer_new("skill/evaluate", path, !helps, status,
                      json_pack("{s:s,s:s,s:s,s:s}", "file", file, "severity",
                                hurts   ? "error"
                                : helps ? "info"
                                        : "warning",
                                "code", verdict, "message",
                                json_get_string(student, "sentence", verdict)));
}

/* JUnit has a case for each test and student beside the verdicts. */
static void add_evaluation(struct report *r, const char *path, const json_t *result, int status) {
    json_each(json_object_get(result, "students"), i, student) {
        const char *model = json_get_string(student, "model", "");
        json_array_append_new(r->answers, verdict_answer(path, result, student, status));
        json_each(json_object_get(student, "tests"), k, test) {
            if (r->format == REPORT_JUNIT) {
                json_array_append_new(r->answers, test_answer(model, test, status));
            }
        }
    }
}

void report_add(struct report *r, const char *operation, const char *path,
                const json_t *result, const char *error, int status) {
    if (strcmp(operation, "skill/evaluate") == 0 && status < 2) {
        add_evaluation(r, path, result, status);
        return;
    }
    json_t *findings = report_findings(result);
    add_answer(findings, result, status);
    json_t *answer = json_pack("{s:s,s:s,s:i,s:o}", "operation", operation, "path", path,
                               "status", status, "findings", findings);
    if (error) {
        json_object_set_new(answer, "error", json_clean_z(error));
    }
    json_array_append_new(r->answers, answer);
}

/* What a finding is called: its code, else its source. */
static const char *rule_of(const json_t *finding) {
    const char *code = json_get_string(finding, "code", "");
    return *code ? code : json_get_string(finding, "source", "finding");
}

static const char *file_of(const json_t *finding, const json_t *answer) {
    return json_get_string(finding, "file", json_get_string(answer, "path", ""));
}

/* --- SARIF 2.1.0 --- */

static const char *sarif_level(const json_t *finding) {
    const char *severity = json_get_string(finding, "severity", "error");
    bool known = strcmp(severity, "error") == 0 || strcmp(severity, "warning") == 0;
    return known ? severity : "note";
}

static json_t *sarif_region(const json_t *finding) {
    static const char *const names[][2] = {{"line", "startLine"},
                                           {"column", "startColumn"},
                                           {"end_line", "endLine"},
                                           {"end_column", "endColumn"}};
    json_t *region = json_object();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        json_int_t value = json_get_integer(finding, names[i][0], 0);
        if (value > 0) {
            json_object_set_new(region, names[i][1], json_integer(value));
        }
    }
    return region;
}

static json_t *sarif_location(const json_t *finding, const json_t *answer) {
    json_t *place =
        json_pack("{s:{s:s}}", "artifactLocation", "uri", file_of(finding, answer));
    json_t *region = sarif_region(finding);
    if (json_object_get(region, "startLine")) {
        json_object_set_new(place, "region", region);
    } else {
        json_decref(region);
    }
    return json_pack("{s:o}", "physicalLocation", place);
}

/* The other access of a race, and the calls that lead to a line. */
static json_t *sarif_related(const json_t *finding, const json_t *answer) {
    json_t *all = json_array();
    json_each(json_object_get(finding, "related"), i, one) {
        json_t *place = sarif_location(one, answer);
        json_object_set_new(
            place, "message",
            json_pack("{s:s}", "text", json_get_string(one, "message", "")));
        json_array_append_new(all, place);
    }
    return all;
}

static json_t *sarif_result(const json_t *finding, const json_t *answer) {
    return json_pack("{s:s,s:s,s:{s:s},s:[o],s:o}", "ruleId", rule_of(finding), "level",
                     sarif_level(finding), "message", "text",
                     json_get_string(finding, "message", ""), "locations",
                     sarif_location(finding, answer), "relatedLocations",
                     sarif_related(finding, answer));
}

/* An answer that could not be had is a notification of the tool's run. */
static json_t *sarif_notification(const json_t *answer) {
    return json_pack("{s:s,s:{s:o}}", "level", "error", "message", "text",
                     json_pack("s++", json_get_string(answer, "path", ""), ": ",
                               json_get_string(answer, "error", "")));
}

static void print_sarif(const struct report *r) {
    json_t *results = json_array(), *notifications = json_array();
    json_each(r->answers, i, answer) {
        json_each(json_object_get(answer, "findings"), k, finding) {
            json_array_append_new(results, sarif_result(finding, answer));
        }
        if (json_object_get(answer, "error")) {
            json_array_append_new(notifications, sarif_notification(answer));
        }
    }
    bool whole = json_array_size(notifications) == 0;
    autojson *document =
        json_pack("{s:s,s:s,s:[{s:{s:{s:s,s:s}},s:[{s:b,s:o}],s:o}]}", "$schema",
                  "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0",
                  "runs", "tool", "driver", "name", "upskilld", "version",
                  UPSKILLD_VERSION, "invocations", "executionSuccessful", whole,
                  "toolExecutionNotifications", notifications, "results", results);
    autobuf text = BUF_INIT(MAX_REPORT);
    json_write(&text, document);
    puts(text.data);
}

/* --- texts --- */

/* The place of a finding, as much of it as is known; and what belongs to it. */
#define PLACE "{file|}[:{line}{?line}[:{column}{?column}]]"
#define RELATED(newline) "{related:" newline PLACE ": {message|}}"

/* The file that an answer is about is that of findings without one. */
static void complete(json_t *finding, const json_t *answer) {
    json_object_set_new(finding, "rule", json_string(rule_of(finding)));
    json_object_set_new(finding, "level", json_string(sarif_level(finding)));
    json_object_set_new(finding, "own_file",
                        json_boolean(json_object_get(finding, "file") != NULL));
    json_object_set_new(finding, "file", json_string(file_of(finding, answer)));
    json_each(json_object_get(finding, "related"), i, one) {
        json_object_set_new(one, "file", json_string(file_of(one, answer)));
    }
}

/* What a case failed with, for those who show no more than this: "k.cu:3:5: identifier
 * "x" is undefined (2 errors, 1 warning)". */
static json_t *reason_of(const json_t *findings) {
    const json_t *first = findings_first_error(findings);
    autobuf text = BUF_INIT(MAX_REPORT), all = BUF_INIT(256);
    words_add(&text, "[{?own_file}" PLACE ": ]{message|not ok}",
              first ? first : json_array_get(findings, 0));
    if (json_array_size(findings) > 1 && findings_tell(findings, &all)) {
        buf_addf(&text, " (%s)", all.data);
    }
    return json_text(text.data, text.len);
}

static void print_answers(const struct report *r, const struct words_manner *manner,
                          const char *words) {
    json_each(r->answers, i, answer) {
        json_t *findings = json_object_get(answer, "findings");
        autobuf text = BUF_INIT(MAX_REPORT);
        json_each(findings, k, finding) {
            complete(finding, answer);
        }
        json_object_set_new(answer, "reason", reason_of(findings));
        words_add_as(&text, manner, words, answer);
        fputs(text.data, stdout);
    }
}

/* --- GitHub's workflow commands --- */

/* Their escapes: % and ends of lines, and in a property also : and , */
static void escape_bytes(struct buf *out, size_t from, const char *bytes) {
    autofree char *text = xstrdup(out->data + from);
    out->len = from;
    for (const char *at = text; *at; at++) {
        buf_addf(out, strchr(bytes, *at) ? "%%%02X" : "%c", (unsigned char)*at);
    }
}

static void escape_message(struct buf *out, size_t from) {
    escape_bytes(out, from, "%\r\n");
}

static void add_property(struct buf *out, const json_t *text, const void *) {
    size_t from = out->len;
    buf_adds(out, json_string_value(text));
    escape_bytes(out, from, "%\r\n:,");
}

static const char github_words[] =
    "{findings:::[{?level=note}notice|{level}] file={file#property}"
    "[,line={line}{?line}[,col={column}{?column}]],title={rule#property}::{message|}" RELATED(
        "%0A") "\n}[::error file={path#property}::{error}\n]";

static void print_github(const struct report *r) {
    static const struct words_part parts[] = {{"property", add_property}, {0}};
    print_answers(r, &(struct words_manner){escape_message, parts, NULL}, github_words);
}

/* --- JUnit's XML --- */

static void escape_xml(struct buf *out, size_t from) {
    autofree char *text = xstrdup(out->data + from);
    out->len = from;
    for (const char *at = text; *at; at++) {
        const char *entity = *at == '<'   ? "&lt;"
                             : *at == '>' ? "&gt;"
                             : *at == '&' ? "&amp;"
                             : *at == '"' ? "&quot;"
                                          : (char[]){*at, '\0'};
        bool shown = (unsigned char)*at >= ' ' || *at == '\n' || *at == '\t';
        buf_adds(out, shown ? entity : "");
    }
}

#define TAG "[{?status=1}failure|{?status}error|{?skipped}skipped|system-out]"
static const char junit_words[] =
    "  <testcase classname=\"{operation|}\" name=\"{path|}\">\n"
    "    <" TAG "[{?status} message=\"[{error}|{reason}]\"|{?skipped} message=\"{reason}\"]>"
    "{findings:" PLACE ": {level}: {message|} \\[{rule}\\]" RELATED("\n") "\n}"
    "</" TAG ">\n  </testcase>\n";

static int count_status(const struct report *r, int least, int most) {
    int n = 0;
    json_each(r->answers, i, answer) {
        int status = (int)json_get_integer(answer, "status", 0);
        n += status >= least && status <= most;
    }
    return n;
}

static int count_skipped(const struct report *r) {
    return json_total(int, r->answers, answer, json_get_bool(answer, "skipped", 0));
}

static void print_junit(const struct report *r) {
    printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"upskilld\" "
           "tests=\"%zu\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
           json_array_size(r->answers), count_status(r, 1, 1), count_status(r, 2, 255),
           count_skipped(r));
    print_answers(r, &(struct words_manner){.escape = escape_xml}, junit_words);
    puts("</testsuite>");
}

void report_end(struct report *r) {
    if (!r) {
        return;
    }
    if (r->format == REPORT_SARIF) {
        print_sarif(r);
    } else if (r->format == REPORT_GITHUB) {
        print_github(r);
    } else {
        print_junit(r);
    }
    json_decref(r->answers);
    free(r);
}
