#include "skills/traces/trace_build.h"

#include "base/buf.h"
#include "skills/traces/trace_clean.h"

#include <ctype.h>

#define MAX_OF_RECORD 8192 /* events that one record surely may have */
#define MAX_SHORT 1024     /* of an id, a path or a name */
#define MAX_COMMAND (32 << 10)
#define LOOK_BACK 768 /* events that a result may lie behind its call */
#define TAIL_LINES 3u /* above the last line, where a harness says how a command ended */
#define EVENT_BYTES (sizeof(struct trace_event) + sizeof(struct trace_mark))
#define STRING_BYTES 24 /* malloc's own */

void build_init(struct trace_build *b, struct trace *t) {
    *b = (struct trace_build){.trace = t, .max_text = TRACE_MAX_TEXT};
}

void build_finish(struct trace_build *b) {
    for (size_t i = 0; i < b->trace->count; i++) {
        b->trace->events[i].number = (uint32_t)i + 1;
    }
    free(b->marks);
    free(b->state);
    b->marks = NULL;
    b->state = NULL;
}

static uint32_t hash_of(const char *s) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *s; s++) {
        h = (h ^ (unsigned char)*s) * 16777619u;
    }
    return h ? h : 1;
}

/* --- the limit of all texts --- */

static size_t max_text_of(const struct trace_build *b, enum trace_event_kind kind) {
    return kind == EVENT_EDIT ? b->max_text * (TRACE_MAX_FILE_TEXT / TRACE_MAX_TEXT)
                              : b->max_text;
}

static void shorten(struct trace_build *b, struct trace_event *e) {
    size_t max = max_text_of(b, e->kind);
    if (!e->text || e->text_len <= max) {
        return;
    }
    autobuf cut = BUF_INIT(SIZE_MAX / 4);
    clean_cut(&cut, e->text, e->text_len, max, e->text_full);
    b->kept -= e->text_len - cut.len;
    e->text_len = cut.len;
    free(e->text);
    e->text = xstrndup(cut.data, cut.len); /* exactly as long as it needs to be */
}

/* True when there is room; makes some by cutting the long texts. */
static bool make_room(struct trace_build *b, size_t len) {
    while (b->kept + len > TRACE_MAX_KEPT && b->max_text > 256) {
        b->max_text /= 2;
        for (size_t i = 0; i < b->trace->count; i++) {
            shorten(b, &b->trace->events[i]);
        }
    }
    return b->kept + len <= TRACE_MAX_KEPT;
}

/* --- events --- */

static void grow(struct trace_build *b) {
    size_t cap = b->cap ? b->cap + b->cap / 2 : 64;
    b->cap = cap < TRACE_MAX_EVENTS ? cap : TRACE_MAX_EVENTS;
    b->trace->events = xreallocarray(b->trace->events, b->cap, sizeof *b->trace->events);
    b->marks = xreallocarray(b->marks, b->cap, sizeof *b->marks);
}

static void event_finish(struct trace_event *e) {
    free(e->call);
    free(e->tool);
    free(e->command);
    free(e->path);
    free(e->text);
}

static size_t bytes_of(const struct trace_event *e) {
    const char *const strings[] = {e->call, e->tool, e->command, e->path, e->text};
    size_t bytes = EVENT_BYTES;
    for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
        bytes += strings[i] ? strlen(strings[i]) + STRING_BYTES : 0;
    }
    return bytes;
}

/* How a trace begins and how it ends says the most: the older half of what is between
 * goes. */
static void drop_middle(struct trace_build *b) {
    struct trace *t = b->trace;
    size_t from = t->count / 10, to = from + t->count / 2;
    for (size_t i = from; i < to; i++) {
        b->kept -= bytes_of(&t->events[i]);
        event_finish(&t->events[i]);
    }
    memmove(t->events + from, t->events + to, (t->count - to) * sizeof *t->events);
    memmove(b->marks + from, b->marks + to, (t->count - to) * sizeof *b->marks);
    t->count -= to - from;
    t->dropped += to - from;
    b->moved++;
}

void build_room(struct trace_build *b) {
    if (b->trace->count > TRACE_MAX_EVENTS - MAX_OF_RECORD || !make_room(b, 0)) {
        drop_middle(b);
    }
}

struct trace_event *build_event(struct trace_build *b, enum trace_event_kind kind) {
    struct trace *t = b->trace;
    if (t->count == TRACE_MAX_EVENTS || !make_room(b, EVENT_BYTES)) {
        t->dropped++;
        return NULL;
    }
    if (t->count == b->cap) {
        grow(b);
    }
    b->kept += EVENT_BYTES;
    b->marks[t->count] = b->mark;
    struct trace_event *e = &t->events[t->count++];
    *e = (struct trace_event){.kind = kind};
    return e;
}

