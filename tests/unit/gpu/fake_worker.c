/* A worker that does as it is told, for the tests of the pool.
 *
 * fake_worker MODE [LOG [HELLO [DEVICES [ANSWERS]]]], MODE one of
 *   plain     greets at once
 *   banner    prints what a login shell may print first
 *   noise     prints without end and never greets
 *   silent    never greets
 *   old       greets with another protocol
 *   quit      ends with status 3 at once, with a word on stderr
 *   queue     says on stderr that it waits, and never greets
 *   linger    greets, and goes on when its input has ended, until SIGTERM
 *   fleeting  greets and ends
 * LOG (a file) receives one line per start (the pid): what the tests count. `linger` adds
 * "eof" and "term". HELLO is a JSON object that replaces members of the greeting, DEVICES
 * what worker/devices answers with. ANSWERS is {method: [answer]}: each request of that
 * method is written into LOG as a line {"method", "params"} and gets the next answer, or
 * again the last: {"notes"?: [told before], and "result" or "error" or "die": true; or
 * none of them, for an answer when it is cancelled}.
 *
 * Methods: `echo` answers with params; `forge` with what is told in params.attachment
 * attached; `pid`; `fail` with an error; `die` kills the
 * process; `die_once` only when the file params.mark is not there yet (and makes it);
 * `large` answers with a text of params.bytes, and ends then if params.last;
 * `sleep` reads nothing any more; `wait` answers when it is cancelled; `stubborn` never
 * answers. */
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WAITING 64

static json_int_t waiting[MAX_WAITING];
static int waiting_count;
static const char *log_path, *devices;
static json_t *more_hello, *answers;

static void say(json_t *message) {
    json_dumpf(message, stdout, JSON_COMPACT);
    json_decref(message);
    putchar('\n');
    fflush(stdout);
}

