#pragma once
/* skill_check: everything that is wrong with a skill, as findings.
 *
 * Rules live in tables by family (spec_rules.c, safety_rules.c, hardware_facts.c,
 * build_toml.c, kernel_project.c). Code blocks in CUDA are compiled by a grader that the
 * daemon hands in, so that this room names no compiler. */
#include "protocol/call.h"
#include "skills/format/skill.h"

/* Judge one CUDA source for an architecture (NULL: the default); `done` later, exactly
 * once, with an array of findings whose lines count from 1 in `source` (stolen), or NULL
 * when it could not be judged (`why`, borrowed). Findings with a `why`: nothing was
 * compiled, which is no verdict on what was only parsed. kernels: those that were
 * compiled, [{"name": "ns::k<float>"}] (borrowed, may be NULL). */
typedef void skill_kernel_done(void *data, json_t *findings, const json_t *kernels,
                               const char *why);
struct skill_grader {
    /* returns a handle, or NULL (done does not follow); origin outlives it */
    void *(*start)(const struct call_origin *origin, const char *name, const char *source,
                   const char *arch, skill_kernel_done *done, void *data);
    void (*cancel)(void *handle); /* done still follows, not from inside */
};
/* Lent by the host of an origin: a const struct skill_grader. Without it CUDA blocks are
 * reported as not compiled. */
#define SKILL_GRADER_LENT "skill_grader"

enum skill_check_mode {
    SKILL_CHECK_LENIENT, /* for what others wrote: the specification's client guide */
    SKILL_CHECK_STRICT,  /* for what we write: every rule */
    SKILL_CHECK_TYPING,  /* lenient, of SKILL.md alone, and nothing is compiled */
};

struct skill_check;
/* result: {"ok", "findings", "omitted", "suppressed", "tokens": {"body", "catalogue"}}
 * (stolen). */
typedef void skill_check_done(struct skill_check *check, json_t *result, void *data);
/* A folder, a text (folder NULL; name: what findings call it), or both: the folder as it
 * will be with that text as its SKILL.md. suppress: array of {"code", "reason"} or NULL.
 * Strings are copied; origin outlives the check. */
struct skill_check *skill_check_start(const struct call_origin *origin,
                                      const char *folder, const char *name,
                                      const char *text, size_t len,
                                      enum skill_check_mode mode, const json_t *suppress,
                                      skill_check_done *done, void *data);
void skill_check_cancel(struct skill_check *check); /* done follows, from the loop, with
                                                       NULL */

/* The families, synchronous, each appending findings (paths relative to the folder). */
/* spec_rules_check begins with s->problems; a text alone is a skill without a folder. */
void spec_rules_check(const struct skill *s, enum skill_check_mode mode,
                      json_t *findings);
void safety_rules_check(const struct skill *s, json_t *findings);
/* left: bytes that may be searched closely, lessened (safety_text.h). */
void safety_rules_check_within(const struct skill *s, size_t *left, json_t *findings);
/* A number that differs when the tables of the rules do. */
int64_t safety_rules_version(void);
void hardware_facts_check(const char *file, const char *text, size_t len, int first_line,
                          json_t *findings);
