#pragma once
/* spec_words: suggestions for unknown words in a check spec. People and models who write
 * check specs know C, CUDA, numpy and PyTorch: they use those names for the same things,
 * put members at the wrong level, and misspell. */
#include "base/json.h"

/* The addition to the message that `name` is unknown: "; did you mean \"init\"?", or that
 * it belongs into one of `known`, the existing members (separated by spaces), or else the
 * list of those. Texts are cut to `size`. Returns `ret`. */
const char *spec_words_member(const char *name, const char *known, char *ret,
                              size_t size);
/* "; did you mean \"int32\"?" for "int", or "" if no type is near. Returns `ret`. */
const char *spec_words_type(const char *name, char *ret, size_t size);
/* "; did you mean \"scaled_dot_product_attention\"?", or where all operators are
 * listed. */
const char *spec_words_operator(const char *name, char *ret, size_t size);
/* For an invalid "init": "; did you mean {\"normal\": [0, 1]}?" for "randn", or "". */
const char *spec_words_init(const json_t *init, char *ret, size_t size);
/* For an unknown function in a size: "; did you mean \"ceil_div\"?" for "cdiv", or "". */
const char *spec_words_size_function(const char *name, char *ret, size_t size);
/* For an unknown function in an expression: the replacement, or "". */
const char *spec_words_expression(const char *name, char *ret, size_t size);
