/* Which format a file is, by its beginning (docs/architecture/traces.md). */
#include "base/err.h"
#include "skills/traces/trace_reader.h"

#include <errno.h>
#include <string.h>

#define SNIFF_LINES 20

static const struct {
    const char *bytes;
    size_t len;
    const char *what;
} magics[] = {
    {"SQLite format 3", 16,
     "this is a database of opencode or Cursor: export the session (opencode export ID, "
     "or Cursor's Export Chat) and give that file"},
    {"PK\3\4", 4,
     "this is a zip archive: unpack it and give the trace inside (of an .eval file, "
     "`inspect log dump`)"},
    {"\x1f\x8b", 2, "this is compressed with gzip: unpack it with gunzip first"},
    {"\x28\xb5\x2f\xfd", 4, "this is compressed with zstd: unpack it with unzstd first"},
    {"\xfd"
     "7zXZ",
     5, "this is compressed with xz: unpack it with unxz first"},
    {"%PDF-", 5, "this is a PDF: export the session as text, Markdown or JSON"},
    {"\x7f"
     "ELF",
     4, "this is a program, not a trace"},
    {"\x89PNG", 4, "this is a picture, not a trace"},
};

static bool is_type(const json_t *record, const char *const *types) {
    const char *type = json_get_string(record, "type", "");
    for (; *types; types++) {
        if (strcmp(type, *types) == 0) {
            return true;
        }
    }
    return false;
}

static bool has(const json_t *object, const char *key) {
    return json_object_get(object, key) != NULL;
}

static bool begins(const char *s, const char *head) {
    return strncmp(s, head, strlen(head)) == 0;
}

/* --- by one record --- */

static bool is_codex(const json_t *r) {
    static const char *const wrapped[] = {"session_meta", "response_item", "event_msg",
                                          "turn_context", "compacted",     NULL};
    static const char *const bare[] = {"function_call", "function_call_output",
                                       "local_shell_call", "custom_tool_call", NULL};
    const char *part =
        json_get_string(json_array_get(json_object_get(r, "content"), 0), "type", "");
    return (is_type(r, wrapped) && has(r, "payload")) ||
           (is_type(r, bare) && has(r, "call_id")) ||
           (strcmp(json_get_string(r, "type", ""), "message") == 0 && has(r, "role") &&
            (begins(part, "input_") || begins(part, "output_"))) ||
           (has(r, "instructions") && has(r, "git") && has(r, "timestamp"));
}

static bool is_codex_exec(const json_t *r) {
    const char *type = json_get_string(r, "type", "");
    return strcmp(type, "thread.started") == 0 || begins(type, "turn.") ||
           begins(type, "item.");
}

static bool is_claude_code(const json_t *r) {
    static const char *const side[] = {"file-history-snapshot", "queue-operation",
                                       "last-prompt", "custom-title", NULL};
    return has(r, "parentUuid") || has(r, "leafUuid") || is_type(r, side) ||
           (has(r, "sessionId") && has(r, "uuid"));
}

static bool is_claude_stream(const json_t *r) {
    static const char *const types[] = {"assistant", "user", "result", "stream_event",
                                        NULL};
    return (strcmp(json_get_string(r, "type", ""), "system") == 0 && has(r, "subtype")) ||
           (is_type(r, types) && has(r, "session_id"));
}

static bool is_opencode_run(const json_t *r) {
    return has(r, "sessionID") && has(r, "part");
}

static bool is_gemini_line(const json_t *r) {
    static const char *const types[] = {"message", "tool_use", "tool_result", NULL};
    return (strcmp(json_get_string(r, "type", ""), "init") == 0 &&
            has(r, "session_id")) ||
           (is_type(r, types) && (has(r, "tool_id") || has(r, "delta"))) ||
           (has(r, "sessionId") && has(r, "projectHash") && !has(r, "messages")) ||
           (strcmp(json_get_string(r, "type", ""), "gemini") == 0 && has(r, "content"));
}

static bool is_session(const json_t *r) {
    return strcmp(json_get_string(r, "type", ""), "session") == 0;
}

static bool is_sts(const json_t *r) {
    return is_session(r) && has(r, "harness") && !has(r, "version");
}

static bool is_pi(const json_t *r) {
    return is_session(r) && (has(r, "version") || has(r, "cwd"));
}

static bool is_message(const json_t *r) {
    return json_is_string(json_object_get(r, "role")) &&
           (has(r, "content") || has(r, "parts") || has(r, "tool_calls"));
}

/* --- by a whole document --- */

static const json_t *first_of(const json_t *r, const char *key) {
    return json_array_get(json_object_get(r, key), 0);
}

static bool is_atif(const json_t *r) {
    return begins(json_get_string(r, "schema_version", ""), "ATIF-v");
}

static bool is_swe(const json_t *r) {
    return has(first_of(r, "trajectory"), "action");
}

static bool is_otlp(const json_t *r) {
    return has(r, "resourceSpans");
}

static bool is_opencode_export(const json_t *r) {
    const json_t *message = first_of(r, "messages");
    return has(r, "info") && has(r, "messages") && (has(message, "parts") || !message);
}

