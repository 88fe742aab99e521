/* Others' words made fit to be kept, and the lines in them that matter. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/pattern.h"
#include "base/text.h"
#include "skills/lessons_tables.h"
#include "skills/traces/redaction.h"

#define MAX_TEXT (2u << 20)
#define MAX_LINE 4096u
#define MAX_LINES 20000u
#define SPECIFIC "([{'\"_-/0123456789" /* marks of what no plain word says */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LEAST_WORD 4u
#define MAX_MARKS 6u /* of code in a sentence */
#define SUMMARY_LINE 200u /* bytes */
#define CLOCK_WITHIN 60u /* bytes of a line */
#define SHORT_LINES 6u /* of an output that is nothing but its message … */
#define SHORT_BLANKS 3u /* … of so many blanks, a sentence */

void lesson_reader_init(struct lesson_reader *r, const struct redaction *redaction) {
    *r = (struct lesson_reader){
        .redaction = redaction,
        .error = pattern_new(error_regex),
        .weak = pattern_new(weak_regex),
        .summary = pattern_new(summary_regex),
        .failures = pattern_new(failures_regex),
        .silencing = pattern_new(silencing_regex),
        .cue = pattern_new(cue_regex),
        .intent = pattern_new(intent_regex),
        .vague = pattern_new(vague_regex),
        .personal = pattern_new(personal_regex),
        .idle = pattern_new(idle_regex),
        .sure = words_scan_new(),
    };
    words_scan_add(r->sure, error_words, 0);
    words_scan_prepare(r->sure);
}

void lesson_reader_finish(struct lesson_reader *r) {
    pattern_free(r->error);
    pattern_free(r->weak);
    pattern_free(r->summary);
    pattern_free(r->failures);
    pattern_free(r->silencing);
    pattern_free(r->cue);
    pattern_free(r->intent);
    pattern_free(r->vague);
    pattern_free(r->personal);
    pattern_free(r->idle);
    words_scan_free(r->sure);
}

/* --- cleaning --- */

static bool ends_path(char c) {
    return c == '\0' || (!isalnum((unsigned char)c) && !strchr("._-", c));
}

/* The length of "/home/NAME" or "/Users/NAME" at s, else 0. */
static size_t home_at(const char *s) {
    static const char *const roots[] = {"/home/", "/Users/"};
    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        size_t len = strlen(roots[i]);
        size_t name =
            strncmp(s, roots[i], len) ? 0 : strcspn(s + len, "/ \t\n\"'`:;,)]}>|&");
        if (name && name < 64) {
            return len + name;
        }
    }
    return strncmp(s, "/root", 5) == 0 && ends_path(s[5]) ? 5 : 0;
}

/* What ends the name of a file too: "@" and "(" may begin one. */
static bool ends_name(char c) {
    return c == '\0' || strchr(" \t\n\"'`:;,)]}>|&", c);
}

static bool is_slash(char c) {
    return c == '/' || c == '\\';
}

/* The length of the drive at s: "E:" or, as Git's shell has it, "/e"; else 0. */
static size_t drive_at(const char *s, char letter) {
    bool shell = *s == '/' && tolower((unsigned char)s[1]) == tolower((unsigned char)letter);
    bool drive = tolower((unsigned char)*s) == tolower((unsigned char)letter) && s[1] == ':';
    return shell || drive ? 2 : 0;
}

/* The length of the working folder at s, with the slash behind it; else 0. Windows'
 * slashes go both ways and may be doubled. */
static size_t cwd_at(const char *s, const char *cwd) {
    bool drive = cwd && isalpha((unsigned char)*cwd) && cwd[1] == ':';
    size_t i = drive ? drive_at(s, *cwd) : 0, k = i;
    if (!cwd || strlen(cwd) < 2 || (drive && !i)) {
        return 0;
    }
    for (; cwd[k]; k++, i++) {
        bool slash = is_slash(cwd[k]) && is_slash(s[i]);
        if (cwd[k] != s[i] && !(slash && drive)) {
            return 0;
        }
        i += drive && s[i] == '\\' && s[i + 1] == '\\';
    }
    if (is_slash(s[i]) && (drive || s[i] == '/')) {
        return i + 1 + (s[i] == '\\' && s[i + 1] == '\\');
    }
    return ends_path(s[i]) ? i : 0;
}

