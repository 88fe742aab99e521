/* Claims about hardware in a skill's text, judged by hardware_table.txt. */
#include "base/buf.h"
#include "base/find.h"
#include "protocol/finding.h"
#include "skills/check/hardware_numbers.h"
#include "skills/check/hardware_text.h"
#include "skills/check/skill_check.h"

#include <ctype.h>
#include <pthread.h>

#define MAX_FINDINGS 100 /* per file */
#define MAX_SHAPES 96
#define MAX_DEVICES 8
#define MAX_FEATURES 24

static struct {
    struct pattern *shapes[MAX_SHAPES], *devices[MAX_DEVICES], *features[MAX_FEATURES];
    struct pattern *doubt, *usage, *limit, *asserts, *reached, *part, *foreign,
        *requirement;
    struct pattern *denied, *boards, *only_device, *specification;
} patterns;
static pthread_once_t patterns_once = PTHREAD_ONCE_INIT;

static void make_patterns(void) {
    for (size_t i = 0; i < claim_shape_count; i++) {
        patterns.shapes[i] = pattern_new(claim_shapes[i].regex);
    }
    for (size_t i = 0; i < hardware_device_count; i++) {
        patterns.devices[i] = pattern_new(hardware_devices[i].regex);
    }
    for (size_t i = 0; i < hardware_feature_count; i++) {
        patterns.features[i] = pattern_new(hardware_features[i].regex);
    }
    patterns.doubt = pattern_new(claim_doubt);
    patterns.usage = pattern_new(claim_usage);
    patterns.limit = pattern_new(claim_limit);
    patterns.asserts = pattern_new(claim_asserts);
    patterns.reached = pattern_new(claim_reached);
    patterns.part = pattern_new(claim_part);
    patterns.foreign = pattern_new(claim_foreign);
    patterns.requirement = pattern_new(claim_requirement);
    patterns.denied =
        pattern_new("(?:\\bnot|n't|\\bnever|\\bno|\\bthan)\\s[^.;,]{0,20}$");
    patterns.only_device = pattern_new(claim_only_device);
    patterns.specification = pattern_new(claim_specification);
    patterns.boards =
        pattern_new("\\b[ah]\\d00s?[\\s-]*(?:\\()?(sxm|pcie|nvl|80 ?gb|40 ?gb)");
}

struct judge {
    const char *file, *text;
    int first_line;
    struct lines lines;
    json_t *findings;
    size_t count;
};

static bool has_word(const char *words, const char *text, size_t len) {
    for (const char *word = words; *word;) {
        size_t n = strcspn(word, "|");
        if (memmem(text, len, word, n)) {
            return true;
        }
        word += n + (word[n] == '|');
    }
    return false;
}

static unsigned devices_in(const char *text, size_t len) {
    unsigned found = 0;
    for (size_t i = 0; i < hardware_device_count; i++) {
        if (has_word(hardware_devices[i].words, text, len) &&
            pattern_is_in(patterns.devices[i], text, len)) {
            found |= 1u << i;
        }
    }
    /* "Hopper H100" is the H100: a board says more than its architecture. */
    list_each(i, d, hardware_devices, hardware_device_count) {
        for (size_t k = 0; (found >> i & 1) && k < hardware_device_count; k++) {
            bool board =
                strcmp(hardware_devices[k].name, hardware_devices[k].capability) != 0;
            if (k != i && board && (found >> k & 1) &&
                strcmp(d->name, d->capability) == 0 &&
                strcmp(d->capability, hardware_devices[k].capability) == 0) {
                found &= ~(1u << i);
            }
        }
    }
    return found;
}

static void add_board(struct hardware_subject *s, const char *text, size_t len) {
    struct pattern_match m;
    if (!has_word("sxm|pcie|nvl|0gb|0 gb", text, len)) {
        return;
    }
    for (size_t at = 0; at < len && pattern_find(patterns.boards, text, len, at, &m) > 0;
         at = m.end[0]) {
        char board[8] = "";
        for (size_t i = m.start[1], n = 0; i < m.end[1] && n + 1 < sizeof board; i++) {
            if (text[i] != ' ') {
                board[n++] = (char)tolower((unsigned char)text[i]);
            }
        }
        bool another = s->board[0] && strcmp(s->board, board) != 0;
        strcpy(s->board, another ? "?" : board);
        if (another) {
            return;
        }
    }
}

