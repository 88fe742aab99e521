/* What Claude Code shows and /export writes: "> prompt", "● Bash(cmd)", "  ⎿  output",
 * the lines of each wrapped at the width of the terminal. */
#include "base/buf.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#define MAX_PART (2u << 20)

struct claude_text {
    struct buf part;
    enum { AT_NOTHING, AT_USER, AT_SAY, AT_CALL, AT_RESULT } where;
    char tool[64]; /* of the last call */
    char *path;    /* that it changes */
    unsigned calls;
    bool is_open; /* the last call has no result yet */
};

static bool begins(const char *s, const char *word) {
    return strncmp(s, word, strlen(word)) == 0;
}

static const char *call_id(const struct claude_text *t, char out[static 24]) {
    snprintf(out, 24, "call-%u", t->calls);
    return out;
}

/* --- calls --- */

/* Length of a tool's name before its '(', as in "Web Search(": capitalised words; or
 * "server - tool (MCP)(". 0: these are words. */
static size_t name_len(const char *s) {
    const char *mcp = strstr(s, " (MCP)(");
    size_t i = 0, words = 0;
    if (mcp && mcp - s < 60) {
        return (size_t)(mcp - s) + 6;
    }
    while (isupper((unsigned char)s[i]) && words++ < 3) {
        i += strspn(s + i,
                    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
        if (s[i] == '(') {
            return i < 60 ? i : 0;
        }
        i += s[i] == ' ';
    }
    return 0;
}

static const char *const writers[] = {"Write", "Create", NULL},
                         *const editors[] = {"Update", "Edit", "MultiEdit", NULL},
                         *const shells[] = {"Bash", "BashOutput", "Shell", NULL};

static void end_call(struct trace_build *b, struct claude_text *t) {
    char id[24];
    size_t name = name_len(t->part.data), len = t->part.len;
    char *input = t->part.data + name + 1;
    while (len > name + 1 && isspace((unsigned char)t->part.data[len - 1])) {
        len--;
    }
    len -= len > name + 1 && t->part.data[len - 1] == ')';
    t->part.data[len] = '\0';
    t->calls++;
    t->is_open = true;
    snprintf(t->tool, sizeof t->tool, "%.*s", (int)name, t->part.data);
    free(take(t->path));
    if (strings_have(shells, t->tool)) {
        build_command(b, t->tool, call_id(t, id), input);
        return;
    }
    struct trace_event *e = build_event(b, EVENT_CALL);
    if (!e) {
        return;
    }
    build_set_call(b, e, call_id(t, id));
    build_set(b, &e->tool, t->tool);
    bool alters = strings_have(writers, t->tool) || strings_have(editors, t->tool);
    if (alters || strcmp(t->tool, "Read") == 0) {
        build_set(b, &e->path, input);
        t->path = alters ? xstrdup(input) : NULL;
    } else {
        build_set_text(b, e, input, strlen(input));
    }
}

/* --- results --- */

/* "   2 -  name = …" as a line of a diff: the line's number goes, and the two columns
 * behind the sign. A line without a number goes on from the one before. */
static void add_numbered(struct buf *out, const char *s, size_t len) {
    size_t i = strspn(s, " "), digits = strspn(s + i, "0123456789");
    size_t at = i + digits;
    if (len - i == 3 && memcmp(s + i, "...", 3) == 0) {
        buf_adds(out, "@@\n");
    } else if (digits && (at == len || s[at] == ' ')) {
        char sign = at + 1 < len ? s[at + 1] : ' ';
        size_t from = at + 2 < len ? at + 2 : len, columns = 0;
        while (columns < 2 && from < len && s[from] == ' ') {
            from++;
            columns++;
        }
        buf_addc(out, sign == '-' || sign == '+' ? sign : ' ');
        buf_add(out, s + from, len - from);
        buf_addc(out, '\n');
    } else if (i < len) {
        i += (s[i] == '+' || s[i] == '-') && i + 2 < len ? 2 : 0;
        out->len -= out->len > 3; /* the newline */
        buf_adds(out, s[i] == ' ' ? "" : " ");
        buf_add(out, s + i, len - i);
        buf_addc(out, '\n');
    }
}

/* The shown part of the file that the last call changed: everything but its first line.
 */
static void add_edit(struct trace_build *b, struct claude_text *t, const char *shown) {
    char id[24];
    autobuf diff = BUF_INIT(2 * MAX_PART);
    bool numbered = strings_have(editors, t->tool) || begins(t->part.data, "Updated ");
    bool whole = strings_have(writers, t->tool) && !numbered && !strstr(shown, "\n… +");
    if (whole) {
        build_edit(b, call_id(t, id), t->tool, t->path, shown, strlen(shown), false);
        return;
    }
    buf_adds(&diff, "@@\n");
    for (; *shown; shown = text_next_line(shown)) {
        size_t len = strcspn(shown, "\n");
        if (begins(shown, "… +")) {
            buf_adds(&diff, "@@\n");
        } else if (!numbered) {
            buf_addc(&diff, '+');
            buf_add(&diff, shown, len + (shown[len] == '\n'));
        } else {
            add_numbered(&diff, shown, len);
        }
    }
    build_edit(b, call_id(t, id), t->tool, t->path, diff.data, diff.len, true);
}

static void end_result(struct trace_build *b, struct claude_text *t) {
    char id[24];
    const char *s = t->part.data;
    while (t->part.len > 1 && memcmp(s + t->part.len - 2, "\n\n", 2) == 0) {
        t->part.data[--t->part.len] = '\0'; /* blank lines before what follows */
    }
    if (begins(s, "Waiting…\n") || begins(s, "Running…\n")) {
        return; /* its result comes below */
    }
    bool failed = begins(s, "Error") || begins(s, "Interrupted") ||
                  strstr(s, "User rejected") || strstr(s, "rejected by user");
    const char *newline = strchr(s, '\n');
    if (t->path && !failed && newline && newline[1]) {
        add_edit(b, t, newline + 1);
    }
    if (begins(s, "(No content)") || begins(s, "(no content)")) {
        buf_reset(&t->part);
    }
    size_t mark = begins(s, "Error: ") ? strlen("Error: ") : 0; /* the harness's own */
    struct trace_event *e = build_result(b, t->is_open ? call_id(t, id) : NULL,
                                         t->part.data + mark, t->part.len - mark);
    t->is_open = false;
    if (failed) {
        build_failed(b, e);
        build_exit_in_text(b, e);
    }
    free(take(t->path));
}

/* --- parts --- */

static void end_part(struct trace_build *b, struct claude_text *t) {
    autobuf plain = BUF_INIT(MAX_PART);
    switch (t->where) {
    case AT_USER:
        t->is_open = false;
        envelope_strip(&plain, t->part.data, t->part.len);
        build_words(b, EVENT_USER, plain.data, plain.len);
        break;
    case AT_SAY:
        build_words(b, EVENT_SAY, t->part.data, t->part.len);
        break;
    case AT_CALL:
        end_call(b, t);
        break;
    case AT_RESULT:
        end_result(b, t);
        break;
    case AT_NOTHING:
        break;
    }
    buf_reset(&t->part);
    t->where = AT_NOTHING;
}

static void begin_part(struct trace_build *b, struct claude_text *t, int where,
                       const char *s) {
    end_part(b, t);
    t->where = where;
    buf_adds(&t->part, s);
    buf_addc(&t->part, '\n');
}

/* "│   /fsx/me/project   │" and "│   Opus 4.5 · Claude Max │" of the first screen. */
static void banner_line(struct trace_build *b, const char *s) {
    const char *cell = s + strlen("│");
    cell += strspn(cell, " ");
    const char *end = strstr(cell, "│");
    size_t len = end ? (size_t)(end - cell) : strlen(cell);
    while (len && cell[len - 1] == ' ') {
        len--;
    }
    autofree char *text = xstrndup(cell, len);
    if (text[0] == '/' || begins(text, "~/") || begins(text, "cwd: ")) {
        build_name(&b->trace->cwd, text + (begins(text, "cwd: ") ? 5 : 0));
    } else if (begins(text, "Opus") || begins(text, "Sonnet") || begins(text, "Haiku")) {
        text[strcspn(text, "(\xc2")] = '\0';
        while (*text && text[strlen(text) - 1] == ' ') {
            text[strlen(text) - 1] = '\0';
        }
        build_name(&b->trace->model, text);
    }
}

/* Words after the mark that begins the line, or NULL. */
static const char *behind_mark(const char *s, const char *const *marks) {
    for (; *marks; marks++) {
        if (begins(s, *marks)) {
            s += strlen(*marks);
            return s + strspn(s, " ");
        }
    }
    return NULL;
}

static void continue_part(struct claude_text *t, const char *s, size_t len) {
    size_t indent = strspn(s, " "), strip = t->where == AT_RESULT ? 5 : 2;
    if (t->where == AT_CALL) { /* wrapped: between words, or within a long one */
        bool within = indent >= 7 && !memchr(t->part.data, ' ', t->part.len);
        t->part.len -= t->part.len > 0;
        t->part.data[t->part.len] = '\0';
        buf_adds(&t->part, within ? "" : indent > 6 ? "\n" : " ");
        strip = indent;
    }
    strip = indent < strip ? indent : strip;
    while (t->where != AT_CALL && len > strip && s[len - 1] == ' ') {
        len--;
    }
    buf_add(&t->part, s + strip, len - strip);
    buf_addc(&t->part, '\n');
}

/* A person's turn follows a blank line; what a command prints right below its last line
 * is not one, whatever it begins with. */
static bool is_within_result(const struct claude_text *t) {
    const char *end = t->part.data + t->part.len;
    return t->where == AT_RESULT && t->part.len > 1 && end[-2] != '\n';
}

static void claude_text_line(struct trace_build *b, const char *s, size_t len) {
    static const char *const prompts[] = {"> ", ">\xc2\xa0", "❯ ", "❯\xc2\xa0", NULL};
    static const char *const bullets[] = {"⏺ ", "● ", "⏺\xc2\xa0", "●\xc2\xa0", NULL};
    static const char *const results[] = {"  ⎿", "⎿", " ⎿", NULL};
    static const char *const status[] = {"✻", "✽", "✶", "✢", "✳", "∴", "╭", "╰", NULL};
    struct claude_text *t = b->state;
    t->part.max = MAX_PART;
    t->part.data = t->part.data ? t->part.data : buf_empty;
    const char *rest;
    if ((rest = behind_mark(s, results))) {
        rest += strspn(rest, " \t");
        rest += begins(rest, "\xc2\xa0") ? 2 : 0;
        begin_part(b, t, AT_RESULT, rest + strspn(rest, " "));
    } else if ((rest = behind_mark(s, bullets))) {
        begin_part(b, t, name_len(rest) ? AT_CALL : AT_SAY, rest);
    } else if (!is_within_result(t) && (rest = behind_mark(s, prompts))) {
        begin_part(b, t, AT_USER, rest);
    } else if (begins(s, "│") && t->where == AT_NOTHING) {
        banner_line(b, s);
    } else if (behind_mark(s, status)) {
        end_part(b, t);
    } else if (t->where != AT_NOTHING) {
        continue_part(t, s, len);
    } else if (s[strspn(s, " ")]) {
        begin_part(b, t, AT_SAY, s);
    }
}

static void claude_text_end(struct trace_build *b) {
    struct claude_text *t = b->state;
    if (t->part.data) {
        end_part(b, t);
        buf_finish(&t->part);
        free(t->path);
    }
}

const struct trace_hooks trace_text_claude = {
    .state_size = sizeof(struct claude_text),
    .line = claude_text_line,
    .end = claude_text_end,
};