static bool starts_path(const char *text, const char *at) {
    return at == text || !(isalnum((unsigned char)at[-1]) || strchr("._-~/>", at[-1]));
}

/* Where the next path may start, at or behind s: at a slash, or at a drive. */
static const char *next_path(const char *s) {
    for (const char *at = s; (at = strpbrk(at, "/:")); at++) {
        if (*at == '/' || (at > s && isalpha((unsigned char)at[-1]))) {
            return *at == '/' ? at : at - 1;
        }
    }
    return NULL;
}

/* Appends text with the working folder and homes made short. */
static void shorten_paths(struct buf *out, const char *text, const char *cwd) {
    const char *from = text;
    for (const char *at = text; (at = next_path(at));) {
        size_t here = starts_path(text, at) ? cwd_at(at, cwd) : 0;
        size_t home = !here && starts_path(text, at) ? home_at(at) : 0;
        if (!here && !home) {
            at += *at == '/' ? 1 : 2;
            continue;
        }
        buf_add(out, from, (size_t)(at - from));
        if (home) {
            buf_adds(out, "~");
        } else if (!is_slash(at[here - 1]) || ends_name(at[here])) {
            buf_adds(out, ".");
        }
        at += here + home;
        from = at;
    }
    buf_adds(out, from);
}

char *lesson_clean(const struct lesson_reader *r, const char *text, size_t len) {
    autobuf clean = BUF_INIT(MAX_TEXT), paths = BUF_INIT(MAX_TEXT);
    struct buf out = BUF_INIT(MAX_TEXT);
    text_clean(&clean, text ? text : "", text ? len : 0);
    shorten_paths(&paths, clean.data, r->cwd);
    if (r->redaction) {
        redaction_apply(r->redaction, &out, paths.data, paths.len);
    } else {
        buf_add(&out, paths.data, paths.len);
    }
    return buf_detach(&out);
}

char *lesson_cut(const char *text, size_t len, size_t max) {
    while (len && isspace((unsigned char)*text)) {
        text++;
        len--;
    }
    size_t kept = text_cut(text, len, max);
    while (kept && isspace((unsigned char)text[kept - 1])) {
        kept--;
    }
    return kept < len && len > max ? xasprintf("%.*s …", (int)kept, text)
                                   : xstrndup(text, kept);
}

/* --- normalising --- */

static size_t path_prefix(const char *s) {
    bool drive = isalpha((unsigned char)s[0]) && s[1] == ':' && s[2] == '\\';
    const char *marks = drive ? "._-/~+@\\" : "._-/~+@";
    size_t slash = 0, i = drive ? 2 : 0;
    for (; isalnum((unsigned char)s[i]) || (s[i] && strchr(marks, s[i])); i++) {
        if (s[i] == '/' || s[i] == '\\') {
            slash = i + 1;
        }
    }
    return slash;
}

/* Without folders, addresses, line numbers and other numbers that stand alone. */
static char *lesson_normalize(const char *line) {
    struct buf out = BUF_INIT(LESSON_MAX_LINE);
    const char *s = line + strspn(line, " \t");
    char before = ' ';
    while (*s && out.len < LESSON_MAX_LINE - 2) {
        size_t skip = text_is_word(before) ? 0 : path_prefix(s);
        size_t digits = text_is_word(before) ? 0 : strspn(s, "0123456789.,");
        if (skip) {
            s += skip;
        } else if (strncmp(s, "0x", 2) == 0 && isxdigit((unsigned char)s[2])) {
            s += 2 + strspn(s + 2, "0123456789abcdefABCDEF");
            buf_addc(&out, 'N');
        } else if (digits && isdigit((unsigned char)*s) && !text_is_word(s[digits])) {
            s += digits;
            buf_addc(&out, 'N');
        } else {
            buf_addc(&out, isspace((unsigned char)*s) ? ' ' : *s);
            s++;
        }
        before = out.len ? out.data[out.len - 1] : ' ';
    }
    while (out.len && isspace((unsigned char)out.data[out.len - 1])) {
        out.data[--out.len] = '\0';
    }
    return buf_detach(&out);
}

/* --- errors --- */

static bool has_letters(const char *line, size_t len) {
    size_t letters = 0;
    for (size_t i = 0; i < len && letters < 4; i++) {
        letters += isalpha((unsigned char)line[i]) != 0;
    }
    return letters >= 4;
}

