#include "skills/generation/builtin_words.h"

#include "base/buf.h"
#include "base/file.h"

#include <strings.h>

void words_read(struct words *w, const char *text) {
    w->count = 0;
    for (const char *s = text; *s && w->count < WORDS_MAX;) {
        s += strspn(s, " \t\n\"'");
        size_t len = strcspn(s, " \t\n\"'");
        if (len) {
            w->list[w->count++] = xstrndup(s, len);
        }
        s += len;
    }
}

void words_free(struct words *w) {
    for (size_t i = 0; i < w->count; i++) {
        free(w->list[i]);
    }
}

char *word_regex(const char *word) {
    struct buf out = BUF_INIT(4096);
    buf_adds(&out, "(?<!\\w)");
    for (const char *s = word; *s; s++) {
        if (strchr("\\^$.|?*+()[]{}", *s)) {
            buf_addc(&out, '\\');
        }
        buf_addc(&out, *s);
    }
    buf_adds(&out, "(?!\\w)");
    return buf_detach(&out);
}

/* --- commands that reach out --- */

struct outward { /* "": any */
    const char *program, *words;
};
#include "skills/builtin_outward_table.h"

static bool is_listed(const char *list, const char *word, size_t len) {
    for (const char *at = list; *at;) {
        size_t one = strcspn(at, " ");
        if (one == len && strncmp(at, word, len) == 0) {
            return true;
        }
        at += one;
        at += *at == ' ';
    }
    return false;
}

/* One command of a line, without what joins it to the next. */
static bool part_reaches_out(const struct words *w, size_t from, size_t end) {
    while (from < end &&
           (strchr(w->list[from], '=') || strcmp(w->list[from], "sudo") == 0 ||
            strcmp(w->list[from], "env") == 0)) {
        from++; /* variables before the program */
    }
    const char *program =
        from < end ? path_basename(w->list[from] + strspn(w->list[from], "({")) : "";
    for (size_t i = 0; outward[i].program; i++) {
        if (strcmp(program, outward[i].program) != 0) {
            continue;
        }
        for (size_t k = from + 1; k < end && *outward[i].words; k++) {
            const char *word = w->list[k];
            if (strcmp(word, "-m") == 0 || strcmp(word, "--message") == 0) {
                break; /* words of a person */
            }
            size_t len = strcspn(word, "=)");
            if (is_listed(outward[i].words, word, len) ||
                strncmp(word, "delete-", 7) == 0) {
                return true;
            }
        }
        return !*outward[i].words;
    }
    return false;
}

bool command_reaches_out(const char *command) {
    struct words w;
    words_read(&w, command);
    bool found = strcasestr(command, "drop table") ||
                 strcasestr(command, "drop database") ||
                 strcasestr(command, "delete from ") || strstr(command, "reset --hard") ||
                 strstr(command, "git clean") || strstr(command, " -delete");
    size_t from = 0;
    for (size_t i = 0; i <= w.count && !found; i++) {
        const char *word = i < w.count ? w.list[i] : ";";
        size_t len = strlen(word);
        bool joins = strspn(word, "&|;()") == len, ends = len && word[len - 1] == ';';
        if (joins || ends) {
            if (ends && !joins) {
                w.list[i][len - 1] = '\0';
            }
            found = part_reaches_out(&w, from, joins ? i : i + 1);
            from = i + 1;
        }
    }
    words_free(&w);
    return found;
}
