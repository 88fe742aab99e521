#pragma once
/* program_words: options of nvcc for a whole program. kernel/check's reader handles those
 * for device code; this file adds those for host code and the linker. User strings are
 * never passed on unchecked. */
#include "base/json.h"

struct compile_options;

/* *ret_words (new): words for nvcc for the options that only programs have; *ret_left
 * (new): the others, for compile_options_read. -EINVAL names the bad one. */
int program_words_read(const json_t *options, json_t **ret_words, json_t **ret_left,
                       struct err *err);
/* Adds those other options, after reading, as words. */
void program_words_add(json_t *words, const struct compile_options *options);