struct error_scan {
    const struct lesson_reader *r;
    const char *output;
    struct lesson_error *list;
    size_t count;
    const char *weak;    /* the first doubtful line */
    const char *verdict; /* the first that only says that a test failed; or NULL */
    size_t weak_len;
    bool verdicts; /* they are kept: there is nothing else */
    bool failed; /* the command is known to have failed */
};

/* Who says it, in the logs of several: "web-1  | ", "#12 3.45 ". */
static size_t speaker_length(const char *line, size_t len) {
    size_t name = 0;
    while (name < len && (isalnum((unsigned char)line[name]) || strchr("_.-", line[name]))) {
        name++;
    }
    size_t bar = name + strspn(line + name, " ");
    if (name && bar + 1 < len && line[bar] == '|' && line[bar + 1] == ' ') {
        return bar + 2;
    }
    size_t step = *line == '#' ? 1 + strspn(line + 1, "0123456789") : 0;
    size_t from = step > 1 && line[step] == ' ' ? step + 1 : 0; /* its summary has the clock alone */
    size_t clock = step && !from ? 0 : strspn(line + from, "0123456789."), end = from + clock;
    bool seconds = clock > 3 && (line[end - 3] == '.' || line[end - 4] == '.');
    return (from ? clock > 2 : seconds) && end < len && line[end] == ' ' ? end + 1 : 0;
}

/* A line that ends in a colon says it on the next one. */
static char *quote_of(const char *line, size_t len) {
    autofree char *quote = lesson_cut(line, len, LESSON_MAX_LINE);
    size_t kept = strlen(quote);
    const char *next = line[len] == '\n' ? line + len + strspn(line + len, " \t\n") : "";
    if (!kept || quote[kept - 1] != ':' || !*next || kept > LESSON_MAX_LINE / 2) {
        return take(quote);
    }
    next += speaker_length(next, strcspn(next, "\n"));
    autofree char *more = lesson_cut(next, strcspn(next, "\n"), LESSON_MAX_LINE / 2);
    return xasprintf("%s %s", quote, more);
}

/* A word that says neither which test it is nor only that it failed. */
static bool is_telling(const char *word) {
    static const char *const verdicts[] = {"assert", "fail", "error"};
    const char *letters = word + strcspn(word, LETTERS);
    return !strchr(word, '/') && !strcasestr(word, "test") &&
           strspn(letters, LETTERS) >= LEAST_WORD &&
           !any_of(i, 0, ARRAY_LEN(verdicts),
                   strncasecmp(letters, verdicts[i], strlen(verdicts[i])) == 0);
}

/* A line of a log, with a clock or a level in JSON: others write there too. */
static bool is_logged(const char *line, size_t len) {
    bool clock = false;
    for (size_t i = 2; i + 5 < len && i < CLOCK_WITHIN && !clock; i++) {
        clock = line[i] == ':' && line[i + 3] == ':' && isdigit((unsigned char)line[i - 1]) &&
                isdigit((unsigned char)line[i + 1]) && isdigit((unsigned char)line[i + 4]);
    }
    return clock || memmem(line, len, "\"level\":", 8);
}

/* A test runner's mark of what passed, or of what failed. */
static bool is_marked(const char *line, const char *const marks[4]) {
    line += strspn(line, " \t");
    return any_of(i, 0, 4, marks[i] && strncmp(line, marks[i], strlen(marks[i])) == 0);
}

static bool is_ticked(const char *line) {
    static const char *const ticks[4] = {"✓", "✔", "√"};
    return is_marked(line, ticks);
}

static bool is_crossed(const char *line) {
    static const char *const crosses[4] = {"✕", "✘", "●", "×"};
    line += strspn(line, " ");
    return is_marked(line, crosses) || (strncmp(line, "FAIL", 4) == 0 && !isalnum((unsigned char)line[4]));
}

bool lesson_is_test_result(const char *quote) {
    return is_crossed(quote) || strncmp(quote, "FAILED ", 7) == 0;
}

bool lesson_is_telling(const char *quote) {
    if (is_logged(quote, strlen(quote)) || is_crossed(quote)) {
        return false;
    }
    bool told = false;
    for (const char *s = quote + strspn(quote, " "); *s; s += strspn(s, " ")) {
        autofree char *word = xstrndup(s, strcspn(s, " "));
        if (strncasecmp(word, "asserting", 9) == 0) {
            return false;
        }
        told |= is_telling(word);
        s += strlen(word);
    }
    return told;
}

