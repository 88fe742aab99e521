#include "clients/ctl/shell.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "clients/ctl/connection.h"
#include "clients/ctl/line_editor.h"
#include "clients/ctl/terminal.h"
#include "clients/ctl/texts.h"

#include <poll.h>
#include <unistd.h>

#define ANSWER_WAIT_MS 60000

struct shell {
    const struct terminal *terminal;
    struct connection *connection;
    struct buf input;
    unsigned next_id, waiting;
    bool prompt, left;
    struct line_editor *editor; /* NULL: no terminal, or no libedit */
};

/* Around a message that comes while a line is typed. */
static void hide_prompt(const struct shell *s) {
    if (s->editor) {
        line_editor_hide(s->editor);
    } else if (s->prompt) {
        fputs("\r\033[K", stdout);
    }
}

static void show_prompt(const struct shell *s) {
    if (s->editor) {
        line_editor_show(s->editor);
    } else if (s->prompt) {
        fputs("> ", stdout);
    }
    fflush(stdout);
}

static void show(bool outgoing, const char *body, size_t len, void *data) {
    struct shell *s = data;
    autofree char *text = xstrndup(body, len);
    if (!outgoing) {
        hide_prompt(s);
    }
    terminal_put(s->terminal, outgoing ? STYLE_BLUE : STYLE_GREEN,
                 outgoing ? "→ " : "← ");
    terminal_line(s->terminal, STYLE_PLAIN, text);
    bool response =
        !outgoing && (strstr(text, "\"result\"") || strstr(text, "\"error\""));
    if (response && s->waiting) {
        s->waiting--;
    }
    if (!outgoing) {
        show_prompt(s);
    }
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

/* With or without the dot: no method is called so. */
static bool is_command(const char *line, const char *name) {
    return strcmp(line, name) == 0 || strcmp(line, name + 1) == 0;
}

static void do_line(struct shell *s, const char *line) {
    line += strspn(line, " \t");
    if (is_command(line, ".quit") || is_command(line, ".exit")) {
        s->left = true;
    } else if (is_command(line, ".help")) {
        fputs(shell_help, stdout);
    } else if (*line == '{' || *line == '[') {
        send_line(s, line, strlen(line));
    } else if (*line) {
        send_method(s, line);
    }
}

static void on_line(const char *line, void *data) {
    struct shell *s = data;
    s->left = !line;
    if (line) {
        do_line(s, line);
    }
}

/* Reads what is there. */
static void take_input(struct shell *s) {
    char bytes[4096];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    bool more = n > 0;
    buf_add(&s->input, more ? bytes : "\n", more ? (size_t)n : 1);
    for (char *end; !s->left && (end = memchr(s->input.data, '\n', s->input.len));) {
        size_t len = (size_t)(end - s->input.data);
        autofree char *line = xstrndup(s->input.data, len);
        buf_consume(&s->input, len + 1);
        do_line(s, line);
    }
    s->left |= !more;
    if (!s->left) {
        show_prompt(s);
    }
}

static void run(struct shell *s) {
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!s->editor) {
        show_prompt(s);
    }
    while (!s->left) {
        while (poll(&in, 1, 0) == 0) {
            if (!connection_wait(s->connection, 20)) {
                hide_prompt(s);
                puts("the daemon ended");
                return;
            }
        }
        if (s->editor) {
            line_editor_read(s->editor);
        } else {
            take_input(s);
        }
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
        s.editor = line_editor_new("> ", on_line, &s);
    }
    run(&s);
    line_editor_free(take(s.editor));
    connection_close(s.connection);
    buf_finish(&s.input);
    return 0;
}
