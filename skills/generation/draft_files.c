#include "skills/generation/draft_files.h"

#include "base/err.h"
#include "base/text.h"

#include <strings.h>

#define FOLDER "references/"

/* --- names --- */

static bool is_name(const char *name) {
    size_t len = strlen(name);
    const char *end = len > 4 ? name + len : name;
    bool kind = len > 4 && (strcmp(end - 3, ".md") == 0 || strcmp(end - 4, ".txt") == 0);
    return kind && len <= 80 && isalnum((unsigned char)name[0]) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        "._-") == len;
}

static int add_file(json_t *files, const char *path, const char *text, struct err *err) {
    size_t len = strlen(FOLDER);
    if (strncmp(path, FOLDER, len) != 0 || !is_name(path + len)) {
        return err_set(
            err, -EINVAL,
            "%.100s is not a file that a draft may bring: references/NAME.md or "
            "references/NAME.txt, texts alone",
            path);
    }
    if (json_object_size(files) >= DRAFT_MAX_FILES && !json_object_get(files, path)) {
        return err_set(err, -EINVAL, "more than %d files beside SKILL.md",
                       DRAFT_MAX_FILES);
    }
    if (!text[strspn(text, " \t\n")] || strlen(text) > DRAFT_MAX_FILE) {
        return err_set(err, -EINVAL, "%.100s is %s", path,
                       *text ? "empty or over 128 KiB" : "empty");
    }
    json_object_set_new(files, path, json_clean_z(text));
    return 0;
}

/* --- text --- */

/* The path in "===== file: PATH =====" (malloc'ed), or NULL. */
static char *path_at(const char *line) {
    size_t len = strcspn(line, "\n"), marks = strspn(line, "=");
    if (marks < 3 || len > 300) {
        return NULL;
    }
    const char *at = line + marks + strspn(line + marks, " \t");
    if (strncasecmp(at, "file:", 5) != 0) {
        return NULL;
    }
    at += 5 + strspn(at + 5, " \t`");
    size_t path = strcspn(at, " \t`=\n");
    return path ? xstrndup(at, path) : NULL;
}

/* The next line that begins a file, or the end. */
static const char *next_file(const char *text) {
    for (const char *line = text; *line; line = text_next_line(line)) {
        autofree char *path = path_at(line);
        if (path) {
            return line;
        }
    }
    return text + strlen(text);
}

size_t draft_fence_lines(const char *text, size_t ticks) {
    size_t count = 0;
    for (const char *line = text; *line; line = text_next_line(line)) {
        count += strspn(line, "`") >= ticks;
    }
    return count;
}

/* The position of the last line if it consists only of backticks and nothing follows
 * it. */
static size_t last_fence(const char *text, size_t len) {
    while (len && isspace((unsigned char)text[len - 1])) {
        len--;
    }
    size_t ticks = 0;
    while (ticks < len && text[len - ticks - 1] == '`') {
        ticks++;
    }
    bool whole = ticks >= 3 && (ticks == len || text[len - ticks - 1] == '\n');
    return whole ? len - ticks : len;
}

/* A file's text: without the fence around it, and without the end of one around all. */
static char *file_text(const char *text, size_t len) {
    autofree char *copy = xstrndup(text, len);
    const char *from = copy;
    while (*from == '\n' || *from == ' ') {
        from++;
    }
    size_t ticks = strspn(from, "`");
    bool fenced = ticks >= 3;
    if (fenced) {
        from = text_next_line(from);
    }
    len = strlen(from);
    bool odd = draft_fence_lines(from, 3) % 2 == 1;
    size_t end = odd ? last_fence(from, len) : len;
    while (end && isspace((unsigned char)from[end - 1])) {
        end--;
    }
    return xasprintf("%.*s%s", (int)end, from, end ? "\n" : "");
}

char *draft_files_split(const char *text, json_t *files, struct err *err) {
    const char *first = next_file(text), *at = first;
    while (*at) {
        autofree char *path = path_at(at);
        const char *from = at + strcspn(at, "\n"), *end = next_file(from);
        autofree char *inner = file_text(from, (size_t)(end - from));
        if (add_file(files, path, inner, err) < 0) {
            return NULL;
        }
        at = end;
    }
    return xstrndup(text, (size_t)(first - text));
}

int draft_files_take(const json_t *object, json_t *files, struct err *err) {
    json_each_member(object, path, text) {
        if (json_is_string(text) && strchr(path, '/') &&
            add_file(files, path, json_string_value(text), err) < 0) {
            return -EINVAL;
        }
    }
    return 0;
}

/* --- addresses --- */

static bool needs_no_source(const char *host) {
    static const char *const known[] = {"localhost", "127.0.0.1", "example.com",
                                        "example.org", "example.net"};
    size_t len = strlen(host);
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        size_t one = strlen(known[i]);
        if (len >= one && strcasecmp(host + len - one, known[i]) == 0 &&
            (len == one || host[len - one - 1] == '.')) {
            return true;
        }
    }
    return !strchr(host, '.'); /* a placeholder: https://HOST/ */
}

/* The host as a whole: "x.org" is not in "evil-x.org". */
static bool is_told(const char *material, const char *host) {
    size_t len = strlen(host);
    for (const char *at = material; (at = strcasestr(at, host)); at++) {
        bool begins =
            at == material || !(isalnum((unsigned char)at[-1]) || strchr("-.", at[-1]));
        if (begins && !isalnum((unsigned char)at[len]) && at[len] != '-' &&
            !(at[len] == '.' && isalnum((unsigned char)at[len + 1]))) {
            return true;
        }
    }
    return false;
}

char *draft_foreign_host(const char *text, const char *material) {
    for (const char *at = text; (at = strcasestr(at, "http")); at++) {
        size_t scheme = strncasecmp(at, "https://", 8) == 0  ? 8
                        : strncasecmp(at, "http://", 7) == 0 ? 7
                                                             : 0;
        if (!scheme) {
            continue;
        }
        const char *host = at + scheme;
        size_t all = strcspn(host, "/?# \t\n\"'`<>()[]{}|\\"), user = 0;
        for (size_t i = 0; i < all; i++) {
            user = host[i] == '@' ? i + 1 : user;
        }
        autofree char *name = xstrndup(host + user, all - user);
        name[strcspn(name, ":")] = '\0';
        size_t len = strlen(name);
        while (len && strchr(".,;*_", name[len - 1])) {
            name[--len] = '\0';
        }
        if (len && !needs_no_source(name) && !is_told(material, name)) {
            return take(name);
        }
    }
    return NULL;
}
