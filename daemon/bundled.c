#include "daemon/bundled.h"

#include "base/file.h"
#include "base/mem.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Relative to the program's folder; the build says both. */
static const char *const places[] = {BUNDLED_INSTALLED, BUNDLED_SOURCE};

char *bundled_skills(void) {
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len <= 0) {
        return NULL;
    }
    program[len] = '\0';
    *(char *)(uintptr_t)path_basename(program) = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct stat st;
        autofree char *joined = path_join(program, places[i]);
        autofree char *folder = path_normalize(joined);
        if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) {
            return take(folder);
        }
    }
    return NULL;
}
