#pragma once
/* trace_envelope: removes the text that programs add to a person's turn. */
#include "base/mem.h"

/* Appends s without <system-reminder>, <environment_context> and the like; nothing if a
 * program wrote the whole turn ("[Request interrupted by user]", a slash command). */
void envelope_strip(struct buf *out, const char *s, size_t len);
