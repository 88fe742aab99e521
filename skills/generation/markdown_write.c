#include "skills/generation/markdown_write.h"

#include "base/buf.h"
#include "base/text.h"

#define MAX_SPAN_COMMAND 110u

/* text with white space runs made one blank, cut at a character. */
static char *one_line(const char *text, size_t max) {
    struct buf out = BUF_INIT(max + 8);
    for (; *text && out.len < max; text++) {
        bool blank = isspace((unsigned char)*text);
        if (!blank) {
            buf_addc(&out, *text);
        } else if (out.len && out.data[out.len - 1] != ' ') {
            buf_addc(&out, ' ');
        }
    }
    bool cut = text[strspn(text, " \t\r\n")];
    out.len = text_cut(out.data, out.len, out.len);
    if (!text_is_utf8(out.data, out.len)) {
        while (out.len && !text_is_utf8(out.data, out.len)) {
            out.len--;
        }
    }
    while (out.len && out.data[out.len - 1] == ' ') {
        out.len--;
    }
    if (out.len < out.cap) {
        out.data[out.len] = '\0';
    }
    if (cut) {
        buf_adds(&out, "…");
    }
    return buf_detach(&out);
}

void markdown_prose(struct buf *out, const char *text, size_t max) {
    autofree char *line = one_line(text, max);
    const char *s = line;
    while (*s && strchr("#>*+-", *s)) { /* no heading, quote or list item */
        s += 1 + strspn(s + 1, " ");
    }
    for (; *s; s++) {
        bool apart = (s[0] == ']' && s[1] == '(') || (s[0] == '<' && s[1] == '!') ||
                     (s[0] == '!' && (s[1] == '`' || s[1] == '['));
        buf_addc(out, *s);
        if (apart) {
            buf_addc(out, ' ');
        }
    }
}

static size_t longest_run(const char *text, char c) {
    size_t longest = 0;
    for (const char *s = text; (s = strchr(s, c));) {
        size_t n = strspn(s, (char[]){c, '\0'});
        longest = n > longest ? n : longest;
        s += n;
    }
    return longest;
}

void markdown_span(struct buf *out, const char *text, size_t max) {
    autofree char *line = one_line(text, max);
    size_t len = strlen(line), ticks = longest_run(line, '`') + 1;
    bool pad = line[0] == '`' || (len && (line[len - 1] == '`' || line[len - 1] == '!'));
    for (size_t i = 0; i < ticks; i++) {
        buf_addc(out, '`');
    }
    buf_addf(out, "%s%s%s", pad ? " " : "", line, pad ? " " : "");
    for (size_t i = 0; i < ticks; i++) {
        buf_addc(out, '`');
    }
}

void markdown_fence(struct buf *out, const char *language, const char *text) {
    size_t ticks = longest_run(text, '`') + 1, len = strlen(text);
    ticks = ticks < 3 ? 3 : ticks;
    for (size_t i = 0; i < ticks; i++) {
        buf_addc(out, '`');
    }
    buf_addf(out, "%s\n%s%s", language, text, len && text[len - 1] == '\n' ? "" : "\n");
    for (size_t i = 0; i < ticks; i++) {
        buf_addc(out, '`');
    }
    buf_adds(out, "\n");
}

void markdown_command(struct buf *out, const char *before, const char *command,
                      const char *after) {
    if (strlen(command) > MAX_SPAN_COMMAND || strpbrk(command, "\n`!")) {
        buf_addf(out, "%s:\n\n", before);
        markdown_fence(out, "sh", command);
        buf_addf(out, "%s%s\n", *after ? "\n" : "",
                 *after ? after + strspn(after, " ,") : "");
        return;
    }
    buf_addf(out, "%s ", before);
    markdown_span(out, command, MAX_SPAN_COMMAND);
    buf_addf(out, "%s\n", after);
}

struct language {
    const char *end, *name;
};
#include "skills/markdown_languages_table.h"

const char *markdown_language(const char *path) {
    size_t len = strlen(path);
    for (size_t i = 0; languages[i].end; i++) {
        size_t n = strlen(languages[i].end);
        if (len >= n && strcmp(path + len - n, languages[i].end) == 0) {
            return languages[i].name;
        }
    }
    return "";
}
