#include "skills/check/safety_text.h"
#include "base/pattern.h"
#include "base/work.h"
#include "protocol/finding.h"
#include "skills/check/safety_flow.h"
#include "skills/check/safety_patterns.h"
#include "skills/check/skill_check.h"

#include <ctype.h>
#include <pthread.h>

#include "skills/check_words_table.h"

#define MAX_PATTERNS 96
#define WINDOW_COST 256 /* the least that a window costs, in bytes */
#define MAX_MATCHES 20   /* findings per pattern and file */
#define LINE_REACH 2048u /* bytes of a long line on both sides of a word */
#define PARAGRAPH_REACH 1200u
#define UNIT_REACH 4096u
#define CONTINUED_LINES 12
#define COMMENT_MAX 4096u
/* Change this when a rule outside the tables changes: then old results are not reused
 * (safety_rules_version). */
#define RULES_OUTSIDE_TABLES 0xcbf29ce48422232au
#define FLOW MAX_PATTERNS /* the id of words that a flow needs */

/* The patterns as which flows are reported. */
static const struct safety_pattern flow_patterns[FLOW_ENDS] = {
    [FLOW_EXECUTED] = {"pipe_to_shell", "executes a download that nobody has read", NULL,
                       NULL, true, IN_COMMANDS, WINDOW_UNIT},
    [FLOW_SENT] = {"secret_exfiltration",
                   "sends data from a file with secrets over the network", NULL, NULL,
                   true, IN_COMMANDS, WINDOW_UNIT},
};

static struct {
    struct pattern *compiled[MAX_PATTERNS];
    struct pattern *denial, *denial_in_code, *order, *quotation;
    struct words_scan *words;
} tables;
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    tables.words = words_scan_new();
    for (size_t i = 0; safety_pattern_at(i)->code; i++) {
        if (i == MAX_PATTERNS) {
            abort();
        }
        tables.compiled[i] = pattern_new(safety_pattern_at(i)->regex);
        words_scan_add(tables.words, safety_pattern_at(i)->words, (unsigned)i);
    }
    words_scan_add(tables.words, safety_flow_words, FLOW);
    words_scan_prepare(tables.words);
    tables.denial = pattern_new(denial_regex);
    tables.denial_in_code = pattern_new(denial_in_code_regex);
    tables.order = pattern_new(order_regex);
    tables.quotation = pattern_new(quotation_regex);
}

int64_t safety_rules_version(void) {
    uint64_t h = RULES_OUTSIDE_TABLES;
    for (const struct safety_pattern *p = safety_pattern_at(0); p->code; p++) {
        const char *const texts[] = {p->code, p->words, p->regex};
        for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
            for (const char *c = texts[k]; *c; c++) {
                h = (h ^ (unsigned char)*c) * 0x100000001b3;
            }
        }
        h = (h ^ (p->where | p->block << 8 | (unsigned)p->window << 9)) * 0x100000001b3;
    }
    return (int64_t)(h & INT64_MAX);
}

struct scan {
    const char *file, *text;
    size_t len;
    struct lines lines;
    unsigned char *kinds; /* of every line: an enum safety_where */
    json_t *findings;
    struct {
        size_t next, matches;
    } state[MAX_PATTERNS];
    size_t *left; /* bytes that may still be searched */
    bool incomplete;
    size_t flow_matches;
    bool flows; /* a word of safety_flow_words was seen */
};

/* --- which lines are what --- */

static bool is_marker(const char *line, size_t len, const char *marker) {
    size_t n = strlen(marker);
    return len >= n && memcmp(line, marker, n) == 0 &&
           strspn(line + n, " \t\r") >= len - n;
}

static char fence_of(const char *line, size_t len) {
    size_t i = 0;
    while (i < len && strchr(" \t>", line[i])) {
        i++;
    }
    bool fence = len - i >= 3 && (line[i] == '`' || line[i] == '~') &&
                 line[i + 1] == line[i] && line[i + 2] == line[i];
    return fence ? line[i] : '\0';
}

