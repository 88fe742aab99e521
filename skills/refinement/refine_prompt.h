#pragma once
/* refine_prompt: what a teacher is told when it is asked for edits.
 *
 * The skill, what students got wrong with it, what was tried before; never a test of the
 * gate or report split. All of it is data from elsewhere: it stands between markers that
 * hold the digest of what they enclose, so that no text can end its own. Bounded. */
#include "base/json.h"

#include <stddef.h>

struct buf;
struct refine_history;

#define REFINE_FAILURES 8u        /* that one prompt shows */
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

const char *refine_prompt_system(void);
/* text: SKILL.md; failures: array of the above, in order of importance. */
void refine_prompt_write(struct buf *out, const char *text, const json_t *failures,
                         const struct refine_history *history);
#define REFINE_PROMPT_MAX (2u << 20)
