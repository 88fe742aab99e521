#pragma once
/* builtin_skill: a skill from lessons, without any model.
 *
 * Deterministic. What stands in it was in the traces, the documents or the request; each
 * line knows its events. A section is there only when there is something in it. Blocking:
 * for a thread of the pool. */
#include "base/json.h"
#include "skills/format/skill.h"
#include "skills/traces/lessons.h"

struct builtin_request {
    const struct lessons *lessons;
    const char *name;        /* NULL: one is made of the task, or of what was learnt */
    const char *task;        /* as somebody asked for the skill; or NULL */
    const json_t *examples;  /* texts, or NULL */
    const json_t *documents; /* {name: text}: become references; or NULL */
    const struct skill_text *base; /* the skill that is improved, or NULL: its fields and
                                      body stay, what it does not say yet is added */
    const json_t *aside; /* {path: true}: final files that may not stand in the body */
};
struct skill_draft {
    char *name;
    char *text;       /* SKILL.md */
    json_t *files;    /* {path: text}: what stands beside it */
    json_t *evidence; /* [{"line", "event"}]: lines of SKILL.md */
    json_t *counts;   /* {"fixes", "corrections", "commands", "files", "limits",
                         "dropped"} of what is told */
};
void builtin_write(struct skill_draft *ret, const struct builtin_request *request);
void skill_draft_finish(struct skill_draft *d);

/* --- its parts --- */

enum section {
    SECTION_FIXES,
    SECTION_RULES,
    SECTION_CHECKS,
    SECTION_LIMITS,
    SECTION_FILES,
    SECTION_EXAMPLES,
    SECTION_REFERENCES,
    SECTIONS
};
struct unit { /* what stands or falls together */
    enum section section;
    char *text; /* whole lines */
    const struct evidence_list *evidence;
    bool aside; /* told in references/errors.md */
    bool dropped;
    int line, end_line; /* where it was put in SKILL.md */
    const char *kind;   /* of counts; NULL: not counted */
};
struct units {
    struct unit *list;
    size_t count;
    json_t *files;  /* {path: text} */
    size_t dropped; /* left out as unsafe */
};
/* builtin_units.c */
void builtin_units(struct units *ret, const struct builtin_request *request);
void builtin_units_finish(struct units *u);
/* builtin_safety.c: what the safety rules find in the text of a SKILL.md; which of it may
 * not stay: errors, and warnings too but for those about commands that a person would run
 * like that, as nobody reads a trace before its words reach another model. */
json_t *builtin_findings(const char *text);
bool builtin_must_go(const json_t *finding);
bool builtin_is_safe(const char *text); /* nothing in this body must go */
/* builtin_name.c: "cuda-softmax-build"; malloc'ed. */
char *builtin_name(const char *task, const struct lessons *l);
/* What it does and when to use it, within the catalogue's budget; malloc'ed. */
char *builtin_description(const char *name, const char *task, const struct lessons *l);
/* The task in one sentence of at most max bytes, politeness stripped; malloc'ed. */
char *builtin_task_sentence(const char *task, size_t max);
