/* Secrets that their own shape gives away: keys, tokens, digests, addresses. */
#include "skills/traces/redaction_secrets.h"

#include "skills/redaction_values_table.h"

#include <ctype.h>

#define MAX_KEY_BLOCK (16u << 10)

struct token_shape {
    const char *prefix;
    size_t min, max; /* characters behind it; max 0: any */
    enum secret_alphabet alphabet;
};
#include "skills/redaction_shapes_table.h"

static bool token_at(const char *s, size_t len, size_t at, struct secret *ret) {
    for (size_t i = 0; shapes[i].prefix; i++) {
        if (s[at] != shapes[i].prefix[0] ||
            !secret_starts(s, len, at, shapes[i].prefix)) {
            continue;
        }
        size_t n = strlen(shapes[i].prefix);
        size_t run = secret_run(shapes[i].alphabet, s, len, at + n);
        if (run >= shapes[i].min && (!shapes[i].max || run <= shapes[i].max)) {
            *ret = (struct secret){at, at + n + run, "<api-key>", false};
            return true;
        }
    }
    return false;
}

/* header.payload.signature, each in base64url; the first begins with '{"'. */
static bool jwt_at(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t end = at, parts = 0;
    bool goes_on = at > 0 && s[at - 1] == '-'; /* from an earlier place, looked at then */
    if (goes_on || !secret_starts(s, len, at, "eyJ")) {
        return false;
    }
    while (parts < 3) {
        size_t run = secret_run(SECRET_WORD, s, len, end);
        if (run < 8) {
            break;
        }
        parts++;
        end += run;
        if (end >= len || s[end] != '.' || parts == 3) {
            break;
        }
        end++;
    }
    *ret = (struct secret){at, end, "<token>", false};
    return parts >= 2;
}

/* Behind "-----END … KEY-----" at s[at]. */
static size_t end_of_armor(const char *s, size_t len, size_t at) {
    size_t stop = at + 9;
    while (stop < len && (isupper((unsigned char)s[stop]) || s[stop] == ' ')) {
        stop++;
    }
    while (stop < len && s[stop] == '-') {
        stop++;
    }
    return stop;
}

static bool is_of_key(char c) {
    return secret_is_of(SECRET_DOTTED, c) || (c && strchr(" \n\r\\:,", c));
}

static bool private_key_at(const char *s, size_t len, size_t at, struct secret *ret) {
    if (!secret_starts(s, len, at, "-----BEGIN ")) {
        return false;
    }
    size_t most = len - at < MAX_KEY_BLOCK ? len - at : MAX_KEY_BLOCK;
    const char *head = memmem(s + at, most < 80 ? most : 80, "PRIVATE KEY", 11);
    if (!head) {
        return false;
    }
    const char *end = memmem(head, most - (size_t)(head - (s + at)), "-----END ", 9);
    size_t stop = (size_t)(head - s) + 11;
    if (end) {
        stop = end_of_armor(s, len, (size_t)(end - s));
    } else { /* cut off: all that could be of it */
        while (stop < len && is_of_key(s[stop])) {
            stop++;
        }
    }
    *ret = (struct secret){at, stop, "<private-key>", false};
    return true;
}

bool secret_key_end(const char *s, size_t len, size_t at, size_t low,
                    struct secret *ret) {
    size_t most = len - at < 80 ? len - at : 80, start = at;
    if (!secret_starts(s, len, at, "-----END ") ||
        !memmem(s + at, most, "PRIVATE KEY", 11)) {
        return false;
    }
    while (start > low && at - start < MAX_KEY_BLOCK && s[start - 1] != ' ' &&
           is_of_key(s[start - 1])) {
        start--;
    }
    *ret = (struct secret){start, end_of_armor(s, len, at), "<private-key>", false};
    return true;
}