static struct hardware_subject subject_of(const struct statement *s) {
    struct hardware_subject subject = {0};
    subject.devices = devices_in(s->text, s->len) | devices_in(s->about, s->about_len);
    add_board(&subject, s->text, s->len);
    add_board(&subject, s->about, s->about_len);
    if (!subject.devices && s->heading_len) {
        subject.devices = devices_in(s->heading, s->heading_len);
        subject.inherited = true;
        add_board(&subject, s->heading, s->heading_len);
    }
    if (strcmp(subject.board, "?") == 0) {
        subject.board[0] = '\0';
    }
    return subject;
}

/* Nothing in the statement suggests that it is not meant literally. Checked last,
 * because most statements contradict no fact. */
static bool is_plain(const struct statement *s, const struct hardware_subject *subject) {
    return !pattern_is_in(patterns.doubt, s->text, s->len) &&
           !pattern_is_in(patterns.usage, s->text, s->len) &&
           !pattern_is_in(patterns.foreign, s->text, s->len) &&
           !pattern_is_in(patterns.foreign, s->about, s->about_len) &&
           !(subject->inherited &&
             pattern_is_in(patterns.foreign, s->heading, s->heading_len));
}

/* --- findings --- */

static struct finding_span span_of(const struct judge *j, size_t at, size_t end) {
    size_t line = lines_at(&j->lines, at), last = lines_at(&j->lines, end);
    return (struct finding_span){
        j->first_line + (int)line, (int)(at - j->lines.starts[line]) + 1,
        j->first_line + (int)last, (int)(end - j->lines.starts[last]) + 1};
}

static bool single_answer(const struct hardware_verdict *v) {
    return !any_of(i, 1, v->count, strcmp(v->facts[i]->shown, v->facts[0]->shown) != 0);
}

static void add_right_values(struct buf *out, const struct hardware_verdict *v) {
    for (size_t i = 0; i < v->count; i++) {
        const struct hardware_fact *f = v->facts[i];
        if (i && single_answer(v)) {
            break;
        }
        bool capability = strchr(f->device, '.') != NULL;
        buf_addf(out, "%s%s", i ? ", " : "", f->shown);
        if (!single_answer(v)) {
            buf_addf(out, " (%s%s%s%s)", capability ? "compute capability " : "",
                     f->device, f->board[0] ? " " : "", f->board);
        }
    }
}

/* One fix for each value that a board has. */
static void add_fixes(const struct judge *j, json_t *finding,
                      const struct hardware_verdict *v, const struct finding_span *span,
                      const char *only) {
    if (single_answer(v)) {
        autofree char *title = xasprintf("Write %s", only);
        finding_add_fix(finding, title, j->file, span, only);
        return;
    }
    for (size_t i = 0; i < v->count; i++) {
        const struct hardware_fact *f = v->facts[i];
        bool told = any_of(k, 0, i, strcmp(v->facts[k]->shown, f->shown) == 0);
        if (!told) {
            autofree char *title = xasprintf("Write %s (%s%s%s)", f->shown, f->device,
                                             f->board[0] ? " " : "", f->board);
            finding_add_fix(finding, title, j->file, span, f->shown);
        }
    }
}

/* shown_fix: what to write instead; NULL: nothing that is known fits there. */
static void add_finding(struct judge *j, const struct hardware_verdict *v, size_t at,
                        size_t end, const char *shown_fix) {
    autobuf message = BUF_INIT(1000);
    const struct hardware_fact *f = v->facts[0];
    bool capability = strchr(v->device->name, '.') != NULL;
    buf_addf(&message, "%s of %s%s: ", hardware_quantity(f->quantity)->name,
             capability ? "compute capability " : "", v->device->name);
    add_right_values(&message, v);
    buf_addf(&message, ", not %.*s (%s)", (int)(end - at), j->text + at, f->source);
    struct finding_span span = span_of(j, at, end);
    json_t *finding = finding_new("skill", "hardware_fact_wrong", FINDING_ERROR,
                                  message.data, j->file, &span);
    if (shown_fix) {
        add_fixes(j, finding, v, &span, shown_fix);
    }
    json_array_append_new(j->findings, finding);
    j->count++;
}

/* --- judging --- */

static bool is_denied(const struct statement *s, size_t at) {
    size_t from = at > 24 ? at - 24 : 0;
    return pattern_is_in(patterns.denied, s->text + from, at - from);
}

