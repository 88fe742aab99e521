/* Answers about skills. */
#include "base/buf.h"
#include "base/file.h"
#include "clients/ctl/render.h"
#include "protocol/finding.h"

#include <limits.h>
#include <unistd.h>

/* --- where a skill comes from --- */

#define SOURCE                                                                           \
    "[{?source=project}this project|{?source=folder}another folder"                       \
    "|{?source=agent}[{agent}|agent]|{source}]"

/* "UNSAFE NAME: …": one line for each finding that is told. */
static const char danger_words[] =
    "{danger:" RED "UNSAFE" END " {^name|}: {message|} ({rule|}, line {line|1} of "
    "{file|SKILL.md})\n[{?more}  and {more} more\n]}";

static const char misnamed_words[] = "[\t" YELLOW "{name|warning}: {misnamed}\n]";

static const char hidden_words[] =
    "{hides:" YELLOW "{^name|It} hides another skill of this name (" SOURCE "): {uri|}\n}";

void render_hidden(const struct terminal *t, const json_t *row) {
    terminal_words(t, 0, hidden_words, row);
}

/* --- skill/find --- */

static bool match_table(const struct terminal *t, const json_t *matches) {
    bool any = table_print(t, "skill\tfits\tfrom\twhy",
                           "{name|}\t{score#score}\t" SOURCE "\t{why|}", matches);
    json_each(matches, i, row) {
        terminal_words(t, 0, danger_words, row);
    }
    json_each(matches, k, row) {
        terminal_words(t, 0, misnamed_words, row);
        render_hidden(t, row);
    }
    return any;
}

void render_found(const struct terminal *t, const json_t *result) {
    terminal_words(t, 0, "[" YELLOW "{problem}\n]", result);
    if (!match_table(t, json_object_get(result, "matches"))) {
        terminal_words(
            t, 0, YELLOW "no skill fits this task" END "[; the nearest:{?nearest}]\n",
            result);
        match_table(t, json_object_get(result, "nearest"));
    }
    terminal_words(t, 0,
                   "[{?unsure}add other names for it after a colon: \"make it faster: "
                   "profiling, latency\"\n]",
                   result);
}

/* --- skill/list, skill/get --- */

void render_skills(const struct terminal *t, const json_t *result) {
    const json_t *skills = json_object_get(result, "skills");
    if (!table_print(t, "skill\tfrom\tfolder\t",
                     "{name|}\t" SOURCE
                     "\t{path}\t[{?danger}UNSAFE, see below|{?shadowed_by=*}hidden by "
                     "another of its name|and {duplicates-0} cop[{?duplicates=1}y|ies]]",
                     skills)) {
        puts("no skills");
    }
    json_each(skills, i, skill) {
        terminal_words(t, 0, danger_words, skill);
        terminal_words(t, 0, misnamed_words, skill);
    }
}

void render_skill(const struct terminal *t, const json_t *result) {
    terminal_words(t, 0, danger_words, result);
    terminal_words(t, 0, BOLD "{name|}" END " (from " SOURCE "[{!trusted}, not trusted])\n",
                   result);
    terminal_words(t, 0, misnamed_words, result);
    render_hidden(t, result);
    terminal_words(t, 0,
                   "\t{frontmatter.description|}\n" DIM "{path|}\n"
                   "{files:  {size%8d}  {path|}\n}\n",
                   result);
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
    render_findings(t, findings, &sources);
    autobuf text = BUF_INIT(1024);
    buf_adds(&text, ", ");
    if (!findings_tell(findings, &text)) {
        buf_adds(&text, "nothing found");
    }
    words_add(&text,
              "[, {omitted} more not shown{?omitted}][ (about {tokens.body|0} tokens when "
              "loaded, {tokens.catalogue|0} in every session){?tokens}]",
              result);
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

/* What was found in it, and whom it hides. */
static const char remarks_words[] =
    "{findings:\t" YELLOW "warning: {message|} ({code|}, line {line|0} of "
    "{file|SKILL.md})\n}"
    "{hides:\t" YELLOW "another skill has its name (" SOURCE "): {uri|}\n}";

void render_packed(const struct terminal *t, const json_t *result) {
    terminal_words(t, 0,
                   "wrote {path|}: [{files-0}|0] file[{!files=1}s], {bytes#bytes}\n"
                   "{digest|}\n",
                   result);
}

void render_targets(const struct terminal *t, const json_t *result) {
    const json_t *targets = json_object_get(result, "results");
    struct table *table = table_new("agent\toutcome\tfrom\tfolder");
    json_each(targets, i, target) {
        table_row(table, "{agent|}\t{outcome|}\t" SOURCE "\t[{?reason=*}|{path}]", target);
    }
    table_print_and_free(t, table);
    terminal_words(t, 0, reasons_words, result);
    terminal_words(t, 0, updates_words, result);
    render_diffs(t, targets);
    terminal_words(t, 0, misnamed_words, result);
    terminal_words(t, 0, remarks_words, result);
}
