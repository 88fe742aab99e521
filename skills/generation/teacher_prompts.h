#pragma once
/* teacher_prompts: all texts of a teacher's prompts.
 *
 * Text from traces, documents, examples and older skills is data between markers that
 * contain the digest of the enclosed text, so that no text can end itself early (as in
 * lessons_digest). Pure: the same material gives the same bytes, which the answer cache
 * needs. All texts must be redacted before. */
#include "skills/traces/lessons.h"

#define TEACHER_MAX_PROMPT (1u << 20)
#define TEACHER_LEAST_DIGEST 6000u   /* tokens for the digest of the traces … */
#define TEACHER_DIGEST_TOKENS 24000u /* … and at most, where they tell much */
#define TEACHER_REVIEW_TOKENS 16000u /* of what a draft cites, at most */
#define TEACHER_DOCUMENT_TOKENS 24000u /* of all documents together */
#define TEACHER_BATCH 8u               /* tests asked for at once */

struct teacher_material {
    const char *task;              /* or NULL */
    const char *name;              /* the required name of the skill, or NULL */
    const json_t *examples;        /* texts, or NULL */
    const json_t *documents;       /* {name: text}, or NULL */
    const json_t *told;            /* the parts of teacher_told; NULL: no trace was given */
    const char *base;              /* SKILL.md of the skill that is improved, or NULL */
    const json_t *base_files;      /* names of its other files, or NULL */
    size_t document_tokens; /* 0: the above */
    size_t part; /* of them, from 0 */
};

/* Text between "<<<KIND-DATA-<digest>" and "KIND-DATA-<digest>>>"; name (or NULL) is its
 * first line, cleaned and cut. kind: capital letters. */
void teacher_data(struct buf *out, const char *kind, const char *name, const char *text,
                  size_t len);

/* --- the draft --- */

/* The teacher's role, what is data, what a good skill is, and the form. */
extern const char *const teacher_system;
/* The form alone, for a work order. */
extern const char *const teacher_format;
/* The beginning of a work order: the task, and what is data. */
extern const char *const teacher_host_order, *const teacher_host_data;
void teacher_ask_draft(struct buf *out, const struct teacher_material *m);
/* The material alone. */
void teacher_tell_material(struct buf *out, const struct teacher_material *m);
/* Of the traces alone: the part. */
void teacher_tell_part(struct buf *out, const struct teacher_material *m);
/* What the teacher is told of the traces, in parts of at most so many tokens (0: in one). For a
 * thread (lessons_digest). New reference: an array. */
json_t *teacher_told(const struct lessons *l, size_t part_tokens);
/* To prove a draft: by that part of lessons_review; remarks on it stand in the first. */
void teacher_ask_review(struct buf *out, const json_t *review, size_t part, const char *remarks);
/* What was wrong with the last answer. */
void teacher_ask_repair(struct buf *out, const char *problem);

/* --- tests --- */

struct teacher_tests {
    const struct teacher_material *material;
    const char *skill;     /* the checked SKILL.md */
    size_t count;          /* the number to write now */
    const json_t *there;   /* existing tests, not to be repeated; or NULL */
    const json_t *refused; /* [{"input", "why"}] of the last answer; or NULL */
    bool kernels;          /* kernels may be requested */
};
extern const char *const teacher_tests_system;
void teacher_ask_tests(struct buf *out, const struct teacher_tests *q);
/* The schema of the answer; closed and strict. New reference. */
json_t *teacher_tests_schema(bool kernels);
/* The same request in a work order, for tests in suite.h's form. */
extern const char *const teacher_tests_format;
