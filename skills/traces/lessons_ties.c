/* What ties a hunk to an error, and what speaks against telling it. */
#include "skills/traces/lessons_ended.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/pattern.h"
#include "base/text.h"

#include <ctype.h>
#include <strings.h>

#define QUOTE_HEAD 40u  /* bytes of an error, by which it is found in the output */
#define MAX_BLOCK 900u  /* bytes of an output that belong to an error */
#define HUNK_LINES 8u
#define GONE_LINES 3u   /* that go alone */
#define ADDED_LINES 7u  /* that come alone */
#define LEAST_NAME 4u
#define RULE_WORDS 5u
#define MAX_AROUND 900 /* bytes */
#define MAX_SUBJECTS 6u /* names of code in an error's line */
#define LEAST_FRAME 14u /* bytes of a line of code that only one place has */
#define NEAR_LINES 1

/* --- what the error says --- */

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* "private_key", "useRef", "ES2020": no word of a sentence. */
static bool is_code(const char *name, size_t len) {
    bool digit = false, letter = false, odd = false;
    for (size_t i = 0; i < len; i++) {
        digit |= isdigit((unsigned char)name[i]) != 0;
        letter |= isalpha((unsigned char)name[i]) != 0;
        odd |= i && (name[i] == '_' ||
                     (isupper((unsigned char)name[i]) && islower((unsigned char)name[i - 1])));
    }
    return letter && (odd || digit);
}

