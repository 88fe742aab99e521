#pragma once
/* arguments: command words into a request, as the daemon's own table describes it.
 *
 * `upskillctl kernel check k.cu --arch sm_90 --define N=4 --quick` becomes kernel/check
 * with
 * {"path": "/…/k.cu", "arch": "sm_90", "defines": {"N": "4"}, "quick": true}: --fast-math
 * names the property fast_math, numbers and booleans are read by the property's type,
 * arrays repeat or are JSON (lists of names also take commas: --students a,b), objects
 * are NAME=VALUE (repeated; --budget tokens=9,minutes=5) or JSON. Plain words fill `path`
 * when there is one, else the required properties in order; a long text (the task of
 * skill find) takes all the words that are left, and `task` those that nothing
 * required wants. Where a method takes `paths`, further plain words are those, and behind
 * "--" stand a program's own `args`. --from is a trace, or a skill's folder. "-" as path reads standard
 * input into `source`, or `text` where there is no source. Where a method takes a
 * compiler's options, words such as -O3, -DN=4 and -I ../inc are those, as nvcc has them.
 */
#include "base/json.h"

struct err;

/* method: its entry in the table (clients/ctl/method.h). params: a new object. paths: the
 * paths behind the first one, for a method that only reads; a new array. -EINVAL with a
 * sentence, which names the option that was probably meant. */
int arguments_read(const json_t *method, const char **words, int count, json_t **params,
                   json_t **paths, struct err *err);
