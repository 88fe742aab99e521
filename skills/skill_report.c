/* Results in words: what a model reads, and a person in a log. Everything in a skill was
 * cleaned when the result was made. */
#include "skills/skill_operations.h"

#include "base/buf.h"
#include "base/text.h"
#include "protocol/finding.h"
#include "skills/check/danger.h"

#define MAX_SHOWN 60        /* findings, skills or files told one by one */
#define MAX_DESCRIPTION 300 /* bytes of a description in a list */
#define MAX_MESSAGE 600     /* of one finding's message */
#define MAX_DIFF (4u << 10) /* of one target's conflict */

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

void skill_tell_source(struct buf *out, const json_t *row) {
    const char *source = json_get_string(row, "source", "");
    if (strcmp(source, "agent") == 0) {
        buf_addf(out, "agent %s", json_get_string(row, "agent", ""));
    } else {
        buf_adds(out, strcmp(source, "project") == 0 ? "this project" : source);
    }
}

static void add_trust(struct buf *out, const json_t *row) {
    skill_tell_source(out, row);
    buf_adds(out, json_get_bool(row, "trusted", false) ? "" : ", not trusted");
}

/* The warning stands in the same line as the name. */
static void add_danger(struct buf *out, const json_t *row, const char *indent) {
    const json_t *danger = json_object_get(row, "danger");
    if (json_array_size(danger)) {
        danger_warn(out, danger);
        buf_addf(out, "\n%s", indent);
    }
}

void skill_tell_name(struct buf *out, const json_t *row, const char *indent) {
    const char *misnamed = json_get_string(row, "misnamed", NULL);
    if (misnamed) {
        buf_addf(out, "%sNot trusted: %s.\n", indent, misnamed);
    }
    json_each(json_object_get(row, "hides"), i, other) {
        buf_addf(out, "%sIt hides another skill of this name (", indent);
        skill_tell_source(out, other);
        buf_addf(out, "): %s\n", json_get_string(other, "uri", ""));
    }
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
    buf_addf(out, "\n  %s\n  %s\n", json_get_string(match, "why", ""),
             json_get_string(match, "uri", ""));
    buf_addf(out, "  %s\n", json_get_string(match, "path", ""));
    skill_tell_name(out, match, "  ");
}

void skill_find_describe(const json_t *result, struct buf *out) {
    const json_t *matches = json_object_get(result, "matches");
    const json_t *nearest = json_object_get(result, "nearest");
    if (json_array_size(matches)) {
        buf_addf(out, "%zu skill%s fit%s:\n", json_array_size(matches),
                 json_array_size(matches) == 1 ? "" : "s",
                 json_array_size(matches) == 1 ? "s" : "");
    } else {
        buf_adds(out, "No skill fits this task as described. If you gave no other names "
                      "for it, ask once more with some; otherwise go on without a "
                      "skill.\n");
        buf_adds(out, json_array_size(nearest) ? "Nearest, but not fitting:\n" : "");
        matches = nearest;
    }
    json_each(matches, i, match) {
        tell_match(out, match);
    }
    const char *problem = json_get_string(result, "problem", NULL);
    buf_addf(out, problem ? "(%s)\n" : "%s", problem ? problem : "");
}

/* --- skill/get, skill/list --- */

void skill_get_describe(const json_t *result, struct buf *out) {
    const json_t *files = json_object_get(result, "files");
    const json_t *front = json_object_get(result, "frontmatter");
    add_danger(out, result, "");
    buf_adds(out, "# Skill ");
    add_name(out, json_get_string(result, "name", ""));
    buf_adds(out, " (");
    add_trust(out, result);
    buf_adds(out, ")\n");
    add_line(out, json_get_string(front, "description", ""));
    buf_addf(out, "\n\nFolder: %s\n", json_get_string(result, "path", ""));
    skill_tell_name(out, result, "");
    json_each(files, i, file) {
        if (i < MAX_SHOWN) {
            buf_addf(out, "- %s (%lld bytes)\n", json_get_string(file, "path", ""),
                     (long long)json_get_integer(file, "size", 0));
        }
    }
    add_omitted(out, json_array_size(files), "files");
    buf_addf(out, "\n%s", json_get_string(result, "body", ""));
}