/* A test runner's line that says which file failed, and for how long it ran: no symptom. */
bool lesson_is_heading(const char *quote) {
    const char *file = is_crossed(quote) ? strchr(quote, '/') : NULL;
    return file && !strpbrk(file, ":>\"'`");
}

/* "AssertionError" alone tells nobody what is wrong, nor does "Test failed!". */
static bool says_something(const char *quote) {
    const char *second = strchr(quote, ' ');
    return quote[strcspn(quote, SPECIFIC)] || (second && strchr(second + 1, ' '));
}

static void keep_error(struct error_scan *s, const char *line, size_t len) {
    autofree char *quote = quote_of(line, len);
    autofree char *normal = lesson_normalize(quote);
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->list[i].normal, normal) == 0) {
            return;
        }
    }
    if (!lesson_is_telling(quote) && !s->verdicts) {
        s->verdict = s->verdict ? s->verdict : line;
    } else if (*normal && says_something(quote) && s->count < STEP_MAX_ERRORS) {
        s->list[s->count++] =
            (struct lesson_error){.quote = take(quote), .normal = take(normal)};
    }
}

static bool on_sure_word(void *data, unsigned, size_t) {
    *(bool *)data = true;
    return false;
}

/* Cheap, and never wrong when it says no. */
static bool may_be_error(const struct lesson_reader *r, const char *line, size_t len) {
    size_t blanks = strspn(line, " \t");
    bool found = blanks < len && (line[blanks] == 'E' || line[blanks] == 'e');
    if (!found) {
        words_scan_run(r->sure, line, len, on_sure_word, &found);
    }
    return found;
}

/* pytest's "E   " goes on from the line before. */
static bool goes_on(const struct error_scan *s, const char *line) {
    const char *before = line - 1;
    while (before > s->output && before[-1] != '\n') {
        before--;
    }
    return line > s->output && strncmp(line, "E  ", 3) == 0 && strncmp(before, "E  ", 3) == 0;
}

static void scan_line(struct error_scan *s, const char *line, size_t len) {
    if (goes_on(s, line)) {
        return;
    }
    size_t speaker = speaker_length(line, len);
    line += speaker;
    len -= speaker;
    len = len > MAX_LINE ? MAX_LINE : len;
    if (is_ticked(line) || (!s->failed && (!may_be_error(s->r, line, len) ||
                                           is_logged(line, len)))) {
        return; /* weaker signs count after a failure alone */
    }
    if (!has_letters(line, len) || pattern_is_in(s->r->summary, line, len)) {
        return;
    }
    if (pattern_is_in(s->r->error, line, len)) {
        keep_error(s, line, len);
    } else if (!s->weak && pattern_is_in(s->r->weak, line, len)) {
        s->weak = line;
        s->weak_len = len;
    }
}

/* Python's `File "x.py", line 3`, behind which a line of the source stands further in. */
static bool is_place(const char *line, size_t len) {
    const char *at = memmem(line, len, "File \"", 6);
    const char *next = text_next_line(line);
    size_t mark = strncmp(line, "E ", 2) == 0;
    return at && memmem(at, len - (size_t)(at - line), "\", line ", 8) &&
           (mark || strspn(next, " ") > strspn(line, " "));
}

/* All that a failing command says, if it is little, begins with why. */
static void keep_short(struct error_scan *s, const char *output) {
    const char *first = NULL;
    size_t lines = 0;
    bool source = false; /* of a traceback */
    for (const char *line = output; line && *line; line = text_next_line(line)) {
        size_t len = strcspn(line, "\n");
        bool place = is_place(line, len);
        bool counts = !place && !source && has_letters(line, len) &&
                      !pattern_is_in(s->r->summary, line, len);
        source = place;
        lines += counts;
        first = counts && !first && text_count(line, len, ' ') >= SHORT_BLANKS ? line : first;
    }
    if (first && lines <= SHORT_LINES) {
        keep_error(s, first, strcspn(first, "\n"));
    }
}

/* "Failed to compile." says less than the line below that names something. */
static void put_specific_first(struct error_scan *s) {
    size_t k = first_of(i, 0, s->count, s->list[i].quote[strcspn(s->list[i].quote, SPECIFIC)]);
    if (k < s->count) {
        struct lesson_error general = s->list[0];
        s->list[0] = s->list[k];
        s->list[k] = k ? general : s->list[k];
    }
}

