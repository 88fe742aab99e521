#pragma once
/* skill_check: checks a skill and returns findings.
 *
 * The rules are in families (spec_rules.c, safety_rules.c, hardware_facts.c,
 * build_toml.c, kernel_project.c). A grader that the daemon supplies compiles CUDA code
 * blocks, so this room depends on no compiler. */
#include "protocol/call.h"
#include "skills/format/skill.h"

/* The answer of a grader for one CUDA source, later and exactly once: an array of
 * findings (stolen) whose lines count from 1 in the source, or NULL if it could not be
 * judged (`why`, borrowed). Findings with a `why`: nothing was compiled, so there is no
 * verdict on code that was only parsed. kernels: the compiled ones, [{"name":
 * "ns::k<float>"}] (borrowed, may be NULL). */
typedef void skill_kernel_done(void *data, json_t *findings, const json_t *kernels,
                               const char *why);
struct skill_grader {
    /* arch NULL: the default. Returns a handle, or NULL (done does not follow); origin
     * must outlive it. */
    void *(*start)(const struct call_origin *origin, const char *name, const char *source,
                   const char *arch, skill_kernel_done *done, void *data);
    void (*cancel)(void *handle); /* done still follows, not from inside */
};
/* call_lent() name of a const struct skill_grader. Without one, CUDA blocks are
 * reported as not compiled. */
#define SKILL_GRADER_LENT "skill_grader"

enum skill_check_mode {
    SKILL_CHECK_LENIENT, /* for others' skills: the specification's client guide */
    SKILL_CHECK_STRICT,  /* for skills that we write: every rule */
    SKILL_CHECK_TYPING,  /* lenient, SKILL.md only, without compiling */
};

struct skill_check;
/* result: {"ok", "findings", "omitted", "suppressed", "tokens": {"body", "catalogue"}}
 * (stolen). */
typedef void skill_check_done(struct skill_check *check, json_t *result, void *data);
/* Checks a folder, a text (folder NULL; name: its name in findings), or both: the folder
 * with that text as its SKILL.md. suppress: array of {"code", "reason"} or NULL.
 * Strings are copied; origin must outlive the check. */
struct skill_check *skill_check_start(const struct call_origin *origin,
                                      const char *folder, const char *name,
                                      const char *text, size_t len,
                                      enum skill_check_mode mode, const json_t *suppress,
                                      skill_check_done *done, void *data);
void skill_check_cancel(struct skill_check *check); /* done follows, from the loop, with
                                                       NULL */

/* The families: synchronous functions that append findings with paths relative to the
 * folder. spec_rules_check starts with s->problems; a text is a skill without a folder.
 */
void spec_rules_check(const struct skill *s, enum skill_check_mode mode,
                      json_t *findings);
void safety_rules_check(const struct skill *s, json_t *findings);
/* *left: bytes that may still be searched with patterns; decremented (safety_text.h). */
void safety_rules_check_within(const struct skill *s, size_t *left, json_t *findings);
/* A number that changes with the tables of the rules. */
int64_t safety_rules_version(void);
void hardware_facts_check(const char *file, const char *text, size_t len, int first_line,
                          json_t *findings);
