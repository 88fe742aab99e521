#include "gpu/facts/compiler_log.h"

#include "base/buf.h"
#include "base/text.h"
#include "gpu/facts/log_reader.h"
#include "gpu/source/shims.h"

#define MAX_RELATED 16
#define MAX_RELATED_TEXT 512
#define MAX_TEXT_LINES 64
#define DETECTED "detected during"
#define WITHHELD "a message about a file outside the job was withheld"

/* One message of the compiler as it stands in the log: a header line, more lines of text,
 * the quoted source line and a caret below it, and what comes after. */
struct message {
    enum log_kind kind;
    char code[12];
    struct log_place place;
    struct slice lines[MAX_TEXT_LINES]; /* the header's text first */
    size_t line_count, line_total;
    struct slice previous; /* the last line before the caret: the quotation */
    bool pointed;          /* the caret was there */
};

struct related {
    struct log_place place;
    char *text;
};

/* An error or warning with its notes and instantiations, complete when the next begins.
 */
struct group {
    bool active;
    enum log_kind kind;
    char code[12];
    char *text;
    struct log_place place;
    struct log_place anchor; /* the innermost place in the job of the stack */
    struct related related[MAX_RELATED];
    size_t related_count;
};

struct log_parser {
    struct log_reader reader;
    struct message message;
    bool in_message;
    struct group group;
};

/* --- Text ------------------------------------------------------------------------------
 */

/* Without a caret the text ends at the first empty line; with one, before the quotation.
 */
static char *message_text(struct log_scope *scope, const struct message *m) {
    autobuf raw = BUF_INIT(2 * LOG_MESSAGE_MAX);
    size_t end = m->line_count;
    if (m->pointed && m->line_total == m->line_count && end > 1) {
        end--;
    }
    for (size_t i = 0; i < end; i++) {
        struct slice line = slice_trim(m->lines[i]);
        if (line.len == 0 && !m->pointed && i > 0) {
            break;
        }
        if (i > 0 && line.len > 0) {
            buf_addc(&raw, '\n');
        }
        size_t room = raw.max - raw.len;
        buf_add(&raw, line.at, line.len < room ? line.len : room);
    }
    return log_text_new(scope, (struct slice){raw.data, raw.len});
}

/* The file of: cannot open source file "nope.h" */
static struct slice missing_file(struct slice text) {
    static const char before[] = "open source file \"";
    const char *at =
        text.len > 0 ? memmem(text.at, text.len, before, strlen(before)) : NULL;
    if (!at) {
        return (struct slice){"", 0};
    }
    at += strlen(before);
    const char *quote = memchr(at, '"', (size_t)(text.at + text.len - at));
    return (struct slice){at, quote ? (size_t)(quote - at) : 0};
}

/* --- Findings --------------------------------------------------------------------------
 */

static void group_finish(struct group *g) {
    for (size_t i = 0; i < g->related_count; i++) {
        free(g->related[i].text);
    }
    free(g->text);
    *g = (struct group){0};
}

static void add_related(json_t *finding, const struct related *related) {
    const char *file = log_place_file(&related->place);
    if (file && related->place.span.line > 0) {
        finding_add_related(finding, related->text, file, related->place.span.line,
                            related->place.span.column);
    }
}

/* A message in one of CUDA's headers is about the line of the job that led there. */
static void emit_in_header(struct log_parser *p, struct group *g) {
    struct log_place place = g->anchor;
    if (place.origin != LOG_JOB) {
        log_place_include(&p->reader.scope, &g->place, &place);
    }
    static char header_text[] = "found in this header";
    json_t *finding =
        log_reader_emit(&p->reader, "nvrtc", g->code, g->kind, g->text, &place);
    if (!finding) {
        return;
    }
    struct related header = {.place = g->place, .text = header_text};
    add_related(finding, &header);
    for (size_t i = 0; i < g->related_count && i + 1 < MAX_RELATED; i++) {
        add_related(finding, &g->related[i]);
    }
}

static void emit_in_job(struct log_parser *p, struct group *g) {
    json_t *finding =
        log_reader_emit(&p->reader, "nvrtc", g->code, g->kind, g->text, &g->place);
    for (size_t i = 0; finding && i < g->related_count; i++) {
        /* Candidates that are built in have no place of their own. */
        if (g->related[i].place.origin == LOG_NOWHERE) {
            g->related[i].place = g->place;
        }
        add_related(finding, &g->related[i]);
    }
}