static void reply(json_int_t id, json_t *result) {
    say(json_pack("{s:s, s:I, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

static void refuse(json_int_t id, int code, const char *message) {
    say(json_pack("{s:s, s:I, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error", "code",
                  code, "message", message));
}

static void cancel(json_int_t id) {
    for (int i = 0; i < waiting_count; i++) {
        if (waiting[i] == id) {
            waiting[i] = waiting[--waiting_count];
            refuse(id, -32800, "cancelled");
            return;
        }
    }
}

static void die_once(json_int_t id, const char *mark) {
    int fd = open(mark, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        raise(SIGKILL);
    }
    reply(id, json_string("survived"));
}

static void large(json_int_t id, const json_t *params) {
    size_t bytes = (size_t)json_integer_value(json_object_get(params, "bytes"));
    char *text = malloc(bytes);
    memset(text, 'x', bytes);
    reply(id, json_stringn(text, bytes));
    free(text);
    if (json_is_true(json_object_get(params, "last"))) {
        _exit(0);
    }
}

/* A line, or a body behind headers with what is attached in its params; NULL: the end. */
static json_t *hear(void) {
    static char *line;
    static size_t room;
    size_t len = 0, attached = 0;
    while (getline(&line, &room, stdin) > 0 && *line != '\r') {
        if (*line == '{') {
            return json_loads(line, 0, NULL);
        }
        sscanf(line, "Content-Length: %zu", &len);
        sscanf(line, "Attachment-Length: %zu", &attached);
    }
    char *text = malloc(len + attached + 1);
    json_t *message = len && fread(text, 1, len + attached, stdin) == len + attached
                          ? json_loadb(text, len, 0, NULL)
                          : NULL;
    if (message && attached) {
        json_t *more = json_loadb(text + len, attached, JSON_DISABLE_EOF_CHECK, NULL);
        json_object_update(json_object_get(message, "params"), more);
        json_decref(more);
    }
    free(text);
    return message;
}

/* --- answers as they are told --- */

static void log_request(const char *method, json_t *params) {
    FILE *log = fopen(log_path, "ae");
    json_t *line = json_pack("{s:s, s:O}", "method", method, "params", params);
    json_dumpf(line, log, JSON_COMPACT);
    fputc('\n', log);
    fclose(log);
    json_decref(line);
}

static void tell_notes(json_int_t id, const json_t *notes) {
    size_t i;
    json_t *note;
    json_array_foreach(notes, i, note) {
        json_t *params = json_pack("{s:I}", "id", id);
        json_object_update(params, note);
        say(json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", "validate/note",
                      "params", params));
    }
}

static void answer_as_told(json_int_t id, const json_t *told) {
    json_t *result = json_object_get(told, "result"),
           *error = json_object_get(told, "error");
    tell_notes(id, json_object_get(told, "notes"));
    if (result) {
        reply(id, json_incref(result));
    } else if (error) {
        say(json_pack("{s:s, s:I, s:O}", "jsonrpc", "2.0", "id", id, "error", error));
    } else if (json_is_true(json_object_get(told, "die"))) {
        raise(SIGKILL);
    } else if (waiting_count < MAX_WAITING) {
        waiting[waiting_count++] = id;
    }
}

/* False when nothing is told of the method. A worker that is started again goes on where
 * the one before it ended: LOG says how many were asked. */
static bool answer_from_list(const char *method, json_int_t id, json_t *params) {
    const json_t *list = json_object_get(answers, method);
    size_t before = 0, room = 0, count = json_array_size(list);
    if (!count) {
        return false;
    }
    char *line = NULL, start[64];
    snprintf(start, sizeof start, "{\"method\":\"%s\"", method);
    FILE *log = fopen(log_path, "re");
    while (log && getline(&line, &room, log) > 0) {
        before += strncmp(line, start, strlen(start)) == 0;
    }
    if (log) {
        fclose(log);
    }
    free(line);
    log_request(method, params);
    answer_as_told(id, json_array_get(list, before < count ? before : count - 1));
    return true;
}

static void handle(const char *method, json_int_t id, json_t *params) {
    if (answer_from_list(method, id, params)) {
        return;
    }
    if (strcmp(method, "echo") == 0) {
        reply(id, json_incref(params));
    } else if (strcmp(method, "forge") == 0) {
        const char *bytes = json_string_value(json_object_get(params, "attachment"));
        char body[64];
        int len = snprintf(body, sizeof body, "{\"id\":%lld,\"result\":{\"by\":1}}",
                           (long long)id);
        printf("Content-Length: %d\r\nAttachment-Length: %zu\r\n\r\n%s%s", len,
               strlen(bytes), body, bytes);
        fflush(stdout);
    } else if (strcmp(method, "pid") == 0) {
        reply(id, json_integer(getpid()));
    } else if (strcmp(method, "worker/devices") == 0) {
        reply(id, devices ? json_loads(devices, 0, NULL) : json_object());
    } else if (strcmp(method, "fail") == 0) {
        refuse(id, -32000, "told to fail");
    } else if (strcmp(method, "die") == 0) {
        raise(SIGKILL);
    } else if (strcmp(method, "die_once") == 0) {
        die_once(id, json_string_value(json_object_get(params, "mark")));
    } else if (strcmp(method, "large") == 0) {
        large(id, params);
    } else if (strcmp(method, "sleep") == 0) {
        for (;;) {
            pause();
        }
    } else if (strcmp(method, "wait") == 0 && waiting_count < MAX_WAITING) {
        waiting[waiting_count++] = id;
    } else if (strcmp(method, "$/cancelRequest") == 0) {
        cancel(json_integer_value(json_object_get(params, "id")));
    }
}

static void greet(int protocol) {
    json_t *hello = json_pack("{s:i, s:s, s:s, s:[]}", "protocol", protocol, "version",
                              "0-fake", "host", "fake-host", "toolkits");
    json_object_update(hello, more_hello);
    say(json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", "worker/hello", "params",
                  hello));
}

static void log_word(const char *word) {
    FILE *log = log_path ? fopen(log_path, "ae") : NULL;
    if (log) {
        fprintf(log, "%s\n", word);
        fclose(log);
    }
}

static void on_term(int number) {
    (void)number;
    log_word("term");
    _exit(0);
}

static void term_block(int how) {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(how, &term, NULL);
}

static int start(const char *mode) {
    if (strcmp(mode, "quit") == 0) {
        fputs("no such host\n", stderr);
        return 3;
    }
    if (strcmp(mode, "banner") == 0) {
        puts("Last login: Fri Nov 20 on pts/0\r\n{not "
             "json\n{\"method\":\"motd\"}\n[1,2]\n");
    }
    if (strcmp(mode, "linger") == 0) {
        signal(SIGTERM, on_term);
        term_block(SIG_BLOCK); /* until the end of input is told, in any order */
    }
    if (strcmp(mode, "queue") == 0) {
        fputs("job 7 queued and waiting for resources\n", stderr);
    }
    if (strcmp(mode, "silent") == 0 || strcmp(mode, "queue") == 0) {
        for (;;) {
            pause();
        }
    }
    while (strcmp(mode, "noise") == 0 && puts("still booting") >= 0) {}
    greet(strcmp(mode, "old") == 0 ? 99 : 4);
    return 0;
}

int main(int argc, char **argv) {
    char pid[16];
    const char *mode = argc > 1 ? argv[1] : "plain";
    log_path = argc > 2 ? argv[2] : NULL;
    more_hello = argc > 3 ? json_loads(argv[3], 0, NULL) : NULL;
    devices = argc > 4 ? argv[4] : NULL;
    answers = argc > 5 ? json_loads(argv[5], 0, NULL) : NULL;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    log_word(pid);
    int status = start(mode);
    if (status || strcmp(mode, "fleeting") == 0) {
        return status;
    }
    json_t *message;
    while ((message = hear())) {
        const char *method = json_string_value(json_object_get(message, "method"));
        if (method) {
            handle(method, json_integer_value(json_object_get(message, "id")),
                   json_object_get(message, "params"));
        }
        json_decref(message);
    }
    if (strcmp(mode, "linger") == 0) {
        log_word("eof");
        term_block(SIG_UNBLOCK);
        for (;;) {
            pause();
        }
    }
    return 0;
}
