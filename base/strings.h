#pragma once
/* strings: NULL-terminated lists of strings, like argv. */
#include "base/mem.h"

#include <jansson.h>

/* A copy; NULL gives an empty list. Freed with strings_free. */
char **strings_copy(const char *const *list);
/* The strings of a JSON array, as such a list. */
char **strings_from(const json_t *array);
/* Whether the list contains word. */
bool strings_have(const char *const *list, const char *word);
/* Whether word is one of the blank-separated words of a text. */
bool words_have(const char *words, const char *word);
/* Whether text ends with a string of the list, ignoring case. */
bool strings_end(const char *const *list, const char *text);
/* Frees the list and its strings; NULL is a no-op. */
void strings_free(char **list);
DEFINE_CLEANUP(char **, strings_free);

/* A growing list. Initialise with zeros; `list` is NULL until the first string is added.
 */
struct strings {
    char **list;
    size_t count;
};
void strings_add(struct strings *strings, char *owned); /* malloc'ed; taken over */
void strings_finish(struct strings *strings);
#define autostrings __attribute__((cleanup(strings_finish))) struct strings
