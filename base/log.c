#include "base/log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"

#include <poll.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024

enum log_level log_shown = LOG_WARNING;
static const char *const names[] = {"error", "warning", "info", "debug"};

int log_level_parse(const char *word, enum log_level *ret) {
    for (int i = 0; i <= LOG_DEBUG; i++) {
        if (strcmp(word, names[i]) == 0) {
            *ret = (enum log_level)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* Outside text can neither forge a line nor drive the terminal. */
static void add_words(struct buf *line, const char *words) {
    autobuf clean = BUF_INIT(4 * LINE_MAX_BYTES);
    text_clean(&clean, words, strlen(words));
    for (char *s = clean.data; *s; s++) {
        *s = *s == '\n' || *s == '\t' ? ' ' : *s;
    }
    buf_add(line, clean.data,
            text_cut(clean.data, clean.len, LINE_MAX_BYTES - 1 - line->len));
}

void log_write(enum log_level level, const char *module, const char *fmt, ...) {
    char words[LINE_MAX_BYTES], now[25];
    text_format(words, fmt);
    autobuf line = BUF_INIT(LINE_MAX_BYTES);
    clock_iso8601(now);
    buf_addf(&line, "%s %s %s: ", now, names[level], module);
    add_words(&line, words);
    buf_addc(&line, '\n');
    /* If the reader has stopped, a lost line is better than a blocked daemon. */
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT)) {
        return;
    }
    (void)!write(STDERR_FILENO, line.data, line.len);
}