void build_set_text(struct trace_build *b, struct trace_event *e, const char *s,
                    size_t len) {
    if (!e) {
        return;
    }
    autobuf text = BUF_INIT(SIZE_MAX / 4);
    size_t max = max_text_of(b, e->kind);
    enum clean_how how = e->kind == EVENT_RESULT ? CLEAN_TERMINAL
                         : e->kind == EVENT_EDIT ? CLEAN_FILE
                                                 : CLEAN_WORDS;
    size_t full = len + (len >= CLEAN_LEFT_OUT ? b->left_out : 0);
    clean_text(&text, s, len, max, how, full);
    b->kept -= e->text ? e->text_len + STRING_BYTES : 0;
    free(take(e->text));
    if (!make_room(b, text.len + STRING_BYTES)) {
        b->trace->dropped++;
        e->text_len = 0;
        return;
    }
    e->text = xstrndup(text.data, text.len);
    e->text_len = strlen(e->text);
    e->text_full = full > text.len ? full : text.len;
    b->kept += e->text_len + STRING_BYTES;
}

static void set_limited(struct trace_build *b, char **field, const char *s, size_t max) {
    if (!s || !*s) {
        return;
    }
    size_t len = strlen(s);
    autobuf text = BUF_INIT(SIZE_MAX / 4);
    clean_text(&text, s, len, max, CLEAN_WORDS, len);
    b->kept -= *field ? strlen(*field) + STRING_BYTES : 0;
    free(take(*field));
    if (text.len && make_room(b, text.len + STRING_BYTES)) {
        b->kept += text.len + STRING_BYTES;
        *field = xstrndup(text.data, text.len);
    }
}

void build_set(struct trace_build *b, char **field, const char *s) {
    set_limited(b, field, s, MAX_SHORT);
}

void build_set_command(struct trace_build *b, struct trace_event *e, const char *s) {
    if (e) {
        set_limited(b, &e->command, s, MAX_COMMAND);
    }
}

static bool is_blank(const char *s, size_t len) {
    while (len && isspace((unsigned char)s[len - 1])) {
        len--;
    }
    return len == 0;
}

struct trace_event *build_words(struct trace_build *b, enum trace_event_kind kind,
                                const char *s, size_t len) {
    if (!s || is_blank(s, len)) {
        return NULL;
    }
    struct trace_event *e = build_event(b, kind);
    build_set_text(b, e, s, len);
    return e;
}

bool build_is_said(const struct trace_build *b, enum trace_event_kind kind,
                   const char *s) {
    for (size_t i = b->trace->count; b->mark.group && i && b->trace->count - i < 16;
         i--) {
        const struct trace_event *e = &b->trace->events[i - 1];
        if (b->marks[i - 1].group == b->mark.group && e->kind == kind && e->text &&
            strcmp(e->text, s) == 0) {
            return true;
        }
    }
    return false;
}

void build_set_call(struct trace_build *b, struct trace_event *e, const char *call) {
    if (e && call && *call) {
        build_set(b, &e->call, call);
        b->marks[e - b->trace->events].call = hash_of(call);
    }
}

/* A harness that refuses a call says so in a tag, also in formats without a sign of failure. */
static bool is_refused(const char *s, size_t len) {
    static const char tag[] = "<tool_use_error>";
    return len >= sizeof tag && memcmp(s, tag, sizeof tag - 1) == 0;
}

struct trace_event *build_result(struct trace_build *b, const char *call, const char *s,
                                 size_t len) {
    struct trace_event *e = build_event(b, EVENT_RESULT);
    build_set_call(b, e, call);
    build_set_text(b, e, s, len);
    if (is_refused(s, len)) {
        build_failed(b, e);
    }
    return e;
}

struct trace_event *build_result_json(struct trace_build *b, const char *call,
                                      const json_t *content) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, content);
    return build_result(b, call, text.data, text.len);
}

struct trace_event *build_edit(struct trace_build *b, const char *call, const char *tool,
                               const char *path, const char *s, size_t len,
                               bool is_diff) {
    struct trace_event *e = build_event(b, EVENT_EDIT);
    if (!e) {
        return NULL;
    }
    build_set_call(b, e, call);
    build_set(b, &e->tool, tool);
    build_set(b, &e->path, path);
    e->is_diff = is_diff;
    if (s) {
        build_set_text(b, e, s, len);
    }
    return e;
}

void build_usage(struct trace_build *b, uint64_t input, uint64_t output) {
    struct trace_event *e = input || output ? build_event(b, EVENT_USAGE) : NULL;
    if (e) {
        e->input_tokens = input;
        e->output_tokens = output;
    }
}

/* --- results --- */

static struct trace_event *find_from(struct trace_build *b, enum trace_event_kind kind,
                                     const char *call, size_t before) {
    uint32_t hash = call && *call ? hash_of(call) : 0;
    size_t end = before > LOOK_BACK ? before - LOOK_BACK : 0;
    for (size_t i = before; hash && i > end; i--) {
        struct trace_event *e = &b->trace->events[i - 1];
        if (b->marks[i - 1].call == hash && e->kind == kind && e->call &&
            strncmp(e->call, call, MAX_SHORT / 2) == 0) {
            return e;
        }
    }
    return NULL;
}

