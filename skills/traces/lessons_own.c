/* The names that a project's own files declare: an error that is about them is the project's
 * matter, and no lesson for another one. */
#include "skills/traces/lessons_internal.h"

#include "base/text.h"

#include <ctype.h>

#define MAX_OWN 100000u
#define MAX_LINE 400u
#define MAX_NAME 80u
#define MAX_WORDS 6u /* "export default async function NAME(" */

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind the number of a line that a tool shows, "   12→" or "12\t", and a mark of a diff. */
static const char *behind_margin(const char *line) {
    const char *at = line + strspn(line, " ");
    const char *end = at + strspn(at, "0123456789");
    if (end > at && (*end == '\t' || strncmp(end, "→", 3) == 0)) {
        return end + (*end == '\t' ? 1 : 3);
    }
    return line + (*line == '+' || *line == '-');
}

/* The mark behind a name says that the name begins to exist there. */
static bool declares(const char *mark, const char *end) {
    const char *at = mark + strspn(mark, " ");
    const char *last = end;
    while (last > at && isspace((unsigned char)last[-1])) {
        last--;
    }
    char closes = last > at ? last[-1] : '\0';
    return (*at == '=' && !strchr("=>", at[1])) || *at == '{' || (*at == '<' && at == mark) ||
           (*at == ':' && at + 1 < last && at[1] != ':') ||
           (*at == '(' && (closes == ':' || closes == '{'));
}

/* "const NAME =", "def NAME(self):", "interface NAME {": words with nothing but blanks between. */
static void read_line(json_t *own, const char *line, size_t len) {
    const char *at = behind_margin(line), *end = line + len;
    at += strspn(at, " \t");
    for (size_t words = 0; at < end && words < MAX_WORDS; words++) {
        size_t n = 0;
        while (at + n < end && is_name(at[n])) {
            n++;
        }
        const char *behind = at + n, *next = behind + strspn(behind, " ");
        if (!n) {
            return;
        }
        if (words && n < MAX_NAME && declares(behind, end)) {
            autofree char *name = xstrndup(at, n);
            json_object_set_new(own, name, json_true());
        }
        if (next == behind || next >= end) {
            return;
        }
        at = next;
    }
}

/* `import { NAME } from './a'`: what is quoted is a path of the project. */
static bool imports_own(const char *line, size_t len) {
    for (const char *at = line; at + 2 < line + len; at++) {
        bool opens = *at == '\'' || *at == '"';
        bool path = at[1] == '.' || ((at[1] == '@' || at[1] == '~') && at[2] == '/');
        if (opens && path && memchr(at + 1, '/', len - (size_t)(at + 1 - line))) {
            return true;
        }
    }
    return false;
}

/* All names of such a line. */
static void read_import(json_t *own, const char *line, size_t len) {
    for (const char *at = line; at < line + len && !strchr("'\"", *at);) {
        size_t n = 0;
        while (at + n < line + len && is_name(at[n])) {
            n++;
        }
        if (n && n < MAX_NAME) {
            autofree char *name = xstrndup(at, n);
            json_object_set_new(own, name, json_true());
        }
        at += n ? n : 1;
    }
}

void lesson_read_own(json_t *own, const char *text, bool imports) {
    for (; text && *text && json_object_size(own) < MAX_OWN; text = text_next_line(text)) {
        size_t len = strcspn(text, "\n");
        if (len <= MAX_LINE) {
            read_line(own, text, len);
            if (imports && imports_own(text, len)) {
                read_import(own, text, len);
            }
        }
    }
}

json_t *lesson_own_names(const struct steps *s, bool read) {
    json_t *own = json_object();
    for (size_t i = 0; i < s->count; i++) {
        const struct lesson_step *e = &s->list[i];
        bool reads = read && (e->kind == STEP_OTHER || (e->command.classes & COMMAND_READS));
        lesson_read_own(own, e->kind == STEP_EDIT ? e->text : reads ? e->output : NULL, true);
    }
    return own;
}
