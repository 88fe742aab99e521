#pragma once
/* program_words: options of nvcc for a whole program.
 *
 * kernel/check's reader knows what matters to device code; here are those that matter to
 * host code and to the linker besides. Nothing of a user's becomes a word of the command
 * by itself. */
#include "base/json.h"

struct compile_options;
struct err;

/* Words for nvcc (new, in *ret_words) of those options that are only a program's; in
 * *ret_left (new) the others, for compile_options_read. -EINVAL names the bad one. */
int program_words_read(const json_t *options, json_t **ret_words, json_t **ret_left,
                       struct err *err);
/* What was read of the others, as words. */
void program_words_add(json_t *words, const struct compile_options *options);
