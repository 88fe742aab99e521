/* skill/generate's answer: where the skill is, what it tells, its tests, what to do next.
 */
#include "base/buf.h"
#include "base/file.h"
#include "clients/ctl/render.h"
#include "clients/ctl/texts.h"

#include <limits.h>
#include <unistd.h>

#define COLUMN 10     /* where what a line says begins */
#define LEAST_TESTS 6 /* fewer are never judged */
#define DIFF_SHOWN 40 /* lines */

static const struct facts facts = {STYLE_PLAIN, 0, COLUMN};

struct kind {
    const char *key, *one, *many;
};
#include "clients/ctl/lesson_kinds.h"

/* "2 fixes, 1 correction": what there is of each kind. */
static void print_counts(const struct terminal *t, const json_t *counts) {
    autobuf text = BUF_INIT(4096);
    for (size_t i = 0; kinds[i].key; i++) {
        json_int_t n = count_of(counts, kinds[i].key);
        if (n) {
            buf_addf(&text, "%s%lld %s", text.len ? ", " : "", n,
                     n == 1 ? kinds[i].one : kinds[i].many);
        }
    }
    if (text.len) {
        terminal_fact(t, &facts, "lessons", STYLE_PLAIN, "%s", text.data);
    }
}

/* The headings of the saved SKILL.md, when it can be read here. */
static void print_sections(const struct terminal *t, const char *folder) {
    autofree char *path = xasprintf("%s/SKILL.md", folder);
    FILE *f = fopen(path, "re");
    autobuf text = BUF_INIT(64u << 10);
    char line[512];
    bool fenced = false;
    while (f && fgets(line, sizeof line, f)) {
        fenced ^= strncmp(line, "```", 3) == 0;
        if (!fenced && strncmp(line, "## ", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            autojson *clean = json_clean_z(line + 3);
            buf_addf(&text, "%s%s", text.len ? ", " : "", json_string_value(clean));
        }
    }
    if (f) {
        fclose(f);
    }
    if (text.len) {
        terminal_fact(t, &facts, "sections", STYLE_PLAIN, "%s", text.data);
    }
}

/* What of a trace was not read: its end, if it is cut off, broken lines, and sessions of
 * another format. */
static const char left_out_words[] =
    "{provenance.traces:[{?truncated}cut off\t" YELLOW "{name|} ends within a record: "
    "what came after it is not in the file\n]"
    "[{?broken}broken\t" YELLOW "{broken|0} record[{!broken=1}s] of {name|} could not be "
    "read\n]"
    "[{?left_out}left out\t" YELLOW "{left_out.records|0} records of "
    "{left_out.format|} in {name|}: give that session in a file of its own\n]}";

static const char teacher_words[] =
    "[{?teacher=*}teacher\t{teacher.kind|}[{?teacher.model=*} {teacher.model.name}]"
    "[{?teacher.drafts>1}, {teacher.drafts} drafts]"
    "[{?teacher.model=*}; {teacher.requests|0} request[{!teacher.requests=1}s], "
    "{teacher.cached|0} answer[{!teacher.cached=1}s] from the cache; {teacher.tokens|0} tokens[, cost {teacher.cost%.4f}]"
    "[{?refinement=*}, with those of refining]]\n]";

static const char tests_words[] =
    "tests\t{tests.count|0}[{?tests.count}: {tests.splits/, /:{@} {.}}]"
    "[{?tests.count}; {tests.kinds/, /:{@} {.}}]\n"
    "[{?tests.kept}\t{tests.kept} of them were there before\n]"
    "[{?tests.wanted>tests.count}\tof at most {tests.wanted}: "
    "{tests.reason|the traces have no more material}\n]"
    "[{?tests.marked}\t{tests.marked} left out as too easy\n]"
    "check     [{?check.ok}" GREEN "passed|" RED "failed]" END
    ", [{check.findings-0}|0] finding[{!check.findings=1}s]; ≈ {check.tokens.body|0} "
    "tokens, {check.tokens.catalogue|0} in every session\n";

static const char install_words[] =
    "[install\tfailed: {install.error}\n"
    "|{install:[{!@=0}|install]\t{agent|}: {outcome|}[: {reason}]\n}]";

/* As one would type it here: relative where it lies beneath the working directory. */
static const char *typed(const char *path) {
    char here[PATH_MAX];
    size_t len = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool beneath = len && path_is_beneath(path, here) && path[len] == '/';
    return beneath && strchr(path + len + 1, '/') ? path + len + 1 : path;
}

/* Commands stay on one line each, to be copied. An evaluation that helps has named the
 * installation already. */
static const char next_words[] =
    "\nnext      read {at}/SKILL.md\n"
    "[          upskillctl skill check {at} --strict{?check.findings}\n]"
    "[          upskillctl skill install {at} --agents claude-code{!install}"
    "{!evaluation.verdict=helps}\n]"
    "[          upskillctl skill evaluate {at} --students MODEL"
    "{!evaluation.students=*}{?judged}\n]"
    "[          upskillctl skill generate --skill {at} --teacher MODEL  # a verdict needs 6 tests{!judged}\n]";

static void print_next(const struct terminal *t, const json_t *result, const char *path) {
    bool judged = count_of(json_object_get(result, "tests"), "count") >= LEAST_TESTS;
    autojson *told = json_copy((json_t *)(uintptr_t)result);
    json_object_set_new(told, "at", json_clean_z(typed(path)));
    json_object_set_new(told, "judged", json_boolean(judged));
    terminal_words(t, COLUMN, next_words, told);
}

/* Who has no model, and perhaps no trace, learns here what there is. */
static void render_nothing(const struct terminal *t, const json_t *result) {
    const json_t *traces =
        json_object_get(json_object_get(result, "provenance"), "traces");
    terminal_words(t, 0, "\t" YELLOW "nothing to teach" END ": {reason|}\n\n", result);
    terminal_words(t, COLUMN, left_out_words, result);
    printf("next      %s%s", json_array_size(traces) ? "" : generate_from_trace,
           generate_next);
}

/* The daemon of a command line ends with it, so nobody can give the draft back here. */
static const char order_words[] =
    "{work_order.instructions|}\n\nformat    {work_order.format|}\n"
    "reply     from the program that keeps its daemon running (MCP: skill_generate \\{job, "
    "draft, tests\\}), or in `upskillctl shell`\n";

void render_generation(const struct terminal *t, const json_t *result) {
    const json_t *skill = json_object_get(result, "skill");
    const json_t *evaluation = json_object_get(result, "evaluation");
    const char *path = json_get_string(skill, "path", "");
    if (json_object_get(result, "work_order")) {
        terminal_words(t, 0, order_words, result);
        return;
    }
    if (!skill) {
        render_nothing(t, result);
        return;
    }
    terminal_words(t, 0, BOLD "{name|}\nsaved     {path|}\n", skill);
    render_hidden(t, result);
    terminal_words(t, COLUMN, left_out_words, result);
    terminal_words(t, COLUMN, teacher_words, result);
    print_sections(t, path);
    print_counts(t, json_object_get(result, "lessons"));
    terminal_words(t, COLUMN, tests_words, result);
    render_refinement(t, json_object_get(result, "refinement"));
    terminal_words(t, COLUMN, install_words, result);
    if (json_object_get(result, "diff")) {
        puts("\nchanged");
        render_diff(t, "  ", json_get_string(result, "diff", ""), DIFF_SHOWN);
    }
    if (json_object_get(evaluation, "students")) {
        fputs("\n", stdout);
        render_evaluation(t, evaluation);
    } else if (evaluation) {
        terminal_words(t, COLUMN, "measured\tnot: {error|}\n[\t{hint}\n]", evaluation);
    }
    print_next(t, result, path);
}
