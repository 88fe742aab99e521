#pragma once
/* teacher_prompts: what a teacher is asked, all words in one place.
 *
 * Whatever comes from traces, documents, examples and older skills stands as data between
 * markers that hold the digest of what they surround, so that no text can end itself
 * early (as lessons_digest does). Pure: the same material gives the same bytes, which is
 * what makes the answer cache work. All texts are to be redacted before. */
#include "base/json.h"
#include "skills/traces/lessons.h"

#include <stdbool.h>

struct buf;

#define TEACHER_MAX_PROMPT (1u << 20)
#define TEACHER_DIGEST_TOKENS 12000u   /* of what traces show */
#define TEACHER_DOCUMENT_TOKENS 24000u /* of all documents together */
#define TEACHER_BATCH 8u               /* tests asked for at once */

struct teacher_material {
    const char *task;              /* or NULL */
    const char *name;              /* what the skill has to be called, or NULL */
    const json_t *examples;        /* texts, or NULL */
    const json_t *documents;       /* {name: text}, or NULL */
    const struct lessons *lessons; /* NULL: no trace was given */
    const char *base;              /* SKILL.md of the skill that is improved, or NULL */
    const json_t *base_files;      /* names of the files that lie beside it, or NULL */
    size_t digest_tokens, document_tokens; /* 0: the above */
};

/* Text between "<<<KIND-DATA-<digest>" and "KIND-DATA-<digest>>>"; name (or NULL) is its
 * first line, cleaned and cut. kind: capital letters. */
void teacher_data(struct buf *out, const char *kind, const char *name, const char *text,
                  size_t len);

/* --- the draft --- */

/* Who the teacher is, what is data, what a good skill is, and the form. */
extern const char *const teacher_system;
/* The form alone, as a work order tells it. */
extern const char *const teacher_format;
/* How a work order begins: what is to be done, and what is data. */
extern const char *const teacher_host_order, *const teacher_host_data;
void teacher_ask_draft(struct buf *out, const struct teacher_material *m);
/* The material alone. */
void teacher_tell_material(struct buf *out, const struct teacher_material *m);
/* What was wrong with the last answer. */
void teacher_ask_repair(struct buf *out, const char *problem);

/* --- tests --- */

struct teacher_tests {
    const struct teacher_material *material;
    const char *skill;     /* SKILL.md as it was checked */
    size_t count;          /* wanted now */
    const json_t *there;   /* tests that are there already: not again; or NULL */
    const json_t *refused; /* [{"input", "why"}] of the last answer; or NULL */
    bool kernels;          /* kernels may be asked for */
};
extern const char *const teacher_tests_system;
void teacher_ask_tests(struct buf *out, const struct teacher_tests *q);
/* What the answer has to fit; closed and strict. New reference. */
json_t *teacher_tests_schema(bool kernels);
/* The same wish in a work order, for tests in suite.h's form. */
extern const char *const teacher_tests_format;
