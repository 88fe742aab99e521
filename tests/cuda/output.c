#include "tests/cuda/output.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEPT_MAX ((size_t)64 << 20)

static struct {
    struct buf text;
    size_t limit;
    uint64_t flood;
} output = {.text = {.data = buf_empty, .max = KEPT_MAX}, .limit = 1 << 20};

void output_limit(size_t bytes) {
    output.limit = bytes < 1024 ? 1024 : bytes > KEPT_MAX / 2 ? KEPT_MAX / 2 : bytes;
}

void output_add(const char *text, size_t len) {
    if (len > output.limit) {
        text += len - output.limit;
        len = output.limit;
        output.text.len = 0;
    }
    if (output.text.len + len > output.limit) {
        buf_consume(&output.text, output.text.len + len - output.limit);
    }
    (void)buf_add(&output.text, text, len);
}

void output_flood(uint64_t bytes) {
    output.flood += bytes;
}

/* No stdio: its locks are the process's. */
static bool write_all(const char *text, size_t len) {
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, text, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        text += n;
        len -= (size_t)n;
    }
    return true;
}

void output_flush(void) {
    char line[4096];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    (void)write_all(output.text.data, output.text.len);
    buf_reset(&output.text);
    while (output.flood) {
        size_t n = output.flood < sizeof line ? output.flood : sizeof line;
        output.flood = write_all(line, n) ? output.flood - n : 0;
    }
}

static unsigned coordinate(const json_t *finding, const char *key, size_t k) {
    return (unsigned)json_integer_value(json_array_get(json_object_get(finding, key), k));
}

/* The machine says "FILE:LINE: FUNCTION: assertion `WORDS' failed". */
void output_assertion(const json_t *finding) {
    char line[1024];
    const char *message = json_string_value(json_object_get(finding, "message"));
    const char *mark = message ? strstr(message, ": assertion `") : NULL;
    const char *end = mark ? strrchr(mark, '\'') : NULL;
    if (!end) {
        return;
    }
    const char *words = mark + strlen(": assertion `");
    int n =
        snprintf(line, sizeof line,
                 "%.*s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%.*s` failed.\n",
                 (int)(mark - message), message, coordinate(finding, "block", 0),
                 coordinate(finding, "block", 1), coordinate(finding, "block", 2),
                 coordinate(finding, "thread", 0), coordinate(finding, "thread", 1),
                 coordinate(finding, "thread", 2), (int)(end - words), words);
    size_t len = n < (int)sizeof line ? (size_t)n : sizeof line - 1;
    (void)!write(STDERR_FILENO, line, len);
}

void output_finish(void) {
    buf_finish(&output.text);
    output.flood = 0;
}
