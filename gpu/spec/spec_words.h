#pragma once
/* spec_words: what was meant by a word that a check spec does not have.
 *
 * Check specs are written by people and models who know C, CUDA, numpy and PyTorch: their
 * words for the same things, members at the wrong level, and misspellings. */
#include "base/json.h"

/* What to add to the message that `name` is unknown: "; did you mean \"init\"?", or that
 * it belongs into one of `known`, the members that there are (separated by spaces), or
 * else all of those. Texts are cut to `size`. Returns `ret`. */
const char *spec_words_member(const char *name, const char *known, char *ret,
                              size_t size);
/* "; did you mean \"int32\"?" of "int", or "" where no type is meant. Returns `ret`. */
const char *spec_words_type(const char *name, char *ret, size_t size);
/* "; did you mean \"scaled_dot_product_attention\"?", or where all operators are listed.
 */
const char *spec_words_operator(const char *name, char *ret, size_t size);
/* Of an "init" that is none: "; did you mean {\"normal\": [0, 1]}?" of "randn", or "". */
const char *spec_words_init(const json_t *init, char *ret, size_t size);
/* Of a function that sizes do not know: "; did you mean \"ceil_div\"?" of "cdiv", or "".
 */
const char *spec_words_size_function(const char *name, char *ret, size_t size);
/* Of a function that an expression does not know: what to write instead, or "". */
const char *spec_words_expression(const char *name, char *ret, size_t size);
