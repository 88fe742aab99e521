#include "skills/check/safety_patterns.h"
#include "skills/check/safety_download.h"
#include "skills/check/safety_installers.h"

#include <ctype.h>

#include "skills/check_words_table.h"

#define BLOCK true
#define WARN false

static size_t distinct_bytes(const char *s, size_t len) {
    bool seen[256] = {false};
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += !seen[(unsigned char)s[i]];
        seen[(unsigned char)s[i]] = true;
    }
    return count;
}

/* Whether the word occurs in the text, in any case. */
static bool safety_holds(const char *s, size_t len, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= len; i++) {
        if (strncasecmp(s + i, word, n) == 0) {
            return true;
        }
    }
    return false;
}

/* Documentation shows tokens as "sk-ant-xxxx…" or "…EXAMPLE". */
static bool is_real_secret(const char *match, size_t len) {
    for (size_t i = 0; example_marks[i]; i++) {
        if (safety_holds(match, len, example_marks[i])) {
            return false;
        }
    }
    return distinct_bytes(match, len) >= 12;
}

static bool is_public_address(const char *match, size_t len) {
    unsigned part[4] = {0};
    size_t n = 0;
    for (size_t i = 0; i < len && n < 4; i++) {
        if (isdigit((unsigned char)match[i])) {
            part[n] = part[n] * 10 + (unsigned)(match[i] - '0');
            if (part[n] > 255) {
                return false;
            }
        } else if (match[i] == '.') {
            n++;
        }
    }
    bool own = part[0] == 0 || part[0] == 10 || part[0] == 127 || part[0] >= 224 ||
               (part[0] == 192 && part[1] == 168) || (part[0] == 169 && part[1] == 254) ||
               (part[0] == 172 && part[1] >= 16 && part[1] < 32);
    bool document = (part[0] == 192 && part[1] == 0 && part[2] == 2) ||
                    (part[0] == 198 && part[1] == 51 && part[2] == 100) ||
                    (part[0] == 203 && part[1] == 0 && part[2] == 113);
    /* Public DNS resolvers. */
    bool resolver = (part[0] == 1 && part[1] == part[2] && part[1] <= 1) ||
                    (part[0] == 8 && part[1] == 8) || (part[0] == 9 && part[1] == 9);
    return !own && !document && !resolver;
}

/* --- packages without a version --- */

static bool is_pinned(const char *word, size_t len) {
    return safety_holds(word, len, "==") || safety_holds(word, len, "@") ||
           memchr(word, '/', len) || memchr(word, '$', len) || memchr(word, '<', len) ||
           memchr(word, '{', len) || word[0] == '.' || safety_holds(word, len, ".whl") ||
           safety_holds(word, len, "...");
}

/* "pip install a==1 -r x.txt": every package named has its version. */
static bool installs_unpinned(const char *match, size_t len) {
    size_t i = 0;
    while (i + 7 < len && strncasecmp(match + i, "install", 7) != 0) {
        i++;
    }
    bool argument_next = false;
    for (i += 7; i < len;) {
        while (i < len && isspace((unsigned char)match[i])) {
            i++;
        }
        size_t start = i;
        while (i < len && !isspace((unsigned char)match[i])) {
            i++;
        }
        if (i == start) {
            break;
        }
        const char *word = match + start;
        if (word[0] == '-') {
            argument_next = memchr("rcefit", i - start == 2 ? word[1] : 0, 6) != NULL ||
                            safety_holds(word, i - start, "index") ||
                            safety_holds(word, i - start, "target");
        } else if (!argument_next &&
                   isalpha((unsigned char)word[word[0] == '"' || word[0] == '\'']) &&
                   !is_pinned(word, i - start)) {
            return true;
        } else {
            argument_next = false;
        }
    }
    return false;
}

static bool is_unpinned_npx(const char *match, size_t len) {
    /* name@1.2.3; a scope's '@' comes first. */
    for (size_t i = 1; i + 1 < len; i++) {
        if (match[i] == '@' && isdigit((unsigned char)match[i + 1])) {
            return false;
        }
    }
    return true;
}

/* --- programs that are fetched to be run --- */

static bool is_well_known(const char *name, size_t len) {
    for (size_t i = 0; known_programs[i]; i++) {
        if (strlen(known_programs[i]) == len &&
            memcmp(known_programs[i], name, len) == 0) {
            return true;
        }
    }
    return false;
}

/* "uvx [--from x] x …": group of the last word is the package. */
static bool is_unknown_run(const char *match, size_t len) {
    size_t start = len;
    while (start > 0 && !isspace((unsigned char)match[start - 1]) &&
           !strchr("=\"'", match[start - 1])) {
        start--;
    }
    const char *name = match + start;
    size_t n = len - start;
    const char *at = n > 1 ? memchr(name + 1, '@', n - 1) : NULL;
    bool pinned = at && at + 1 < match + len && isdigit((unsigned char)at[1]);
    return n > 1 && !pinned && !is_well_known(name, at ? (size_t)(at - name) : n);
}

/* Whether the reference after "@" is not a commit or a version. */
static bool is_moving_git(const char *match, size_t len) {
    const char *slash = memrchr(match, '/', len), *end = match + len;
    const char *at = slash ? memchr(slash, '@', (size_t)(end - slash)) : NULL;
    if (!at) {
        return true;
    }
    size_t hex = 0, n = (size_t)(end - at) - 1;
    while (hex < n && isxdigit((unsigned char)at[1 + hex])) {
        hex++;
    }
    bool version = n > 1 && isdigit((unsigned char)at[1 + (at[1] == 'v')]);
    return !(hex >= 7 && hex == n) && !version && n && !strchr("$<{", at[1]);
}

#include "skills/safety_patterns_table.h"

const struct safety_pattern *safety_pattern_at(size_t id) {
    return &safety_patterns[id];
}
