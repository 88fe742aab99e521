/* A file of any format, read whole: its events keep what trace.h promises of them, and
 * commands end within their text. */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "skills/traces/lessons.h"
#include "skills/traces/trace.h"
#include "skills/traces/trace_shell.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static void check_string(const char *s) {
    check(!s || text_is_utf8(s, strlen(s)));
    for (; s && *s; s++) {
        check((unsigned char)*s >= 0x20 || *s == '\n' || *s == '\t');
    }
}

static void check_command(const char *command) {
    struct shell_file file;
    size_t at = 0;
    while (shell_next_file(command, &at, &file)) {
        check(file.text >= command && file.text + file.len <= command + strlen(command));
        free(file.path);
    }
    autofree char *inner = shell_unwrap(command);
    check(strlen(inner) <= strlen(command));
}

static void check_event(const struct trace *t, size_t i) {
    const struct trace_event *e = &t->events[i];
    check(e->number == i + 1 && (unsigned)e->kind <= EVENT_USAGE);
    check(!e->text || strlen(e->text) == e->text_len);
    check(e->text_full >= e->text_len || strstr(e->text, "left out"));
    check_string(e->call);
    check_string(e->tool);
    check_string(e->path);
    check_string(e->command);
    check_string(e->text);
    if (e->command) {
        check_command(e->command);
    }
}

/* Each line of what a teacher is told is a step, set in beneath one, or the frame's own. */
static void check_digest(const struct lessons *l) {
    autojson *digest = lessons_digest(l, 600, 2);
    check(json_array_size(json_object_get(digest, "parts")) == 2);
    json_each(json_object_get(digest, "parts"), part, one) {
        const char *text = json_string_value(one);
        check(text && text_is_utf8(text, strlen(text)));
        for (const char *line = text; *line; line = text_next_line(line)) {
            check(strchr("\n <#tT", *line) != NULL);
        }
    }
}

static void check_review(const struct lessons *l) {
    autojson *parts = lessons_review(l, "- `make` and `error:` [t1 e1, t1 e2] [t1 e3, t1 e9] `[t2 e1", 600, 300);
    check(json_array_size(parts) < 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct trace t;
    struct err err = {0};
    if (trace_read_text(&t, "fuzz", (const char *)data, size, &err) < 0) {
        check(err.msg[0]);
        return 0;
    }
    check(t.bytes == size && t.count <= TRACE_MAX_EVENTS);
    for (size_t i = 0; i < t.count; i++) {
        check_event(&t, i);
    }
    struct lessons lessons;
    lessons_extract(&lessons, &t, 1, NULL);
    check_digest(&lessons);
    check_review(&lessons);
    lessons_finish(&lessons);
    trace_finish(&t);
    return 0;
}
