#include "skills/check/safety_installers.h"
#include "skills/safety_installers_table.h"

#include <ctype.h>

static bool is_plain(const char *word, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(fetching_words); i++) {
        if (strlen(fetching_words[i]) == len &&
            strncasecmp(fetching_words[i], word, len) == 0) {
            return true;
        }
    }
    /* -fsSL: fail, silent, show errors, follow. */
    return len >= 2 && word[0] == '-' && strspn(word + 1, "fsSL#") >= len - 1;
}

static bool is_maker(const char *address, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(installer_makers); i++) {
        size_t n = strlen(installer_makers[i]);
        if (len < n || memcmp(address, installer_makers[i], n) != 0) {
            continue;
        }
        /* "get.docker.com.evil.example" and "get.docker.com@evil.example" are other
         * hosts. */
        bool host_only = !memchr(installer_makers[i], '/', n);
        return !host_only || len == n || address[n] == '/';
    }
    return false;
}

/* Of the address itself: what ends it in a shell, in Markdown and in PowerShell. */
static size_t address_len(const char *at, const char *end) {
    size_t len = 0;
    while (at + len < end && !isspace((unsigned char)at[len]) &&
           !strchr("\"'`|;)<>", at[len])) {
        len++;
    }
    return len;
}

static bool has_plain_words(const char *at, const char *end) {
    while (at < end) {
        size_t len = 0;
        while (at + len < end && !isspace((unsigned char)at[len]) &&
               !strchr("\"`|;(", at[len])) {
            len++;
        }
        if (len > 0 && !is_plain(at, len)) {
            return false;
        }
        at += len + 1;
    }
    return true;
}

/* sh -c "$(curl …)": behind what runs it. */
static const char *skip_shell(const char *match, size_t *len) {
    static const char *const shells[] = {"/bin/bash -c \"$(", "bash -c \"$(",
                                         "/bin/sh -c \"$(", "sh -c \"$("};
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        size_t n = strlen(shells[i]);
        if (*len > n && memcmp(match, shells[i], n) == 0) {
            *len -= n;
            return match + n;
        }
    }
    return match;
}

bool installer_is_known(const char *match, size_t len) {
    match = skip_shell(match, &len);
    const char *end = match + len, *scheme = memmem(match, len, "https://", 8);
    if (!scheme || memchr(match, '$', len) || memchr(match, '\\', len)) {
        return false;
    }
    const char *address = scheme + 8;
    size_t n = address_len(address, end);
    bool lone = !memmem(address, (size_t)(end - address), "://", 3) &&
                !memmem(address, n, "..", 2) && !memchr(address, '%', n) &&
                !memchr(address, '@', n) && !memchr(address, '{', n);
    return lone && is_maker(address, n) && has_plain_words(match, scheme);
}
