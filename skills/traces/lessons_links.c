/* What ties a change to an error: a name that the error says and the change brings or takes away; or the
 * place that the error tells. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/lessons_tables.h"

#define REASON_TURNS 3u /* of the agent, before a change */
#define NEAR 1500u       /* bytes of an output between an error and its place */
#define QUOTE_HEAD 40u   /* of an error, by which it is found in the output */
#define MAX_NAMES (8u << 10)
#define COMMON_WORD 12u
#define MAX_MENTIONS 64u /* of a file in an output */

char *lesson_reason(const struct failure *f, size_t before) {
    size_t turns = 0;
    for (size_t i = before; i > f->last + 1 && turns < REASON_TURNS; i--) {
        const struct lesson_step *s = &f->s->list[i - 1];
        char *reason = s->kind == STEP_SAY ? lesson_cause(f->r, s->text) : NULL;
        if (reason) {
            return reason;
        }
        turns += s->kind == STEP_SAY;
    }
    return NULL;
}

/* Both errors and any code say it. */
static bool is_common(const char *word, size_t len) {
    char small[COMMON_WORD + 1] = {0};
    for (size_t i = 0; i < len && i < COMMON_WORD; i++) {
        small[i] = (char)tolower((unsigned char)word[i]);
    }
    return len <= COMMON_WORD && strings_have(common, small);
}

/* The error without words that tie nothing, and without the files of its place,
 * "src/orders.spec.ts(3,4):". */
static void add_unplaced(struct buf *out, const char *quote) {
    for (const char *at = quote; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        const char *slash = memrchr(at, '/', len);
        bool place = slash && *at != '\'' && *at != '"' && *at != '`' && *at != '/' && *at != '@' &&
                     memchr(slash, '.', len - (size_t)(slash - at));
        bool says = !place && !is_common(at, strcspn(at, " :.,;()"));
        buf_addf(out, "%.*s ", says ? (int)len : 0, at);
        at += len;
    }
    buf_adds(out, "\n");
}

char *lesson_told(const struct lesson_error *error) {
    struct buf out = BUF_INIT(16u << 10);
    add_unplaced(&out, error->quote);
    return buf_detach(&out);
}

/* Letters, digits and "_"; or numbers with dots between: a version. */
static size_t token_length(const char *s) {
    size_t len = 0;
    bool version = isdigit((unsigned char)*s);
    while (text_is_word(s[len]) || (version && len && s[len] == '.' && isdigit((unsigned char)s[len + 1]))) {
        version = version && (isdigit((unsigned char)s[len]) || s[len] == '.');
        len++;
    }
    return len;
}

/* How often the text has it between other marks, with the very letters. */
static size_t count_token(const char *text, const char *token, size_t len) {
    size_t count = 0;
    for (const char *at = text; *at;) {
        size_t n = token_length(at);
        count += n == len && memcmp(at, token, len) == 0;
        at += n ? n : 1;
    }
    return count;
}

static void add_missing(struct buf *out, const char *all, const char *other) {
    const char *text = all;
    while (*text) {
        size_t n = token_length(text);
        if (n && !is_common(text, n) && !count_token(out->data, text, n) &&
            count_token(all, text, n) != count_token(other, text, n)) {
            buf_addf(out, "%.*s ", (int)n, text);
        }
        text += n ? n : 1;
    }
}

/* The names that stand more often on one side of the change, without those that any code says. */
char *lesson_differing(const char *diff) {
    autobuf old = BUF_INIT(2 * LESSON_MAX_CHANGE), now = BUF_INIT(2 * LESSON_MAX_CHANGE);
    struct buf out = BUF_INIT(MAX_NAMES);
    buf_adds(&out, "");
    for (; *diff; diff = text_next_line(diff)) {
        buf_addf(*diff == '-' ? &old : &now, "%.*s\n", (int)strcspn(diff, "\n"), diff);
    }
    add_missing(&out, old.data, now.data);
    add_missing(&out, now.data, old.data);
    return buf_detach(&out);
}

/* How far the file's name is from the error in the output, where it is nearer than to any
 * other error; SIZE_MAX: it is not. */
static size_t place_distance(const struct lesson_step *failed, size_t error, const char *name) {
    size_t best = SIZE_MAX, mentions = 0;
    const char *places[STEP_MAX_ERRORS] = {0};
    for (size_t i = 0; i < failed->error_count; i++) {
        autofree char *head = xstrndup(failed->errors[i].quote, QUOTE_HEAD);
        places[i] = strstr(failed->output, head);
    }
    for (const char *at = failed->output; (at = strstr(at, name)) && mentions < MAX_MENTIONS;
         at += strlen(name), mentions++) {
        size_t nearest = SIZE_MAX, who = SIZE_MAX;
        for (size_t i = 0; i < failed->error_count; i++) {
            const char *p = places[i];
            size_t far = !p ? SIZE_MAX : (size_t)(p > at ? p - at : at - p);
            who = far < nearest ? i : who;
            nearest = far < nearest ? far : nearest;
        }
        best = who == error && nearest < best ? nearest : best;
    }
    return best;
}

enum lesson_link lesson_link(const struct lesson_step *failed, const struct lesson_error *error,
                             const char *told, const char *path, const char *diff) {
    const char *base = path_basename(path);
    size_t index = first_of(i, 0, failed->error_count,
                            strcmp(failed->errors[i].normal, error->normal) == 0);
    autofree char *names = lesson_differing(diff);
    if (lesson_names(told, names, failed->text)) {
        return LINK_NAME;
    }
    bool here = *base && (strstr(failed->text, base) || strstr(error->quote, base) ||
                          (failed->output && place_distance(failed, index, base) <= NEAR));
    return here ? LINK_PLACE : LINK_NONE;
}
