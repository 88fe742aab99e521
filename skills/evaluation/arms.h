#pragma once
/* arms: what an arm adds to the question.
 *
 * Every arm has the same short neutral system prompt and the same question (the test's
 * input and its context files). Arms differ only in what they add:
 *   baseline  nothing
 *   skill     the skill's body, its small references and a list of its other files
 *   placebo   neutral prose of about the skill's size in the same frame
 *   previous  an older version of the skill, in the same frame
 *   trace     before the question, the raw text that the skill was made from, cut to a
 *             number of tokens: what a user could paste instead of writing a skill
 * An arm contains neither the tests' checks nor the judge. */
#include "base/json.h"

struct skill;
struct test_case;

enum arm_kind {
    ARM_BASELINE,
    ARM_SKILL,
    ARM_PLACEBO,
    ARM_PREVIOUS,
    ARM_TRACE,
    ARM_KINDS
};
const char *arm_name(enum arm_kind kind);

#define ARM_MAX_TEXT (4u << 20)     /* of a prompt */
#define ARM_REFERENCE_TOKENS 2500u  /* of one reference that is put into the prompt */
#define ARM_REFERENCES_TOKENS 8000u /* of all of them */
#define ARM_TRACE_TOKENS 8000u      /* of a raw trace */
#define ARM_AGAIN_RUNS 1000u        /* see arm.again */

/* One arm; plain data, owned by whoever holds it. */
struct arm {
    enum arm_kind kind;
    char *system;        /* the whole system prompt */
    char *before;        /* what stands before the question, or NULL */
    size_t added_tokens; /* estimate of what it adds to the baseline (tokens.h) */
    char digest[72];     /* "sha256:…" of the prompt without the question */
    /* An A/A evaluation asks the same twice: the cache must not answer the second arm
     * with the first one's answers, so its runs are counted from ARM_AGAIN_RUNS. */
    bool again;
    const struct skill *installed; /* what agents find on their disk; borrowed, or NULL */
    /* A tool that the student may call or leave, or NULL: its name (borrowed), what it is
     * told of it, the schema of what it takes. */
    const char *tool_name;
    char *tool;
    json_t *tool_takes;
};

/* What a skill puts into a prompt, appended to out: body, references, the list of other
 * files. Reads the references beneath the skill's folder (call it off the loop). */
void arm_skill_text(const struct skill *skill, struct buf *out);

void arm_baseline(struct arm *ret);
/* text in the frame of a skill; for ARM_SKILL, ARM_PLACEBO and ARM_PREVIOUS. */
void arm_framed(struct arm *ret, enum arm_kind kind, const char *name, const char *text,
                size_t len);
/* An irrelevant text of some `tokens` tokens (tokens.h; within a sentence of it, at least
 * one sentence), appended: the same on every machine. A longer prompt alone can change
 * how a model answers. It reads like a skill and teaches nothing that a test could ask
 * for: how a small library of paper books is kept. It is made of placebo_prose.md's
 * paragraphs, in order, beginning again where they end. */
#define PLACEBO_NAME "shelf-keeping"
void placebo_text(struct buf *out, size_t tokens);
/* Paragraphs of a heading and sentences, NULL-terminated; written for this project. */
extern const char *const placebo_prose[];
/* Such a text of about `like`'s size, in the same frame. */
void arm_placebo(struct arm *ret, const struct arm *like);
void arm_trace(struct arm *ret, const char *text, size_t len);
/* The baseline with a tool; tool is copied, takes stolen. */
void arm_offering(struct arm *ret, enum arm_kind kind, const char *name, const char *tool,
                  json_t *takes);
void arm_again(struct arm *ret, const struct arm *first); /* the second arm of A/A */
void arm_finish(struct arm *arm);

/* The question: what stands before it, the input, and the context files (unless they lie
 * in the student's folder). Appended. */
void arm_question(const struct arm *arm, const struct test_case *test, bool with_files,
                  struct buf *out);
