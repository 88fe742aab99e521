#pragma once
/* tokens: estimates the number of tokens of a text by the class-sum formula
 * (docs/architecture/skills.md). */
#include <stddef.h>

size_t tokens_estimate(const char *text, size_t len);
