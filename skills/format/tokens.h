#pragma once
/* tokens: how many tokens a text has, by the class-sum formula
 * (docs/architecture/skills.md). */
#include <stddef.h>

size_t tokens_estimate(const char *text, size_t len);