/* The place of an error, "src/a.ts(3,4):", "File C:\\a\\b.py": it names no matter. */
static size_t place_length(const char *word) {
    size_t len = strcspn(word, " \n");
    bool quoted = strchr("'\"`@", *word) != NULL;
    bool path = memchr(word, '/', len) || memchr(word, '\\', len);
    const char *dot = memchr(word, '.', len);
    size_t end = dot ? (size_t)(dot - word) + 1 + strspn(dot + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
    bool numbered = dot && (word[end] == ':' || word[end] == '(') && isdigit((unsigned char)word[end + 1]);
    return !quoted && (path || numbered) ? len : 0;
}

/* "flyway-database-postgresql", "legacy-peer-deps": names with joints, no file and no version. */
static size_t compound_length(const char *at) {
    size_t len = 0, joints = 0, digits = 0;
    while (is_name(at[len]) || (len && strchr("-.", at[len]) && at[len] && is_name(at[len + 1]))) {
        joints += at[len] == '-';
        digits += isdigit((unsigned char)at[len]) != 0;
        len++;
    }
    return joints && len >= 2 * LEAST_NAME && 2 * digits < len ? len : 0;
}

static void add_name(struct error_words *said, const char *at, size_t len, bool quoted) {
    if (len >= LEAST_NAME && said->count < MAX_NAMES) {
        said->names[said->count++] = (struct error_name){at, len, is_code(at, len), quoted};
    }
}

/* A quotation of code: short, with at most one blank. */
static bool quotes_code(const char *open) {
    const char *end = strchr(open + 1, *open);
    return end && end - open < 80 && text_count(open + 1, (size_t)(end - open - 1), ' ') <= 1;
}

static void list_names(struct error_words *said) {
    char quote = '\0';
    for (const char *at = said->block; *at;) {
        bool begins = at == said->block || strchr(" \n", at[-1]);
        size_t place = begins ? place_length(at) : 0;
        size_t len = 0;
        while (is_name(at[len])) {
            len++;
        }
        size_t compound = place || (at > said->block && is_name(at[-1])) ? 0 : compound_length(at);
        if (place) {
            at += place;
        } else if (compound && said->count < MAX_NAMES) {
            said->names[said->count++] = (struct error_name){at, compound, .code = true, .compound = true};
            at += compound;
        } else if (len) {
            add_name(said, at, len, quote != '\0');
            at += len;
        } else {
            bool opens = strchr("'\"`", *at) && (at == said->block || !is_name(at[-1]));
            quote = *at == quote || *at == '\n' ? '\0' : (!quote && opens && quotes_code(at)) ? *at : quote;
            at++;
        }
    }
}

static char *phrases_of(const char *text) {
    struct buf out = BUF_INIT(2 * MAX_BLOCK);
    buf_adds(&out, " ");
    for (; *text && out.len < 2 * MAX_BLOCK - 2; text++) {
        bool blank = out.data[out.len - 1] == ' ';
        if (isalnum((unsigned char)*text)) {
            buf_addc(&out, (char)tolower((unsigned char)*text));
        } else if (!blank) {
            buf_addc(&out, ' ');
        }
    }
    return buf_detach(&out);
}

/* A frame of the stack or a line of source: not what the error says. */
static bool is_frame(const char *line) {
    line += strspn(line, " \t");
    return isdigit((unsigned char)*line) || strchr(">|^~", *line) || *line < 0 ||
           strncmp(line, "at ", 3) == 0;
}

/* The error's line with the lines behind it that belong to it: the next, which may be the rest of it, and those
 * that stand further in, to an empty one or the next error. */
static void read_block(struct error_words *ret, const struct ending *e) {
    struct buf out = BUF_INIT(MAX_BLOCK + 2 * LESSON_MAX_LINE);
    const char *quote = e->error->quote;
    autofree char *head = xstrndup(quote, strnlen(quote, QUOTE_HEAD));
    const char *line = strstr(e->s->list[e->at].output, head);
    buf_adds(&out, quote);
    size_t end = out.len;
    line = line ? text_next_line(line) : "";
    for (size_t lines = 0; *line && *line != '\n' && out.len < MAX_BLOCK && lines < 6;
         line = text_next_line(line), lines++) {
        size_t len = strcspn(line, "\n");
        if (pattern_is_in(e->r->error, line, len) || (lines && !isspace((unsigned char)*line))) {
            break;
        }
        if (!is_frame(line)) {
            autofree char *text = lesson_cut(line, len, LESSON_MAX_LINE);
            buf_addf(&out, "\n%s", text);
        }
    }
    ret->block = buf_detach(&out);
    ret->quote_end = ret->block + end;
    ret->phrases = phrases_of(ret->block);
    list_names(ret);
}

/* --- what ties a hunk to the error --- */

/* "": of a script within the command. */
static const char *path_of(const struct ending *e, const struct hunk *h) {
    const char *path = e->s->list[h->step].path;
    return path ? path : "";
}

/* The words of a name: "PRIVATE_KEY" and "privateKey" are "private key". "": it has one. */
static char *words_of(const char *name, size_t len) {
    struct buf out = BUF_INIT(200);
    size_t words = 1;
    buf_adds(&out, " ");
    for (size_t i = 0; i < len && out.len < 160; i++) {
        bool joint = name[i] == '_' || (i && isupper((unsigned char)name[i]) &&
                                        islower((unsigned char)name[i - 1]));
        words += joint && out.len > 1;
        buf_adds(&out, joint && out.len > 1 ? " " : "");
        if (name[i] != '_') {
            buf_addc(&out, (char)tolower((unsigned char)name[i]));
        }
    }
    buf_adds(&out, " ");
    char *text = buf_detach(&out);
    if (words < 2) {
        *text = '\0';
    }
    return text;
}

/* What a script for trying out calls of the project is no matter of the script. */
static bool is_own(const struct ending *e, const char *at, size_t len) {
    autofree char *name = xstrndup(at, len);
    return json_object_get(e->tries ? e->written : e->names, name) != NULL;
}

/* How much a name that the hunk changes ties it to the error: 4 where both say it in code. */
static unsigned tie_of(const struct ending *e, const char *name, size_t len) {
    autofree char *words = words_of(name, len);
    unsigned best = *words && strstr(e->said.phrases, words) ? 4 : 0;
    for (size_t i = 0; i < e->said.count && best < 4; i++) {
        const struct error_name *n = &e->said.names[i];
        if (n->len == len && strncasecmp(n->at, name, len) == 0) {
            unsigned tie = memcmp(n->at, name, len) != 0 ? 1 : n->code ? 4 : n->quoted ? 3 : 1;
            best = tie > best ? tie : best;
        }
    }
    return best;
}

static size_t count_on(const char *diff, char mark, const char *name) {
    size_t count = 0;
    for (; *diff; diff = text_next_line(diff)) {
        autofree char *line = xstrndup(diff, strcspn(diff, "\n"));
        count += *line == mark && lesson_has_word(line, name);
    }
    return count;
}

static void weigh_compounds(const struct ending *e, struct hunk *h, struct buf *ties) {
    for (size_t i = 0; i < e->said.count; i++) {
        const struct error_name *n = &e->said.names[i];
        autofree char *name = xstrndup(n->at, n->compound ? n->len : 0);
        if (*name && count_on(h->text, '-', name) != count_on(h->text, '+', name)) {
            buf_addf(ties, "%s ", name);
            h->tied = h->compound = true;
            h->score += 4;
        }
    }
}

static void weigh_names(const struct ending *e, struct hunk *h) {
    struct buf ties = BUF_INIT(LESSON_MAX_CHANGE);
    buf_adds(&ties, "");
    for (const char *at = h->differs; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        unsigned tie = len >= LEAST_NAME ? tie_of(e, at, len) : 0;
        bool own = tie && is_own(e, at, len);
        buf_addf(&ties, "%.*s", tie >= 3 ? (int)len + 1 : 0, at);
        h->tied |= tie == 4 && !own;
        h->quoted |= tie == 3 && !own;
        h->score += own ? 0 : tie;
        at += len;
    }
    weigh_compounds(e, h, &ties);
    h->ties = buf_detach(&ties);
}

/* "TypeError: …": the lines before it are its traceback. */
static bool is_exception(const char *quote) {
    const char *end = strstr(quote, "Error:");
    return end && end > quote && isalnum((unsigned char)end[-1]);
}

/* What of the output belongs to the error alone: the lines around it up to other errors. */
static char *surroundings(const struct ending *e) {
    const char *output = e->s->list[e->at].output, *quote = strstr(output, e->error->quote);
    const char *from = quote ? quote : output, *end = quote ? text_next_line(quote) : output;
    while (is_exception(e->error->quote) && from > output && quote - from < MAX_AROUND) {
        const char *line = from - 1;
        while (line > output && line[-1] != '\n') {
            line--;
        }
        if (*line == '\n' || pattern_is_in(e->r->error, line, (size_t)(from - line - (from > line)))) {
            break;
        }
        from = line;
    }
    while (*end && end - quote < MAX_AROUND && !pattern_is_in(e->r->error, end, strcspn(end, "\n"))) {
        end = text_next_line(end);
    }
    return xstrndup(from, (size_t)(end - from));
}

/* The output shows the very line that goes: a compiler's frame, or a traceback's. */
static bool is_framed(const struct ending *e, const struct hunk *h) {
    for (const char *line = h->text; *line == '-'; line = text_next_line(line)) {
        autofree char *code = lesson_cut(line + 1, strcspn(line, "\n") - 1, LESSON_MAX_LINE);
        if (strlen(code) >= LEAST_FRAME && strstr(e->around, code)) {
            return true;
        }
    }
    return false;
}

/* "a.ts:12", "a.ts(12,3)", `a.py", line 12`: the error's line is one of the hunk's. */
static bool is_placed(const struct ending *e, const struct hunk *h) {
    const char *base = path_basename(path_of(e, h));
    for (const char *at = e->around; h->from && (at = strstr(at, base));) {
        at += strlen(base);
        const char *number = at + strspn(at, ":(\", line");
        size_t line = strtoul(number, NULL, 10);
        if (number > at && line + NEAR_LINES >= h->from && line <= h->to + NEAR_LINES) {
            return true;
        }
    }
    return false;
}

/* A compiler's sentence, "error TS2790: The operand of a 'delete' operator must be optional.": behind
 * a code of letters and digits so many words. */
static bool says_rule(const char *quote) {
    for (const char *at = quote; (at = strchr(at, ':')); at++) {
        const char *code = at;
        while (code > quote && isalnum((unsigned char)code[-1])) {
            code--;
        }
        bool coded = at - code >= 3 && isupper((unsigned char)*code) && isdigit((unsigned char)at[-1]);
        if (coded && text_count(at, strlen(at), ' ') >= RULE_WORDS) {
            return true;
        }
    }
    return false;
}

/* Of as many lines that come as go, the one that the error shows with the one in its place. Or NULL. */
static char *framed_pair(const struct ending *e, const char *diff) {
    const char *now = diff;
    size_t gone = 0, come = 0;
    for (; *now == '-'; now = text_next_line(now)) {
        gone++;
    }
    for (const char *at = now; *at; at = text_next_line(at)) {
        come++;
    }
    for (size_t i = 0; gone == come && i < gone; i++) {
        autofree char *code = lesson_cut(diff + 1, strcspn(diff, "\n") - 1, LESSON_MAX_LINE);
        if (strlen(code) >= LEAST_FRAME && strstr(e->around, code)) {
            return xasprintf("%.*s\n%.*s\n", (int)strcspn(diff, "\n"), diff, (int)strcspn(now, "\n"), now);
        }
        diff = text_next_line(diff);
        now = text_next_line(now);
    }
    return NULL;
}

/* The traceback goes on from the line into files that the session did not write: what it calls
 * refused it. Of the hunk that line alone is kept. */
static bool is_refused(const struct ending *e, struct hunk *h) {
    autofree char *pair = is_exception(e->error->quote) ? framed_pair(e, h->text) : NULL;
    autofree char *code = pair ? lesson_cut(pair + 1, strcspn(pair, "\n") - 1, LESSON_MAX_LINE) : NULL;
    const char *last = NULL;
    for (const char *at = pair ? strstr(e->around, code) : NULL; at && (at = strstr(at, "File \"")); at++) {
        last = at + strlen("File \"");
    }
    autofree char *path = xstrndup(last ? last : "", last ? strcspn(last, "\"") : 0);
    bool refused = strchr(path, '/') &&
                   !any_of(i, 0, e->s->count, e->s->list[i].kind == STEP_EDIT &&
                                                  strcmp(path_basename(e->s->list[i].path), path_basename(path)) == 0);
    if (refused) {
        free(h->text);
        free(h->differs);
        h->text = take(pair);
        h->differs = lesson_differing(h->text);
    }
    return refused;
}

static void weigh(const struct ending *e, struct hunk *h) {
    weigh_names(e, h);
    bool here = is_framed(e, h) || is_placed(e, h);
    h->score += here ? 4 : 0;
    h->tied |= h->quoted && (here || e->count == 1);
    h->refused = here && is_refused(e, h);
    h->tied |= h->refused;
    h->tied |= here && says_rule(e->error->quote) && strstr(h->text, "\n+");
}

/* A name of code in the error's line that the project declares, or so many that they are its data. */
bool ending_is_about_own(const struct ending *e) {
    size_t names = 0;
    for (size_t i = 0; i < e->said.count; i++) {
        const struct error_name *n = &e->said.names[i];
        names += (n->code || n->quoted) && n->at < e->said.quote_end;
    }
    return names > MAX_SUBJECTS || any_of(i, 0, e->said.count,
                  e->said.names[i].code && e->said.names[i].at < e->said.quote_end &&
                      is_own(e, e->said.names[i].at, e->said.names[i].len));
}

/* A test says what was demanded: the reason is the project's, and a test that demands something
 * else then is no mend. */
static bool is_demand(const struct ending *e, const struct hunk *best) {
    static const char *const words[] = {"expect", "assert"}, *const calls[] = {"expect(", "assert"};
    bool test = lesson_is_test(path_of(e, best));
    return any_of(i, 0, ARRAY_LEN(words),
                  strcasestr(e->error->quote, test ? words[i] : calls[i]));
}

/* Few lines, of which those that go say where: ")" might be anywhere. */
bool hunk_is_short(const struct hunk *h) {
    size_t lines = text_count(h->text, strlen(h->text), '\n');
    bool goes = *h->text == '-', comes = strstr(h->text, "\n+"), placed = !goes;
    for (const char *line = h->text; *line == '-' && !placed; line = text_next_line(line)) {
        autofree char *text = xstrndup(line, strcspn(line, "\n"));
        placed = lesson_has_name(text);
    }
    return placed && lines <= (!goes ? ADDED_LINES : comes ? HUNK_LINES : h->compound ? ADDED_LINES : GONE_LINES) &&
           strlen(h->text) <= LESSON_MAX_CHANGE;
}

/* Another hunk between took away what this one brought, or had brought what it takes away: what is
 * told would be one step of several. */
static bool is_step(const struct ending *e, const struct hunk *h) {
    return list_any(other, e->hunks, e->count,
                    other != h && strcmp(path_of(e, other), path_of(e, h)) == 0 &&
                        (lesson_shares_line(h->text, '+', other->text, '-') ||
                         lesson_shares_line(h->text, '-', other->text, '+')));
}

/* A line that comes has a name that the project declares elsewhere: it alone does not help. */
static bool brings_own(const struct ending *e, const struct hunk *h) {
    autobuf gone = BUF_INIT(2 * LESSON_MAX_CHANGE);
    autojson *here = json_object();
    buf_adds(&gone, "");
    lesson_read_own(here, h->text, false);
    for (const char *line = h->text; *line; line = text_next_line(line)) {
        buf_addf(&gone, "%.*s\n", *line == '-' ? (int)strcspn(line, "\n") : 0, line);
    }
    for (const char *at = h->differs; *at; at += strspn(at, " ")) {
        autofree char *name = xstrndup(at, strcspn(at, " "));
        if (is_own(e, name, strlen(name)) && !json_object_get(here, name) &&
            !lesson_has_word(gone.data, name)) {
            return true;
        }
        at += strlen(name);
    }
    return false;
}

/* What nobody knows may be why: an edit of the same file, or of one that the output names. */
static bool is_doubtful(const struct ending *e, const struct hunk *h) {
    const char *other = e->unknown ? e->s->list[e->unknown].path : NULL;
    return other && (strcmp(other, path_of(e, h)) == 0 ||
                     strstr(e->s->list[e->at].output, path_basename(other)));
}

/* It only takes names away, and nothing comes for them: from a list, or from a script for trying out. */
static bool only_drops(const struct ending *e, const struct hunk *h) {
    bool both = *h->text == '-' && strstr(h->text, "\n+"), comes = false;
    for (const char *at = h->differs; *at && both; at += strspn(at, " ")) {
        autofree char *name = xstrndup(at, strcspn(at, " "));
        comes |= count_on(h->text, '+', name) > count_on(h->text, '-', name);
        at += strlen(name);
    }
    return both ? !comes : *h->text == '-' && lesson_runs_own_script(e->s, &e->s->list[e->at]);
}

/* The best one, if no other one that changes other names is as good. */
const struct hunk *ending_choose(struct ending *e) {
    struct hunk *best = NULL;
    for (size_t i = 0; i < e->count; i++) {
        weigh(e, &e->hunks[i]);
        if (e->hunks[i].tied && (!best || e->hunks[i].score > best->score)) {
            best = &e->hunks[i];
        }
    }
    bool rivals = best && list_any(h, e->hunks, e->count,
                                   h != best && h->score >= best->score &&
                                       strcmp(h->ties, best->ties) != 0);
    return best && !rivals && hunk_is_short(best) && !is_demand(e, best) && !is_step(e, best) &&
                   !brings_own(e, best) && !is_doubtful(e, best) && !only_drops(e, best)
               ? best
               : NULL;
}

bool ending_misuses(const struct ending *e, const struct hunk *h) {
    const char *base = path_basename(path_of(e, h));
    bool script = e->tries && (!*base || lesson_has_word(e->s->list[e->at].text, base));
    for (size_t i = 0; script && i < e->said.count; i++) {
        const struct error_name *n = &e->said.names[i];
        autofree char *name = xstrndup(n->at, n->code ? n->len : 0);
        if (json_object_get(e->names, name) && !json_object_get(e->written, name)) {
            return true;
        }
    }
    return false;
}

void ending_read_said(struct ending *e) {
    read_block(&e->said, e);
    e->around = surroundings(e);
}
