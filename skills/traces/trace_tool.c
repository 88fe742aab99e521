#include "skills/traces/trace_tool.h"

#include "base/buf.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/trace_words_table.h"
#include "skills/traces/redaction_secrets.h"
#include "skills/traces/trace_clean.h"
#include "skills/traces/trace_shell.h"

#define MAX_OPTIONS 400u
#define OPTION_LETTERS "abcdefghijklmnopqrstuvwxyz_"
#define MAX_INPUT_TEXT (16u << 10) /* of a call's input as JSON */

static const char *first_string(const json_t *object, const char *const *keys) {
    for (; *keys; keys++) {
        const char *s = json_get_string(object, *keys, NULL);
        if (s) {
            return s;
        }
    }
    return NULL;
}

static const char *path_of(const json_t *input) {
    return first_string(input, path_keys);
}

/* --- diffs --- */

static void add_lines(struct buf *out, char sign, const char *s) {
    for (; *s; s = text_next_line(s)) {
        buf_addc(out, sign);
        buf_add(out, s, strcspn(s, "\n"));
        buf_addc(out, '\n');
    }
}

static void diff_of_strings(struct buf *out, const char *before, const char *after) {
    buf_adds(out, "@@\n");
    add_lines(out, '-', before);
    add_lines(out, '+', after);
}

/* --- patches --- */

struct patch {
    struct trace_build *b;
    const char *tool, *call;
    char *path;
    char kind; /* 'A' add, 'U' update, 'D' delete, 0 none yet */
    struct buf text;
    bool any;
};

static void end_file(struct patch *p) {
    if (p->kind) {
        bool gone = p->kind == 'D';
        build_edit(p->b, p->call, p->tool, p->path, gone ? NULL : p->text.data,
                   p->text.len, p->kind != 'A');
        p->any = true;
    }
    buf_reset(&p->text);
    free(take(p->path));
    p->kind = 0;
}

static void begin_file(struct patch *p, char kind, const char *line, size_t len) {
    end_file(p);
    while (len && (line[len - 1] == '\r' || line[len - 1] == ' ')) {
        len--;
    }
    p->kind = kind;
    p->path = xstrndup(line, len);
}

static bool begins(const char *line, size_t len, const char *word) {
    return len >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

static void patch_line(struct patch *p, const char *line, size_t len) {
    static const struct {
        const char *head;
        char kind;
    } heads[] = {
        {"*** Add File: ", 'A'}, {"*** Update File: ", 'U'}, {"*** Delete File: ", 'D'}};
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        size_t n = strlen(heads[i].head);
        if (begins(line, len, heads[i].head)) {
            begin_file(p, heads[i].kind, line + n, len - n);
            return;
        }
    }
    if (begins(line, len, "*** Move to: ") && p->kind) {
        free(p->path);
        p->path = xstrndup(line + 13, len - 13);
    } else if (p->kind == 'A' && len && line[0] == '+') {
        buf_add(&p->text, line + 1, len - 1);
        buf_addc(&p->text, '\n');
    } else if (p->kind == 'U' && !begins(line, len, "*** ")) {
        buf_add(&p->text, line, len);
        buf_addc(&p->text, '\n');
    }
}

/* EDITs of "*** Begin Patch … *** End Patch". True when there was one. */
static bool build_patch(struct trace_build *b, const char *tool, const char *call,
                        const char *text) {
    const char *s = strstr(text, "*** Begin Patch");
    struct patch p = {
        .b = b, .tool = tool, .call = call, .text = BUF_INIT(TRACE_MAX_RECORD)};
    for (; s && *s && strncmp(s, "*** End Patch", 13) != 0; s = text_next_line(s)) {
        patch_line(&p, s, strcspn(s, "\n"));
    }
    end_file(&p);
    buf_finish(&p.text);
    return p.any;
}

/* --- commands --- */

static struct trace_event *new_call(struct trace_build *b, const char *tool,
                                    const char *call) {
    struct trace_event *e = build_event(b, EVENT_CALL);
    if (e) {
        build_set_call(b, e, call);
        build_set(b, &e->tool, tool);
    }
    return e;
}

struct trace_event *build_command(struct trace_build *b, const char *tool,
                                  const char *call, const char *command) {
    autofree char *inner = shell_unwrap(command);
    struct trace_event *e = new_call(b, tool, call);
    build_set_command(b, e, inner);
    if (!e) {
        return NULL;
    }
    size_t index = (size_t)(e - b->trace->events), at = 0;
    build_patch(b, tool, call, inner);
    for (struct shell_file file; shell_next_file(inner, &at, &file);) {
        if (file.appends) {
            autobuf diff = BUF_INIT(2 * TRACE_MAX_RECORD);
            autofree char *text = xstrndup(file.text, file.len);
            diff_of_strings(&diff, "", text);
            build_edit(b, call, tool, file.path, diff.data, diff.len, true);
        } else {
            build_edit(b, call, tool, file.path, file.text, file.len, false);
        }
        free(file.path);
    }
    return &b->trace->events[index];
}

/* "command": "…", ["bash", "-lc", "…"], or "cmd". To be freed; NULL: none. */
static char *command_of(const json_t *input) {
    const char *s = first_string(input, command_keys);
    if (s) {
        return *s ? xstrdup(s) : NULL;
    }
    const json_t *list = json_object_get(input, "command");
    list = list ? list : json_object_get(input, "cmd");
    size_t count = json_array_size(list);
    if (!count || count > 4096) {
        return NULL;
    }
    autofree const char **words = xcalloc(count, sizeof *words);
    json_each(list, i, word) {
        words[i] = json_is_string(word) ? json_string_value(word) : "";
    }
    return shell_join(words, count);
}