static bool shape_applies(const struct claim_shape *shape, const struct statement *s,
                          const struct hardware_subject *subject) {
    if (subject->inherited && !(shape->flags & CLAIM_UNBOUND)) {
        return false;
    }
    /* Bare numbers in rows such as "H100, tile 128" are settings and results. */
    if (s->borrowed && devices_in(s->about, s->about_len) &&
        !pattern_is_in(patterns.only_device, s->about, s->about_len)) {
        return false;
    }
    if ((shape->flags & CLAIM_BOARD) && pattern_is_in(patterns.part, s->text, s->len)) {
        return false;
    }
    if ((shape->flags & CLAIM_PEAK) && pattern_is_in(patterns.reached, s->text, s->len)) {
        return false;
    }
    return !(shape->flags & CLAIM_ASSERTS) || s->label ||
           pattern_is_in(patterns.asserts, s->text, s->len);
}

/* The rates in a column may be measurements, which lie below the peak, unless the text
 * calls them specifications. */
static bool may_be_measured(const struct claim_shape *shape, const struct statement *s,
                            const struct hardware_verdict *v, double value) {
    return s->borrowed && (shape->flags & CLAIM_PEAK) && value < v->facts[0]->values[0] &&
           !pattern_is_in(patterns.specification, s->text, s->len) &&
           !pattern_is_in(patterns.specification, s->heading, s->heading_len);
}

/* The right value without its unit, for a cell whose header names the unit. NULL if the
 * fact has another unit. */
static const char *without_unit(const struct statement *s, const char *shown, char *ret,
                                size_t size) {
    size_t n = strcspn(shown, " ");
    const char *unit = shown + n + (shown[n] == ' ');
    const char *own = s->text + s->len - s->borrowed + 1;
    size_t len = s->borrowed - 1;
    bool binary = len == 3 && own[1] == 'i'; /* KiB for KB */
    bool same = tolower((unsigned char)unit[0]) == own[0] &&
                (binary ? tolower((unsigned char)unit[1]) == own[2]
                        : strlen(unit) == len && strncasecmp(unit, own, len) == 0);
    snprintf(ret, size, "%.*s", (int)n, shown);
    return same ? ret : NULL;
}

static void judge_match(struct judge *j, const struct claim_shape *shape,
                        const struct statement *s, const struct hardware_subject *subject,
                        const struct pattern_match *m) {
    bool limit = s->label > 0 || pattern_is_in(patterns.limit, s->text, s->len);
    bool below_is_fine = (shape->flags & CLAIM_LIMIT) && !limit;
    double value = hardware_number(shape, s->text, m);
    struct hardware_verdict v;
    if (m->start[1] < s->label || is_denied(s, m->start[1]) || value <= 0 ||
        !hardware_contradicts(subject, shape->quantity, value, below_is_fine, &v) ||
        may_be_measured(shape, s, &v, value) || !is_plain(s, subject)) {
        return;
    }
    size_t shift = s->offset - s->label;
    size_t end = m->end[2] > m->start[2] ? m->end[2] : m->end[1];
    bool sm = shape->unit == UNIT_SM;
    char name[16];
    snprintf(name, sizeof name, "%.0f", v.facts[0]->values[0]);
    const char *cure = sm ? name : v.facts[0]->shown;
    if (s->borrowed) {
        end = end < s->len - s->borrowed ? end : s->len - s->borrowed;
        cure = single_answer(&v) ? without_unit(s, v.facts[0]->shown, name, sizeof name)
                                 : NULL;
    }
    add_finding(j, &v, m->start[1] + shift, end + shift, cure);
}

/* Two shapes may match the same number: only the first reports it. */
static bool told_already(const struct judge *j, const struct statement *s,
                         const struct pattern_match *m) {
    const json_t *last = json_array_get(j->findings, json_array_size(j->findings) - 1);
    if (j->count == 0 || !last || m->start[1] < s->label) {
        return false;
    }
    struct finding_span span = span_of(j, m->start[1] + s->offset - s->label,
                                       m->start[1] + s->offset - s->label);
    return json_get_integer(last, "line", 0) == span.line &&
           json_get_integer(last, "column", 0) == span.column;
}

static void judge_numbers(struct judge *j, const struct statement *s,
                          const struct hardware_subject *subject) {
    for (size_t i = 0; i < claim_shape_count && j->count < MAX_FINDINGS; i++) {
        const struct claim_shape *shape = &claim_shapes[i];
        struct pattern_match m;
        if (!has_word(shape->words, s->text, s->len) ||
            !shape_applies(shape, s, subject)) {
            continue;
        }
        for (size_t at = 0;
             at < s->len && pattern_find(patterns.shapes[i], s->text, s->len, at, &m) > 0;
             at = m.end[0] > at ? m.end[0] : at + 1) {
            if (!told_already(j, s, &m)) {
                judge_match(j, shape, s, subject, &m);
            }
        }
    }
}