size_t lesson_errors(const struct lesson_reader *r, const char *output, bool failed,
                     struct lesson_error ret[STEP_MAX_ERRORS]) {
    struct error_scan s = {.r = r, .output = output, .list = ret, .failed = failed};
    size_t lines = 0;
    for (const char *line = output;
         line && *line && lines < MAX_LINES && s.count < STEP_MAX_ERRORS; lines++) {
        size_t len = strcspn(line, "\n");
        if (is_place(line, len)) {
            line = text_next_line(line);
        } else {
            scan_line(&s, line, len);
        }
        line = *line ? text_next_line(line) : line;
    }
    s.verdicts = !s.count;
    if (!s.count && failed && s.weak) {
        keep_error(&s, s.weak, s.weak_len);
    } else if (!s.count && s.verdict) {
        keep_error(&s, s.verdict, strcspn(s.verdict, "\n"));
    } else if (!s.count && failed) {
        keep_short(&s, output);
    }
    put_specific_first(&s);
    return s.count;
}

bool lesson_counts_failures(const struct lesson_reader *r, const char *output) {
    size_t lines = 0;
    for (const char *line = output; line && *line && lines < MAX_LINES; lines++) {
        size_t len = strcspn(line, "\n");
        if (len <= SUMMARY_LINE && pattern_is_in(r->failures, line, len)) {
            return true;
        }
        line = text_next_line(line);
    }
    return false;
}

/* --- causes --- */

/* Words between backticks are code's, not the sentence's. */
static size_t count_cues(const struct lesson_reader *r, const char *s, size_t len) {
    struct pattern_match m;
    size_t count = 0, at = 0;
    while (count < 6 && pattern_find(r->cue, s, len, at, &m) > 0) {
        count += text_count(s, m.start[0], '`') % 2 == 0;
        at = m.end[0] > at ? m.end[0] : at + 1;
    }
    return count;
}

/* The length of the sentence that begins here: behind its mark, or to the line's end. */
static size_t sentence_length(const char *s) {
    size_t i = 0;
    for (; s[i] && s[i] != '\n'; i++) {
        if (strchr(".!?", s[i]) && (s[i + 1] == ' ' || s[i + 1] == '\n' || !s[i + 1])) {
            return i + 1;
        }
    }
    return i;
}

/* Marks of code stand outside of backticks: no sentence. */
static bool is_code(const char *s, size_t len) {
    size_t marks = 0;
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        quoted ^= s[i] == '`';
        marks += !quoted && strchr("(){}[]=;\\", s[i]) != NULL;
    }
    return marks > MAX_MARKS || memmem(s, len, "->", 2) || memmem(s, len, "=>", 2) ||
           (islower((unsigned char)*s) && s[len ? len - 1 : 0] == ':');
}

/* Behind a block of code that begins here, or here. */
static const char *behind_block(const char *s) {
    const char *end = strncmp(s, "```", 3) == 0 ? strstr(s + 3, "```") : NULL;
    return end ? end + 3 : s;
}

bool lesson_is_personal(const struct lesson_reader *r, const char *text) {
    return pattern_is_in(r->personal, text, strlen(text)) ||
           pattern_is_in(r->intent, text, strlen(text));
}

char *lesson_cause(const struct lesson_reader *r, const char *text) {
    const char *best = NULL;
    size_t best_len = 0, best_score = 0;
    for (const char *s = text; s && *s;) {
        s += strspn(s, " \t\n*->#");
        s = behind_block(s);
        size_t label = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); /* "THOUGHT: " */
        s += label > 1 && strncmp(s + label, ": ", 2) == 0 ? label + 2 : 0;
        size_t len = sentence_length(s);
        bool whole = len >= 20 && len <= LESSON_MAX_LINE && text_count(s, len, '*') % 4 == 0 &&
                     !is_code(s, len) && !pattern_is_in(r->vague, s, len);
        size_t cues = whole ? count_cues(r, s, len) : 0;
        bool told = cues && len >= 25 && !pattern_is_in(r->intent, s, len);
        bool plain = cues && !pattern_is_in(r->personal, s, len);
        size_t score = cues ? 2 * cues + told + plain : 0;
        if (score > best_score && s[len ? len - 1 : 0] != '?') {
            best = s;
            best_len = len;
            best_score = score;
        }
        s += len;
    }
    return best ? lesson_cut(best, best_len, LESSON_MAX_LINE) : NULL;
}