static void mark_markdown(struct scan *s) {
    bool front = false;
    char fence = '\0';
    for (size_t i = 0; i < s->lines.count; i++) {
        const char *line = s->text + s->lines.starts[i];
        size_t len = lines_end(&s->lines, s->text, i) - s->lines.starts[i];
        char mark = fence_of(line, len);
        if (is_marker(line, len, "---") && (i == 0 || front)) {
            front = i == 0;
            s->kinds[i] = IN_FRONTMATTER;
        } else if (front) {
            s->kinds[i] = IN_FRONTMATTER;
        } else if (mark && (!fence || mark == fence)) {
            fence = fence ? '\0' : mark;
            s->kinds[i] = IN_CODE;
        } else {
            s->kinds[i] = fence ? IN_CODE : IN_PROSE;
        }
    }
}

/* --- windows --- */

struct text_window {
    size_t at, end;
};

static bool continues(const struct scan *s, size_t line) {
    size_t end = lines_end(&s->lines, s->text, line);
    while (end > s->lines.starts[line] && strchr(" \t", s->text[end - 1])) {
        end--;
    }
    return end > s->lines.starts[line] && strchr("\\|", s->text[end - 1]) != NULL;
}

static struct text_window clip(struct text_window w, size_t hit, size_t reach) {
    if (hit - w.at > reach) {
        w.at = hit - reach;
    }
    if (w.end > hit && w.end - hit > reach) {
        w.end = hit + reach;
    }
    return w;
}

static struct text_window lines_window(const struct scan *s, size_t first, size_t last) {
    return (struct text_window){s->lines.starts[first],
                                lines_end(&s->lines, s->text, last)};
}

static struct text_window window_of(const struct scan *s, const struct safety_pattern *p,
                                    size_t hit) {
    size_t line = lines_at(&s->lines, hit), first = line, last = line;
    size_t before = p->window == WINDOW_LINE ? CONTINUED_LINES : 2, after = before;
    bool whole = p->window == WINDOW_UNIT || s->kinds[line] == IN_FRONTMATTER;
    size_t reach = p->window == WINDOW_LINE ? LINE_REACH
                   : whole                  ? UNIT_REACH
                                            : PARAGRAPH_REACH;
    if (whole && p->window != WINDOW_LINE) {
        before = after = 200;
    }
    while (first > 0 && before-- > 0 && s->kinds[first - 1] == s->kinds[line] &&
           (p->window != WINDOW_LINE || continues(s, first - 1))) {
        first--;
    }
    while (last + 1 < s->lines.count && after-- > 0 &&
           s->kinds[last + 1] == s->kinds[line] &&
           (p->window != WINDOW_LINE || continues(s, last))) {
        last++;
    }
    return clip(lines_window(s, first, last), hit, reach);
}

/* For a shell, a command that continues on the next line is one line. */
static char *join_lines(const struct scan *s, struct text_window w) {
    char *joined = xstrndup(s->text + w.at, 0);
    joined = xrealloc(joined, w.end - w.at + 1);
    for (size_t i = w.at; i < w.end; i++) {
        bool ending = s->text[i] == '\n' || s->text[i] == '\r';
        bool slash =
            s->text[i] == '\\' && i + 1 < w.end && strchr("\r\n", s->text[i + 1]);
        joined[i - w.at] = ending || slash ? ' ' : s->text[i];
    }
    joined[w.end - w.at] = '\0';
    return joined;
}

/* --- matches --- */

static struct finding_span span_of(const struct scan *s, size_t at, size_t end) {
    size_t line = lines_at(&s->lines, at), last = lines_at(&s->lines, end);
    return (struct finding_span){(int)line + 1, (int)(at - s->lines.starts[line]) + 1,
                                 (int)last + 1, (int)(end - s->lines.starts[last]) + 1};
}

/* "Never run `…`" teaches, and so does a comment "# WRONG: …" in an example. */
static bool is_denied(const struct scan *s, size_t at) {
    size_t line = lines_at(&s->lines, at), start = s->lines.starts[line];
    const struct pattern *denial = s->kinds[line] == IN_PROSE  ? tables.denial
                                   : s->kinds[line] == IN_CODE ? tables.denial_in_code
                                                               : NULL;
    return denial && pattern_is_in(denial, s->text + start, at - start);
}

/* "Text such as 'ignore …'" shows what an attack looks like; the frontmatter's quotes are
 * YAML's, a script's are its language's. */
