/* Whether one command does what another was to do: which of its words tell that, and in what the two
 * may differ. */
#include "skills/traces/lessons_internal.h"

#include "base/find.h"

#include <ctype.h>

#define MAX_COMPARED 600u /* bytes of a part */
#define LEAST_HINT 5u    /* letters of a part of an option's name */
#define LEAST_CONTENT 3u /* letters of a word that tells what a command is for */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool is_setting(const char *word, size_t len) {
    const char *eq = memchr(word, '=', len);
    return eq && eq > word && !memchr(word, '-', (size_t)(eq - word));
}

/* Behind settings and `sudo`. */
static size_t program_at(const struct word_list *l) {
    return first_of(i, 0, l->count,
                    !is_setting(l->words[i], l->lens[i]) &&
                        !(l->lens[i] == 4 && memcmp(l->words[i], "sudo", 4) == 0));
}

bool lesson_is_path(const char *word, size_t len) {
    return memchr(word, '/', len) || memchr(word, '\\', len);
}

/* Neither an option nor a number: it tells what the command is for. */
static bool is_content(const char *word, size_t len) {
    return len >= LEAST_CONTENT && *word != '-' && !is_setting(word, len) &&
           any_of(i, 0, len, isalpha((unsigned char)word[i]));
}

/* What is behind the folders. */
static void base_of(const char **word, size_t *len) {
    while (*len && (*word)[*len - 1] == '/') {
        --*len;
    }
    const char *slash = memrchr(*word, '/', *len);
    *len -= slash ? (size_t)(slash + 1 - *word) : 0;
    *word = slash ? slash + 1 : *word;
}

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The text has the word between other marks. */
static bool has_within(const char *text, size_t text_len, const char *word, size_t len) {
    const char *end = text + text_len;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, len)); at++) {
        if ((at == text || !is_letter(at[-1])) && (at + len == end || !is_letter(at[len]))) {
            return true;
        }
    }
    return false;
}

/* The list has the word, or its last part within another: "test_runner" for "tests/test_runner/". */
static bool keeps(const struct word_list *l, const char *word, size_t len) {
    base_of(&word, &len);
    return any_of(i, 0, l->count,
                  !memchr(l->words[i], ' ', l->lens[i]) &&
                      has_within(l->words[i], l->lens[i], word, len));
}

/* Of the words [from, to) that tell what a command is for, how many the other has; 0 too if it lacks
 * one that is a path, or most of them. */
static size_t count_kept(const struct word_list *a, size_t from, size_t to,
                         const struct word_list *b, size_t *ret_of) {
    size_t kept = 0;
    *ret_of = 0;
    for (size_t i = from; i < to; i++) {
        bool content = is_content(a->words[i], a->lens[i]);
        bool keeps_it = content && keeps(b, a->words[i], a->lens[i]);
        if (content && !keeps_it && lesson_is_path(a->words[i], a->lens[i])) {
            return 0; /* it is for less */
        }
        *ret_of += content;
        kept += keeps_it;
    }
    return 2 * kept >= *ret_of ? kept : 0;
}

static bool has_very_word(const struct word_list *l, const char *word, size_t len) {
    return any_of(i, 0, l->count, l->lens[i] == len && memcmp(l->words[i], word, len) == 0);
}

/* --- what the error names --- */

/* The program itself says it, "pg_ctl: …": it is there. */
static bool speaks(const char *quote, const char *program, size_t len) {
    base_of(&program, &len);
    size_t first = strcspn(quote, ": ");
    const char *name = quote;
    base_of(&name, &first);
    return first == len && memcmp(name, program, len) == 0;
}

