#include "skills/check/safety_download.h"

#include <ctype.h>

#include "skills/check_words_table.h"

struct command_word {
    const char *at;
    size_t len;
};

static bool is_separator(char c) {
    return strchr("\n\r;&|(`", c) != NULL;
}

/* The next word of a command, without quotes; empty at the command's end. */
static struct command_word next_word(const char **at, const char *end) {
    const char *s = *at;
    while (s < end &&
           (strchr(" \t\"'", *s) || (*s == '\\' && s + 1 < end && s[1] == '\n'))) {
        s += *s == '\\' ? 2 : 1;
    }
    struct command_word w = {.at = s};
    while (s < end && !is_separator(*s) && !strchr(" \t\"')", *s)) {
        s++;
    }
    w.len = (size_t)(s - w.at);
    *at = s;
    return w;
}

static bool is_one_of(struct command_word w, const char *const *list) {
    for (; *list; list++) {
        if (strlen(*list) == w.len && strncasecmp(*list, w.at, w.len) == 0) {
            return true;
        }
    }
    return false;
}

static struct command_word without_folders(struct command_word w) {
    for (size_t i = w.len; i > 0; i--) {
        if (w.at[i - 1] == '/' || w.at[i - 1] == '\\') {
            return (struct command_word){w.at + i, w.len - i};
        }
    }
    return w;
}

static bool is_prefix(struct command_word w) {
    return is_one_of(w, command_prefixes) || memchr(w.at, '=', w.len);
}

static bool is_interpreter(struct command_word w) {
    return is_one_of(without_folders(w), interpreters);
}

static bool is_reader(struct command_word w) {
    return is_one_of(w, readers);
}

static bool is_verifier(struct command_word w) {
    return is_one_of(w, verifiers);
}

/* The first word that is no option. */
static struct command_word argument(const char **at, const char *end) {
    struct command_word w;
    do {
        w = next_word(at, end);
    } while (w.len && w.at[0] == '-');
    return w;
}

static bool is_file(struct command_word w, struct command_word name) {
    w = without_folders(w);
    return w.len == name.len && memcmp(w.at, name.at, name.len) == 0;
}

enum judged { NOT_MEANT, LOOKED_AT, INTERPRETED, RUN_ITSELF };

static enum judged judge_command(const char *at, const char *end,
                                 struct command_word name) {
    struct command_word w = next_word(&at, end);
    while (w.len && is_prefix(w)) {
        w = next_word(&at, end);
    }
    if (is_verifier(w) || (is_reader(w) && is_file(argument(&at, end), name))) {
        return LOOKED_AT;
    }
    if (is_interpreter(w)) {
        return is_file(argument(&at, end), name) ? INTERPRETED : NOT_MEANT;
    }
    bool path = without_folders(w).at != w.at; /* else a program that was there before */
    return path && is_file(w, name) ? RUN_ITSELF : NOT_MEANT;
}

/* The effect of the first command that uses the file. */
static enum judged judge(const char *name, size_t len, const char *rest,
                         size_t rest_len) {
    const char *at = rest, *end = rest + rest_len;
    while (at < end) {
        while (at < end && (is_separator(*at) || isspace((unsigned char)*at))) {
            at++;
        }
        enum judged judged = judge_command(at, end, (struct command_word){name, len});
        if (judged != NOT_MEANT) {
            return judged;
        }
        while (at < end && !is_separator(*at)) {
            at++;
        }
    }
    return NOT_MEANT;
}

bool download_runs(const char *name, size_t len, const char *rest, size_t rest_len) {
    return judge(name, len, rest, rest_len) > LOOKED_AT;
}

bool download_is_interpreted(const char *name, size_t len, const char *rest,
                             size_t rest_len) {
    return judge(name, len, rest, rest_len) == INTERPRETED;
}

bool download_is_program(const char *name, size_t len, const char *rest,
                         size_t rest_len) {
    return judge(name, len, rest, rest_len) == RUN_ITSELF;
}
