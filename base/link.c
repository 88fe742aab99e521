#include "base/link.h"

#include "base/err.h"
#include "base/find.h"

#include <ctype.h>
#include <strings.h>

static size_t scheme_len(const char *url) {
    return strncasecmp(url, "https://", 8) == 0  ? 8
           : strncasecmp(url, "http://", 7) == 0 ? 7
                                                 : 0;
}

bool link_is(const char *text) {
    const char *end = strstr(text, "://");
    return end && end > text &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789+-.") == (size_t)(end - text);
}

int link_check(const char *url, struct err *err) {
    size_t scheme = scheme_len(url), len = strlen(url);
    if (!scheme) {
        return err_set(err, -EINVAL, "%.200s: only http and https links are fetched",
                       url);
    }
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)url[i] <= ' ' || url[i] == 127 || url[i] == '\\') {
            return err_set(err, -EINVAL, "the link contains a blank or control "
                                         "character");
        }
    }
    size_t host = strcspn(url + scheme, "/?#");
    if (host == 0 || len > LINK_MAX) {
        return err_set(err, -EINVAL, "%.200s: %s", url,
                       host ? "the link is too long" : "the link has no host");
    }
    if (memchr(url + scheme, '@', host)) {
        return err_set(err, -EINVAL, "a link may not contain a name and password");
    }
    return 0;
}

/* url up to its path's last "/", or up to the end of the host. */
static char *folder_of(const char *url) {
    size_t start = scheme_len(url);
    size_t host = start + strcspn(url + start, "/?#"), end = host;
    for (size_t i = host; url[i] && url[i] != '?' && url[i] != '#'; i++) {
        end = url[i] == '/' ? i : end;
    }
    return xasprintf("%.*s/", (int)end, url);
}

static char *join(const char *url, const char *location) {
    size_t start = scheme_len(url);
    size_t host = start + strcspn(url + start, "/?#");
    if (strncmp(location, "//", 2) == 0) {
        return xasprintf("%.*s%s", (int)start - 2, url, location);
    }
    if (*location == '/') {
        return xasprintf("%.*s%s", (int)host, url, location);
    }
    if (*location == '?' || *location == '#' || !*location) {
        return xasprintf("%.*s%s", (int)strcspn(url, *location == '?' ? "?#" : "#"), url,
                         location);
    }
    autofree char *folder = folder_of(url);
    return xasprintf("%s%s", folder, location); /* curl takes ".." out */
}

char *link_resolve(const char *url, const char *location, struct err *err) {
    autofree char *next = link_is(location) ? xstrdup(location) : join(url, location);
    if (link_check(next, err) < 0) {
        return NULL;
    }
    if (scheme_len(url) == 8 && scheme_len(next) == 7) {
        err_set(err, -EACCES, "it redirects from https to http");
        return NULL;
    }
    return take(next);
}

char *link_name(const char *url) {
    const char *at = url + scheme_len(url);
    char name[64];
    size_t len = 0;
    for (size_t end = strcspn(at, "?#"); end && len < sizeof name - 1; end--, at++) {
        bool plain = isalnum((unsigned char)*at) || *at == '.';
        if (plain || (len && name[len - 1] != '-')) {
            name[len++] = plain ? *at : '-';
        }
    }
    while (len && (name[len - 1] == '-' || name[len - 1] == '.')) {
        len--;
    }
    name[len] = '\0';
    bool text = len > 3 && strcasecmp(name + len - 3, ".md") == 0;
    return xasprintf("%s%s", len ? name : "document", text ? "" : ".md");
}

enum link_kind link_kind(const char *content_type, bool *latin1) {
    static const struct {
        const char *type;
        enum link_kind kind;
    } types[] = {
        {"text/html", LINK_HTML},     {"application/xhtml+xml", LINK_HTML},
        {"text/markdown", LINK_TEXT}, {"text/x-markdown", LINK_TEXT},
        {"text/plain", LINK_TEXT},
    };
    *latin1 = false;
    if (!content_type || !*content_type) {
        return LINK_TEXT;
    }
    size_t len = strcspn(content_type, "; \t");
    *latin1 = strcasestr(content_type, "iso-8859-1") ||
              strcasestr(content_type, "windows-1252");
    size_t at = first_of(i, 0, ARRAY_LEN(types),
                         strlen(types[i].type) == len &&
                             strncasecmp(content_type, types[i].type, len) == 0);
    return at < ARRAY_LEN(types) ? types[at].kind : LINK_OTHER;
}
