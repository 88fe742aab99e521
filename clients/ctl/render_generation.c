/* skill/generate's answer: where the skill is, what it tells, its tests, what to do next.
 */
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
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

/* "contains 24, regex 20": how many of each. */
static void add_each(struct buf *text, const char *lead, const json_t *counts) {
    json_each_member(counts, key, value) {
        buf_addf(text, "%s%s %lld", lead, key, json_integer_value(value));
        lead = ", ";
    }
}

static void print_tests(const struct terminal *t, const json_t *tests) {
    json_int_t count = count_of(tests, "count"), wanted = count_of(tests, "wanted");
    autobuf text = BUF_INIT(4096), less = BUF_INIT(64u << 10);
    buf_addf(&text, "%lld", count);
    if (count) {
        add_each(&text, ": ", json_object_get(tests, "splits"));
        add_each(&text, "; ", json_object_get(tests, "kinds"));
    }
    terminal_fact(t, &facts, "tests", STYLE_PLAIN, "%s", text.data);
    if (count_of(tests, "kept")) {
        printf("%*s%lld of them were there before\n", COLUMN, "",
               count_of(tests, "kept"));
    }
    if (count < wanted) {
        buf_addf(&less, "%lld were requested: %s", wanted,
                 json_get_string(tests, "reason", "the traces have no more material"));
        terminal_fact(t, &facts, "", STYLE_PLAIN, "%s", less.data);
    }
    if (count_of(tests, "marked")) {
        printf("%*s%lld left out as too easy\n", COLUMN, "", count_of(tests, "marked"));
    }
}

static void print_teacher(const struct terminal *t, const json_t *teacher, bool refined) {
    const json_t *model = json_object_get(teacher, "model");
    json_int_t drafts = count_of(teacher, "drafts");
    autobuf text = BUF_INIT(4096);
    if (!teacher) {
        return;
    }
    buf_addf(&text, "%s", json_get_string(teacher, "kind", ""));
    if (model) {
        buf_addf(&text, " %.200s", json_get_string(model, "name", ""));
    }
    if (drafts > 1) {
        buf_addf(&text, ", %lld drafts", drafts);
    }
    if (model) {
        long long requests = count_of(teacher, "requests"),
                  cached = count_of(teacher, "cached");
        buf_addf(&text, "; %lld request%s, %lld answer%s from the cache; %lld tokens",
                 requests, text_plural((double)requests), cached,
                 text_plural((double)cached), count_of(teacher, "tokens"));
        const json_t *cost = json_object_get(teacher, "cost");
        if (json_is_number(cost)) {
            buf_addf(&text, ", cost %.4f", json_number_value(cost));
        }
        buf_adds(&text, refined ? ", with those of refining" : "");
    }
    terminal_fact(t, &facts, "teacher", STYLE_PLAIN, "%s", text.data);
}

static void print_check(const struct terminal *t, const json_t *check) {
    bool ok = json_get_bool(check, "ok", 0);
    const json_t *tokens = json_object_get(check, "tokens");
    fputs("check     ", stdout);
    terminal_put(t, ok ? STYLE_GREEN : STYLE_RED, ok ? "passed" : "failed");
    size_t count = json_array_size(json_object_get(check, "findings"));
    printf(", %zu finding%s; ≈ %lld tokens, %lld in every session\n", count,
           count == 1 ? "" : "s", count_of(tokens, "body"),
           count_of(tokens, "catalogue"));
}

/* What an improved skill's text lost and gained, as far as it is quickly read. */
static void print_diff(const struct terminal *t, const char *diff) {
    size_t shown = 0, lines = 0;
    if (!diff) {
        return;
    }
    puts("\nchanged");
    for (const char *line = diff; *line; lines++) {
        size_t len = strcspn(line, "\n");
        if (shown < DIFF_SHOWN) {
            autofree char *text = xstrndup(line, len);
            enum style style = *line == '+'   ? STYLE_GREEN
                               : *line == '-' ? STYLE_RED
                               : *line == '@' ? STYLE_BLUE
                                              : STYLE_PLAIN;
            fputs("  ", stdout);
            terminal_line(t, style, text);
            shown++;
        }
        line += len + (line[len] == '\n');
    }
    if (lines > shown) {
        printf("  … and %zu more lines (--json has them)\n", lines - shown);
    }
}

static void print_install(const struct terminal *t, const json_t *install) {
    json_each(install, i, one) {
        const char *reason = json_get_string(one, "reason", NULL);
        terminal_fact(t, &facts, i ? "" : "install", STYLE_PLAIN, "%s: %s%s%s",
                      json_get_string(one, "agent", ""),
                      json_get_string(one, "outcome", ""), reason ? ": " : "",
                      reason ? reason : "");
    }
    if (json_is_object(install)) {
        terminal_fact(t, &facts, "install", STYLE_PLAIN, "failed: %s",
                      json_get_string(install, "error", ""));
    }
}

