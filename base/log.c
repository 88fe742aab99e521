#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum log_level threshold = LOG_WARNING;
static const char *const names[] = {"error", "warning", "info", "debug"};

void log_set_level(enum log_level level) {
    threshold = level;
}

int log_level_parse(const char *word, enum log_level *ret) {
    for (int i = 0; i <= LOG_DEBUG; i++) {
        if (strcmp(word, names[i]) == 0) {
            *ret = (enum log_level)i;
            return 0;
        }
    }
    return -EINVAL;
}

static size_t stamp(char *line, size_t size, enum log_level level, const char *module) {
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t n = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &tm);
    int more = snprintf(line + n, size - n, ".%03ldZ %s %s: ", now.tv_nsec / 1000000,
                        names[level], module);
    return n + (more > 0 ? (size_t)more : 0);
}

void log_write(enum log_level level, const char *module, const char *fmt, ...) {
    if (level > threshold) {
        return;
    }
    char line[1024];
    size_t n = stamp(line, sizeof line - 1, level, module);
    va_list ap;
    va_start(ap, fmt);
    int more = vsnprintf(line + n, sizeof line - 1 - n, fmt, ap);
    va_end(ap);
    size_t end = n + strnlen(line + n, sizeof line - 2 - n);
    for (size_t i = n; more > 0 && i < end; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) {
            line[i] = ' ';
        }
    }
    line[end] = '\n';
    (void)!write(STDERR_FILENO, line, end + 1);
}
