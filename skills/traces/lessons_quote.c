/* What is told of an error besides its own line: the line behind it that says why, and whether the
 * program itself had told the remedy. */
#include "skills/traces/lessons_internal.h"

#include "base/find.h"
#include "base/pattern.h"
#include "base/text.h"

#include <ctype.h>

#define LEAST_ADVISED 8u   /* bytes of a line that nothing else is spelt like */
#define BEHIND_LINES 24u   /* of an output, behind an error */
#define LONG_LINE 260u     /* bytes of one that is told */

/* The text is a line of the output, behind a mark of the compiler's, "12 + " or "+ ". */
static bool shows_line(const char *output, const char *text) {
    for (const char *at = output; (at = strstr(at, text)); at += strlen(text)) {
        const char *from = at, *end = at + strlen(text);
        while (from > output && from[-1] != '\n') {
            from--;
        }
        from += strspn(from, " \t0123456789|+");
        if (from == at && strchr("\r\n", *end)) {
            return true;
        }
    }
    return false;
}

bool lesson_is_advised(const struct lesson *fix, const char *output) {
    size_t lines = 0;
    for (size_t i = 0; i < fix->change_count && output; i++) {
        const struct lesson_change *c = &fix->changes[i];
        for (const char *line = c->path ? c->to : ""; *line; line = text_next_line(line)) {
            autofree char *text = lesson_cut(line + 1, strcspn(line, "\n") - 1, LESSON_MAX_LINE);
            bool comes = *line == '+' && *text;
            if (!c->path || (comes && (strlen(text) < LEAST_ADVISED || !shows_line(output, text)))) {
                return false;
            }
            lines += comes;
        }
    }
    return lines > 0;
}

/* A compiler's words behind the marks under a place: "   | ^^^^^ expected `u8`, found `()`". */
static const char *behind_marks(const char *line, size_t len) {
    const char *mark = memchr(line, '^', len);
    const char *end = mark ? mark + strspn(mark, "^~") : NULL;
    size_t front = strspn(line, " \t|0123456789");
    return end && line + front == mark && *end == ' ' && strchr(end + 1, ' ') ? end + 1 : NULL;
}

/* The line says a name that the changes bring or take away. */
static bool says_change(const struct lesson *fix, const char *line) {
    for (size_t i = 0; i < fix->change_count; i++) {
        const struct lesson_change *c = &fix->changes[i];
        autofree char *names = c->path ? lesson_differing(c->to) : xstrdup("");
        if (lesson_names(line, names, "")) {
            return true;
        }
    }
    return false;
}

/* Of the lines that stand further in or are numbered, the last that says what the changes say: the ones before it
 * only lead to it. Or NULL. */
static char *line_behind(const struct lesson_reader *r, const struct lesson *fix, const char *line) {
    char *best = NULL;
    for (size_t n = 0; n < BEHIND_LINES && *line && strchr(" \t0123456789", *line);
         n++, line = text_next_line(line)) {
        size_t len = strcspn(line, "\n");
        const char *label = behind_marks(line, len);
        if (label && !best) {
            return lesson_cut(label, len - (size_t)(label - line), LONG_LINE);
        }
        autofree char *text = lesson_cut(line, len, LONG_LINE + 1);
        if (strlen(text) <= LONG_LINE && isalpha((unsigned char)*text) && strncmp(text, "at ", 3) != 0 &&
            !pattern_is_in(r->summary, line, len) && says_change(fix, text)) {
            free(best);
            best = take(text);
        }
    }
    return best;
}

char *lesson_whole_quote(const struct lesson_reader *r, const struct lesson *fix, const char *quote,
                         const char *output) {
    const char *at = strpbrk(quote, "'\"`") || !output ? NULL : strstr(output, quote);
    autofree char *more = at ? line_behind(r, fix, text_next_line(at)) : NULL;
    if (!more) {
        return xstrdup(quote);
    }
    bool ended = strchr(".:;", quote[strlen(quote) - 1]);
    autofree char *whole = xasprintf("%s%s %s", quote, ended ? "" : ":", more);
    return lesson_cut(whole, strlen(whole), LESSON_MAX_LINE);
}