/* As one would type it here: relative where it lies beneath the working directory. */
static const char *typed(const char *path) {
    char here[PATH_MAX];
    size_t len = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool beneath = len && path_is_beneath(path, here) && path[len] == '/';
    return beneath && strchr(path + len + 1, '/') ? path + len + 1 : path;
}

/* Commands stay on one line each, to be copied. */
static void print_next(const json_t *result, const char *path) {
    const json_t *evaluation = json_object_get(result, "evaluation");
    bool measured = json_object_get(evaluation, "students") != NULL;
    bool judged = count_of(json_object_get(result, "tests"), "count") >= LEAST_TESTS;
    const char *at = typed(path);
    printf("\nnext      read %s/SKILL.md\n", at);
    if (json_array_size(json_object_get(json_object_get(result, "check"), "findings"))) {
        printf("%*supskillctl skill check %s --strict\n", COLUMN, "", at);
    }
    if (!json_array_size(json_object_get(result, "install"))) {
        printf("%*supskillctl skill install %s --agents claude-code\n", COLUMN, "", at);
    }
    if (!measured && judged) {
        printf("%*supskillctl skill evaluate %s --students MODEL\n", COLUMN, "", at);
    }
}

/* Sessions of another format in a trace, which were not read. */
static void print_left_out(const struct terminal *t, const json_t *result) {
    json_each(json_object_get(json_object_get(result, "provenance"), "traces"), i, trace) {
        const json_t *left = json_object_get(trace, "left_out");
        if (left) {
            terminal_fact(t, &facts, "left out", STYLE_YELLOW,
                          "%" JSON_INTEGER_FORMAT " records of %s in %s: give that session in a file of its own",
                          json_get_integer(left, "records", 0), json_get_string(left, "format", ""),
                          json_get_string(trace, "name", ""));
        }
    }
}

/* Who has no model, and perhaps no trace, learns here what there is. */
static void render_nothing(const struct terminal *t, const json_t *result) {
    terminal_put(t, STYLE_YELLOW, "nothing to teach");
    fputs(": ", stdout);
    terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(result, "reason", ""), 18, 0);
    const json_t *traces =
        json_object_get(json_object_get(result, "provenance"), "traces");
    fputs("\n", stdout);
    print_left_out(t, result);
    printf("next      %s%s", json_array_size(traces) ? "" : generate_from_trace,
           generate_next);
}

/* The daemon of a command line ends with it, so nobody can give the draft back here. */
static void render_order(const json_t *result) {
    const json_t *order = json_object_get(result, "work_order");
    printf("%s\n\nformat    %s\nreply     from the program that keeps its daemon running "
           "(MCP: "
           "skill_generate {job, draft, tests}), or in `upskillctl shell`\n",
           json_get_string(order, "instructions", ""),
           json_get_string(order, "format", ""));
}

static void print_hint(const struct terminal *t, const char *hint) {
    if (*hint) {
        terminal_fact(t, &facts, "", STYLE_PLAIN, "%s", hint);
    }
}

void render_generation(const struct terminal *t, const json_t *result) {
    const json_t *skill = json_object_get(result, "skill");
    const json_t *evaluation = json_object_get(result, "evaluation");
    const char *path = json_get_string(skill, "path", "");
    if (json_object_get(result, "work_order")) {
        render_order(result);
        return;
    }
    if (!skill) {
        render_nothing(t, result);
        return;
    }
    terminal_put(t, STYLE_BOLD, json_get_string(skill, "name", ""));
    printf("\nsaved     %s\n", path);
    render_hidden(t, result);
    print_left_out(t, result);
    print_teacher(t, json_object_get(result, "teacher"),
                  json_object_get(result, "refinement") != NULL);
    print_sections(t, path);
    print_counts(t, json_object_get(result, "lessons"));
    print_tests(t, json_object_get(result, "tests"));
    print_check(t, json_object_get(result, "check"));
    render_refinement(t, json_object_get(result, "refinement"));
    print_install(t, json_object_get(result, "install"));
    print_diff(t, json_get_string(result, "diff", NULL));
    if (json_object_get(evaluation, "students")) {
        fputs("\n", stdout);
        render_evaluation(t, evaluation);
    } else if (evaluation) {
        terminal_fact(t, &facts, "measured", STYLE_PLAIN, "not: %s",
                      json_get_string(evaluation, "error", ""));
        print_hint(t, json_get_string(evaluation, "hint", ""));
    }
    print_next(result, path);
}
