#include "gpu/source/ptx_text.h"

#include <ctype.h>
#include <stdio.h>

struct reading {
    const char *text;
    size_t at, len;
};

static bool sees(const struct reading *r, const char *word) {
    size_t len = strlen(word);
    return len <= r->len - r->at && memcmp(r->text + r->at, word, len) == 0;
}

/* Past "end", or to the end of the text. */
static void skip_past(struct reading *r, const char *end) {
    const char *found = memmem(r->text + r->at, r->len - r->at, end, strlen(end));
    r->at = found ? (size_t)(found - r->text) + strlen(end) : r->len;
}

static void skip_blanks(struct reading *r) {
    while (r->at < r->len) {
        if (sees(r, "//")) {
            skip_past(r, "\n");
        } else if (sees(r, "/*")) {
            r->at += 2;
            skip_past(r, "*/");
        } else if (isspace((unsigned char)r->text[r->at])) {
            r->at++;
        } else {
            return;
        }
    }
}

/* ".version", "9.0", "sm_90a" */
static size_t word_end(const struct reading *r) {
    size_t end = r->at;
    while (end < r->len && (isalnum((unsigned char)r->text[end]) || r->text[end] == '_' ||
                            r->text[end] == '.')) {
        end++;
    }
    return end;
}

static bool take_word(struct reading *r, const char *word) {
    skip_blanks(r);
    if (!sees(r, word) || word_end(r) - r->at != strlen(word)) {
        return false;
    }
    r->at += strlen(word);
    return true;
}

/* "sm_90a, texmode_independent": the first one's bytes. */
static void take_operands(struct reading *r, size_t *ret_at, size_t *ret_end) {
    skip_blanks(r);
    *ret_at = r->at;
    *ret_end = r->at = word_end(r);
    for (;;) {
        struct reading next = *r;
        skip_blanks(&next);
        if (!sees(&next, ",")) {
            return;
        }
        next.at++;
        skip_blanks(&next);
        next.at = word_end(&next);
        *r = next;
    }
}

/* At most as many digits as a version has. */
static unsigned number_at(const char *text, size_t *at, size_t end) {
    unsigned n = 0;
    for (; *at < end && isdigit((unsigned char)text[*at]) && n < 1000; ++*at) {
        n = n * 10 + (unsigned)(text[*at] - '0');
    }
    return n;
}

static void read_version(struct ptx_head *ret, struct reading *r) {
    size_t at, end;
    take_operands(r, &at, &end);
    ret->major = number_at(r->text, &at, end);
    size_t point = at;
    at += at < end && r->text[at] == '.';
    size_t minor = at;
    ret->minor = number_at(r->text, &at, end);
    ret->has_version = minor > point && at > minor && at == end;
}

static void read_target(struct ptx_head *ret, struct reading *r) {
    take_operands(r, &ret->target_at, &ret->target_end);
    snprintf(ret->target, sizeof ret->target, "%.*s",
             (int)(ret->target_end - ret->target_at < sizeof ret->target
                       ? ret->target_end - ret->target_at
                       : sizeof ret->target - 1),
             r->text + ret->target_at);
}

bool ptx_head_read(struct ptx_head *ret, const char *text, size_t len) {
    static const char mark[] = "\xef\xbb\xbf";
    struct reading r = {.text = text, .len = len};
    *ret = (struct ptx_head){0};
    r.at = sees(&r, mark) ? strlen(mark) : 0;
    if (!take_word(&r, ".version")) {
        return false;
    }
    ret->start = r.at - strlen(".version");
    read_version(ret, &r);
    for (;;) {
        ret->end = r.at;
        if (take_word(&r, ".target")) {
            read_target(ret, &r);
        } else if (take_word(&r, ".address_size")) {
            take_operands(&r, &ret->size_at, &ret->size_end);
        } else {
            return true;
        }
    }
}

bool ptx_text_is(const char *text, size_t len) {
    struct ptx_head head;
    return ptx_head_read(&head, text, len);
}

bool ptx_path_is(const char *path) {
    size_t len = strlen(path);
    return len > 4 && strcmp(path + len - 4, ".ptx") == 0;
}

struct target {
    int number;
    char feature; /* 'a', 'f' or 0 */
};

static bool target_read(struct target *ret, const char *name) {
    int used = 0;
    *ret = (struct target){0};
    if (sscanf(name, "sm_%3d%n", &ret->number, &used) != 1) {
        return false;
    }
    ret->feature = name[used];
    return !ret->feature ||
           ((ret->feature == 'a' || ret->feature == 'f') && !name[used + 1]);
}

bool ptx_target_suits(const char *target, const char *arch) {
    struct target of, on;
    if (!target_read(&of, target) || !target_read(&on, arch)) {
        return false;
    }
    if (of.feature == 'a') {
        return on.feature == 'a' && of.number == on.number;
    }
    if (of.feature == 'f') {
        return on.feature && of.number / 10 == on.number / 10 && of.number <= on.number;
    }
    return of.number <= on.number;
}