/* "-----BEGIN " in base64, which is no certificate and no public key. */
static bool encoded_key_at(const char *s, size_t len, size_t at, struct secret *ret) {
    static const char head[] = "LS0tLS1CRUdJTi";
    size_t behind = at + sizeof head - 1;
    if (!secret_starts(s, len, at, head) || secret_starts(s, len, behind, "BDRVJU") ||
        secret_starts(s, len, behind, "BQVUJMSUMg")) {
        return false;
    }
    *ret = (struct secret){at, at + secret_run(SECRET_DOTTED, s, len, at),
                           "<private-key>", false};
    return true;
}

/* A password's digest as crypt(3) and its like write it: "$6$salt$digest". */
static bool digest_at(const char *s, size_t len, size_t at, struct secret *ret) {
    for (size_t i = 0; s[at] == '$' && password_digests[i]; i++) {
        size_t end = at;
        while (secret_starts(s, len, at, password_digests[i]) && end < len &&
               end - at < 512 &&
               (secret_is_of(SECRET_DOTTED, s[end]) || strchr("$,", s[end]))) {
            end++;
        }
        if (end - at > 24) {
            *ret = (struct secret){at, end, "<secret>", false};
            return true;
        }
    }
    return false;
}

/* "Bearer abc…" outside of a header's line. */
static bool bearer_at(const char *s, size_t len, size_t at, struct secret *ret) {
    if (!secret_starts(s, len, at, "Bearer ") && !secret_starts(s, len, at, "bearer ")) {
        return false;
    }
    size_t n = secret_run(SECRET_DOTTED, s, len, at + 7);
    struct secret_mix m = secret_mix(s + at + 7, n);
    *ret = (struct secret){at + 7, at + 7 + n, "<token>", false};
    return n >= 16 && m.digit && (m.lower || m.upper);
}

/* An address whose path is the secret. */
static bool webhook_at(const char *s, size_t len, size_t at, struct secret *ret) {
    for (size_t i = 0; webhooks[i]; i++) {
        if (s[at] == webhooks[i][0] && secret_starts(s, len, at, webhooks[i])) {
            size_t from = at + strlen(webhooks[i]);
            size_t n = secret_run(SECRET_DOTTED, s, len, from);
            *ret = (struct secret){from, from + n, "<token>", false};
            return n >= 20;
        }
    }
    return false;
}

/* A bot's token of Telegram: "123456789:AA…", in addresses with "bot" before it. */
static bool bot_at(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t from = at + (secret_starts(s, len, at, "bot") ? 3 : 0), i = from;
    while (i < len && isdigit((unsigned char)s[i]) && i - from < 11) {
        i++;
    }
    if (i - from < 8 || !secret_starts(s, len, i, ":AA")) {
        return false;
    }
    size_t n = secret_run(SECRET_WORD, s, len, i + 1);
    *ret = (struct secret){from, i + 1 + n, "<token>", false};
    return n >= 33;
}

bool secret_shape(const char *s, size_t len, size_t at, struct secret *ret) {
    return token_at(s, len, at, ret) || jwt_at(s, len, at, ret) ||
           private_key_at(s, len, at, ret) || encoded_key_at(s, len, at, ret) ||
           digest_at(s, len, at, ret) || bearer_at(s, len, at, ret) ||
           webhook_at(s, len, at, ret) || bot_at(s, len, at, ret);
}

bool secret_in_url(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t from = at + 3, colon = 0, host = 0, i = from;
    size_t stop = len - at < 512 ? len : at + 512;
    for (; i < stop; i++) { /* the last @ is the host's: a password may hold one */
        if (isspace((unsigned char)s[i]) || !s[i] || strchr("/\"'<>`\\)]}", s[i])) {
            break;
        }
        host = s[i] == '@' ? i : host;
        colon = s[i] == ':' && !colon && !host ? i : colon;
    }
    if (!host || host == from) {
        return false;
    }
    bool variable = secret_is_example(s + (colon ? colon + 1 : from),
                                      host - (colon ? colon + 1 : from));
    *ret = (struct secret){from, host, "<credentials>", false};
    return !variable && (colon || host - from >= 16);
}
