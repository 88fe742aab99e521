#include "skills/traces/redaction_shapes.h"

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
};

static bool is_of(enum secret_alphabet alphabet, char c) {
    bool digit = c >= '0' && c <= '9', upper = c >= 'A' && c <= 'Z';
    bool alnum = digit || upper || (c >= 'a' && c <= 'z');
    switch (alphabet) {
    case SECRET_ALNUM:
        return alnum;
    case SECRET_WORD:
        return alnum || c == '_' || c == '-';
    case SECRET_DOTTED:
        return alnum || (c && strchr("_-./+=", c));
    case SECRET_UPPER:
        return upper || digit;
    }
    return false;
}

size_t secret_run(enum secret_alphabet alphabet, const char *s, size_t len, size_t at) {
    size_t i = at;
    while (i < len && is_of(alphabet, s[i])) {
        i++;
    }
    return i - at;
}

bool secret_starts(const char *s, size_t len, size_t at, const char *word) {
    size_t n = strlen(word);
    return len - at >= n && memcmp(s + at, word, n) == 0;
}

static bool token_at(const char *s, size_t len, size_t at, struct secret *ret) {
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        if (s[at] != shapes[i].prefix[0] ||
            !secret_starts(s, len, at, shapes[i].prefix)) {
            continue;
        }
        size_t n = strlen(shapes[i].prefix);
        size_t run = secret_run(shapes[i].alphabet, s, len, at + n);
        if (run >= shapes[i].min && (!shapes[i].max || run <= shapes[i].max)) {
            *ret = (struct secret){at, at + n + run, "<api-key>"};
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
    *ret = (struct secret){at, end, "<token>"};
    return parts >= 2;
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
    size_t stop;
    if (end) {
        stop = (size_t)(end - s) + 9;
        while (stop < len && (isupper((unsigned char)s[stop]) || s[stop] == ' ')) {
            stop++;
        }
        while (stop < len && s[stop] == '-') {
            stop++;
        }
    } else { /* cut off: all that could be of it */
        stop = (size_t)(head - s) + 11;
        while (stop < len && (is_of(SECRET_DOTTED, s[stop]) ||
                              (s[stop] && strchr(" \n\r\\:,", s[stop])))) {
            stop++;
        }
    }
    *ret = (struct secret){at, stop, "<private-key>"};
    return true;
}

bool secret_shape_at(const char *s, size_t len, size_t at, struct secret *ret) {
    return token_at(s, len, at, ret) || jwt_at(s, len, at, ret) ||
           private_key_at(s, len, at, ret);
}
