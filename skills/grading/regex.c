#include "skills/grading/regex.h"

#include "base/err.h"
#include "base/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <time.h>

#define MAX_CPU_NS 1000000000u /* of one search */
#define MATCH_LIMIT 50000000u
#define MATCH_HEAP_KIB (64u << 10)
#define CALLS_PER_LOOK 16u

struct regex {
    pcre2_code *code;
};

static int compile(struct regex **ret, const char *pattern, size_t len, uint32_t options,
                   struct err *err) {
    int code;
    size_t at;
    if (!text_is_utf8(pattern, len)) {
        return err_set(err, -EINVAL, "not UTF-8");
    }
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)pattern, len, options | PCRE2_UTF | PCRE2_AUTO_CALLOUT,
                      &code, &at, NULL);
    if (!compiled) {
        char why[128] = "";
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        return err_set(err, -EINVAL, "%s (at byte %zu of the pattern)", why, at);
    }
    *ret = xcalloc(1, sizeof **ret);
    (*ret)->code = compiled;
    return 0;
}

static int read_flags(const char *flags, uint32_t *ret, struct err *err) {
    static const char letters[] = "imsx";
    static const uint32_t options[] = {PCRE2_CASELESS, PCRE2_MULTILINE, PCRE2_DOTALL,
                                       PCRE2_EXTENDED};
    for (const char *flag = flags; *flag; flag++) {
        const char *known = strchr(letters, *flag);
        if (!known || (*ret & options[known - letters])) {
            return err_set(err, -EINVAL, "flags are letters of \"imsx\", each once");
        }
        *ret |= options[known - letters];
    }
    return 0;
}

int regex_new(struct regex **ret, const char *pattern, size_t len, const char *flags,
              struct err *err) {
    uint32_t options = PCRE2_NEVER_BACKSLASH_C;
    if (len == 0 || len > REGEX_MAX_PATTERN) {
        return err_set(err, -EINVAL, "a pattern has 1 to %u bytes", REGEX_MAX_PATTERN);
    }
    int rc = read_flags(flags, &options, err);
    return rc < 0 ? rc : compile(ret, pattern, len, options, err);
}

int regex_new_literal(struct regex **ret, const char *text, size_t len, struct err *err) {
    if (len == 0 || len > REGEX_MAX_LITERAL) {
        return err_set(err, -EINVAL, "a text to look for has 1 to %u bytes",
                       REGEX_MAX_LITERAL);
    }
    return compile(ret, text, len, PCRE2_LITERAL | PCRE2_CASELESS, err);
}

void regex_free(struct regex *r) {
    if (r) {
        pcre2_code_free(r->code);
        free(r);
    }
}

/* PCRE2's own match limit begins anew at every character where a match might begin, and
 * a run of one item counts as a single step: only the clock bounds a search. It is looked
 * at from the callout that stands before every item of the pattern. */
struct regex_watch {
    uint64_t end;
    unsigned calls;
};

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int look_at_watch(pcre2_callout_block *, void *data) {
    struct regex_watch *watch = data;
    bool late = ++watch->calls % CALLS_PER_LOOK == 0 && cpu_ns() > watch->end;
    return late ? PCRE2_ERROR_CALLOUT : 0;
}

static pcre2_match_context *new_limits(struct regex_watch *watch) {
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    if (!limits) {
        abort();
    }
    pcre2_set_match_limit(limits, MATCH_LIMIT);
    pcre2_set_heap_limit(limits, MATCH_HEAP_KIB);
    pcre2_set_callout(limits, look_at_watch, watch);
    return limits;
}

int regex_find(const struct regex *r, const char *text, size_t len, size_t *start,
               size_t *end) {
    struct regex_watch watch = {.end = cpu_ns() + MAX_CPU_NS};
    pcre2_match_context *limits = new_limits(&watch);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    if (!data) {
        abort();
    }
    int rc =
        pcre2_match(r->code, (PCRE2_SPTR)text, len, 0, PCRE2_NO_UTF_CHECK, data, limits);
    if (rc >= 0 && start && end) {
        const size_t *at = pcre2_get_ovector_pointer(data);
        *start = at[0] < at[1] ? at[0] : at[1]; /* \K can turn them round */
        *end = at[1];
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    return rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : -ETIME;
}