/* --- files --- */

struct edit_strings {
    const char *before, *after;
};

static bool strings_of(const json_t *input, struct edit_strings *ret) {
    ret->before = first_string(input, before_keys);
    ret->after = first_string(input, after_keys);
    return ret->before && ret->after;
}

/* {"edits": [{old_string, new_string} …]} or one of them; false: neither. */
static bool edits_diff(struct buf *out, const json_t *input) {
    struct edit_strings strings;
    const json_t *edits = json_object_get(input, "edits");
    if (strings_of(input, &strings)) {
        diff_of_strings(out, strings.before, strings.after);
    }
    json_each(edits, i, edit) {
        if (strings_of(edit, &strings)) {
            diff_of_strings(out, strings.before, strings.after);
        }
    }
    return out->len > 0;
}

static void add_edits(struct trace_build *b, const char *tool, const char *call,
                      const json_t *input, const char *path) {
    autobuf diff = BUF_INIT(2 * TRACE_MAX_RECORD);
    const char *text;
    if ((text = first_string(input, patch_keys)) && build_patch(b, tool, call, text)) {
        return;
    }
    if (!path) {
        return;
    }
    if (edits_diff(&diff, input)) {
        build_edit(b, call, tool, path, diff.data, diff.len, true);
    } else if ((text = first_string(input, content_keys))) {
        bool whole = !json_object_get(input, "new_source");
        build_edit(b, call, tool, path, text, strlen(text), !whole);
    } else if ((text = json_get_string(input, "insert_text", NULL)) ||
               (json_object_get(input, "insert_line") &&
                (text = json_get_string(input, "new_str", NULL)))) {
        diff_of_strings(&diff, "", text);
        build_edit(b, call, tool, path, diff.data, diff.len, true);
    } else if ((text = first_string(input, diff_keys))) {
        build_edit(b, call, tool, path, text, strlen(text), true);
    }
}

static void set_input(struct trace_build *b, struct trace_event *e, const json_t *input) {
    autobuf text = BUF_INIT(4 * TRACE_MAX_RECORD);
    if (e && input && json_object_size(input) + json_array_size(input) > 0 &&
        json_write(&text, input) == 0) {
        autobuf cut = BUF_INIT(2 * MAX_INPUT_TEXT);
        clean_cut(&cut, text.data, text.len, MAX_INPUT_TEXT, text.len);
        build_set_text(b, e, cut.data, cut.len);
        e->text_full = text.len;
    }
}

/* A patch of one file: the call is about it. */
static void name_file(struct trace_build *b, size_t index) {
    struct trace_event *e = &b->trace->events[index];
    if (!e->path && b->trace->count == index + 2 && e[1].kind == EVENT_EDIT) {
        build_set(b, &e->path, e[1].path);
    }
}

/* How it was to be run, besides the command's text: "sandbox_permissions=require_escalated".
 * Sentences, numbers and secrets are not; nor what only sends it to the background. */
static void set_options(struct trace_build *b, struct trace_event *e, const json_t *input) {
    autobuf out = BUF_INIT(MAX_OPTIONS);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)input, key, value) {
        const char *word = json_is_true(value) ? "true" : json_string_value(value);
        bool named = word && (json_is_true(value) || strchr(word, '_')) &&
                     strspn(word, OPTION_LETTERS) == strlen(word);
        if (named && !strstr(key, "background") && !secret_naming(key, strlen(key))) {
            buf_addf(&out, "%s%s=%s", out.len ? " " : "", key, word);
        }
    }
    if (e && out.len) {
        build_set_text(b, e, out.data, out.len);
    }
}

static struct trace_event *call_of_object(struct trace_build *b, const char *tool,
                                          const char *call, const json_t *input) {
    autofree char *command = command_of(input);
    if (command && !(strings_have(editor_commands, command) && path_of(input))) {
        struct trace_event *e = build_command(b, tool, call, command);
        set_options(b, e, input);
        return e;
    }
    const char *path = path_of(input);
    struct trace_event *e = new_call(b, tool, call);
    if (!e) {
        return NULL;
    }
    size_t index = (size_t)(e - b->trace->events), count = b->trace->count;
    build_set(b, &e->path, path);
    add_edits(b, tool, call, input, path);
    name_file(b, index);
    if (b->trace->count == count) {
        set_input(b, &b->trace->events[index], input);
    }
    return &b->trace->events[index];
}

struct trace_event *build_call(struct trace_build *b, const char *tool, const char *call,
                               const json_t *input) {
    struct trace_event *known = build_find(b, EVENT_CALL, call);
    if (known) {
        return known;
    }
    if (!json_is_string(input)) {
        return call_of_object(b, tool, call, input);
    }
    const char *text = json_string_value(input);
    autofree char *copy = xstrndup(text, json_string_length(input));
    autojson *parsed =
        text[strspn(text, " \n\t")] == '{' ? json_parse(copy, strlen(copy), NULL) : NULL;
    if (json_is_object(parsed)) {
        return call_of_object(b, tool, call, parsed);
    }
    struct trace_event *e = new_call(b, tool, call);
    if (!e) {
        return NULL;
    }
    size_t index = (size_t)(e - b->trace->events);
    if (!build_patch(b, tool, call, text)) {
        build_set_text(b, &b->trace->events[index], text, strlen(text));
    }
    name_file(b, index);
    return &b->trace->events[index];
}
