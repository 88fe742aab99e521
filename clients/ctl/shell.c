#include "clients/ctl/shell.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "clients/ctl/connection.h"
#include "clients/ctl/terminal.h"
#include "clients/ctl/texts.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_WAIT_MS 60000

struct shell {
    const struct terminal *terminal;
    struct connection *connection;
    struct buf input;
    unsigned next_id, waiting;
    bool prompt;
};

static void show(bool outgoing, const char *body, size_t len, void *data) {
    struct shell *s = data;
    autofree char *text = xstrndup(body, len);
    if (s->prompt && !outgoing) {
        fputs("\r\033[K", stdout);
    }
    terminal_put(s->terminal, outgoing ? STYLE_BLUE : STYLE_GREEN,
                 outgoing ? "→ " : "← ");
    terminal_line(s->terminal, STYLE_PLAIN, text);
    bool response =
        !outgoing && (strstr(text, "\"result\"") || strstr(text, "\"error\""));
    if (response && s->waiting) {
        s->waiting--;
    }
    if (s->prompt && !outgoing) {
        fputs("> ", stdout);
    }
    fflush(stdout);
}

static void send_line(struct shell *s, const char *line, size_t len) {
    show(true, line, len, s);
    s->waiting += memmem(line, len, "\"id\"", 4) != NULL;
    connection_send_raw(s->connection, line, len);
}

static void send_method(struct shell *s, const char *line) {
    size_t name = strcspn(line, " \t");
    const char *params = line + name + strspn(line + name, " \t");
    autofree char *request =
        *params ? xasprintf(
                      "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%.*s\",\"params\":%s}",
                      ++s->next_id, (int)name, line, params)
                : xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%.*s\"}",
                            ++s->next_id, (int)name, line);
    send_line(s, request, strlen(request));
}

/* False: leave. */
static bool do_line(struct shell *s, const char *line) {
    line += strspn(line, " \t");
    if (strcmp(line, ".quit") == 0) {
        return false;
    }
    if (strcmp(line, ".help") == 0) {
        fputs(shell_help, stdout);
    } else if (*line == '{' || *line == '[') {
        send_line(s, line, strlen(line));
    } else if (*line) {
        send_method(s, line);
    }
    return true;
}

/* Reads what is there; false at the end of input or on .quit. */
static bool take_input(struct shell *s) {
    char bytes[4096];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    bool more = n > 0;
    buf_add(&s->input, more ? bytes : "\n", more ? (size_t)n : 1);
    for (char *end; (end = memchr(s->input.data, '\n', s->input.len));) {
        size_t len = (size_t)(end - s->input.data);
        autofree char *line = xstrndup(s->input.data, len);
        buf_consume(&s->input, len + 1);
        if (!do_line(s, line)) {
            return false;
        }
    }
    return more;
}

static void run(struct shell *s) {
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    for (bool more = true; more;) {
        if (s->prompt) {
            fputs("> ", stdout);
            fflush(stdout);
        }
        while (poll(&in, 1, 0) == 0) {
            if (!connection_wait(s->connection, 20)) {
                puts("the daemon ended");
                return;
            }
        }
        more = take_input(s);
    }
    uint64_t end = clock_ms() + ANSWER_WAIT_MS;
    while (!s->prompt && s->waiting && clock_ms() < end &&
           connection_wait(s->connection, 50)) {}
}

int shell_run(const struct terminal *t, const char *const *daemon_args) {
    struct shell s = {
        .terminal = t,
        .input = BUF_INIT(64u << 20),
        .prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
    };
    struct connection_options options = {
        .daemon_args = daemon_args, .keep_stderr = true, .trace = show, .data = &s};
    struct err err = {0};
    if (connection_open(&options, &s.connection, &err) < 0) {
        terminal_error(t, "%s", err.msg);
        return 2;
    }
    if (s.prompt) {
        puts("a live upskilld; .help for help");
    }
    run(&s);
    connection_close(s.connection);
    buf_finish(&s.input);
    return 0;
}
