/* The names of skills in Git repositories. */
#include "skills/install/repository.h"

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"

#define GITHUB "https://github.com/"
#define WORDS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

static bool is_url(const char *words) {
    return strncmp(words, "https://", 8) == 0 || strncmp(words, "http://", 7) == 0;
}

/* As people give it to Git: ssh://, git://, file://, git@HOST:PATH. */
static bool is_other_address(const char *words) {
    return !is_url(words) && strncmp(words, "skill://", 8) != 0 &&
           (strstr(words, "://") || strncmp(words, "git@", 4) == 0);
}

/* The length of OWNER/REPO, or 0. */
static size_t owner_and_repository(const char *words) {
    size_t owner = strspn(words, WORDS);
    size_t name = words[owner] == '/' ? strspn(words + owner + 1, WORDS) : 0;
    return words[0] != '.' && owner && name ? owner + 1 + name : 0;
}

bool repository_is_meant(const char *words) {
    size_t len = owner_and_repository(words);
    return is_url(words) || is_other_address(words) ||
           (len && (words[len] == '/' || words[len] == '@') && strchr(words + len, '@'));
}

/* A reference that Git can only read as a name, not as an option, a range or a reflog
 * entry. */
static bool ref_is_sound(const char *ref) {
    return *ref && *ref != '-' && !strstr(ref, "..") && !strstr(ref, "//") &&
           ref[strspn(ref, WORDS "/+")] == '\0';
}

static bool path_is_sound(const char *path) {
    autofree char *normal = path_normalize(path);
    return !*path || (strcmp(normal, path) == 0 && !path_leads_out(path) &&
                      text_is_utf8(path, strlen(path)));
}

/* Where the path begins: behind "//" of a URL, behind OWNER/REPO. */
static size_t address_length(const char *words) {
    if (!is_url(words)) {
        return owner_and_repository(words);
    }
    const char *host = strstr(words, "://") + 3;
    const char *path = strstr(host, "//");
    return path ? (size_t)(path - words) : strlen(words);
}

/* "PATH/SKILL.md" is the folder's. */
static void set_path(struct repository *r, const char *path) {
    size_t len = strlen(path);
    const char *base = path_basename(path);
    if (strcasecmp(base, "SKILL.md") == 0) {
        len -= strlen(base);
    }
    while (len && path[len - 1] == '/') {
        len--;
    }
    r->path = xstrndup(path, len);
}

int repository_read(struct repository *ret, const char *words, struct err *err) {
    if (is_other_address(words)) {
        return err_set(err, -EINVAL,
                       "%.200s: a repository is OWNER/REPO[/PATH]@REF on GitHub, or "
                       "https://HOST/REPO.git[//PATH]@REF",
                       words);
    }
    const char *at = strrchr(words, '@');
    if (!at || !ref_is_sound(at + 1)) {
        return err_set(
            err, -EINVAL,
            "%.200s names no commit, tag or branch: add @ and its name", words);
    }
    autofree char *place = xstrndup(words, (size_t)(at - words));
    size_t address = address_length(place);
    struct repository r = {.ref = xstrdup(at + 1), .shown = xstrndup(place, address)};
    set_path(&r, place + address + strspn(place + address, "/"));
    r.url = is_url(words) ? xstrdup(r.shown) : xasprintf(GITHUB "%s", r.shown);
    if (!path_is_sound(r.path) || strpbrk(r.url, "@\\\"' \t\r\n")) {
        repository_finish(&r);
        return err_set(err, -EINVAL,
                       "%.200s is not an address of a skill in a repository", words);
    }
    *ret = r;
    return 0;
}

void repository_finish(struct repository *r) {
    free(r->url);
    free(r->path);
    free(r->ref);
    free(r->shown);
    *r = (struct repository){0};
}

bool repository_is_pinned(const struct repository *r) {
    size_t len = strlen(r->ref);
    return (len == 40 || len == 64) && strspn(r->ref, "0123456789abcdef") == len;
}