struct trace_event *build_find(struct trace_build *b, enum trace_event_kind kind,
                               const char *call) {
    return find_from(b, kind, call, b->trace->count);
}

void build_failed(struct trace_build *b, struct trace_event *e) {
    if (!e) {
        return;
    }
    e->is_error = true;
    const char *call = e->call;
    size_t before = b->trace->count;
    while ((e = find_from(b, EVENT_EDIT, call, before))) {
        e->is_error = true;
        before = (size_t)(e - b->trace->events);
    }
}

void build_exit(struct trace_build *b, struct trace_event *e, int code) {
    if (e) {
        e->has_exit = true;
        e->exit = code;
        if (code) {
            build_failed(b, e);
        }
    }
}

void build_exit_json(struct trace_build *b, struct trace_event *e, const json_t *code) {
    if (json_is_integer(code)) {
        build_exit(b, e, (int)json_integer_value(code));
    }
}

/* The mark where it begins one of the TAIL_LINES that end at `end`: "Exit Code: 1" above "Process
 * Group PGID: 12". Or NULL. */
static const char *begins_line_before(const char *text, const char *end, const char *mark) {
    for (size_t i = 0; i < TAIL_LINES; i++) {
        const char *newline = memrchr(text, '\n', (size_t)(end - text));
        if (!newline) {
            break;
        }
        if (strncmp(newline + 1, mark, strlen(mark)) == 0) {
            return newline + 1;
        }
        end = newline;
    }
    return NULL;
}

void build_exit_in_text(struct trace_build *b, struct trace_event *e) {
    static const char *const marks[] = {
        "Exit code ",  "Exit code: ",       "Exit Code: ",    "exit code: ",
        "exit_code: ", "exited with code ", "exit status ",   "returned exit code ",
        "<exit_code>", "\"exit_code\": ",   "\"exit_code\":", "with exit code ",
        "<returncode>",
    };
    if (!e || !e->text || e->has_exit) {
        return;
    }
    /* Only where a harness puts it: in its own head or last line. */
    size_t head = e->text_len < 240 ? e->text_len : 240;
    const char *newline = memrchr(e->text, '\n', e->text_len);
    const char *tail = newline && newline > e->text + head ? newline + 1 : NULL;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        const char *at = memmem(e->text, head, marks[i], strlen(marks[i]));
        at = at || !tail ? at : strstr(tail, marks[i]);
        at = at || !tail ? at : begins_line_before(e->text + head, newline, marks[i]);
        const char *number = at ? at + strlen(marks[i]) : "";
        if (isdigit((unsigned char)number[0]) ||
            (number[0] == '-' && isdigit((unsigned char)number[1]))) {
            build_exit(b, e, (int)strtol(number, NULL, 10));
            return;
        }
    }
}

/* --- the whole --- */

void build_filter(struct trace_build *b,
                  bool (*keep)(void *data, const struct trace_event *e,
                               const struct trace_mark *m),
                  void *data) {
    struct trace *t = b->trace;
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!keep(data, &t->events[i], &b->marks[i])) {
            event_finish(&t->events[i]);
            continue;
        }
        t->events[kept] = t->events[i];
        b->marks[kept++] = b->marks[i];
    }
    t->count = kept;
}

void trace_finish(struct trace *t) {
    for (size_t i = 0; i < t->count; i++) {
        event_finish(&t->events[i]);
    }
    free(t->events);
    free(t->name);
    free(t->model);
    free(t->cwd);
    *t = (struct trace){0};
}

void build_name(char **field, const char *s) {
    if (!*field && s && *s) {
        autobuf text = BUF_INIT(SIZE_MAX / 4);
        clean_text(&text, s, strlen(s), MAX_SHORT, CLEAN_WORDS, strlen(s));
        *field = text.len ? xstrndup(text.data, text.len) : NULL;
    }
}

/* --- content --- */

static void block_text(struct buf *out, const json_t *block) {
    static const char *const keys[] = {"text", "content", "output", "thinking"};
    if (json_is_string(block)) {
        buf_add(out, json_string_value(block), json_string_length(block));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const json_t *text = json_object_get(block, keys[i]);
        if (json_is_string(text)) {
            buf_add(out, json_string_value(text), json_string_length(text));
            return;
        }
    }
    const char *type = json_get_string(block, "type", NULL);
    if (type && strlen(type) < 40) {
        buf_addf(out, "[%s]", type);
    }
}

void content_text(struct buf *out, const json_t *content) {
    if (!json_is_array(content)) {
        block_text(out, content);
        return;
    }
    json_each(content, i, block) {
        if (out->len && out->data[out->len - 1] != '\n') {
            buf_addc(out, '\n');
        }
        block_text(out, block);
    }
}

uint64_t build_count(const json_t *number) {
    double value = json_is_number(number) ? json_number_value(number) : 0;
    return value > 0 && value < 1e15 ? (uint64_t)value : 0;
}
