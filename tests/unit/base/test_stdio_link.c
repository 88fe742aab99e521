#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/stdio_link.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct seen {
    struct stdio_link *link;
    struct buf bytes;
    unsigned ends, breaks, drains, closes;
    int status, closed_status;
    bool close_at_end, echo;
};

static const struct stdio_patience second = {.stuck_ms = 1000};

static void on_closed(int status, void *data) {
    struct seen *seen = data;
    seen->closes++;
    seen->closed_status = status;
}

static void send_copy(struct stdio_link *link, const char *bytes, size_t len) {
    char *copy = malloc(len);
    memcpy(copy, bytes, len);
    stdio_link_write(link, copy, len);
}

static void on_bytes(struct stdio_link *link, const char *bytes, size_t len, void *data) {
    struct seen *seen = data;
    buf_add(&seen->bytes, bytes, len);
    if (seen->echo) {
        send_copy(link, bytes, len);
    }
}

static void on_ended(struct stdio_link *link, void *data) {
    struct seen *seen = data;
    seen->ends++;
    if (seen->close_at_end) {
        stdio_link_close(link, second, on_closed, seen);
    }
}

static void on_broken(struct stdio_link *link, int status, void *data) {
    struct seen *seen = data;
    seen->breaks++;
    seen->status = status;
    if (seen->close_at_end) {
        stdio_link_close(link, second, on_closed, seen);
    }
}

static void on_drained(struct stdio_link *link, void *data) {
    struct seen *seen = data;
    cr_assert(eq(int, stdio_link_congested(link), 0));
    seen->drains++;
}

static const struct stdio_link_events events = {on_bytes, on_ended, on_broken, on_drained};

static void start(uv_loop_t *loop, int in, int out, struct seen *seen) {
    struct err err = {0};
    signal(SIGPIPE, SIG_IGN);
    *seen = (struct seen){.bytes = BUF_INIT(1u << 24), .close_at_end = true};
    uv_loop_init(loop);
    int rc = stdio_link_new(loop, in, out, &events, seen, &seen->link, &err);
    cr_assert(zero(int, rc), "%s", err.msg);
    cr_assert(zero(sz, seen->bytes.len));
}

static void finish(uv_loop_t *loop, struct seen *seen) {
    uv_run(loop, UV_RUN_DEFAULT);
    cr_assert(eq(uint, seen->closes, 1));
    cr_assert(zero(int, uv_loop_close(loop)));
    buf_finish(&seen->bytes);
}

