/* Events made steps: a command with its output and outcome is one. */
#include "skills/traces/lessons_internal.h"

#include "base/file.h"
#include "base/find.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/traces/trace_shell.h"

#define TERSE_LINES 3u
#define MAX_ANSWER 1000u /* bytes of what a tool says of an edit */
#define MAX_COMPLAINTS 4u /* lines */
#define MAX_OPEN 64u /* calls that wait for their result */

struct reading {
    struct steps *steps;
    struct lesson_reader *r;
    const struct trace *trace;
    bool has_outcomes; /* the format tells success from failure */
    bool states_success; /* … and says so of what passed */
};

static struct lesson_step *add_step(struct steps *s, enum step_kind kind,
                                    uint32_t event) {
    list_room(s->list, s->count, s->capacity, 64);
    struct lesson_step *step = &s->list[s->count++];
    *step = (struct lesson_step){.kind = kind, .event = event, .result_event = event};
    return step;
}

static char *clean_z(const struct reading *g, const char *text) {
    return lesson_clean(g->r, text, text ? strlen(text) : 0);
}

/* A path of Windows with the marks of others: "C:/w/a.vue". */
static char *clean_path(const struct reading *g, const char *path) {
    char *clean = clean_z(g, path);
    bool drive = path && isalpha((unsigned char)*path) && path[1] == ':' && path[2] == '\\';
    for (char *c = clean; drive && (c = strchr(c, '\\')); c++) {
        *c = '/';
    }
    return clean;
}

static bool same_call(const struct trace_event *a, const struct trace_event *b) {
    return a->call && b->call && strcmp(a->call, b->call) == 0;
}

/* An edit's call says nothing that the edit does not. */
static bool edit_follows(const struct trace *t, size_t i) {
    for (size_t k = i + 1; k < t->count && k < i + 8; k++) {
        if (t->events[k].kind == EVENT_EDIT && same_call(&t->events[i], &t->events[k])) {
            return true;
        }
    }
    return false;
}

static void add_written(struct reading *g, const struct lesson_step *run) {
    struct shell_file file = {0};
    uint32_t event = run->event;
    size_t at = 0;
    bool in_place = command_in_place(run->text, &file.path);
    if (in_place || shell_next_file(run->text, &at, &file)) {
        struct lesson_step *edit = add_step(g->steps, STEP_EDIT, event);
        edit->is_diff = in_place;
        edit->path = file.path;
        edit->text = in_place ? xstrdup("") : xstrndup(file.text, file.len);
        edit->done = true;
    }
}

static void add_call(struct reading *g, size_t i) {
    const struct trace_event *e = &g->trace->events[i];
    if (!e->command && edit_follows(g->trace, i)) {
        return;
    }
    struct lesson_step *step =
        add_step(g->steps, e->command ? STEP_RUN : STEP_OTHER, e->number);
    if (e->command) {
        step->text = clean_z(g, e->command);
        step->options = e->text ? lesson_clean(g->r, e->text, e->text_len) : NULL;
        command_read(&step->command, step->text);
        if (!edit_follows(g->trace, i)) {
            add_written(g, step);
        }
    } else {
        step->text =
            e->text ? lesson_clean(g->r, e->text, e->text_len) : clean_z(g, e->path);
        step->path = e->path ? clean_path(g, e->path) : NULL;
    }
}

/* The command that makes this edit is the step before it: it runs what it wrote. */
static bool is_of_command(const struct reading *g, size_t i) {
    const struct steps *s = g->steps;
    const struct lesson_step *before = s->count > 1 ? &s->list[s->count - 2] : NULL;
    for (size_t k = i; before && before->kind == STEP_RUN && k > 0 && i - k < MAX_OPEN; k--) {
        const struct trace_event *call = &g->trace->events[k - 1];
        if (!same_call(call, &g->trace->events[i])) {
            return false;
        }
        if (call->number == before->event) {
            return true;
        }
    }
    return false;
}

static void add_edit(struct reading *g, size_t i) {
    const struct trace_event *e = &g->trace->events[i];
    struct lesson_step *step = add_step(g->steps, STEP_EDIT, e->number);
    step->path = clean_path(g, e->path);
    step->text = e->text ? lesson_clean(g->r, e->text, e->text_len) : NULL;
    step->is_diff = e->is_diff;
    step->failed = e->is_error;
    if (is_of_command(g, i)) {
        struct lesson_step edit = *step;
        step[0] = step[-1];
        step[-1] = edit;
    }
}

/* --- results --- */

