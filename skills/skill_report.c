/* Results in words: what a model reads, and a person in a log. Everything in a skill was
 * cleaned when the result was made. */
#include "skills/skill_operations.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/words.h"
#include "protocol/finding.h"
#include "skills/check/danger.h"

#define MAX_SHOWN 60 /* findings, skills or files told one by one */

/* --- parts --- */

/* On one line, so that the text cannot imitate other lines of the report. */
static void add_line(struct buf *out, const json_t *text, const void *) {
    size_t from = out->len;
    if (json_is_string(text)) {
        text_clean(out, json_string_value(text), json_string_length(text));
    }
    words_one_line(out, from);
}

/* Quotes a name with other characters, which might look like another name or like the
 * report's own words. */
static void add_name(struct buf *out, const json_t *name, const void *) {
    static const char proper[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    const char *text = json_string_value(name);
    bool quoted = !text || text[strspn(text, proper)];
    buf_adds(out, quoted ? "\"" : "");
    size_t from = out->len;
    add_line(out, name, NULL);
    for (size_t i = from; i < out->len; i++) {
        out->data[i] = out->data[i] == '"' ? '\'' : out->data[i];
    }
    buf_adds(out, quoted ? "\"" : "");
}

static void add_danger(struct buf *out, const json_t *danger, const void *) {
    danger_warn(out, danger);
}

static void tell(struct buf *out, const char *words, const json_t *value) {
    static const struct words_part parts[] = {
        {"line", add_line}, {"name", add_name}, {"danger", add_danger}, {0}};
    words_add_as(out, &(struct words_manner){.parts = parts}, words, value);
}

/* The warning stands in the same line as the name. */
#define HEAD "{name#name} (" SKILL_SOURCE_WORDS "[{!trusted}, not trusted])"
#define DESCRIPTION "[{danger#danger}\n  ]{description~300}\n"

/* --- skill/find --- */

#define MATCH                                                                            \
    "- {name#name} ({score%.2f}, " SKILL_SOURCE_WORDS "[{!trusted}, not trusted]): "      \
    DESCRIPTION "  {why|}\n  {uri|}\n  {path|}\n" SKILL_NAME_WORDS("  ")

void skill_find_describe(const json_t *result, struct buf *out) {
    tell(out,
         "[{matches-0} skill[{!matches=1}s] [{?unsure}may fit|fit[{?matches=1}s]]:\n"
         "{matches:" MATCH "}[{?unsure}Which of them is meant is unsure. If you gave no "
         "other names for the task, ask once more with some.\n]"
         "|No skill fits this task as described. If you gave no other names for it, ask "
         "once more with some; otherwise go on without a skill.\n"
         "[Nearest, but not fitting:\n{nearest:" MATCH "}]][Also looked for as: {names}\n][({problem})\n]",
         result);
}

/* --- skill/get, skill/list --- */

void skill_get_describe(const json_t *result, struct buf *out) {
    tell(out,
         "[{danger#danger}\n]# Skill " HEAD "\n{frontmatter.description#line}\n\n"
         "Folder: {path|}\n" SKILL_NAME_WORDS("") "{files<60:- {path|} ({size|0} bytes)\n}"
         "[… and {files-60} more files\n]\n{body}",
         result);
}

void skill_list_describe(const json_t *result, struct buf *out) {
    tell(out,
         "[{skills-0}|0] skills\n{skills<60:- " HEAD ": " DESCRIPTION
         "  {path|}\n[  hidden by {shadowed_by}\n]}[… and {skills-60} more skills\n]",
         result);
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
        words_add(out, i < MAX_SHOWN ? finding_words : "", finding);
    }
    size_t all =
        json_array_size(findings) + (size_t)json_get_integer(result, "omitted", 0);
    if (all > MAX_SHOWN) {
        buf_addf(out, "… and %zu more findings\n", all - MAX_SHOWN);
    }
}

/* --- skill/install, skill/uninstall --- */

void skill_pack_describe(const json_t *result, struct buf *out) {
    words_add(out, "wrote {path|}: [{files-0}|0] file[{!files=1}s], {bytes|0} bytes\n",
              result);
}

void skill_install_describe(const json_t *result, struct buf *out) {
    words_add(out,
              "{results:{agent|}: {outcome|} {path|}"
              "[{?source=*} (from " SKILL_SOURCE_WORDS ": {from|})]"
              "[{?was}, was {was.source|}][; what was there is kept in {was.kept}][: {reason}]\n[{diff~4096}\n]}[Note: {misnamed}.\n]"
              "{findings:The safety rules warn: {message|} ({code|}, line {line} of "
              "[{file}|SKILL.md])\n}"
              "{hides:Another skill has its name (" SKILL_SOURCE_WORDS "): {uri|}\n}",
              result);
}
