/* Text that no program wrote as a trace: notes, logs, shell transcripts, and Markdown
 * exports (SpecStory, Cursor), whose headings say who speaks. Nothing is left out: what
 * is neither a person's turn nor a command is the agent's words, by paragraphs. */
#include "base/buf.h"
#include "base/find.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <ctype.h>

#define MAX_PART (48u << 10) /* a part is handed on when it is as long */

struct text_state {
    struct buf part;    /* lines not yet handed on */
    struct buf command; /* while its lines end in a backslash */
    enum trace_event_kind speaker;
    enum { IN_WORDS, IN_OUTPUT, IN_COMMAND } where;
    char fence;   /* '`' or '~' within a fenced block */
    bool in_tool; /* between <tool-use> and its end */
    bool fence_is_shell, tool_called, tool_answered, is_markdown;
    bool tool_is_other; /* its commands, if it shows any, are not the shell's */
    bool tool_failed;   /* "Error:" stands before what it answered */
    char tool[64];
    unsigned calls;
};

/* --- handing on --- */

static bool looks_like_output(const char *s) {
    static const char *const marks[] = {
        "error:",   "Error:",  "Traceback (most recent", "fatal:", "FAILED",
        "warning:", "npm ERR!"};
    return any_of(i, 0, ARRAY_LEN(marks), strstr(s, marks[i]));
}

static const char *call_id(const struct text_state *t, char out[static 24]) {
    snprintf(out, 24, "call-%u", t->calls);
    return out;
}

/* What an editor's tool answers names the file; what it changed is not in the export. */
static void end_edit(struct trace_build *b, struct text_state *t) {
    static const char *const marks[] = {" has been updated", "created successfully at: "};
    char id[24];
    size_t line = t->tool_is_other && t->part.len ? strcspn(t->part.data, "\n") : 0;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        const char *mark = memmem(t->part.data, line, marks[i], strlen(marks[i]));
        const char *path = mark ? memchr(t->part.data, '/', line) : NULL;
        if (path) {
            autofree char *name = xstrndup(path, strcspn(path, " \n"));
            build_edit(b, call_id(t, id), t->tool, name, "", 0, true);
            return;
        }
    }
}

static void end_output(struct trace_build *b, struct text_state *t) {
    char id[24];
    end_edit(b, t);
    struct trace_event *e = build_result(b, call_id(t, id), t->part.data, t->part.len);
    build_exit_in_text(b, e);
    if (t->in_tool && t->tool_failed) {
        build_failed(b, e);
    }
    t->tool_answered = true;
}

static void end_words(struct trace_build *b, struct text_state *t) {
    autobuf plain = BUF_INIT(8 * MAX_PART);
    bool output =
        t->speaker == EVENT_SAY && !t->is_markdown && looks_like_output(t->part.data);
    if (t->speaker == EVENT_USER) {
        envelope_strip(&plain, t->part.data, t->part.len);
        build_words(b, EVENT_USER, plain.data, plain.len);
    } else if (output) {
        build_result(b, NULL, t->part.data, t->part.len);
    } else {
        build_words(b, t->speaker, t->part.data, t->part.len);
    }
}

static void end_part(struct trace_build *b, struct text_state *t) {
    if (t->where == IN_OUTPUT) {
        end_output(b, t);
    } else if (t->part.len) {
        end_words(b, t);
    }
    buf_reset(&t->part);
    t->where = IN_WORDS;
}

static void add_line(struct trace_build *b, struct text_state *t, const char *s,
                     size_t len) {
    if (t->part.len + len > MAX_PART && t->part.len) {
        bool output = t->where == IN_OUTPUT;
        end_part(b, t);
        t->where = output ? IN_OUTPUT : IN_WORDS;
    }
    buf_add(&t->part, s, len);
    buf_addc(&t->part, '\n');
}

/* --- commands --- */

static void end_command(struct trace_build *b, struct text_state *t) {
    char id[24];
    t->calls++;
    build_command(b, *t->tool ? t->tool : "shell", call_id(t, id), t->command.data);
    buf_reset(&t->command);
    t->where = IN_OUTPUT;
}

static void add_command_line(struct trace_build *b, struct text_state *t, const char *s,
                             size_t len) {
    bool goes_on = len && s[len - 1] == '\\';
    buf_add(&t->command, s, len);
    if (goes_on) {
        buf_addc(&t->command, '\n');
        t->where = IN_COMMAND;
    } else {
        end_command(b, t);
    }
}

/* "$ make", "user@host:~/x$ make", "(venv) $ make", "❯ make": what follows the prompt,
 * or NULL. */
