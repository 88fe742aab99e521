#pragma once
/* host_launch_text: an instantiation written where host code was. Part of host_code. */
#include <stdbool.h>
#include <stddef.h>

void host_blank_bytes(char *text, size_t from, size_t to); /* newlines stay */
/* static_assert(&expression,"") over the blanks and newlines of text: from `line` on, or
 * else anywhere in [from, to). False when it has no room. */
bool host_launch_text_write(char *text, const char *expression, size_t line, size_t from,
                            size_t to);
