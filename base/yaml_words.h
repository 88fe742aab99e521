#pragma once
/* yaml_words: what plain words in YAML stand for, and what libyaml's mean. Part of yaml.
 */
#include "base/json.h"

/* null, true, a number; NULL for what is a string. */
json_t *yaml_plain_scalar(const char *s, size_t len);
/* What a person can do about a complaint of libyaml's, " (…)"; "" when that is not known.
 */
const char *yaml_problem_cure(const char *problem);