/* About precompiled headers, or about a macro that is defined again over ours or by
 * CUDA's headers: our own means, none of the user's doing. */
static bool is_noise(const struct group *g) {
    if (strcmp(g->code, "47") == 0 &&
        (g->place.origin == LOG_CUDA || strstr(g->text, " of " SHIM_AS_NVCC))) {
        return true;
    }
    return strcmp(g->code, "629") == 0 || strcmp(g->code, "630") == 0 ||
           strcmp(g->code, "20282") == 0 ||
           strncmp(g->text, "The warnings can be suppressed with", 35) == 0;
}

static void group_flush(struct log_parser *p) {
    struct group *g = &p->group;
    if (g->active && !is_noise(g)) {
        if (g->place.origin == LOG_FOREIGN) {
            /* Its words may quote the file. */
            log_reader_emit(&p->reader, "nvrtc", g->code, g->kind, WITHHELD, &g->anchor);
        } else if (g->place.origin == LOG_CUDA || g->place.origin == LOG_BUILT_IN) {
            emit_in_header(p, g);
        } else {
            emit_in_job(p, g);
        }
    }
    group_finish(g);
}

static void group_relate(struct group *g, const struct log_place *place, char *text) {
    if (!g->active || place->origin == LOG_FOREIGN || g->related_count >= MAX_RELATED) {
        free(text);
        return;
    }
    text[text_cut(text, strlen(text), MAX_RELATED_TEXT)] = '\0';
    g->related[g->related_count++] = (struct related){*place, text};
}

static void message_end(struct log_parser *p) {
    struct message *m = &p->message;
    if (!p->in_message) {
        return;
    }
    p->in_message = false;
    char *text = message_text(&p->reader.scope, m);
    if (m->kind == LOG_KIND_NOTE && p->group.active) {
        group_relate(&p->group, &m->place, text);
        return;
    }
    group_flush(p);
    p->group =
        (struct group){.active = true, .kind = m->kind, .text = text, .place = m->place};
    memcpy(p->group.code, m->code, sizeof m->code);
}

static void message_begin(struct log_parser *p, const struct log_header *header) {
    struct message *m = &p->message;
    m->kind = header->kind;
    memcpy(m->code, header->code, sizeof m->code);
    m->place = header->place;
    m->lines[0] = header->text;
    m->line_count = m->line_total = 1;
    m->previous = (struct slice){"", 0};
    m->pointed = false;
    p->in_message = true;
}

/* --- Lines below a header --------------------------------------------------------------
 */

static bool is_caret(struct slice line) {
    if (line.len < 3 || line.at[line.len - 1] != '^') {
        return false;
    }
    for (size_t i = 0; i + 1 < line.len; i++) {
        if (line.at[i] != ' ' && line.at[i] != '\t') {
            return false;
        }
    }
    return true;
}

/* 'instantiation of "T f(T) [with T=int]" at line 7 of r0/src/k.cu'; without "of" it is
 * the file of the message itself. */
static bool take_stack_place(struct log_parser *p, struct slice entry,
                             struct slice *ret_what, struct log_place *ret_place) {
    static const char before[] = " at line ";
    const char *at = NULL;
    for (const char *next = entry.at; next && entry.len > 0; next++) {
        next =
            memmem(next, (size_t)(entry.at + entry.len - next), before, strlen(before));
        if (!next) {
            break;
        }
        at = next;
    }
    int line;
    if (!at) {
        return false;
    }
    struct slice rest = slice_after(entry, (size_t)(at - entry.at) + strlen(before));
    size_t digits = slice_number(rest, &line);
    rest = slice_after(rest, digits);
    if (digits == 0) {
        return false;
    }
    *ret_what = (struct slice){entry.at, (size_t)(at - entry.at)};
    if (slice_starts(rest, " of ")) {
        log_place_resolve(&p->reader.scope, slice_trim(slice_after(rest, 4)), line,
                          ret_place);
        return true;
    }
    const struct log_place *own = &p->group.place;
    struct slice file = own->origin == LOG_JOB
                            ? (struct slice){own->file->path, strlen(own->file->path)}
                            : (struct slice){own->path, strlen(own->path)};
    log_place_resolve(&p->reader.scope, file, line, ret_place);
    return true;
}