static void run_for(uv_loop_t *loop, unsigned ms) {
    for (uint64_t end = clock_ms() + ms; clock_ms() < end;) {
        uv_run(loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
}

Test(stdio_link, pipes_carry_bytes_both_ways) {
    uv_loop_t loop;
    struct seen seen;
    int in[2], out[2];
    char back[16] = "";
    cr_assert(zero(int, pipe(in) + pipe(out)));
    int flags = fcntl(out[1], F_GETFL);
    start(&loop, in[0], dup(out[1]), &seen);
    seen.echo = true;
    cr_assert(eq(int, (int)write(in[1], "hello", 5), 5));
    close(in[1]);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(eq(str, seen.bytes.data, "hello"));
    cr_assert(eq(uint, seen.ends, 1));
    cr_assert(zero(uint, seen.breaks));
    cr_assert(eq(int, (int)read(out[0], back, sizeof back), 5));
    cr_assert(eq(str, back, "hello"));
    /* The open file is shared with others: it blocks again. */
    cr_assert(eq(int, fcntl(out[1], F_GETFL), flags));
    finish(&loop, &seen);
    close(out[0]);
    close(out[1]);
}

Test(stdio_link, one_socket_serves_as_both) {
    uv_loop_t loop;
    struct seen seen;
    int pair[2];
    char back[16] = "";
    cr_assert(zero(int, socketpair(AF_UNIX, SOCK_STREAM, 0, pair)));
    start(&loop, pair[0], pair[0], &seen);
    seen.close_at_end = false;
    cr_assert(eq(int, (int)write(pair[1], "abc", 3), 3));
    shutdown(pair[1], SHUT_WR);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(eq(uint, seen.ends, 1));
    send_copy(seen.link, "after", 5); /* an end of input ends no output */
    stdio_link_close(seen.link, second, on_closed, &seen);
    finish(&loop, &seen);
    cr_assert(eq(int, (int)read(pair[1], back, sizeof back), 5));
    cr_assert(zero(int, (int)read(pair[1], back, sizeof back)));
    close(pair[1]);
}

static int file_with(const char *text, size_t copies) {
    char path[] = "/tmp/test-link-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    for (size_t i = 0; i < copies; i++) {
        (void)!write(fd, text, strlen(text));
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

Test(stdio_link, a_regular_file_is_read_to_its_end_and_one_is_written) {
    uv_loop_t loop;
    struct seen seen;
    int in = file_with("0123456789", 20000), out = file_with("", 0), again = dup(out);
    start(&loop, in, out, &seen);
    seen.echo = true;
    finish(&loop, &seen);
    cr_assert(eq(uint, seen.ends, 1));
    cr_assert(zero(uint, seen.breaks));
    cr_assert(eq(int, (int)lseek(again, 0, SEEK_END), 200000));
    close(again);
    /* Closed while a read is under way. */
    start(&loop, file_with("0123456789", 20000), open("/dev/null", O_WRONLY), &seen);
    stdio_link_close(seen.link, second, on_closed, &seen);
    finish(&loop, &seen);
    cr_assert(zero(uint, seen.ends));
    /* Nothing at all. */
    start(&loop, open("/dev/null", O_RDONLY), open("/dev/null", O_WRONLY), &seen);
    finish(&loop, &seen);
    cr_assert(zero(int, seen.status));
}

Test(stdio_link, a_terminal_works) {
    uv_loop_t loop;
    struct seen seen;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0) {
        cr_skip_test("there are no pseudo-terminals here (/dev/pts)");
    }
    cr_assert(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int in = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    int out = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    start(&loop, in, out, &seen);
    cr_assert(eq(int, (int)write(terminal, "line\n", 5), 5));
    run_for(&loop, 100);
    cr_assert(eq(str, seen.bytes.data, "line\n"));
    stdio_link_close(seen.link, second, on_closed, &seen);
    finish(&loop, &seen);
    close(terminal);
}

Test(stdio_link, what_cannot_be_polled_is_refused_and_closed) {
    struct stdio_link *link = NULL;
    struct err err = {0};
    uv_loop_t loop;
    int pipes[2];
    cr_assert(zero(int, pipe(pipes)));
    int odd = socket(AF_UNIX, SOCK_DGRAM, 0);
    uv_loop_init(&loop);
    cr_assert(stdio_link_new(&loop, pipes[0], odd, &events, NULL, &link, &err) < 0);
    cr_assert(err.msg[0] != '\0');
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(zero(int, uv_loop_close(&loop)));
    cr_assert(eq(int, fcntl(pipes[0], F_GETFD), -1));
    cr_assert(eq(int, fcntl(odd, F_GETFD), -1));
    close(pipes[1]);
}

Test(stdio_link, a_reader_that_is_gone_breaks_the_link_once) {
    uv_loop_t loop;
    struct seen seen;
    int in[2], out[2];
    cr_assert(zero(int, pipe(in) + pipe(out)));
    start(&loop, in[0], out[1], &seen);
    close(out[0]);
    send_copy(seen.link, "one", 3);
    send_copy(seen.link, "two", 3);
    cr_assert(zero(uint, seen.ends)); /* never from inside the call */
    finish(&loop, &seen);
    cr_assert(zero(uint, seen.ends));
    cr_assert(eq(uint, seen.breaks, 1));
    cr_assert(eq(int, seen.status, -EPIPE));
    cr_assert(eq(int, seen.closed_status, -EPIPE));
    close(in[1]);
}

Test(stdio_link, a_slow_reader_is_noticed_until_half_is_taken) {
    uv_loop_t loop;
    struct seen seen;
    int in[2], out[2];
    static char piece[STDIO_LINK_SOFT_LIMIT / 4], sink[65536];
    size_t total = 0;
    cr_assert(zero(int, pipe(in) + pipe(out)));
    start(&loop, in[0], out[1], &seen);
    for (int i = 0; !stdio_link_congested(seen.link); i++) {
        cr_assert(i < 5);
        send_copy(seen.link, piece, sizeof piece);
    }
    run_for(&loop, 20);
    cr_assert(zero(uint, seen.drains));
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    for (ssize_t n; !seen.drains; total += n > 0 ? (size_t)n : 0) {
        n = read(out[0], sink, 65536);
        run_for(&loop, 1);
    }
    cr_assert(total >= 3 * sizeof piece - 65536 && total < 5 * sizeof piece);
    close(in[1]);
    close(out[0]);
    finish(&loop, &seen);
}

Test(stdio_link, more_than_may_wait_breaks_it) {
    uv_loop_t loop;
    struct seen seen;
    int in[2], out[2];
    enum { MIB = 1 << 20 };
    char *piece = calloc(1, MIB);
    cr_assert(zero(int, pipe(in) + pipe(out)));
    start(&loop, in[0], out[1], &seen);
    for (int i = 0; i < 170; i++) {
        send_copy(seen.link, piece, MIB);
    }
    cr_assert(stdio_link_queued(seen.link) <= STDIO_LINK_HARD_LIMIT);
    finish(&loop, &seen);
    cr_assert(eq(int, seen.status, -ENOBUFS));
    free(piece);
    close(in[1]);
    close(out[0]);
}

Test(stdio_link, closing_flushes_but_waits_no_longer_than_told) {
    uv_loop_t loop;
    struct seen seen;
    int in[2], out[2];
    enum { MIB = 1 << 20 };
    char *piece = calloc(1, MIB);
    for (int reads = 0; reads <= 1; reads++) {
        cr_assert(zero(int, pipe(in) + pipe(out)));
        pid_t reader = reads ? fork() : -1;
        if (reader == 0) {
            size_t total = 0;
            close(out[1]);
            for (ssize_t n; (n = read(out[0], piece, MIB)) > 0; total += (size_t)n) {}
            _exit(total == 2 * MIB ? 0 : 1);
        }
        start(&loop, in[0], out[1], &seen);
        send_copy(seen.link, piece, MIB);
        send_copy(seen.link, piece, MIB);
        uint64_t before = clock_ms();
        stdio_link_close(seen.link,
                         (struct stdio_patience){.stuck_ms = reads ? 10000 : 50},
                         on_closed, &seen);
        finish(&loop, &seen);
        cr_assert(eq(int, seen.closed_status, reads ? 0 : -ETIMEDOUT));
        cr_assert(clock_ms() - before < 5000);
        cr_assert(zero(uint, seen.ends));
        int status = 0;
        if (reads) {
            waitpid(reader, &status, 0);
        }
        cr_assert(zero(int, status));
        close(in[1]);
        close(out[0]);
    }
    free(piece);
}

/* 2 MiB at 64 KiB each 10 ms take 320 ms. Only who is in a hurry waits no longer than
 * told, however much the reader takes. */
static void read_slowly(bool hurried) {
    uv_loop_t loop;
    struct seen seen;
    int in[2], out[2], status = 1;
    enum { MIB = 1 << 20 };
    char *piece = calloc(1, MIB);
    cr_assert(zero(int, pipe(in) + pipe(out)));
    pid_t reader = fork();
    if (reader == 0) {
        size_t total = 0;
        close(out[1]);
        for (ssize_t n; (n = read(out[0], piece, 65536)) > 0; total += (size_t)n) {
            usleep(10000);
        }
        _exit(total == 2 * MIB ? 0 : 1);
    }
    start(&loop, in[0], out[1], &seen);
    send_copy(seen.link, piece, MIB);
    send_copy(seen.link, piece, MIB);
    stdio_link_close(seen.link, second, on_closed, &seen);
    if (hurried) {
        stdio_link_hurry(seen.link,
                         (struct stdio_patience){.stuck_ms = 40, .most_ms = 100});
    }
    finish(&loop, &seen);
    waitpid(reader, &status, 0);
    cr_assert(eq(int, status != 0, hurried));
    cr_assert(eq(int, seen.closed_status, hurried ? -ETIMEDOUT : 0));
    free(piece);
    close(in[1]);
    close(out[0]);
}

Test(stdio_link, a_reader_that_takes_its_time_gets_everything) {
    read_slowly(false);
    read_slowly(true);
}

Test(stdio_link, pausing_stops_the_bytes_and_resuming_brings_them) {
    uv_loop_t loop;
    struct seen seen;
    int in[2];
    cr_assert(zero(int, pipe(in)));
    start(&loop, in[0], open("/dev/null", O_WRONLY), &seen);
    stdio_link_pause(seen.link);
    cr_assert(eq(int, (int)write(in[1], "x", 1), 1));
    run_for(&loop, 20);
    cr_assert(zero(sz, seen.bytes.len));
    stdio_link_resume(seen.link);
    run_for(&loop, 20);
    cr_assert(eq(str, seen.bytes.data, "x"));
    close(in[1]);
    finish(&loop, &seen);
}

Test(stdio_link, claiming_moves_the_protocol_out_of_the_way) {
    int in[2], out[2], error[2], fd_in = -1, fd_out = -1;
    char got[32] = "";
    cr_assert(zero(int, pipe(in) + pipe(out) + pipe(error)));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(error[1], 2);
        int rc = stdio_claim(&fd_in, &fd_out);
        (void)!write(1, "stray", 5);
        (void)!write(fd_out, "protocol", 8);
        ssize_t n = read(fd_in, got, sizeof got);
        bool good = rc == 0 && n == 2 && fd_in > 2 && fd_out > 2 &&
                    read(0, got, 1) == 0 &&
                    (fcntl(fd_in, F_GETFD) & fcntl(fd_out, F_GETFD) & FD_CLOEXEC);
        _exit(good ? 0 : 1);
    }
    int status;
    (void)!write(in[1], "in", 2);
    waitpid(pid, &status, 0);
    cr_assert(zero(int, status));
    cr_assert(eq(int, (int)read(out[0], got, sizeof got), 8));
    cr_assert(zero(int, strncmp(got, "protocol", 8)));
    cr_assert(eq(int, (int)read(error[0], got, sizeof got), 5));
    /* Started with nothing open at all. */
    pid = fork();
    if (pid == 0) {
        close(0);
        close(1);
        close(2);
        int rc = stdio_claim(&fd_in, &fd_out);
        _exit(rc == 0 && fd_in > 2 && read(fd_in, got, 1) == 0 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    cr_assert(zero(int, status));
}