void skill_list_describe(const json_t *result, struct buf *out) {
    const json_t *skills = json_object_get(result, "skills");
    buf_addf(out, "%zu skills\n", json_array_size(skills));
    json_each(skills, i, skill) {
        const char *shadow = json_get_string(skill, "shadowed_by", NULL);
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
        buf_addf(out, "\n  %s\n", json_get_string(skill, "path", ""));
        if (shadow) {
            buf_addf(out, "  hidden by %s\n", shadow);
        }
    }
    add_omitted(out, json_array_size(skills), "skills");
}

/* --- skill/check --- */

static void tell_fixes(struct buf *out, const json_t *finding) {
    json_each(json_object_get(finding, "fixes"), i, fix) {
        buf_addf(out, "    fix: %s\n", json_get_string(fix, "title", ""));
        json_each(json_object_get(fix, "edits"), k, edit) {
            buf_addf(out, "      %s:%lld:%lld-%lld:%lld \"",
                     json_get_string(edit, "file", ""),
                     (long long)json_get_integer(edit, "line", 0),
                     (long long)json_get_integer(edit, "column", 0),
                     (long long)json_get_integer(edit, "end_line", 0),
                     (long long)json_get_integer(edit, "end_column", 0));
            add_cut(out, json_get_string(edit, "text", ""), MAX_DESCRIPTION);
            buf_adds(out, "\"\n");
        }
    }
}

static void tell_finding(struct buf *out, const json_t *finding) {
    json_int_t line = json_get_integer(finding, "line", 0);
    buf_adds(out, json_get_string(finding, "file", ""));
    if (line) {
        buf_addf(out, ":%lld:%lld", (long long)line,
                 (long long)json_get_integer(finding, "column", 1));
    }
    buf_addf(out, "%s%s: ", json_get_string(finding, "file", NULL) ? ": " : "",
             json_get_string(finding, "severity", ""));
    add_cut(out, json_get_string(finding, "message", ""), MAX_MESSAGE);
    buf_addf(out, " [%s]\n", json_get_string(finding, "code", ""));
    tell_fixes(out, finding);
}

void skill_check_describe(const json_t *result, struct buf *out) {
    const json_t *findings = json_object_get(result, "findings");
    const json_t *tokens = json_object_get(result, "tokens");
    buf_addf(out, "%s: ", json_get_bool(result, "ok", 0) ? "ok" : "not ok");
    if (!findings_tell(findings, out)) {
        buf_adds(out, "nothing found");
    }
    if (tokens) {
        buf_addf(out, "; about %lld tokens, %lld of them always in the catalogue",
                 (long long)json_get_integer(tokens, "body", 0),
                 (long long)json_get_integer(tokens, "catalogue", 0));
    }
    buf_addc(out, '\n');
    json_each(findings, i, finding) {
        if (i < MAX_SHOWN) {
            tell_finding(out, finding);
        }
    }
    add_omitted(
        out, json_array_size(findings) + (size_t)json_get_integer(result, "omitted", 0),
        "findings");
}

/* --- skill/install, skill/uninstall --- */

void skill_pack_describe(const json_t *result, struct buf *out) {
    size_t files = json_array_size(json_object_get(result, "files"));
    buf_addf(out, "wrote %s: %zu file%s, %lld bytes\n",
             json_get_string(result, "path", ""), files, files == 1 ? "" : "s",
             (long long)json_get_integer(result, "bytes", 0));
}

void skill_install_describe(const json_t *result, struct buf *out) {
    json_each(json_object_get(result, "results"), i, target) {
        const char *reason = json_get_string(target, "reason", NULL);
        const char *diff = json_get_string(target, "diff", NULL);
        buf_addf(out, "%s: %s %s", json_get_string(target, "agent", ""),
                 json_get_string(target, "outcome", ""),
                 json_get_string(target, "path", ""));
        if (json_object_get(target, "source")) {
            buf_adds(out, " (from ");
            skill_tell_source(out, target);
            buf_addf(out, ": %s)", json_get_string(target, "from", ""));
        }
        const json_t *was = json_object_get(target, "was");
        if (was) {
            buf_addf(out, ", was %s", json_get_string(was, "source", ""));
        }
        buf_addf(out, "%s%s\n", reason ? ": " : "", reason ? reason : "");
        if (diff) {
            add_cut(out, diff, MAX_DIFF);
            buf_addc(out, '\n');
        }
    }
    skill_tell_name(out, result, "");
}
