/* Hidden and misleading characters in a text. */
#include "base/buf.h"
#include "base/lines.h"
#include "base/text.h"
#include "protocol/finding.h"
#include "skills/check/safety_text.h"

#define MAX_RUNS 20 /* findings per kind and file */
#define MAX_SHOWN 8 /* code points named per run */

enum hidden {
    NOT_HIDDEN,
    HIDDEN_TAG,
    HIDDEN_DIRECTION,
    HIDDEN_WIDTH,
    HIDDEN_TERMINAL,
    HIDDEN_KINDS
};

/* Escape, backspace and the control characters above ASCII move a terminal's cursor and
 * recolour what it shows. */
static bool is_terminals(uint32_t cp) {
    return cp == 0x1B || cp == 0x08 || (cp >= 0x80 && cp < 0xA0 && cp != 0x85);
}

static enum hidden kind_of(uint32_t cp) {
    if (is_terminals(cp)) {
        return HIDDEN_TERMINAL;
    }
    if (cp >= 0xE0000 && cp <= 0xE007F) {
        return HIDDEN_TAG;
    }
    if ((cp >= 0x202A && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069)) {
        return HIDDEN_DIRECTION;
    }
    return (cp >= 0x200B && cp <= 0x200D) || cp == 0x2060 || cp == 0xFEFF ? HIDDEN_WIDTH
                                                                          : NOT_HIDDEN;
}

static bool is_picture(uint32_t cp) {
    return cp >= 0x1F000 || (cp >= 0x2190 && cp <= 0x2BFF) || cp == 0xFE0F ||
           (cp >= 0x1F3FB && cp <= 0x1F3FF);
}

/* Joiners belong to emoji and to Arabic and Indic scripts. */
static bool is_wanted_joiner(uint32_t cp, uint32_t before) {
    bool script = (before >= 0x0600 && before <= 0x08FF) ||
                  (before >= 0x0900 && before <= 0x0FFF) ||
                  (before >= 0x1780 && before <= 0x18AF);
    return (cp == 0x200D && is_picture(before)) ||
           ((cp == 0x200C || cp == 0x200D) && script);
}

struct unicode_run {
    enum hidden kind;
    size_t at, end, count;
    struct buf points, decoded;
};

static void add_point(struct unicode_run *run, uint32_t cp) {
    if (run->count < MAX_SHOWN) {
        buf_addf(&run->points, "%sU+%04X", run->count ? " " : "", cp);
    } else if (run->count == MAX_SHOWN) {
        buf_adds(&run->points, " …");
    }
    if (run->kind == HIDDEN_TAG && cp > 0xE001F && cp < 0xE007F) {
        buf_addc(&run->decoded, (char)(cp - 0xE0000));
    }
    run->count++;
}

/* Reads the hidden characters from `at` on. */
static void read_run(struct unicode_run *run, const char *text, size_t len, size_t at,
                     enum hidden kind) {
    *run = (struct unicode_run){.kind = kind,
                                .at = at,
                                .end = at,
                                .points = BUF_INIT(200),
                                .decoded = BUF_INIT(200)};
    while (run->end < len) {
        uint32_t cp;
        size_t n = text_decode(text + run->end, len - run->end, &cp);
        if (kind_of(cp) != kind) {
            return;
        }
        add_point(run, cp);
        run->end += n;
    }
}

static void report(const struct unicode_run *run, const char *file,
                   const struct lines *lines, json_t *findings) {
    static const char *const codes[] = {NULL, "hidden_tags", "hidden_direction",
                                        "hidden_characters", "terminal_control"};
    static const char *const what[][2] = {
        {"", ""},
        {"invisible tag character", "invisible tag characters"},
        {"character that changes the order of the text",
         "characters that change the order of the text"},
        {"character of no width", "characters of no width"},
        {"character that steers a terminal", "characters that steer a terminal"}};
    size_t line = lines_at(lines, run->at);
    int column = (int)(run->at - lines->starts[line]) + 1;
    struct finding_span span = {(int)line + 1, column, (int)line + 1,
                                column + (int)(run->end - run->at)};
    autofree char *message = xasprintf(
        "%zu %s: %s%s%s", run->count, what[run->kind][run->count != 1], run->points.data,
        run->decoded.len ? "; they say: " : "", run->decoded.data);
    json_t *finding =
        finding_new("skill", codes[run->kind],
                    run->kind == HIDDEN_WIDTH ? FINDING_WARNING : FINDING_ERROR, message,
                    file, &span);
    finding_add_fix(finding, "Remove the hidden characters", file, &span, "");
    json_array_append_new(findings, finding);
}

/* A flag of a region: a black flag, then letters, then the closing tag. */
static bool is_flag(const struct unicode_run *run, uint32_t before) {
    return run->kind == HIDDEN_TAG && before == 0x1F3F4 && run->count >= 4 &&
           run->count <= 7;
}

void safety_unicode_check(const char *file, const char *text, size_t len,
                          const struct lines *lines, json_t *findings) {
    size_t reported[HIDDEN_KINDS] = {0};
    uint32_t before = 0;
    for (size_t at = 0; at < len;) {
        if (!((unsigned char)text[at] & 0x80) && !is_terminals((unsigned char)text[at])) {
            before = (unsigned char)text[at++];
            continue;
        }
        uint32_t cp;
        size_t n = text_decode(text + at, len - at, &cp);
        enum hidden kind = kind_of(cp);
        if (kind == NOT_HIDDEN || is_wanted_joiner(cp, before) ||
            (cp == 0xFEFF && at == 0)) {
            before = cp;
            at += n;
            continue;
        }
        struct unicode_run run;
        read_run(&run, text, len, at, kind);
        if (!is_flag(&run, before) && reported[kind]++ < MAX_RUNS) {
            report(&run, file, lines, findings);
        }
        at = run.end;
        buf_finish(&run.points);
        buf_finish(&run.decoded);
    }
}
