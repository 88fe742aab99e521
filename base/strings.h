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
/* The list and its strings; NULL is a no-op. */
void strings_free(char **list);

bool strings_hold(const char *const *list, const char *s);
