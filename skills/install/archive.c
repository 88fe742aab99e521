/* The names of archives. */
#include "skills/install/archive.h"

#include "base/err.h"
#include "base/file.h"
#include "base/link.h"
#include "base/strings.h"
#include "base/text.h"

static const char *const endings[] = {".zip", ".skill", ".tar", ".tar.gz", ".tgz", NULL};

bool archive_is_meant(const char *words) {
    autofree char *plain = xstrndup(words, strcspn(words, link_is(words) ? "#?" : "#"));
    return strings_end(endings, plain);
}

static bool is_digest(const char *text) {
    return strlen(text) == 64 && text[strspn(text, "0123456789abcdef")] == '\0';
}

/* "sha256=…&subdirectory=…", in any order. */
static int read_fragment(struct archive_source *a, const char *fragment,
                         struct err *err) {
    autofree char *copy = xstrdup(fragment);
    char *rest = copy;
    for (char *part; (part = strsep(&rest, "&"));) {
        const char *path = part + strlen("subdirectory=");
        if (strncmp(part, "sha256=", 7) == 0 && is_digest(part + 7)) {
            memcpy(a->sha256, part + 7, sizeof a->sha256);
            continue;
        }
        if (strncmp(part, "subdirectory=", 13) != 0 || !*path || path_leads_out(path) ||
            !text_is_utf8(path, strlen(path))) {
            return err_set(err, -EINVAL,
                           "after # write sha256= with 64 hexadecimal digits, or "
                           "subdirectory= with a folder of the archive");
        }
        free(a->path);
        a->path = path_normalize(path);
    }
    return 0;
}

int archive_read(struct archive_source *ret, const char *words, struct err *err) {
    size_t len = strcspn(words, "#");
    struct archive_source a = {.path = xstrdup("")};
    autofree char *place = xstrndup(words, len);
    int rc = words[len] ? read_fragment(&a, words + len + 1, err) : 0;
    if (rc == 0 && link_is(words)) {
        a.url = take(place);
        rc = link_check(a.url, err);
    } else if (rc == 0) {
        a.file = take(place);
    }
    if (rc < 0) {
        archive_finish(&a);
        return rc;
    }
    *ret = a;
    return 0;
}

void archive_finish(struct archive_source *a) {
    free(a->url);
    free(a->file);
    free(a->path);
    *a = (struct archive_source){0};
}
