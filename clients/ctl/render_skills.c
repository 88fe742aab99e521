/* Answers about skills. */
#include "base/buf.h"
#include "base/file.h"
#include "clients/ctl/render.h"
#include "protocol/finding.h"

#include <limits.h>
#include <unistd.h>

#define BAR_CELLS 10

/* --- where a skill comes from --- */

static const char *source_words(const json_t *row) {
    const char *source = json_get_string(row, "source", "");
    return strcmp(source, "project") == 0 ? "this project"
           : strcmp(source, "folder") == 0 ? "another folder"
           : strcmp(source, "agent") == 0 ? json_get_string(row, "agent", source)
                                          : source;
}

/* "UNSAFE NAME: …": one line for each finding that is told. */
static void render_danger(const struct terminal *t, const json_t *row) {
    json_each(json_object_get(row, "danger"), i, one) {
        terminal_putf(t, STYLE_RED, "UNSAFE");
        terminal_putf(t, STYLE_PLAIN, " %s: ", json_get_string(row, "name", ""));
        terminal_words(t, 0,
                       "{message|} ({rule|}, line {line|1} of {file|SKILL.md})\n"
                       "[{?more}  and {more} more\n]",
                       one);
    }
}

static void render_misnamed(const struct terminal *t, const json_t *row) {
    terminal_words(t, 0, "[\t" YELLOW "{name|warning}: {misnamed}\n]", row);
}

void render_hidden(const struct terminal *t, const json_t *row) {
    json_each(json_object_get(row, "hides"), i, other) {
        terminal_putf(t, STYLE_YELLOW, "%s hides another skill of this name (%s): %s\n",
                      json_get_string(row, "name", "It"), source_words(other),
                      json_get_string(other, "uri", ""));
    }
}

static void render_remarks(const struct terminal *t, const json_t *rows) {
    json_each(rows, i, row) {
        render_danger(t, row);
    }
    json_each(rows, i, row) {
        render_misnamed(t, row);
        render_hidden(t, row);
    }
}

/* --- skill/find --- */

static void add_score(struct table *table, double part) {
    autobuf bar = BUF_INIT(256);
    terminal_add_bar(&bar, part, BAR_CELLS);
    table_cellf(table, "%s %.2f", bar.data, part);
}

static void match_table(const struct terminal *t, const json_t *matches) {
    static const char *const titles[] = {"skill", "fits", "from", "why", NULL};
    struct table *table = table_new(titles);
    json_each(matches, i, match) {
        table_cell(table, json_get_string(match, "name", ""));
        add_score(table, json_number_value(json_object_get(match, "score")));
        table_cell(table, source_words(match));
        table_cell(table, json_get_string(match, "why", ""));
    }
    table_print_and_free(t, table);
    render_remarks(t, matches);
}

void render_found(const struct terminal *t, const json_t *result) {
    const char *problem = json_get_string(result, "problem", NULL);
    if (problem) {
        terminal_put(t, STYLE_YELLOW, problem);
        putchar('\n');
    }
    const json_t *matches = json_object_get(result, "matches");
    const json_t *nearest = json_object_get(result, "nearest");
    if (json_array_size(matches)) {
        match_table(t, matches);
        return;
    }
    terminal_put(t, STYLE_YELLOW, "no skill fits this task");
    fputs(json_array_size(nearest) ? "; the nearest:\n" : "\n", stdout);
    if (json_array_size(nearest)) {
        match_table(t, nearest);
    }
    puts("add other names for it after a colon: \"make it faster: profiling, latency\"");
}

/* --- skill/list, skill/get --- */

void render_skills(const struct terminal *t, const json_t *result) {
    static const char *const titles[] = {"skill", "from", "folder", "", NULL};
    const json_t *skills = json_object_get(result, "skills");
    if (!json_array_size(skills)) {
        puts("no skills");
        return;
    }
    struct table *table = table_new(titles);
    json_each(skills, i, skill) {
        table_cell(table, json_get_string(skill, "name", ""));
        table_cell(table, source_words(skill));
        table_row(table,
                  "{path}\t[{?danger}UNSAFE, see below|{?shadowed_by=*}hidden by another of "
                  "its name|and {duplicates-0} cop[{?duplicates=1}y|ies]]",
                  skill);
    }
    table_print_and_free(t, table);
    json_each(skills, i, skill) {
        render_danger(t, skill);
        render_misnamed(t, skill);
    }
}

void render_skill(const struct terminal *t, const json_t *result) {
    const json_t *front = json_object_get(result, "frontmatter");
    render_danger(t, result);
    terminal_put(t, STYLE_BOLD, json_get_string(result, "name", ""));
    printf(" (from %s%s)\n", source_words(result),
           json_get_bool(result, "trusted", false) ? "" : ", not trusted");
    render_misnamed(t, result);
    render_hidden(t, result);
    terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(front, "description", ""), 0, 0);
    terminal_line(t, STYLE_DIM, json_get_string(result, "path", ""));
    json_each(json_object_get(result, "files"), i, file) {
        printf("  %8lld  ", json_get_integer(file, "size", 0));
        terminal_line(t, STYLE_PLAIN, json_get_string(file, "path", ""));
    }
    putchar('\n');
    terminal_put(t, STYLE_PLAIN, json_get_string(result, "body", ""));
}

