#pragma once
/* refine_prompt: the prompt that asks a teacher for edits.
 *
 * It has the skill, the students' failures with it, and earlier attempts; never a test of
 * the gate or report split. All of it is foreign data: it is enclosed by markers that
 * contain the digest of the enclosed text, so that no text can end itself. Its secrets are
 * removed before that. Bounded. */
#include "base/json.h"

#define REFINE_FAILURES 8u        /* in one prompt */
#define REFINE_ANSWER_BYTES 1600u /* of a student's answer, head and tail */
#define REFINE_INPUT_BYTES 2400u  /* of a test's input, and of its files together */
#define REFINE_HISTORY_BYTES 12000u

/* One failed test as the prompt needs it: {"test", "input", "files"?: {name: text},
 * "checks": [{"check", "expected", "message"}], "answer", "passed", "asked"}; texts
 * cleaned. assertions: grade.h's array; those that did not pass are kept. New reference.
 */
struct test_case;
json_t *refine_failure(const struct test_case *test, const json_t *assertions,
                       const char *answer, size_t len, unsigned passed, unsigned asked);

/* A teacher's attempts, and why they were rejected.
 *
 * A teacher that does not see its rejected edits makes them again. Bounded: the oldest
 * are dropped, and a prompt gets as many of the latest as fit. */
#define REFINE_HISTORY 32u /* attempts that are remembered */

struct refine_history {
    json_t *list; /* [{"edits"?, "reason", "digest"?: of the resulting text}], or NULL */
};
/* edits are referenced; result: the resulting text, or NULL. */
void refine_history_add(struct refine_history *h, const json_t *edits, const char *result,
                        const char *reason);
/* Why the same resulting text was rejected before, or NULL. */
const char *refine_history_knows(const struct refine_history *h, const char *result);
/* The latest attempts, oldest first, in at most max bytes. */
void refine_history_write(const struct refine_history *h, size_t max, struct buf *out);
void refine_history_finish(struct refine_history *h);

const char *refine_prompt_system(void);
/* text: SKILL.md; failures: array of the above, in order of importance; r removes what must
 * not leave the machine; form: how to answer, NULL: with patch.h's edits. */
struct redaction;
void refine_prompt_write(struct buf *out, const char *text, const json_t *failures,
                         const struct refine_history *history, const struct redaction *r,
                         const char *form);
#define REFINE_PROMPT_MAX (2u << 20)
