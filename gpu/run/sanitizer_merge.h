#pragma once
/* sanitizer_merge: what compute-sanitizer found, in a validation's answer.
 *
 * Pure. A report is
 *   {"absent": "compute-sanitizer is not installed", "hint"?}, or
 *   {"version", "path", "confinement": […], "may": […],
 *    "tools": [{"tool": "memcheck", "check": "memory", "outcome":
 *               "clean|findings|failed|timeout", "reason"?, "cases", "of", "seeds", "ms",
 *               "findings": […], "omitted"}]}
 * and stands in the answer as "sanitizer", without the findings. Those join the answer's
 * own:
 *   - one of the same code and kernel that has no line and tells no buffer is dropped: it
 *     is the driver's word for the same fault;
 *   - one that tells a buffer and has no line gets the line, block and thread, where the
 *     tool names exactly one place with that code in that kernel;
 *   - a failed assert is told once, by the answer.
 * A tool that came to its end moves its check from "unchecked" to "checks"; one that did
 * not is the warning `not_sanitized`. An error that is found makes "pass" or "unjudged" a
 * "fail". */
#include "base/json.h"

/* report is not changed. */
void sanitizer_merge(json_t *answer, const json_t *report);
/* The tools that an answer asks for: ["memcheck", …] for its "checks" and "unchecked";
 * empty when it did not run on a CUDA device or came to no kernel. New reference. */
json_t *sanitizer_wanted(const json_t *answer);
/* "memory" of "memcheck"; NULL. */
const char *sanitizer_check_of(const char *tool);