bool lesson_runs_own_script(const struct steps *s, const struct lesson_step *run) {
    const char *script = strchr(run->command.keys[run->command.count - 1], ' ');
    size_t at = (size_t)(run - s->list);
    for (size_t i = at; i > 0 && at - i < 4 * LESSONS_REACH && script; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        if (e->kind == STEP_EDIT && !e->is_diff &&
            strcmp(path_basename(e->path), script + 1) == 0) {
            return true;
        }
    }
    return false;
}

/* Its status does not tell: what the session wrote to show an error may print it and end well. */
static bool must_look(const struct reading *g, const struct lesson_step *s) {
    bool masked = (s->command.classes & COMMAND_MASKED) != 0;
    return (!g->has_outcomes || masked ||
            (s->command.count && lesson_runs_own_script(g->steps, s))) &&
           !(s->command.classes & COMMAND_READS);
}

/* "grep: x: No such file" is no failure of what was tried. */
static void drop_lookers(struct lesson_step *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->error_count; i++) {
        const char *quote = s->errors[i].quote;
        if (command_only_looks(quote, strcspn(quote, ": "))) {
            free(s->errors[i].quote);
            free(s->errors[i].normal);
        } else {
            s->errors[kept++] = s->errors[i];
        }
    }
    s->error_count = kept;
}

/* Nobody knows how it ended: it was stopped, or goes on. */
static bool is_cut_off(const struct reading *g, const struct lesson_step *s,
                       const struct trace_event *e) {
    return (g->states_success && !e->has_exit) ||
           strncmp(s->output, "Command running in background", 29) == 0;
}

/* A command that only looks was typed under this name, or a part of it: "grep" for "ugrep". */
static bool was_typed(const char *text, const char *name) {
    for (; *name; name++) {
        if (command_only_looks(name, strlen(name)) && lesson_has_word(text, name)) {
            return true;
        }
    }
    return false;
}

/* All that a command printed is what its own program, git or the shell has against it: "grep: x: No such file". */
static bool only_complains(const struct lesson_step *s) {
    size_t lines = 0;
    for (const char *line = s->output; *line; line = text_next_line(line), lines++) {
        autofree char *name = xstrndup(line, strcspn(line, ": \n"));
        bool git = strcmp(name, "fatal") == 0 && lesson_has_word(s->text, "git");
        bool says = line[strlen(name)] == ':' && (git || was_typed(s->text, name));
        if (!says || lines == MAX_COMPLAINTS) {
            return false;
        }
    }
    return lines > 0;
}

static void judge(struct reading *g, struct lesson_step *s, const struct trace_event *e) {
    bool failed = e->is_error || (e->has_exit && e->exit != 0);
    s->refused = failed && (strstr(s->output, "doesn't want to proceed") != NULL ||
                            strstr(s->output, "rejected by user") != NULL);
    s->refused |= !failed && is_cut_off(g, s, e);
    bool looks = s->command.classes & COMMAND_PROBE &&
                 !(failed && s->command.classes & COMMAND_ASKS);
    failed |= looks && s->kind == STEP_RUN && only_complains(s);
    if (s->kind != STEP_RUN || s->refused || (looks && !failed) ||
        (!failed && !must_look(g, s))) {
        s->failed = failed;
        return;
    }
    s->error_count = lesson_errors(g->r, s->output, failed, s->errors);
    if (!looks) {
        drop_lookers(s);
    }
    bool searched = (s->command.classes & COMMAND_SEARCH) && e->has_exit && e->exit == 1;
    s->failed = s->error_count > 0 || (failed && !searched) ||
                (must_look(g, s) && lesson_counts_failures(g->r, s->output));
}

/* A person's words when refusing a call. */
static void add_refusal(struct reading *g, const struct lesson_step *s, uint32_t event) {
    const char *said = s->refused ? strstr(s->output, "the user said:") : NULL;
    if (said) {
        char *words = xstrdup(said + strlen("the user said:"));
        struct lesson_step *user = add_step(g->steps, STEP_USER, event);
        user->text = words;
    }
}

/* The call that a result is of: by its id, or the latest that waits. */
static struct lesson_step *find_call(struct reading *g, const struct trace_event *result,
                                     const uint32_t *by_event) {
    uint32_t event = by_event ? *by_event : 0;
    for (size_t i = g->steps->count, n = 0; i > 0 && n < MAX_OPEN; i--, n++) {
        struct lesson_step *s = &g->steps->list[i - 1];
        bool open = s->kind == STEP_RUN || s->kind == STEP_OTHER || s->kind == STEP_EDIT;
        if (open && !s->done && (event ? s->event == event : !result->call)) {
            return s;
        }
    }
    return NULL;
}

