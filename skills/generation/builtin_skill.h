#pragma once
/* builtin_skill: makes a skill from lessons, without a model.
 *
 * Deterministic. All its text comes from the traces, the documents or the request; each
 * line is linked to its events. Empty sections are omitted. Blocking: for a thread of the
 * pool. */
#include "skills/format/skill.h"
#include "skills/traces/lessons.h"

struct builtin_request {
    const struct lessons *lessons;
    const char *name;        /* NULL: made from the task, or from the lessons */
    const char *task;        /* the request for the skill in the user's words; or NULL */
    const json_t *examples;  /* texts, or NULL */
    const json_t *documents; /* {name: text}: become references; or NULL */
    /* the skill to improve, or NULL: its fields and body stay, missing content is
     * added */
    const struct skill_text *base;
    const json_t *aside; /* {path: true}: final files that may not be in the body */
};
struct skill_draft {
    char *name;
    char *text;       /* SKILL.md */
    json_t *files;    /* {path: text}: the files beside it */
    json_t *evidence; /* [{"line", "event"}]: lines of SKILL.md */
    /* {"fixes", "corrections", "commands", "files", "limits", "dropped"} in the text */
    json_t *counts;
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
struct unit { /* lines that are kept or dropped together */
    enum section section;
    char *text; /* whole lines */
    const struct evidence_list *evidence;
    bool aside; /* written to references/errors.md */
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
/* builtin_safety.c: the safety findings of a SKILL.md's text that it may not keep: all
 * errors, and also warnings, except those about commands that a person would run like
 * that, because nobody reads a trace before its text reaches another model. */
json_t *builtin_findings(const char *text);
bool builtin_must_go(const json_t *finding);
bool builtin_is_safe(const char *text); /* no such finding in this body */
/* builtin_name.c: "cuda-softmax-build"; malloc'ed. */
char *builtin_name(const char *task, const struct lessons *l);
/* What it does and when to use it, within the catalogue's budget; malloc'ed. */
char *builtin_description(const char *name, const char *task, const struct lessons *l);
/* The description of a skill that gets these lessons too: with another "Use when", for
 * the programs that it does not name. NULL: it names them all, or has no room. */
char *builtin_wider_description(const char *description, const struct lessons *l);
/* The task in one sentence of at most max bytes, without polite phrases; malloc'ed. */
char *builtin_task_sentence(const char *task, size_t max);