/* It stands in quotes, before a colon or at the end: `unknown option "-x"`, "not found: python". */
bool lesson_is_named(const char *quote, const char *word) {
    size_t len = strlen(word);
    for (const char *at = quote; len && (at = strstr(at, word)); at += len) {
        const char *end = at + len;
        bool whole = (at == quote || (!is_letter(at[-1]) && at[-1] != '-' && at[-1] != '/')) &&
                     !is_letter(*end) && *end != '-';
        bool opened = at > quote && strchr("'\"`", at[-1]);
        bool last = *end == ':' && !end[1 + strcspn(end + 1, ":'\"`")];
        if (whole && (opened || last || (*end && strchr("'\"`", *end)) || !end[strcspn(end, LETTERS)])) {
            return true;
        }
    }
    return false;
}

/* The parts of an old name stand in the new one, in their order: "llvm-dev" in "llvm-14-dev". */
static bool is_varied(const char *old, size_t old_len, const char *now, size_t now_len) {
    size_t parts = 0;
    for (const char *end = old + old_len; old < end; parts++) {
        size_t len = 0;
        while (old + len < end && isalnum((unsigned char)old[len])) {
            len++;
        }
        const char *found = len ? memmem(now, now_len, old, len) : now;
        if (!found) {
            return false;
        }
        now_len -= (size_t)(found + len - now);
        now = found + len;
        old += len + 1;
    }
    return parts > 1;
}

/* The last word, which the error names, in another form among the same words. */
static bool varies_last(const struct word_list *a, const struct word_list *b) {
    size_t last = a->count - 1;
    return a->count == b->count && !lesson_is_path(a->words[last], a->lens[last]) &&
           is_varied(a->words[last], a->lens[last], b->words[last], b->lens[last]) &&
           all_of(i, 0, last, has_very_word(b, a->words[i], a->lens[i]));
}

static bool same_program(const struct word_list *a, const struct word_list *b) {
    size_t x = program_at(a), y = program_at(b);
    return x < a->count && y < b->count && a->lens[x] == b->lens[y] &&
           memcmp(a->words[x], b->words[y], a->lens[x]) == 0;
}

/* "python3" for "python". */
static bool has_prefix(const char *word, size_t len, const char *begin, size_t begin_len) {
    return len > begin_len && memcmp(word, begin, begin_len) == 0;
}

/* A program that the error names is not run: what it was given is, or a program of its name. */
static bool replaces_program(const struct word_list *a, size_t at, const struct word_list *b) {
    size_t of, kept = count_kept(a, at + 1, a->count, b, &of);
    size_t to = program_at(b);
    const char *name = a->words[at], *now = to < b->count ? b->words[to] : "";
    size_t len = a->lens[at], now_len = to < b->count ? b->lens[to] : 0;
    bool wrong_place = lesson_is_path(name, len) && lesson_is_path(now, now_len);
    if (wrong_place) {
        return false;
    }
    return of ? kept > 0 : keeps(b, name, len) || has_prefix(now, now_len, name, len);
}

/* Words of b that a lacks. */
static size_t count_new(const struct word_list *a, const struct word_list *b, bool content) {
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        count += (!content || is_content(b->words[i], b->lens[i])) &&
                 !has_very_word(a, b->words[i], b->lens[i]);
    }
    return count;
}

/* Another word in front of its arguments: `exec web curl URL` and `exec web wget URL`. Where it is
 * all that differs, it may be the name of a thing. */
static bool replaces_inner(const struct word_list *a, size_t at, const struct word_list *b) {
    size_t of, before, kept = count_kept(a, at + 1, a->count, b, &of);
    bool near = count_kept(a, program_at(a), at, b, &before) > 0;
    return !lesson_is_path(a->words[at], a->lens[at]) && kept && near && count_new(a, b, true) &&
           count_new(a, b, false) > 1;
}

/* What the error names is not in the command that passed, and the rest is. */
bool lesson_is_without(const char *quote, const char *key, const struct word_list *a, size_t at,
                       const struct word_list *b, bool next) {
    const char *word = a->words[at];
    size_t len = a->lens[at], program = program_at(a), of;
    if (has_very_word(b, word, len) || memchr(word, '\n', len) || speaks(quote, word, len)) {
        return false;
    }
    if (at == program) {
        return replaces_program(a, at, b);
    }
    if (*word == '-') {
        size_t kept = count_kept(a, program + 1, a->count, b, &of);
        return of ? kept == of : same_program(a, b); /* without a value it is for more */
    }
    size_t end = strlen(key);
    bool script = at + 1 == a->count && end > len && strcmp(key + end - len, word) == 0;
    return replaces_inner(a, at, b) ||
           (at + 1 == a->count && varies_last(a, b)) ||
           (next && script && same_program(a, b));
}

