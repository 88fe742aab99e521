/* Which format a file is, by its beginning (docs/architecture/traces.md). */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "skills/traces/trace_reader.h"

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

static const struct trace_reader claude_text = {.format = "claude-text",
                                                .hooks = &trace_text_claude},
                                 markdown = {.format = "markdown", .hooks = &trace_text},
                                 plain = {.format = "text", .hooks = &trace_text};

struct trace_sniff {
    const char *when, *rules;
};
/* Of a row, NULL behind them. */
#define ARRAYS(...)                                                                      \
    (const char *const[]) {                                                              \
        __VA_ARGS__, NULL                                                                \
    }
#include "skills/trace_sniff_table.h"

static const struct trace_reader *reader_of(const json_t *record) {
    const struct trace_node node = {.value = record};
    const struct trace_sniff *sniff = trace_sniffs;
    const struct trace_reader *reader = trace_readers;
    while (sniff->when && !trace_rules_hold(&node, sniff->when)) {
        sniff++;
    }
    while (sniff->when && reader->rules && !is(reader->rules, sniff->rules)) {
        reader++;
    }
    return sniff->when && reader->rules ? reader : NULL;
}

const char *trace_format_of(const json_t *record) {
    const struct trace_reader *reader = reader_of(record);
    return reader ? reader->format : NULL;
}

/* A line with a role may stand before a session of any format. */
static const struct trace_reader *sniff_json(const char *text, size_t len) {
    const struct trace_reader *found = NULL;
    for (size_t at = 0, lines = 0; at < len && lines < SNIFF_LINES; lines++) {
        size_t end;
        autojson *record = trace_outline(text + at, len - at, 3, &end);
        const struct trace_reader *reader = record ? reader_of(record) : NULL;
        found = reader ? reader : found;
        if (reader && !is(reader->rules, "messages-line")) {
            break;
        }
        const char *newline = memchr(text + at + end, '\n', len - at - end);
        if (!newline) {
            break;
        }
        at = (size_t)(newline + 1 - text);
    }
    return found;
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

static const struct trace_reader *sniff_text(const char *text, size_t len) {
    static const char *const bullets[] = {"⏺ ", "● ", "  ⎿ ", "⎿ ", NULL};
    static const char *const results[] = {"  ⎿", "⎿", "╭─── Claude Code", NULL};
    if (lines_with(text, len, bullets) >= 2 && lines_with(text, len, results) >= 1) {
        return &claude_text;
    }
    return lines_with(text, len, speaker_lines) >= 2 ? &markdown : &plain;
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

const struct trace_reader *trace_sniff(const char *text, size_t len, struct err *err) {
    for (size_t i = 0; i < ARRAY_LEN(magics); i++) {
        if (len >= magics[i].len && memcmp(text, magics[i].bytes, magics[i].len) == 0) {
            err_set(err, -EINVAL, "%s", magics[i].what);
            return NULL;
        }
    }
    const struct trace_reader *reader = sniff_json(text, len);
    if (reader) {
        return reader;
    }
    if (is_binary(text, len)) {
        err_set(err, -EINVAL,
                "this is neither text nor a known trace: export the session as JSON, "
                "Markdown or text");
        return NULL;
    }
    return sniff_text(text, len);
}

char *trace_formats(void) {
    autobuf out = BUF_INIT(4096);
    const char *last = "";
    for (const struct trace_reader *r = trace_readers; r->rules; r++) {
        if (strcmp(r->format, last) != 0) {
            buf_addf(&out, "%s, ", r->format);
        }
        last = r->format;
    }
    buf_addf(&out, "%s and %s", claude_text.format, markdown.format);
    return buf_detach(&out);
}

bool trace_is_session_folder(const char *path) {
    const char *home = getenv("HOME");
    for (const char *const *at = session_folders; home && *home == '/' && *at; at++) {
        autofree char *folder = path_join(home, *at);
        autofree char *real = realpath(folder, NULL);
        if (real && path_is_beneath(path, real)) {
            return true;
        }
    }
    return false;
}
