#pragma once
/* trace_envelope: what programs put into a person's turn, taken out again. */
#include <stddef.h>

struct buf;

/* Append s without <system-reminder>, <environment_context> and their like; nothing when
 * the whole turn was a program's ("[Request interrupted by user]", a slash command). */
void envelope_strip(struct buf *out, const char *s, size_t len);