static const char *behind_prompt(const char *s) {
    size_t at = 0;
    if (s[0] == '(') {
        at = strcspn(s, ")\n");
        at = at < 40 && s[at] == ')' ? at + 1 : 0;
        at += strspn(s + at, " ");
    }
    if (strncmp(s + at, "❯ ", 4) == 0) {
        return s + at + 4;
    }
    size_t host =
        at + strspn(s + at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_.-");
    if (s[host] == '@' && host > at && host - at < 64) {
        size_t end = host + strcspn(s + host, "$#>\n ");
        at = (s[end] == '$' || s[end] == '#') && end - host < 200 ? end : at;
    }
    bool prompt = (s[at] == '$' || (s[at] == '#' && at > 0)) && s[at + 1] == ' ';
    const char *command = s + at + 2;
    return prompt && *command && !isspace((unsigned char)*command) ? command : NULL;
}

/* --- speakers --- */

static bool names(const char *s, const char *const *words, size_t *ret) {
    for (; *words; words++) {
        size_t n = strlen(*words);
        if (strncasecmp(s, *words, n) == 0 && !isalnum((unsigned char)s[n])) {
            *ret = n;
            return true;
        }
    }
    return false;
}

/* Whose turn a line like "_**User**_", "## Assistant" or "User: …" begins; *ret_rest: its
 * words on the same line. False: no such line. */
static bool is_speaker(const char *s, bool marked_only, enum trace_event_kind *ret,
                       const char **ret_rest) {
    static const char *const people[] = {"user", "human", "you", "me", NULL};
    static const char *const agents[] = {"assistant", "agent",   "cursor", "claude",
                                         "ai",        "model",   "codex",  "gemini",
                                         "copilot",   "chatgpt", NULL};
    size_t marks = strspn(s, "#*_> "), n;
    while (marks && (unsigned char)s[marks] >= 0x80) { /* a little picture */
        marks++;
        marks += strspn(s + marks, " *_");
    }
    const char *word = s + marks;
    *ret = EVENT_USER;
    if (!names(word, people, &n)) {
        *ret = EVENT_SAY;
        if (!names(word, agents, &n)) {
            return false;
        }
    }
    const char *rest = word + n;
    size_t close = *rest == ' ' && rest[1] == '(' ? strcspn(rest, ")") : 0;
    rest += close && rest[close] ? close + 1 : 0; /* " (2026-01-01 10:00)" */
    bool colon = strchr(rest, ':') && strspn(rest, "*_:") > 0;
    rest += strspn(rest, "*_: ");
    bool heading = marks && s[strspn(s, ">")] != ' ' && (*rest == '\0');
    *ret_rest = rest;
    return heading || (colon && (marks || !marked_only));
}

/* --- Markdown --- */

static bool is_shell_fence(const char *info) {
    static const char *const words[] = {
        "bash", "sh", "shell", "zsh", "console", "shell-session", "terminal", NULL};
    size_t n;
    return names(info, words, &n);
}

static void begin_tool(struct trace_build *b, struct text_state *t, const char *s) {
    const char *type = strstr(s, "data-tool-type=\"");
    end_part(b, t);
    t->in_tool = true;
    t->tool_called = t->tool_answered = t->tool_failed = false;
    t->tool_is_other = type && strncmp(type + 16, "shell\"", 6) != 0;
    t->tool[0] = '\0';
}

/* "<tool-use data-tool-name="Bash">", "<summary>Tool use: **Bash**</summary>". */
static void tool_line(struct trace_build *b, struct text_state *t, const char *s) {
    const char *name = strstr(s, "data-tool-name=\"");
    const char *bold = strstr(s, "Tool use: **");
    size_t skip = name ? 16 : 12, len;
    name = name ? name : bold;
    if (strstr(s, "<tool-use") || (bold && !t->in_tool)) {
        begin_tool(b, t, s);
    }
    if (name && t->in_tool) {
        len = strcspn(name + skip, "\"*<");
        snprintf(t->tool, sizeof t->tool, "%.*s", (int)len, name + skip);
    }
}

/* Without a command line the tool is another; what it shows is its answer. */
static void call_other(struct trace_build *b, struct text_state *t) {
    if (!t->tool_called) {
        char id[24];
        autojson *about = json_text(t->part.data, t->part.len);
        t->calls++;
        t->tool_called = t->tool_is_other = true;
        build_call(b, t->tool, call_id(t, id), about);
        buf_reset(&t->part);
    }
}

/* A tool that answered nothing shows nothing. */
static void end_tool(struct trace_build *b, struct text_state *t) {
    call_other(b, t);
    if (!t->tool_answered) {
        t->where = IN_OUTPUT;
    }
    end_part(b, t);
    t->in_tool = false;
    t->tool[0] = '\0';
}

static void open_fence(struct trace_build *b, struct text_state *t, const char *s) {
    t->fence = s[0];
    t->fence_is_shell = is_shell_fence(s + strspn(s, "`~"));
    if (t->in_tool && (!t->fence_is_shell || t->tool_is_other)) {
        call_other(b, t);
    }
    if (t->in_tool) {
        buf_reset(&t->part); /* a tool's title */
        t->where = IN_WORDS;
    }
}

static void call_shell(struct trace_build *b, struct text_state *t, const char *command,
                       size_t len) {
    buf_add(&t->command, command, len);
    buf_reset(&t->part);
    end_command(b, t);
    t->where = IN_WORDS;
    t->tool_called = true;
}

static void close_fence(struct trace_build *b, struct text_state *t) {
    bool command = t->in_tool && t->fence_is_shell && !t->tool_called;
    t->fence = 0;
    if (command) {
        call_shell(b, t, t->part.data, t->part.len - (t->part.len > 0));
    } else if (t->in_tool) {
        t->where = IN_OUTPUT;
        end_part(b, t);
    } else if (t->where != IN_WORDS) {
        end_part(b, t);
    }
}

/* What stands in a tool's frame besides fences: "`go test ./...`" is a short command. */
static bool framed_line(struct trace_build *b, struct text_state *t, const char *s,
                        size_t len) {
    bool shell = !t->tool_called && !t->tool_is_other;
    if (shell && len > 2 && s[0] == '`' && s[len - 1] == '`') {
        call_shell(b, t, s + 1, len - 2);
        return true;
    }
    t->tool_failed |= strcmp(s, "Error:") == 0;
    return strstr(s, "<details") || strstr(s, "</details") || strcmp(s, "Result:") == 0 ||
           strcmp(s, "Error:") == 0;
}

/* True when the line was a fence or a tool's frame and is done with. */
static bool markdown_line(struct trace_build *b, struct text_state *t, const char *s,
                          size_t len) {
    bool fence = strncmp(s, "```", 3) == 0 || strncmp(s, "~~~", 3) == 0;
    if (fence && (!t->fence || t->fence == s[0])) {
        bool opens = !t->fence;
        bool frames = t->in_tool || t->where != IN_WORDS;
        if (!frames) {
            add_line(b, t, s, len); /* part of the words */
        }
        if (opens) {
            open_fence(b, t, s);
        } else {
            close_fence(b, t);
        }
        return true;
    }
    if (t->fence) {
        return false;
    }
    if (strstr(s, "<tool-use") || strstr(s, "Tool use: **")) {
        tool_line(b, t, s);
        return true;
    }
    if (t->in_tool && strstr(s, "</tool-use>")) {
        end_tool(b, t);
        return true;
    }
    return t->in_tool && framed_line(b, t, s, len);
}

/* --- lines --- */

static void speaker_line(struct trace_build *b, struct text_state *t,
                         enum trace_event_kind kind, const char *rest) {
    if (t->in_tool) {
        end_tool(b, t);
    }
    end_part(b, t);
    t->speaker = kind;
    if (*rest) {
        add_line(b, t, rest, strlen(rest));
    }
}

static bool is_rule(const char *s) {
    size_t n = strspn(s, "-");
    return n >= 3 && s[n] == '\0';
}

static void words_line(struct trace_build *b, struct text_state *t, const char *s,
                       size_t len) {
    bool blank = s[strspn(s, " \t")] == '\0';
    if (t->is_markdown && !t->fence && (is_rule(s) || strncmp(s, "<!--", 4) == 0)) {
        return;
    }
    if (blank && !t->fence && !t->is_markdown && t->where == IN_WORDS) {
        end_part(b, t);
        return;
    }
    if (!blank || t->part.len) {
        add_line(b, t, s, len);
    }
}

static struct text_state *state_of(struct trace_build *b) {
    struct text_state *t = b->state;
    if (!t->part.max) {
        t->part = BUF_INIT(MAX_PART + 2 * TRACE_MAX_LINE);
        t->command = BUF_INIT(2 * TRACE_MAX_LINE);
        t->speaker = EVENT_SAY;
        t->is_markdown = is(b->trace->format, "markdown");
    }
    return t;
}

static void text_line(struct trace_build *b, const char *s, size_t len) {
    struct text_state *t = state_of(b);
    enum trace_event_kind kind;
    const char *rest;
    if (t->where == IN_COMMAND) {
        add_command_line(b, t, s, len);
        return;
    }
    if (markdown_line(b, t, s, len)) {
        return;
    }
    const char *command = t->in_tool ? NULL : behind_prompt(s);
    if (command && (!t->fence || t->fence_is_shell || t->where == IN_OUTPUT)) {
        end_part(b, t);
        add_command_line(b, t, command, len - (size_t)(command - s));
    } else if (!t->fence && t->where == IN_WORDS &&
               is_speaker(s, t->is_markdown, &kind, &rest)) {
        speaker_line(b, t, kind, rest);
    } else {
        words_line(b, t, s, len);
    }
}

static void text_end(struct trace_build *b) {
    struct text_state *t = state_of(b);
    if (t->command.len) {
        end_command(b, t);
    }
    if (t->in_tool) {
        end_tool(b, t);
    }
    end_part(b, t);
    buf_finish(&t->part);
    buf_finish(&t->command);
}

const struct trace_hooks trace_text = {
    .state_size = sizeof(struct text_state),
    .line = text_line,
    .end = text_end,
};
