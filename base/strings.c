#include "base/strings.h"

#include "base/mem.h"

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

void strings_free(char **list) {
    for (char **s = list; s && *s; s++) {
        free(*s);
    }
    free(list);
}