static void read_stack_line(struct log_parser *p, struct slice line) {
    struct slice entry = slice_trim(line), what;
    struct log_place place;
    if (slice_starts(entry, DETECTED)) {
        entry = slice_trim(slice_after(entry, strlen(DETECTED)));
    }
    if (!p->group.active || !take_stack_place(p, entry, &what, &place)) {
        return;
    }
    if (place.origin == LOG_JOB && p->group.anchor.origin != LOG_JOB) {
        p->group.anchor = place;
    }
    group_relate(&p->group, &place, log_text_new(&p->reader.scope, what));
}

static void read_body_line(struct log_parser *p, struct slice line) {
    struct message *m = &p->message;
    if (p->in_message && slice_starts(slice_trim(line), DETECTED)) {
        message_end(p); /* without a caret above it */
    }
    if (!p->in_message) {
        read_stack_line(p, line);
        return;
    }
    if (!is_caret(line)) {
        m->previous = line;
        m->line_total++;
        if (m->line_count < MAX_TEXT_LINES) {
            m->lines[m->line_count++] = line;
        }
        return;
    }
    m->pointed = true;
    if (m->line_total > 1 && slice_starts(m->previous, "  ")) {
        log_place_point(&p->reader.scope, &m->place, slice_after(m->previous, 2),
                        line.len - 3, missing_file(m->lines[0]));
    }
    message_end(p);
}

/* "7 errors detected in the compilation of", "1 error and 2 warnings detected …" */
static bool read_count(struct log_parser *p, struct slice line) {
    int count;
    size_t digits = slice_number(line, &count);
    if (digits == 0 || !slice_has(line, " detected in the compilation of ")) {
        return false;
    }
    struct slice rest = slice_after(line, digits);
    if (slice_starts(rest, " error") || slice_starts(rest, " catastrophic")) {
        p->reader.stated_errors += (size_t)count;
    }
    return true;
}

static bool read_remark(struct log_parser *p, struct slice line) {
    if (slice_starts(line, "Error limit reached")) {
        p->reader.stopped_at_limit = true;
        return true;
    }
    return slice_starts(line, "Compilation terminated.") || read_count(p, line) ||
           (slice_starts(line, "\"") && slice_has(line, " precompiled header file "));
}

static void read_line(struct log_parser *p, struct slice line) {
    struct log_header header;
    bool ptxas = slice_starts(line, "ptxas ");
    if (ptxas || read_remark(p, line)) {
        message_end(p);
        group_flush(p);
        if (ptxas) {
            ptxas_log_line(&p->reader, line);
        }
    } else if (log_header_read(&p->reader.scope, line, &header)) {
        message_end(p);
        message_begin(p, &header);
    } else {
        read_body_line(p, line);
    }
}

/* --- The whole log ---------------------------------------------------------------------
 */

static void report_end(struct log_reader *r) {
    if (r->ptxas_aborted && r->ret->errors == 0) {
        log_reader_emit(r, "ptxas", "", LOG_KIND_ERROR,
                        "the assembler gave up without a reason", NULL);
    }
    size_t seen = r->ret->errors;
    size_t unseen = r->stated_errors > seen ? r->stated_errors - seen : 0;
    size_t max = COMPILER_LOG_MAX_FINDINGS - (r->stopped_at_limit ? 1 : 0);
    r->ret->errors += unseen;
    r->ret->omitted = findings_tidy(r->ret->findings, max) + r->dropped + unseen;
    if (r->stopped_at_limit) {
        json_array_append_new(
            r->ret->findings,
            finding_new("nvrtc", "", FINDING_INFO,
                        "the compiler stopped at its limit of errors; there may be more",
                        NULL, NULL));
    }
}

void compiler_log_read(struct compiler_log *ret, const char *log, size_t len,
                       const struct source_set *sources, const char *const *cuda_dirs,
                       const struct ptx_lines *ptx) {
    *ret = (struct compiler_log){.findings = json_array(), .usage = json_object()};
    struct log_parser p = {.reader = {.ret = ret, .seen = json_object()}};
    log_scope_init(&p.reader.scope, sources, cuda_dirs, ptx);
    const char *end = log + len;
    for (const char *at = log; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        read_line(&p, (struct slice){at, (size_t)(stop - at)});
        at = stop + 1;
    }
    message_end(&p);
    group_flush(&p);
    report_end(&p.reader);
    json_decref(p.reader.seen);
    free(p.reader.entry);
    log_scope_finish(&p.reader.scope);
}

void compiler_log_finish(struct compiler_log *l) {
    json_decref(l->findings);
    json_decref(l->usage);
    *l = (struct compiler_log){0};
}
