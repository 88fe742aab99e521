#include "base/strings.h"

#include <strings.h>

char **strings_copy(const char *const *list) {
    size_t count = 0;
    while (list && list[count]) {
        count++;
    }
    char **copy = xcalloc(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = xstrdup(list[i]);
    }
    return copy;
}

char **strings_from(const json_t *array) {
    size_t count = json_array_size(array);
    char **list = xcalloc(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        list[i] = xstrdup(json_string_value(json_array_get(array, i)));
    }
    return list;
}

bool strings_have(const char *const *list, const char *word) {
    while (*list && strcmp(*list, word) != 0) {
        list++;
    }
    return *list != NULL;
}

bool words_have(const char *words, const char *word) {
    size_t len = strlen(word);
    for (const char *at = words; len && (at = strstr(at, word)); at += len) {
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len])) {
            return true;
        }
    }
    return false;
}

bool strings_end(const char *const *list, const char *text) {
    size_t len = strlen(text);
    for (; *list; list++) {
        size_t n = strlen(*list);
        if (len >= n && strcasecmp(text + len - n, *list) == 0) {
            return true;
        }
    }
    return false;
}

void strings_free(char **list) {
    for (char **s = list; s && *s; s++) {
        free(*s);
    }
    free(list);
}

void strings_add(struct strings *strings, char *owned) {
    strings->list = xreallocarray(strings->list, strings->count + 2, sizeof(char *));
    strings->list[strings->count++] = owned;
    strings->list[strings->count] = NULL;
}

void strings_finish(struct strings *strings) {
    strings_free(strings->list);
    *strings = (struct strings){0};
}
