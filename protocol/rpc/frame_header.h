#pragma once
/* frame_header: parses header lines. Part of frame. */
#include "base/mem.h"

#define FRAME_ABSURD_LENGTH (1u << 30) /* a longer body is not possible */

#define FRAME_HEADER_NAME (sizeof "content-length" - 1)
/* The offset of a "Content-Length:" whose colon is in [from, to); -1 if there is none. */
ptrdiff_t frame_header_find(const char *text, size_t from, size_t to);
/* The length of a header's name, or 0 if the line is not a header. */
size_t frame_header_name(const char *line, size_t len);
/* known: in lower case. */
bool frame_header_is(const char *line, size_t name, const char *known);
/* Digits only, with white space around them; -1 otherwise. Saturates above
 * FRAME_ABSURD_LENGTH. */
long long frame_header_length(const char *s, size_t len);