/* --- the very command --- */

/* Behind the words that both begin with. */
static void skip_common(const char **a, const char **b) {
    for (size_t len; (len = strcspn(*a, BETWEEN_WORDS)) && (*a)[len] &&
                     strncmp(*a, *b, len + 1) == 0;) {
        *a += len + 1;
        *b += len + 1;
    }
}

/* The later one is the failed one behind other words, or quoted in one of its words, where both
 * may begin alike: `exec db pg_ctl reload` and `exec db su postgres -c 'pg_ctl reload'`. What
 * speaks is there. */
bool lesson_is_wrapped(const char *quote, const char *from, const char *to) {
    skip_common(&from, &to);
    if (!speaks(quote, from, strcspn(from, BETWEEN_WORDS))) {
        return false;
    }
    size_t len = strlen(from), to_len = strlen(to);
    bool behind = to_len > len && to[to_len - len - 1] == *BETWEEN_WORDS &&
                  strcmp(to + to_len - len, from) == 0;
    autofree char *text = command_part_text(from);
    struct word_list b;
    list_words(&b, to);
    bool rights = strncmp(to, "sudo" BETWEEN_WORDS, 5) == 0;
    bool set = behind && is_setting(to, strcspn(to, BETWEEN_WORDS));
    return (behind && !set && !rights) || any_of(i, 1, b.count, memmem(b.words[i], b.lens[i], text, strlen(text)));
}

/* --- the same thing under another name --- */

/* One stands in the other between its joints: "api" in "repo-api-1". */
static bool is_part_name(const char *name, size_t len, const char *whole, size_t whole_len) {
    const char *at = len >= LEAST_CONTENT ? memmem(whole, whole_len, name, len) : NULL;
    return at && len < whole_len && (at == whole || strchr("-_.", at[-1])) &&
           (at + len == whole + whole_len || strchr("-_.", at[len]));
}

/* Both are a name and the very rest behind a joint, "repo-api-1:/app" and "api:/app". */
static bool renames(const char *quote, const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t i = first_of(k, 0, a_len, strchr(":@=", a[k])), k = first_of(n, 0, b_len, strchr(":@=", b[n]));
    autofree char *name = xstrndup(a, i);
    bool rest = i >= LEAST_CONTENT && i < a_len && a_len - i == b_len - k && memcmp(a + i, b + k, a_len - i) == 0;
    return rest && lesson_is_named(quote, name) &&
           (is_part_name(a, i, b, k) || is_part_name(b, k, a, i));
}

/* "./src", "src/". */
static bool is_same_path(const char *a, size_t a_len, const char *b, size_t b_len) {
    const char *const begin[] = {a, b};
    const char *from[] = {a, b};
    size_t len[] = {a_len, b_len};
    for (size_t i = 0; i < 2; i++) {
        from[i] += len[i] > 2 && memcmp(begin[i], "./", 2) == 0 ? 2 : 0;
        len[i] -= (size_t)(from[i] - begin[i]);
        len[i] -= len[i] > 1 && from[i][len[i] - 1] == '/';
    }
    return len[0] == len[1] && memcmp(from[0], from[1], len[0]) == 0;
}

bool lesson_is_renamed(const char *quote, const char *from, const char *to) {
    struct word_list a, b;
    list_words(&a, from);
    list_words(&b, to);
    size_t renamed = 0;
    for (size_t i = 0; a.count == b.count && i < a.count; i++) {
        if (renames(quote, a.words[i], a.lens[i], b.words[i], b.lens[i])) {
            renamed++;
        } else if (!is_same_path(a.words[i], a.lens[i], b.words[i], b.lens[i])) {
            return false;
        }
    }
    return renamed > 0;
}

