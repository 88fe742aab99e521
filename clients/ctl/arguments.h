#pragma once
/* arguments: turns command words into a request, using the daemon's own table.
 *
 * `upskillctl kernel check k.cu --arch sm_90 --define N=4 --quick` becomes kernel/check
 * with {"path": "/…/k.cu", "arch": "sm_90", "defines": {"N": "4"}, "quick": true}.
 * --fast-math names the property fast_math; numbers and booleans are parsed by the
 * property's type; arrays repeat or are JSON (lists of names also take commas: --students
 * a,b); objects are NAME=VALUE (repeated; --budget tokens=9,minutes=5) or JSON.
 *
 * Plain words fill `path` if there is one, otherwise the required properties in order; a
 * long text (the task of skill find) takes all remaining words, and `task` those that no
 * required property takes. If a method takes `paths`, further plain words are added to
 * it; words after "--" are a program's own `args`. --from is a trace or a skill's folder.
 * "-" as path reads standard input into `source`, or into `text` if there is no source.
 * If a method takes a compiler's options, words such as -O3, -DN=4 and -I ../inc have
 * nvcc's meaning. */
#include "base/json.h"

/* method: its entry in the table (clients/ctl/method.h). params: a new object. paths: for
 * a method that only reads, the paths after the first; a new array. -EINVAL with a
 * sentence that suggests the option that was probably meant. */
int arguments_read(const json_t *method, const char **words, int count, json_t **params,
                   json_t **paths, struct err *err);