static bool is_gemini(const json_t *r) {
    const json_t *message =
        json_is_array(r) ? json_array_get(r, 0) : first_of(r, "messages");
    const char *type = json_get_string(message, "type", "");
    return (has(r, "sessionId") && has(r, "messages")) || strcmp(type, "gemini") == 0 ||
           (json_is_array(r) && has(message, "role") && has(message, "parts"));
}

static bool is_messages(const json_t *r) {
    return json_is_array(r) ? is_message(json_array_get(r, 0))
                            : has(r, "messages") || has(r, "choices") ||
                                  has(json_object_get(r, "request"), "messages");
}

static const struct {
    bool (*test)(const json_t *r);
    enum trace_format format;
    const struct trace_reader *reader;
} tests[] = {
    {is_atif, TRACE_ATIF, &trace_atif},
    {is_swe, TRACE_SWE, &trace_swe},
    {is_otlp, TRACE_OTLP, &trace_otlp},
    {is_opencode_export, TRACE_OPENCODE_EXPORT, &trace_opencode_export},
    {is_gemini, TRACE_GEMINI, &trace_gemini},
    {is_messages, TRACE_MESSAGES, &trace_messages},
    {is_codex, TRACE_CODEX_ROLLOUT, &trace_codex},
    {is_codex_exec, TRACE_CODEX_EXEC, &trace_codex},
    {is_sts, TRACE_STS, &trace_sts},
    {is_pi, TRACE_PI, &trace_pi},
    {is_opencode_run, TRACE_OPENCODE_RUN, &trace_opencode_run},
    {is_gemini_line, TRACE_GEMINI, &trace_gemini_lines},
    {is_claude_code, TRACE_CLAUDE_CODE, &trace_claude},
    {is_claude_stream, TRACE_CLAUDE_STREAM, &trace_claude},
    {is_message, TRACE_MESSAGES, &trace_messages_lines},
};

static const struct trace_reader *sniff_json(const char *text, size_t len,
                                             enum trace_format *ret) {
    for (size_t at = 0, lines = 0; at < len && lines < SNIFF_LINES; lines++) {
        size_t end;
        autojson *record = trace_outline(text + at, len - at, 3, &end);
        for (size_t i = 0; record && i < ARRAY_LEN(tests); i++) {
            if (tests[i].test(record)) {
                *ret = tests[i].format;
                return tests[i].reader;
            }
        }
        const char *newline = memchr(text + at + end, '\n', len - at - end);
        if (!newline) {
            break;
        }
        at = (size_t)(newline + 1 - text);
    }
    return NULL;
}

/* --- by words --- */

/* Lines of the text that begin with one of the words. */
static size_t lines_with(const char *text, size_t len, const char *const *words) {
    size_t count = 0;
    for (size_t at = 0; at < len;) {
        for (const char *const *w = words; *w; w++) {
            size_t n = strlen(*w);
            if (len - at >= n && memcmp(text + at, *w, n) == 0) {
                count++;
                break;
            }
        }
        const char *newline = memchr(text + at, '\n', len - at);
        at = newline ? (size_t)(newline + 1 - text) : len;
    }
    return count;
}

static const struct trace_reader *sniff_text(const char *text, size_t len,
                                             enum trace_format *ret) {
    static const char *const bullets[] = {"⏺ ", "● ", "  ⎿ ", "⎿ ", NULL};
    static const char *const results[] = {"  ⎿", "⎿", "╭─── Claude Code", NULL};
    static const char *const speakers[] = {"_**User",       "_**Assistant",
                                           "_**Agent",      "**User**",
                                           "**Assistant**", "**Cursor**",
                                           "**Human**",     "**Claude**",
                                           "## User",       "## Assistant",
                                           "### User",      "### Assistant",
                                           "## Human",      "### Human",
                                           "## 👤 User",     "## 🤖",
                                           "# User",        "# Assistant",
                                           "**User:**",     "**Assistant:**",
                                           "**Human:**",    NULL};
    if (lines_with(text, len, bullets) >= 2 && lines_with(text, len, results) >= 1) {
        *ret = TRACE_TEXT_CLAUDE;
        return &trace_text_claude;
    }
    if (lines_with(text, len, speakers) >= 2) {
        *ret = TRACE_TEXT_MARKDOWN;
        return &trace_text_markdown;
    }
    *ret = TRACE_TEXT;
    return &trace_text;
}

/* More control characters and malformed bytes than any text has. */
static bool is_binary(const char *text, size_t len) {
    size_t odd = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        odd += c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != 0x1b &&
               c != '\f' && c != '\b';
    }
    return odd > 16 + len / 10;
}

const struct trace_reader *trace_sniff(const char *text, size_t len,
                                       enum trace_format *ret, struct err *err) {
    for (size_t i = 0; i < ARRAY_LEN(magics); i++) {
        if (len >= magics[i].len && memcmp(text, magics[i].bytes, magics[i].len) == 0) {
            err_set(err, -EINVAL, "%s", magics[i].what);
            return NULL;
        }
    }
    const struct trace_reader *reader = sniff_json(text, len, ret);
    if (reader) {
        return reader;
    }
    if (is_binary(text, len)) {
        err_set(err, -EINVAL,
                "this is neither text nor a known trace: export the session as JSON, "
                "Markdown or text");
        return NULL;
    }
    return sniff_text(text, len, ret);
}