/* The step that the result is of: its command, else its edit; the edits of a command are done with
 * it, and a patch that it applied failed with it. NULL: neither. */
static struct lesson_step *step_of_result(struct reading *g, size_t i) {
    const struct trace_event *e = &g->trace->events[i];
    struct lesson_step *edit = NULL;
    for (size_t k = i, n = 0; k > 0 && n < 4 * MAX_OPEN && e->call; k--, n++) {
        const struct trace_event *call = &g->trace->events[k - 1];
        bool same = (call->kind == EVENT_CALL || call->kind == EVENT_EDIT) && same_call(call, e);
        uint32_t event = same ? call->number : 0;
        struct lesson_step *s = same ? find_call(g, e, &event) : NULL;
        if (s && s->kind != STEP_EDIT) {
            return s;
        }
        if (edit && !same) {
            break;
        }
        edit = s ? s : edit;
        if (s) {
            s->done = true;
            s->failed = s->is_diff && e->is_error;
        }
    }
    if (edit) {
        edit->failed = e->is_error;
        edit->output = edit->output ? edit->output : lesson_clean(g->r, e->text, text_cut(e->text, e->text_len, MAX_ANSWER));
    }
    return edit || e->call ? NULL : find_call(g, e, NULL);
}

static void add_result(struct reading *g, size_t i) {
    const struct trace_event *e = &g->trace->events[i];
    struct lesson_step *s = step_of_result(g, i);
    if (!s || s->kind == STEP_EDIT) {
        return;
    }
    s->done = true;
    s->result_event = e->number;
    s->output = lesson_clean(g->r, e->text, e->text_len);
    s->stated = (e->has_exit || e->is_error) && !(s->command.classes & COMMAND_MASKED);
    judge(g, s, e);
    add_refusal(g, s, e->number);
}

static void add_words(struct reading *g, const struct trace_event *e,
                      enum step_kind kind) {
    struct lesson_step *step = add_step(g->steps, kind, e->number);
    step->text = lesson_clean(g->r, e->text, e->text_len);
}

static void add_event(struct reading *g, size_t i) {
    const struct trace_event *e = &g->trace->events[i];
    switch (e->kind) {
    case EVENT_USER:
        add_words(g, e, STEP_USER);
        break;
    case EVENT_SAY:
        add_words(g, e, STEP_SAY);
        break;
    case EVENT_CALL:
        add_call(g, i);
        break;
    case EVENT_RESULT:
        add_result(g, i);
        break;
    case EVENT_EDIT:
        if (e->path) {
            add_edit(g, i);
        }
        break;
    case EVENT_THINK:
    case EVENT_USAGE:
        break;
    }
}

void steps_read(struct steps *ret, const struct trace *trace, uint16_t index,
                struct lesson_reader *r) {
    struct reading g = {.steps = ret, .r = r, .trace = trace};
    *ret = (struct steps){.trace = index};
    size_t passed = 0, silent = 0; /* results that say that it passed, or nothing of it */
    r->cwd = trace->cwd;
    list_each(i, e, trace->events, trace->count) {
        bool edited = i > 0 && e[-1].kind == EVENT_EDIT && same_call(&e[-1], e);
        g.has_outcomes |=
            e->kind == EVENT_RESULT && (e->has_exit || (e->is_error && !edited));
        passed += e->kind == EVENT_RESULT && e->has_exit && e->exit == 0;
        silent += e->kind == EVENT_RESULT && !e->has_exit && !e->is_error;
    }
    g.states_success = passed > silent;
    for (size_t i = 0; i < trace->count && !work_is_stopped(); i++) {
        add_event(&g, i);
    }
}

void steps_finish(struct steps *s) {
    list_each(i, step, s->list, s->count) {
        free(step->text);
        free(step->path);
        free(step->output);
        free(step->options);
        command_finish(&step->command);
        for (size_t k = 0; k < step->error_count; k++) {
            free(step->errors[k].quote);
            free(step->errors[k].normal);
        }
    }
    free(s->list);
    *s = (struct steps){0};
}

bool step_is_run(const struct lesson_step *s) {
    return step_may_fail(s) && !(s->command.classes & COMMAND_PROBE);
}

bool step_may_fail(const struct lesson_step *s) {
    return s->kind == STEP_RUN && s->done && !s->refused &&
           (s->command.classes & (COMMAND_PROBE | COMMAND_ASKS)) != COMMAND_PROBE;
}