/* --- skill/check --- */

/* The folder that findings' paths are relative to, as short as it can be said from here.
 */
static char *checked_folder(const json_t *result) {
    char here[PATH_MAX];
    const char *path = json_get_string(result, "path", NULL);
    if (!path || !getcwd(here, sizeof here) || !path_is_beneath(path, here)) {
        return path ? xstrdup(path) : NULL;
    }
    const char *rest = path + strlen(here);
    rest += strspn(rest, "/");
    return xstrdup(*rest ? rest : ".");
}

void render_skill_check(const struct terminal *t, const json_t *params,
                        const json_t *result) {
    bool ok = json_get_bool(result, "ok", 0);
    autofree char *folder = checked_folder(result);
    const json_t *findings = json_object_get(result, "findings");
    const struct finding_sources sources = {
        .name = "SKILL.md",
        .text = json_get_string(params, "text", NULL),
        .folder = folder,
    };
    const json_t *tokens = json_object_get(result, "tokens");
    json_int_t omitted = json_get_integer(result, "omitted", 0);
    render_findings(t, findings, &sources);
    autobuf text = BUF_INIT(1024);
    buf_adds(&text, ", ");
    if (!findings_tell(findings, &text)) {
        buf_adds(&text, "nothing found");
    }
    if (omitted) {
        buf_addf(&text, ", %lld more not shown", omitted);
    }
    if (tokens) {
        buf_addf(&text, " (about %lld tokens when loaded, %lld in every session)",
                 json_get_integer(tokens, "body", 0),
                 json_get_integer(tokens, "catalogue", 0));
    }
    render_verdict(t, ok ? STYLE_GREEN : STYLE_RED, ok ? "ok" : "not ok", &text);
}

/* --- skill/install, skill/uninstall --- */

/* Agents whose folders hold the same have the same diff: it is shown once. */
static bool is_shown_before(const json_t *targets, size_t at, const char *diff) {
    for (size_t i = 0; i < at; i++) {
        const char *other = json_get_string(json_array_get(targets, i), "diff", "");
        if (strcmp(other, diff) == 0) {
            return true;
        }
    }
    return false;
}

static void render_diffs(const struct terminal *t, const json_t *targets) {
    json_each(targets, i, target) {
        const char *diff = json_get_string(target, "diff", NULL);
        if (diff && !is_shown_before(targets, i, diff)) {
            putchar('\n');
            terminal_line(t, STYLE_BOLD, json_get_string(target, "path", ""));
            terminal_put(t, STYLE_PLAIN, diff);
        }
    }
}

/* As sentences: a table at the edge of a terminal would break the folder's path. */
static const char reasons_words[] =
    "{results:[{agent|}: \t{reason}[: {path}]\n]}";
/* What an update took the place of, and by what. */
static const char updates_words[] =
    "{results:[{?was}{?outcome=updated}" DIM "{agent|}: \t" DIM
    "was {was.source|unknown} {was.digest|}, is {from|} {digest|}\n]"
    "[{agent|}: \twhat was there is kept in {was.kept}\n]}";

static void render_warnings(const struct terminal *t, const json_t *findings) {
    json_each(findings, i, one) {
        terminal_wrapf(t, STYLE_YELLOW, 0, 2, "warning: %s (%s, line %lld of %s)",
                       json_get_string(one, "message", ""),
                       json_get_string(one, "code", ""), json_get_integer(one, "line", 0),
                       json_get_string(one, "file", "SKILL.md"));
    }
}

void render_targets(const struct terminal *t, const json_t *result) {
    static const char *const titles[] = {"agent", "outcome", "from", "folder", NULL};
    const json_t *targets = json_object_get(result, "results");
    struct table *table = table_new(titles);
    json_each(targets, i, target) {
        const char *outcome = json_get_string(target, "outcome", "");
        table_cell(table, json_get_string(target, "agent", ""));
        table_cell(table, outcome);
        table_cell(table, source_words(target));
        const char *path = json_get_string(target, "path", "");
        table_cell(table, json_object_get(target, "reason") ? "" : path);
    }
    table_print_and_free(t, table);
    terminal_words(t, 0, reasons_words, result);
    terminal_words(t, 0, updates_words, result);
    render_diffs(t, targets);
    render_misnamed(t, result);
    render_warnings(t, json_object_get(result, "findings"));
    json_each(json_object_get(result, "hides"), i, other) {
        terminal_wrapf(t, STYLE_YELLOW, 0, 2, "another skill has its name (%s): %s",
                       source_words(other), json_get_string(other, "uri", ""));
    }
}
