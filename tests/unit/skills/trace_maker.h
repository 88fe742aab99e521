#pragma once
/* trace_maker: a trace made by hand, line by line. */
#include "skills/traces/lessons.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

struct maker {
    struct trace trace;
    unsigned calls;
};

static inline struct trace_event *add(struct maker *m, enum trace_event_kind kind) {
    struct trace *t = &m->trace;
    t->events = xreallocarray(t->events, t->count + 1, sizeof *t->events);
    struct trace_event *e = &t->events[t->count++];
    *e = (struct trace_event){.kind = kind, .number = (uint32_t)t->count};
    return e;
}

static inline void set_text(struct trace_event *e, const char *text) {
    e->text = xstrdup(text);
    e->text_len = e->text_full = strlen(text);
}

static inline void user(struct maker *m, const char *text) {
    set_text(add(m, EVENT_USER), text);
}

static inline void say(struct maker *m, const char *text) {
    set_text(add(m, EVENT_SAY), text);
}

static inline void run(struct maker *m, const char *command, int exit, const char *output) {
    char call[16];
    snprintf(call, sizeof call, "c%u", ++m->calls);
    struct trace_event *e = add(m, EVENT_CALL);
    e->call = xstrdup(call);
    e->tool = xstrdup("Bash");
    e->command = xstrdup(command);
    e = add(m, EVENT_RESULT);
    e->call = xstrdup(call);
    e->has_exit = true;
    e->exit = exit;
    e->is_error = exit != 0;
    set_text(e, output);
}

static inline void edit(struct maker *m, const char *path, const char *text, bool is_diff) {
    struct trace_event *e = add(m, EVENT_EDIT);
    e->path = xstrdup(path);
    e->tool = xstrdup(is_diff ? "Edit" : "Write");
    e->is_diff = is_diff;
    set_text(e, text);
}

static inline void finish(struct maker *m) {
    for (size_t i = 0; i < m->trace.count; i++) {
        struct trace_event *e = &m->trace.events[i];
        free(e->call);
        free(e->tool);
        free(e->command);
        free(e->path);
        free(e->text);
    }
    free(m->trace.events);
    free(m->trace.cwd);
}

static inline void learn(struct lessons *l, struct maker *m) {
    lessons_extract(l, &m->trace, 1, NULL);
}