static int capability_of(const char *text, const struct pattern_match *m, size_t *ret_at,
                         size_t *ret_end) {
    for (int g = 1; g <= 3; g++) {
        if (m->end[g] == m->start[g]) {
            continue;
        }
        const char *word = text + m->start[g];
        *ret_at = m->start[g];
        *ret_end = m->end[g];
        if (g == 1) {
            return (int)(strtod(word, NULL) * 10 + 0.5);
        }
        if (g == 2) {
            return (int)strtol(word, NULL, 10);
        }
        bool ada = strncasecmp(word, "ada", 3) == 0;
        return ada ? 89 : strncasecmp(word, "a", 1) == 0 ? 80 : 90;
    }
    return 0;
}

static void judge_feature(struct judge *j, const struct statement *s,
                          const struct hardware_feature *f,
                          const struct pattern_match *name) {
    struct pattern_match m;
    if (pattern_find(patterns.requirement, s->text, s->len, name->end[0], &m) <= 0 ||
        m.start[0] != name->end[0]) {
        return;
    }
    size_t at = 0, end = 0;
    int said = capability_of(s->text, &m, &at, &end);
    bool by_word = m.end[3] > m.start[3];
    /* Tensor cores had FP8 first on Hopper's data sheets: both answers are given. */
    bool also = f->minimum == 89 && said == 90;
    if (said == f->minimum || also || at < s->label || is_denied(s, at) || said == 0 ||
        pattern_is_in(patterns.doubt, s->text, s->len)) {
        return;
    }
    size_t shift = s->offset - s->label;
    struct finding_span span = span_of(j, at + shift, end + shift);
    bool joined = m.end[2] > m.start[2];
    autofree char *message = xasprintf("%s needs compute capability %s, not %s%.*s (%s)",
                                       f->name, f->capability, joined ? "sm_" : "",
                                       (int)(end - at), j->text + at + shift, f->source);
    json_t *finding = finding_new("skill", "hardware_fact_wrong", FINDING_ERROR, message,
                                  j->file, &span);
    if (!by_word) {
        char text[8];
        bool specific = strchr(f->capability, 'a') && j->text[end + shift] != 'a';
        if (joined) {
            snprintf(text, sizeof text, "%d%s", (int)f->minimum, specific ? "a" : "");
        } else {
            snprintf(text, sizeof text, "%s", f->capability);
        }
        autofree char *title = xasprintf("Write %s", text);
        finding_add_fix(finding, title, j->file, &span, text);
    }
    json_array_append_new(j->findings, finding);
    j->count++;
}

static void judge_features(struct judge *j, const struct statement *s) {
    static const char needed[] = "requir|need|only|from|since|introduced|new in|minimum";
    if (!has_word(needed, s->text, s->len)) {
        return;
    }
    for (size_t i = 0; i < hardware_feature_count && j->count < MAX_FINDINGS; i++) {
        struct pattern_match m;
        if (pattern_find(patterns.features[i], s->text, s->len, 0, &m) > 0) {
            judge_feature(j, s, &hardware_features[i], &m);
        }
    }
}

static bool has_digit(const struct statement *s) {
    return any_of(i, s->label, s->len, isdigit((unsigned char)s->text[i]));
}

static void judge_statement(void *data, const struct statement *s) {
    struct judge *j = data;
    if (j->count >= MAX_FINDINGS) {
        return;
    }
    if (!has_digit(s) && !has_word("hopper|ampere|ada", s->text, s->len)) {
        return;
    }
    judge_features(j, s);
    struct hardware_subject subject = subject_of(s);
    if (subject.devices && has_digit(s)) {
        judge_numbers(j, s, &subject);
    }
}

void hardware_facts_check(const char *file, const char *text, size_t len, int first_line,
                          json_t *findings) {
    pthread_once(&patterns_once, make_patterns);
    struct judge j = {
        .file = file, .text = text, .first_line = first_line, .findings = findings};
    lines_init(&j.lines, text, len);
    hardware_text_read(text, len, judge_statement, &j);
    lines_finish(&j.lines);
}
_Static_assert(MAX_DEVICES <= 32, "a bit per device");
