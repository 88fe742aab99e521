/* What comes back from a teacher: the evidence that it cites, or the word that there is nothing to
 * teach; and what it is told of its draft. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "base/text.h"
#include "skills/generation/draft_text.h"
#include "skills/traces/redaction.h"

#define MAX_LINE 4096u /* bytes that are compared with each event that the line cites */
#define MAX_WHY 400u /* bytes of a teacher's reason for no skill */
#define MAX_REMARKS 12u /* of each kind */

bool generate_says_nothing(struct generating *g, const char *answer) {
    const char *why = g->request.trace_count ? draft_says_nothing(answer) : NULL;
    autobuf clean = BUF_INIT(8 * MAX_WHY), safe = BUF_INIT(16 * MAX_WHY);
    if (!why) {
        return false;
    }
    why += strspn(why, " \t\r\n");
    text_clean(&clean, why, text_cut(why, strcspn(why, "\n"), MAX_WHY));
    redaction_apply(g->material.redaction, &safe, clean.data, clean.len);
    g->nothing = g->said = xasprintf("the teacher finds nothing to teach in the traces: %s", safe.data);
    return true;
}

/* The beginning of the line with this number, from 1; NULL: there is none. */
static char *line_of(const char *text, json_int_t number) {
    for (; *text && number > 1; number--) {
        text = text_next_line(text);
    }
    return *text && number == 1 ? xstrndup(text, text_cut(text, strcspn(text, "\n"), MAX_LINE)) : NULL;
}

/* The event of the trace says something that the cited line says. */
static bool shows(const struct generating *g, const json_t *cited) {
    unsigned trace = 0, event = 0;
    const char *file = json_get_string(cited, "file", NULL);
    const char *text = file ? json_get_string(g->draft.files, file, "") : g->draft.text;
    autofree char *line = line_of(text, json_get_integer(cited, "line", 0));
    (void)evidence_read(json_get_string(cited, "event", ""), &trace, &event);
    return line && trace && lessons_history_says(&g->material.lessons, trace - 1, event, line);
}

static void drop_false_evidence(struct generating *g) {
    json_t *kept = json_array(), *dropped = json_array();
    json_each(g->draft.evidence, i, cited) {
        json_array_append(shows(g, cited) ? kept : dropped, cited);
    }
    json_decref(g->draft.evidence);
    json_decref(g->unshown);
    g->draft.evidence = kept;
    g->unshown = dropped;
}

void generate_stage_cited(struct generating *g) {
    drop_false_evidence(g);
    generate_stage_draft(g);
}

void generate_find_review(struct generating *g) {
    size_t part = g->request.teacher == TEACHER_HOST ? GENERATE_PART_TOKENS : 0;
    g->review = lessons_review(&g->material.lessons, g->answer, TEACHER_REVIEW_TOKENS, part);
    g->first = json_array_size(g->review) ? xstrdup(g->answer) : NULL;
}

bool generate_reads_first(struct generating *g) {
    bool failed = !g->cancelled && !g->nothing && (g->err.code || g->refused);
    const struct skill_text *base = g->material.has_base ? &g->material.base.text : NULL;
    if (!failed || !g->first) {
        return false;
    }
    autofree char *first = take(g->first);
    skill_draft_finish(&g->draft);
    return draft_text_read(&g->draft, first, strlen(first), generate_asked_name(g), base, NULL) == 0;
}

/* --- remarks --- */

void generate_add_finding(struct buf *text, size_t i, const json_t *finding) {
    const char *code = json_get_string(finding, "code", "");
    buf_addf(text, "%s%.80s line %d: %.400s%s%s%s", i ? "; " : "",
             json_get_string(finding, "file", "SKILL.md"),
             (int)json_get_integer(finding, "line", 0),
             json_get_string(finding, "message", ""), *code ? " (" : "", code, *code ? ")" : "");
}

static void add_unshown(struct buf *text, size_t i, const json_t *cited) {
    buf_addf(text, "%s%.80s line %d cites %s, which says nothing of it", i ? "; " : "",
             json_get_string(cited, "file", "SKILL.md"), (int)json_get_integer(cited, "line", 0),
             json_get_string(cited, "event", ""));
}

/* What does not keep the draft from being saved, and its writer should know. */
char *generate_remarks(const struct generating *g) {
    struct buf text = BUF_INIT(16u << 10);
    json_each(json_object_get(g->check, "findings"), i, finding) {
        if (i < MAX_REMARKS) {
            generate_add_finding(&text, i, finding);
        }
    }
    json_each(g->unshown, i, cited) {
        if (i < MAX_REMARKS) {
            add_unshown(&text, text.len, cited);
        }
    }
    return buf_detach(&text);
}