static bool is_quoted(const struct scan *s, const struct safety_pattern *p, size_t at) {
    size_t line = lines_at(&s->lines, at), start = s->lines.starts[line];
    return strcmp(p->code, "instruction_override") == 0 &&
           (s->kinds[line] == IN_PROSE || s->kinds[line] == IN_CODE) &&
           pattern_is_in(tables.quotation, s->text + start, at - start);
}

/* One step down for what is only said not to be done, or is its maker's own command. */
static enum finding_severity severity_of(const struct safety_pattern *p, bool denied,
                                         bool lesser, bool quoted) {
    if (quoted) {
        return FINDING_INFO;
    }
    if (p->block) {
        return denied || lesser ? FINDING_WARNING : FINDING_ERROR;
    }
    return denied && p->where == IN_COMMANDS ? FINDING_INFO : FINDING_WARNING;
}

static void report(struct scan *s, const struct safety_pattern *p, size_t at, size_t end,
                   bool lesser) {
    enum finding_severity usual = p->block ? FINDING_ERROR : FINDING_WARNING;
    bool denied = is_denied(s, at), quoted = is_quoted(s, p, at);
    enum finding_severity severity = severity_of(p, denied, lesser, quoted);
    const char *why = severity == usual ? ""
                      : quoted          ? " (quoted, probably as an example)"
                      : denied          ? " (as an example of what not to do)"
                                        : " (its maker's own install command)";
    struct finding_span span = span_of(s, at, end);
    autofree char *message = xasprintf("%s%s", p->message, why);
    json_array_append_new(
        s->findings, finding_new("skill", p->code, severity, message, s->file, &span));
}

/* An unpinned package is reported once, however often the text names it. */
static bool is_repeated(const struct scan *s, const struct safety_pattern *p,
                        const char *match, size_t len, size_t until) {
    const char *at = s->text, *end = s->text + until;
    if (strcmp(p->code, "unpinned_package") != 0) {
        return false;
    }
    while ((at = memmem(at, (size_t)(end - at), match, len))) {
        at += len;
        if (!isalnum((unsigned char)*at) && *at != '-') {
            return true;
        }
    }
    return false;
}

/* In prose and in code, because instructions may also be a list of commands. */
static bool is_followed(struct scan *s, const struct safety_pattern *p, const char *text,
                        const struct pattern_match *m, size_t behind) {
    if (!p->is_followed) {
        return true;
    }
    size_t rest = s->len - behind < SAFETY_REST ? s->len - behind : SAFETY_REST;
    *s->left -= rest < *s->left ? rest : *s->left;
    return p->is_followed(text + m->start[1], m->end[1] - m->start[1], s->text + behind,
                          rest);
}

static void search_window(struct scan *s, unsigned id, struct text_window w) {
    const struct safety_pattern *p = safety_pattern_at(id);
    autofree char *joined = p->window == WINDOW_LINE ? join_lines(s, w) : NULL;
    const char *text = joined ? joined : s->text + w.at;
    struct pattern_match m;
    size_t len = w.end - w.at, at = 0;
    while (at <= len && s->state[id].matches < MAX_MATCHES) {
        int rc = pattern_find(tables.compiled[id], text, len, at, &m);
        s->incomplete |= rc < 0;
        if (rc <= 0) {
            return;
        }
        const char *match = text + m.start[0];
        size_t match_len = m.end[0] - m.start[0];
        if ((!p->is_real || p->is_real(match, match_len)) &&
            !is_repeated(s, p, match, match_len, w.at + m.start[0]) &&
            is_followed(s, p, text, &m, w.at + m.end[0])) {
            report(s, p, w.at + m.start[0], w.at + m.end[0],
                   p->is_lesser && p->is_lesser(match, match_len));
            s->state[id].matches++;
        }
        at = m.end[0] > at ? m.end[0] : at + 1;
    }
}

static bool on_word(void *data, unsigned id, size_t end) {
    struct scan *s = data;
    size_t hit = end - 1;
    if (id == FLOW) {
        s->flows = true;
        return true;
    }
    if (hit < s->state[id].next || s->state[id].matches >= MAX_MATCHES ||
        !(safety_pattern_at(id)->where & s->kinds[lines_at(&s->lines, hit)])) {
        return true;
    }
    if (*s->left == 0) {
        s->incomplete = true;
        return true;
    }
    if (work_is_stopped()) {
        return false;
    }
    struct text_window w = window_of(s, safety_pattern_at(id), hit);
    size_t size = w.end - w.at + WINDOW_COST;
    *s->left -= size < *s->left ? size : *s->left;
    search_window(s, id, w);
    /* A match at a clipped end is found again in the next window. */
    bool whole = w.end == lines_end(&s->lines, s->text, lines_at(&s->lines, hit));
    s->state[id].next = whole ? w.end : hit + (w.end - hit) / 2 + 1;
    return true;
}

