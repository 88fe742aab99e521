#pragma once
/* host_launch_text: writes an instantiation in the place of host code. Part of
 * host_code. */
#include "base/mem.h"

void host_blank_bytes(char *text, size_t from, size_t to); /* keeps newlines */
/* Writes static_assert(&expression,"") over blanks and newlines of text: from `line` on,
 * or else anywhere in [from, to). False if there is no room. */
bool host_launch_text_write(char *text, const char *expression, size_t line, size_t from,
                            size_t to);
