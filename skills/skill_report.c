/* Results in words: what a model reads, and a person in a log. Everything in a skill was
 * cleaned when the result was made. */
#include "skills/skill_operations.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/words.h"
#include "protocol/finding.h"
#include "skills/check/danger.h"

#define MAX_SHOWN 60        /* findings, skills or files told one by one */
#define MAX_DESCRIPTION 300 /* bytes of a description in a list */

static void add_cut(struct buf *out, const char *text, size_t max) {
    size_t len = strlen(text), kept = text_cut(text, len, max);
    buf_add(out, text, kept);
    buf_adds(out, kept < len ? "…" : "");
}

/* On one line, so that the text cannot imitate other lines of the report. */
static void add_line(struct buf *out, const char *text) {
    size_t from = out->len;
    text_clean(out, text, strlen(text));
    for (size_t i = from; i < out->len; i++) {
        out->data[i] = strchr("\t\n", out->data[i]) ? ' ' : out->data[i];
    }
}

static void add_omitted(struct buf *out, size_t count, const char *noun) {
    if (count > MAX_SHOWN) {
        buf_addf(out, "… and %zu more %s\n", count - MAX_SHOWN, noun);
    }
}

/* --- where a skill comes from --- */

#define SOURCE "[{?source=agent}agent {agent|}|{?source=project}this project|{source}]"
#define NAME(indent)                                                                     \
    "[" indent "Not trusted: {misnamed}.\n]"                                             \
    "{hides:" indent "It hides another skill of this name (" SOURCE "): {uri|}\n}"

void skill_tell_source(struct buf *out, const json_t *row) {
    words_add(out, SOURCE, row);
}

static void add_trust(struct buf *out, const json_t *row) {
    words_add(out, SOURCE "[{!trusted}, not trusted]", row);
}

/* The warning stands in the same line as the name. */
static void add_danger(struct buf *out, const json_t *row, const char *indent) {
    const json_t *danger = json_object_get(row, "danger");
    if (json_array_size(danger)) {
        danger_warn(out, danger);
        buf_addf(out, "\n%s", indent);
    }
}

void skill_tell_name(struct buf *out, const json_t *row) {
    words_add(out, NAME(""), row);
}

/* Quotes a name with other characters, which might look like another name or like the
 * report's own words. */
static void add_name(struct buf *out, const char *name) {
    static const char proper[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    if (name[strspn(name, proper)] == '\0') {
        buf_adds(out, name);
        return;
    }
    buf_addc(out, '"');
    size_t from = out->len;
    add_line(out, name);
    for (size_t i = from; i < out->len; i++) {
        out->data[i] = out->data[i] == '"' ? '\'' : out->data[i];
    }
    buf_addc(out, '"');
}

/* --- skill/find --- */

static void tell_match(struct buf *out, const json_t *match) {
    buf_adds(out, "- ");
    add_name(out, json_get_string(match, "name", ""));
    buf_addf(out, " (%.2f, ", json_number_value(json_object_get(match, "score")));
    add_trust(out, match);
    buf_adds(out, "): ");
    add_danger(out, match, "  ");
    add_cut(out, json_get_string(match, "description", ""), MAX_DESCRIPTION);
    words_add(out, "\n  {why|}\n  {uri|}\n  {path|}\n" NAME("  "), match);
}

void skill_find_describe(const json_t *result, struct buf *out) {
    const json_t *matches = json_object_get(result, "matches");
    const json_t *nearest = json_object_get(result, "nearest");
    words_add(
        out,
        "[{matches-0} skill[{!matches=1}s] fit[{?matches=1}s]:\n"
        "|No skill fits this task as described. If you gave no other names for it, ask "
        "once more with some; otherwise go on without a skill.\n"
        "[{?nearest}Nearest, but not fitting:\n]]",
        result);
    json_each(json_array_size(matches) ? matches : nearest, i, match) {
        tell_match(out, match);
    }
    words_add(out, "[({problem})\n]", result);
}

/* --- skill/get, skill/list --- */

void skill_get_describe(const json_t *result, struct buf *out) {
    const json_t *front = json_object_get(result, "frontmatter");
    add_danger(out, result, "");
    buf_adds(out, "# Skill ");
    add_name(out, json_get_string(result, "name", ""));
    buf_adds(out, " (");
    add_trust(out, result);
    buf_adds(out, ")\n");
    add_line(out, json_get_string(front, "description", ""));
    words_add(out,
              "\n\nFolder: {path|}\n" NAME("") "{files<60:- {path|} ({size|0} bytes)\n}"
                                               "[… and {files-60} more files\n]\n{body}",
              result);
}

void skill_list_describe(const json_t *result, struct buf *out) {
    const json_t *skills = json_object_get(result, "skills");
    buf_addf(out, "%zu skills\n", json_array_size(skills));
    json_each(skills, i, skill) {
        if (i >= MAX_SHOWN) {
            break;
        }
        buf_adds(out, "- ");
        add_name(out, json_get_string(skill, "name", ""));
        buf_adds(out, " (");
        add_trust(out, skill);
        buf_adds(out, "): ");
        add_danger(out, skill, "  ");
        add_cut(out, json_get_string(skill, "description", ""), MAX_DESCRIPTION);
        words_add(out, "\n  {path|}\n[  hidden by {shadowed_by}\n]", skill);
    }
    add_omitted(out, json_array_size(skills), "skills");
}

/* --- skill/check --- */

static const char finding_words[] =
    "[{file}[:{?line}{line}:{column|1}]: ]{severity|}: {message~600} \\[{code|}\\]\n"
    "{fixes:    fix: {title|}\n"
    "{edits:      {file|}:{line|0}:{column|0}-{end_line|0}:{end_column|0} "
    "\"{text~300}\"\n}}";

void skill_check_describe(const json_t *result, struct buf *out) {
    const json_t *findings = json_object_get(result, "findings");
    buf_addf(out, "%s: ", json_get_bool(result, "ok", 0) ? "ok" : "not ok");
    if (!findings_tell(findings, out)) {
        buf_adds(out, "nothing found");
    }
    words_add(
        out,
        "[{?tokens}; about {tokens.body|0} tokens, {tokens.catalogue|0} of them always "
        "in the catalogue]\n",
        result);
    json_each(findings, i, finding) {
        if (i < MAX_SHOWN) {
            words_add(out, finding_words, finding);
        }
    }
    add_omitted(
        out, json_array_size(findings) + (size_t)json_get_integer(result, "omitted", 0),
        "findings");
}

/* --- skill/install, skill/uninstall --- */

void skill_pack_describe(const json_t *result, struct buf *out) {
    words_add(out, "wrote {path|}: [{files-0}|0] file[{!files=1}s], {bytes|0} bytes\n",
              result);
}

void skill_install_describe(const json_t *result, struct buf *out) {
    words_add(out,
              "{results:{agent|}: {outcome|} {path|}"
              "[{?source=*} (from " SOURCE ": {from|})]"
              "[{?was}, was {was.source|}][; what was there is kept in {was.kept}][: {reason}]\n[{diff~4096}\n]}[Note: {misnamed}.\n]"
              "{findings:The safety rules warn: {message|} ({code|}, line {line} of "
              "[{file}|SKILL.md])\n}"
              "{hides:Another skill has its name (" SOURCE "): {uri|}\n}",
              result);
}