bool lesson_is_run_by_path(const char *quote, const char *from, const char *to) {
    struct word_list a, b;
    list_words(&a, from);
    list_words(&b, to);
    if (a.count < 2 || b.count + 1 != a.count || !lesson_is_path(b.words[0], b.lens[0])) {
        return false;
    }
    const char *base = b.words[0];
    size_t len = b.lens[0];
    base_of(&base, &len);
    autofree char *name = xstrndup(a.words[1], a.lens[1]);
    return len == a.lens[1] && memcmp(base, name, len) == 0 && lesson_has_word(quote, name) &&
           all_of(i, 2, a.count, a.lens[i] == b.lens[i - 1] && memcmp(a.words[i], b.words[i - 1], a.lens[i]) == 0);
}

/* Behind NAME=value in front. */
const char *lesson_behind_settings(const char *part) {
    for (size_t len; is_setting(part, len = strcspn(part, BETWEEN_WORDS)) && part[len];) {
        part += len + 1;
    }
    return part;
}

/* A part of an option's name, "daemon" of "--no-daemon", that the output says and the line does not. */
static bool is_hinted(const struct lesson_step *failed, const char *option, size_t len) {
    for (const char *at = option, *end = option + len; at < end;) {
        size_t n = 0;
        while (at + n < end && isalpha((unsigned char)at[n])) {
            n++;
        }
        autofree char *name = xstrndup(at, n);
        if (n >= LEAST_HINT && failed->output && strcasestr(failed->output, name) &&
            !strcasestr(failed->text, name)) {
            return true;
        }
        at += n + 1;
    }
    return false;
}

/* All that is new are options and settings, with the values of options. */
bool lesson_adds_options(const char *from, const char *to) {
    struct word_list a, b;
    list_words(&a, from);
    list_words(&b, to);
    size_t options = 0;
    for (size_t i = 0; i < b.count; i++) {
        bool new = !has_very_word(&a, b.words[i], b.lens[i]);
        bool option = b.words[i][0] == '-' || is_setting(b.words[i], b.lens[i]);
        bool value = i > 0 && b.words[i - 1][0] == '-' && !has_very_word(&a, b.words[i - 1], b.lens[i - 1]);
        options += new && option;
        if (new && !option && !value) {
            return false;
        }
    }
    return options > 0;
}

/* The very command with options more, of which the failed run's output speaks. */
bool lesson_adds_hinted(const struct lesson_step *failed, const char *from, const char *to) {
    struct word_list a, b;
    list_words(&a, from);
    list_words(&b, to);
    bool less = !same_program(&a, &b) ||
                any_of(i, 0, a.count, !has_very_word(&b, a.words[i], a.lens[i]) &&
                                          (a.words[i][0] != '-' || a.words[i][1] == '-'));
    bool other = any_of(i, 0, b.count, !has_very_word(&a, b.words[i], b.lens[i]) &&
                                           strncmp(b.words[i], "--", 2) != 0);
    return !less && !other &&
           any_of(i, 0, b.count, !has_very_word(&a, b.words[i], b.lens[i]) &&
                                     is_hinted(failed, b.words[i], b.lens[i]));
}

/* Of the same program, or for the same things. */
bool command_is_alike(const struct command *failed, const struct command *now) {
    for (size_t i = 0; i < failed->count; i++) {
        for (size_t k = 0; k < now->count; k++) {
            struct word_list a, b;
            size_t of;
            if (strlen(failed->parts[i]) > MAX_COMPARED || strlen(now->parts[k]) > MAX_COMPARED) {
                continue;
            }
            list_words(&a, failed->parts[i]);
            list_words(&b, now->parts[k]);
            if (same_program(&a, &b) || count_kept(&a, program_at(&a), a.count, &b, &of)) {
                return true;
            }
        }
    }
    return false;
}
