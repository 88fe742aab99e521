#pragma once
/* strings: lists of strings that end in NULL, as argv does. */

/* A copy; NULL gives an empty list. Freed with strings_free. */
char **strings_copy(const char *const *list);
/* The list and its strings; NULL is a no-op. */
void strings_free(char **list);
