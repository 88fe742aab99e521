#include "skills/traces/redaction_secrets.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>

#define MAX_KEY_BLOCK (16u << 10)

static const struct {
    const char *prefix;
    size_t min, max; /* characters behind it; max 0: any */
    enum secret_alphabet alphabet;
} shapes[] = {
    {"sk-ant-", 16, 0, SECRET_WORD},     {"sk-proj-", 16, 0, SECRET_WORD},
    {"sk-svcacct-", 16, 0, SECRET_WORD}, {"sk-or-", 16, 0, SECRET_WORD},
    {"sk-lf-", 16, 0, SECRET_WORD},      {"sk-", 32, 0, SECRET_ALNUM},
    {"AKIA", 16, 16, SECRET_UPPER},      {"ASIA", 16, 16, SECRET_UPPER},
    {"ghp_", 30, 0, SECRET_ALNUM},       {"gho_", 30, 0, SECRET_ALNUM},
    {"ghs_", 30, 0, SECRET_ALNUM},       {"ghu_", 30, 0, SECRET_ALNUM},
    {"ghr_", 30, 0, SECRET_ALNUM},       {"github_pat_", 30, 0, SECRET_WORD},
    {"AIza", 35, 0, SECRET_WORD},        {"ya29.", 20, 0, SECRET_WORD},
    {"xoxb-", 10, 0, SECRET_WORD},       {"xoxp-", 10, 0, SECRET_WORD},
    {"xoxa-", 10, 0, SECRET_WORD},       {"xoxr-", 10, 0, SECRET_WORD},
    {"xoxs-", 10, 0, SECRET_WORD},       {"xapp-", 10, 0, SECRET_WORD},
    {"sk_live_", 16, 0, SECRET_ALNUM},   {"rk_live_", 16, 0, SECRET_ALNUM},
    {"sk_test_", 16, 0, SECRET_ALNUM},   {"rk_test_", 16, 0, SECRET_ALNUM},
    {"whsec_", 16, 0, SECRET_DOTTED},    {"hf_", 30, 0, SECRET_ALNUM},
    {"api_org_", 30, 0, SECRET_ALNUM},   {"glpat-", 16, 0, SECRET_WORD},
    {"gldt-", 16, 0, SECRET_WORD},       {"npm_", 30, 0, SECRET_ALNUM},
    {"pypi-", 50, 0, SECRET_WORD},       {"dop_v1_", 40, 0, SECRET_ALNUM},
    {"SG.", 30, 0, SECRET_DOTTED},       {"r8_", 30, 0, SECRET_ALNUM},
    {"gsk_", 30, 0, SECRET_ALNUM},       {"nvapi-", 30, 0, SECRET_WORD},
    {"tvly-", 20, 0, SECRET_WORD},       {"pplx-", 30, 0, SECRET_ALNUM},
    {"lsv2_", 30, 0, SECRET_WORD},       {"dckr_pat_", 20, 0, SECRET_WORD},
    {"shpat_", 30, 0, SECRET_ALNUM},     {"xai-", 40, 0, SECRET_ALNUM},
    {"hvs.", 20, 0, SECRET_WORD},        {"AGE-SECRET-KEY-1", 30, 0, SECRET_UPPER},
    {"sk-admin-", 16, 0, SECRET_WORD},   {"sk_", 40, 0, SECRET_ALNUM},
    {"csk-", 40, 0, SECRET_ALNUM},       {"jina_", 40, 0, SECRET_ALNUM},
    {"rpa_", 30, 0, SECRET_ALNUM},       {"e2b_", 30, 0, SECRET_ALNUM},
    {"dapi", 32, 34, SECRET_WORD},       {"lin_api_", 30, 0, SECRET_ALNUM},
    {"ntn_", 30, 0, SECRET_ALNUM},       {"secret_", 40, 0, SECRET_ALNUM},
    {"figd_", 30, 0, SECRET_WORD},       {"glsa_", 30, 0, SECRET_WORD},
    {"glc_", 40, 0, SECRET_DOTTED},      {"dp.pt.", 30, 0, SECRET_ALNUM},
    {"dp.st.", 30, 0, SECRET_DOTTED},    {"sbp_", 30, 0, SECRET_ALNUM},
    {"sb_secret_", 20, 0, SECRET_WORD},  {"shpss_", 30, 0, SECRET_ALNUM},
    {"shpca_", 30, 0, SECRET_ALNUM},     {"shppa_", 30, 0, SECRET_ALNUM},
    {"sq0atp-", 20, 0, SECRET_WORD},     {"sq0csp-", 30, 0, SECRET_WORD},
    {"NRAK-", 24, 0, SECRET_UPPER},      {"pscale_tkn_", 30, 0, SECRET_WORD},
    {"pscale_pw_", 30, 0, SECRET_WORD},  {"PMAK-", 40, 0, SECRET_WORD},
    {"sntrys_", 40, 0, SECRET_DOTTED},   {"sntryu_", 40, 0, SECRET_ALNUM},
    {"CCIPAT_", 30, 0, SECRET_WORD},     {"bkua_", 30, 0, SECRET_ALNUM},
    {"rubygems_", 40, 0, SECRET_ALNUM},  {"dckr_oat_", 20, 0, SECRET_WORD},
    {"fo1_", 30, 0, SECRET_WORD},        {"hvb.", 20, 0, SECRET_WORD},
    {"ATATT3x", 40, 0, SECRET_DOTTED},   {"ATBB", 28, 40, SECRET_ALNUM},
    {"GOCSPX-", 24, 0, SECRET_WORD},     {"AKCp", 60, 0, SECRET_ALNUM},
    {"nfp_", 30, 0, SECRET_ALNUM},       {"phx_", 30, 0, SECRET_ALNUM},
    {"pat-na1-", 30, 0, SECRET_WORD},    {"glrt-", 16, 0, SECRET_WORD},
    {"glptt-", 30, 0, SECRET_WORD},      {"glcbt-", 16, 0, SECRET_WORD},
    {"tskey-", 20, 0, SECRET_WORD},      {"syt_", 20, 0, SECRET_WORD},
    {"doo_v1_", 40, 0, SECRET_ALNUM},    {"dor_v1_", 40, 0, SECRET_ALNUM},
    {"xoxe-", 20, 0, SECRET_WORD},       {"xoxe.", 20, 0, SECRET_DOTTED},
    {"ABIA", 16, 16, SECRET_UPPER},      {"ACCA", 16, 16, SECRET_UPPER},
    {"wandb_v1_", 30, 0, SECRET_WORD},   {"tgp_v1_", 30, 0, SECRET_WORD},
    {"xkeysib-", 40, 0, SECRET_WORD},    {"dt0c01.", 40, 0, SECRET_DOTTED},
    {"glsoat-", 16, 0, SECRET_WORD},     {"glft-", 16, 0, SECRET_WORD},
    {"pul-", 40, 40, SECRET_ALNUM},      {"ops_eyJ", 40, 0, SECRET_WORD},
    {"sha256~", 40, 0, SECRET_WORD},     {"key-", 32, 32, SECRET_ALNUM},
    {"SK", 32, 32, SECRET_ALNUM},
};

static bool token_at(const char *s, size_t len, size_t at, struct secret *ret) {
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
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
    static const char *const heads[] = {
        "$1$",    "$2a$",       "$2b$",      "$2y$",     "$5$",  "$6$", "$y$",
        "$apr1$", "$argon2id$", "$argon2i$", "$scrypt$", "$gy$", "$7$"};
    for (size_t i = 0; s[at] == '$' && i < ARRAY_LEN(heads); i++) {
        size_t end = at;
        while (secret_starts(s, len, at, heads[i]) && end < len && end - at < 512 &&
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
    static const char *const heads[] = {
        "hooks.slack.com/services/", "hooks.slack.com/workflows/",
        "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"};
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        if (s[at] == heads[i][0] && secret_starts(s, len, at, heads[i])) {
            size_t from = at + strlen(heads[i]);
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
