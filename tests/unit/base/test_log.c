#define LOG_MODULE "unit"
#include "base/log.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char got[8192];

/* What one log line writes, without the 25 characters of its time; "" for nothing. */
static char *line_of(enum log_level level, const char *words) {
    int fds[2], before = dup(2);
    cr_assert(zero(int, pipe(fds)));
    dup2(fds[1], 2);
    log_at(level, "%s", words);
    dup2(before, 2);
    close(before);
    close(fds[1]);
    ssize_t n = read(fds[0], got, sizeof got - 1);
    close(fds[0]);
    got[n > 0 ? n : 0] = '\0';
    return n > 25 ? got + 25 : got;
}

Test(log, a_line_has_its_level_and_module_and_stays_one_line) {
    cr_assert(eq(str, line_of(LOG_ERROR, "a=1"), "error unit: a=1\n"));
    cr_assert(eq(str, line_of(LOG_WARNING, "a\nb\tc\r\nd"), "warning unit: a b c d\n"));
    cr_assert(eq(str,
                 line_of(LOG_ERROR, "\x1b[2Jx\xc2\x9b"
                                    "31my\xff"),
                 "error unit: xy\xef\xbf\xbd\n"));
    char many[4000];
    memset(many, 'm', sizeof many);
    many[sizeof many - 1] = '\0';
    line_of(LOG_ERROR, many);
    cr_assert(eq(sz, strlen(got), 1024));
    cr_assert(eq(chr, got[1023], '\n'));
    for (size_t i = 0; i + 3 < sizeof many; i += 3) {
        memcpy(many + i, "\xe2\x82\xac", 4);
    }
    char *line = line_of(LOG_ERROR, many);
    size_t len = strlen(line);
    cr_assert(len > 900 && strlen(got) <= 1024);
    cr_assert(zero(int, memcmp(line + len - 4, "\xe2\x82\xac\n", 4)));
}

Test(log, the_threshold_decides_what_is_written) {
    static const char *const words[] = {"error", "warning", "info", "debug"};
    cr_assert(eq(str, line_of(LOG_INFO, "x"), ""));
    for (int threshold = 0; threshold < 4; threshold++) {
        enum log_level level;
        cr_assert(zero(int, log_level_parse(words[threshold], &level)));
        cr_assert(eq(int, (int)level, threshold));
        log_shown = level;
        for (int i = 0; i < 4; i++) {
            int written = line_of((enum log_level)i, "x")[0] != '\0';
            cr_assert(eq(int, written, i <= threshold), "%d at %d", i, threshold);
        }
    }
    enum log_level level;
    cr_assert(eq(int, log_level_parse("loud", &level), -EINVAL));
}

Test(log, a_reader_that_does_not_read_holds_nobody_up, .timeout = 5) {
    int fds[2], before = dup(2);
    cr_assert(zero(int, pipe(fds)));
    dup2(fds[1], 2);
    for (int i = 0; i < 10000; i++) { /* a pipe takes 64 KiB */
        log_error("line %d of many that nobody reads", i);
    }
    dup2(before, 2);
    close(before);
    close(fds[0]);
    close(fds[1]);
}
