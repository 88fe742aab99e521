#pragma once
/* strings: lists of strings that end in NULL, as argv does. */
#include <jansson.h>
#include <stdbool.h>

/* A copy; NULL gives an empty list. Freed with strings_free. */
char **strings_copy(const char *const *list);
/* The texts of an array; likewise. */
char **strings_from(const json_t *array);
/* Whether one of them is the word. */
bool strings_have(const char *const *list, const char *word);
/* Whether the word is one of those in a text, with a blank between them. */
bool words_have(const char *words, const char *word);
/* Whether the text ends in one of them, in capitals or not. */
bool strings_end(const char *const *list, const char *text);
/* The list and its strings; NULL is a no-op. */
void strings_free(char **list);

/* One that grows. Begin with one that is zero: its list is NULL until there is a string.
 */
struct strings {
    char **list;
    size_t count;
};
void strings_add(struct strings *strings, char *owned); /* malloc'ed; taken over */
void strings_finish(struct strings *strings);
#define autostrings __attribute__((cleanup(strings_finish))) struct strings
