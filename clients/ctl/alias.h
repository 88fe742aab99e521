#pragma once
/* alias: short names for what people ask most, and upskill's commands. */

/* words, malloc'ed, with the first one replaced where it is such a name: reallocated. */
const char **alias_expand(const char **words, int *count);