/* --- flows --- */

/* A pattern may have reported the same lines already. */
static bool is_told(const struct scan *s, const char *code, size_t from, size_t to) {
    json_int_t first = (json_int_t)lines_at(&s->lines, from) + 1;
    json_int_t last = (json_int_t)lines_at(&s->lines, to) + 1;
    json_each(s->findings, i, finding) {
        json_int_t line = json_get_integer(finding, "line", 0);
        if (line >= first && line <= last && json_says(finding, "code", code) &&
            json_says(finding, "file", s->file)) {
            return true;
        }
    }
    return false;
}

static void on_flow(void *data, enum flow_end end, size_t from, size_t to) {
    struct scan *s = data;
    const struct safety_pattern *p = &flow_patterns[end];
    if (s->kinds[lines_at(&s->lines, from)] & p->where && s->flow_matches < MAX_MATCHES &&
        !is_told(s, p->code, from, to)) {
        report(s, p, from, to, false);
        s->flow_matches++;
    }
}

static void check_flows(struct scan *s) {
    if (*s->left < s->len) {
        s->incomplete = true;
        return;
    }
    *s->left -= s->len;
    safety_flow_read(s->text, s->len, on_flow, s);
}

/* --- comments --- */

static bool is_tool_comment(const char *text, size_t len) {
    static const char *const marks[] = {"upskilld-allow", "markdownlint",  "prettier",
                                        "cspell",         "eslint",        "vale ",
                                        "SPDX",           "Copyright",     "toc",
                                        "auto-generated", "autogenerated", "generated "};
    while (len > 0 && isspace((unsigned char)*text)) {
        text++;
        len--;
    }
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t n = strlen(marks[i]);
        if (len >= n && strncasecmp(text, marks[i], n) == 0) {
            return true;
        }
    }
    return false;
}

static void check_comments(struct scan *s) {
    size_t reported = 0;
    const char *end = s->text + s->len, *at = s->text;
    while (reported < MAX_MATCHES && (at = memmem(at, (size_t)(end - at), "<!--", 4))) {
        size_t offset = (size_t)(at - s->text);
        const char *close = memmem(at, (size_t)(end - at), "-->", 3);
        size_t len = (size_t)((close ? close : end) - at) - 4;
        len = len > COMMENT_MAX ? COMMENT_MAX : len;
        if (s->kinds[lines_at(&s->lines, offset)] == IN_PROSE &&
            !is_tool_comment(at + 4, len) && pattern_is_in(tables.order, at + 4, len)) {
            struct finding_span span = span_of(s, offset, offset + 4 + len);
            json_array_append_new(
                s->findings, finding_new("skill", "comment_with_orders", FINDING_WARNING,
                                         "a comment that readers do not see gives orders",
                                         s->file, &span));
            reported++;
        }
        at = close ? close + 3 : end;
    }
}

void safety_text_check(const char *file, const char *text, size_t len, bool markdown,
                       size_t *left, json_t *findings) {
    pthread_once(&tables_once, make_tables);
    struct scan s = {
        .file = file, .text = text, .len = len, .findings = findings, .left = left};
    lines_init(&s.lines, text, len);
    s.kinds = xmalloc(s.lines.count);
    memset(s.kinds, IN_SCRIPT, s.lines.count);
    if (markdown) {
        mark_markdown(&s);
        check_comments(&s);
        safety_language_check(file, text, &s.lines, s.kinds, findings);
    }
    words_scan_run(tables.words, text, len, on_word, &s);
    if (s.flows) {
        check_flows(&s);
    }
    safety_unicode_check(file, text, len, &s.lines, findings);
    if (s.incomplete) {
        json_array_append_new(
            findings, finding_new("skill", "safety_scan_incomplete", FINDING_ERROR,
                                  "too much here looks suspicious for a complete scan",
                                  file, &(struct finding_span){.line = 1}));
    }
    free(s.kinds);
    lines_finish(&s.lines);
}
