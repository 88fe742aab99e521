#include "gpu/check/omissions.h"

#include "base/lines.h"
#include "gpu/check/guess_attempts.h"
#include "gpu/source/host_part.h"
#include "protocol/finding.h"

/* The text between the first two quotation marks; NULL: there are none. Malloc'ed. */
static char *quoted(const char *message) {
    const char *open = strchr(message, '"');
    const char *close = open ? strchr(open + 1, '"') : NULL;
    return close ? xstrndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

/* --- leaving out --- */

static size_t line_end(const char *text, size_t at, size_t to) {
    const char *end = memchr(text + at, '\n', to - at);
    return end ? (size_t)(end - text) + 1 : to;
}

/* #if and #define still count; loops' pragmas go with their loops. */
static bool is_kept_directive(const char *line) {
    line += strspn(line, " \t");
    return *line == '#' && strncmp(line + 1 + strspn(line + 1, " \t"), "pragma", 6) != 0;
}

/* True when anything stood there. */
static bool blank(char *text, struct host_part part, bool directives) {
    bool any = false, goes_on = false;
    for (size_t at = part.from, end; at < part.to; at = end) {
        end = line_end(text, at, part.to);
        bool kept = !directives && (goes_on || is_kept_directive(text + at));
        goes_on = kept && end - at > 1 && text[end - 2] == '\\';
        for (size_t i = at; i < end && !kept; i++) {
            any |= !strchr(" \t\r\n", text[i]);
            text[i] = text[i] == '\n' || text[i] == '\r' ? text[i] : ' ';
        }
    }
    return any;
}

/* False: nothing stood there, or the guesses of this attempt wrote it, which have a say
 * of their own. directives: they go too. */
static bool leave_out(struct check_input *input, size_t index, struct host_part part,
                      bool directives) {
    struct source_file *file = &input->closure.sources.files[index];
    size_t appended = index ? 0 : input->closure.sources.appended;
    char *kept = part.to <= file->len - appended
                     ? host_guesses_text(&input->guesses, index)
                     : NULL;
    size_t len = part.to - part.from;
    if (kept && memcmp(kept + part.from, file->text + part.from, len) != 0) {
        return false;
    }
    if (!file->original) {
        file->original = xmalloc(file->len + 1);
        memcpy(file->original, file->text, file->len + 1);
    }
    if (kept) {
        blank(kept, part, directives);
    }
    return blank(file->text, part, directives);
}

/* --- instantiations --- */

#define ASSERTION "static_assert"

/* The next instantiation from `from` on that was written in place of host code, or behind
 * the unit's last line; empty: none. */
static struct host_part next_assertion(const struct source_set *sources, size_t index,
                                       size_t from) {
    const struct source_file *file = &sources->files[index];
    size_t len = strlen(ASSERTION), own = file->len - (index ? 0 : sources->appended);
    for (const char *at = file->text + from; (at = strstr(at, ASSERTION)); at += len) {
        size_t start = (size_t)(at - file->text);
        bool ours = start >= own ||
                    (file->original && memcmp(file->original + start, at, len) != 0);
        const char *end = ours ? strchr(at, ';') : NULL;
        if (end) {
            return (struct host_part){start, (size_t)(end - file->text) + 1};
        }
    }
    return (struct host_part){0};
}

/* The number that a #line before it gives the line of a byte that was appended. */
static json_int_t appended_line(const char *text, size_t at) {
    static const char directive[] = "\n#line ";
    for (size_t len = strlen(directive); at > len; at--) {
        if (memcmp(text + at - len, directive, len) == 0) {
            return strtol(text + at, NULL, 10);
        }
    }
    return 0;
}

/* The instantiation that a finding stands in; else nothing. */
static struct host_part assertion_of(const struct source_set *sources, size_t index,
                                     const json_t *finding, size_t at) {
    const struct source_file *file = &sources->files[index];
    size_t own = file->len - (index ? 0 : sources->appended);
    struct host_part part = {0};
    while ((part = next_assertion(sources, index, part.to)).to) {
        if (part.from < own ? part.from <= at && at < part.to
                            : appended_line(file->text, part.from) ==
                                  json_get_integer(finding, "line", 0)) {
            return part;
        }
    }
    return (struct host_part){0};
}

/* --- what host code alone may need --- */

/* Where a finding stands in the text of a file, as a line of it: [from, to). */
static struct host_part line_of(const struct source_file *file, const json_t *finding) {
    json_int_t number = json_get_integer(finding, "line", 0);
    struct host_part ret = {0};
    struct lines lines;
    lines_init(&lines, file->text, file->len);
    if (number > 0 && (size_t)number <= lines.count) {
        size_t line = (size_t)number - 1;
        ret.from = lines.starts[line];
        ret.to = line + 1 < lines.count ? lines.starts[line + 1] : file->len;
    }
    lines_finish(&lines);
    return ret;
}

/* The line, when it is an #include of the header in angle brackets; else nothing. */
static struct host_part include_of(const struct source_file *file, struct host_part line,
                                   const char *header) {
    autofree char *bracketed = xasprintf("<%s>", header);
    const char *text = file->text + line.from;
    size_t len = line.to - line.from;
    return len && text[strspn(text, " \t")] == '#' &&
                   memmem(text, len, bracketed, strlen(bracketed))
               ? line
               : (struct host_part){0};
}

enum omission { OMISSION_NONE, OMISSION_PLACE, OMISSION_INSTANTIATION };

/* header: that the finding says is missing; NULL: it says something else. */
static enum omission leave_out_of(struct check_input *input, struct host_parts *parts,
                                  size_t index, const json_t *finding, const char *header,
                                  bool whole) {
    const struct source_set *sources = &input->closure.sources;
    const struct source_file *file = &sources->files[index];
    struct host_part line = line_of(file, finding);
    json_int_t column = json_get_integer(finding, "column", 0);
    size_t at = line.from + (column > 0 ? (size_t)column - 1 : 0);
    if (at >= line.to) {
        return OMISSION_NONE;
    }
    struct host_part part = assertion_of(sources, index, finding, at);
    bool is_guess = input->guesses.count && guess_may_cause(finding);
    if (part.to) {
        return leave_out(input, index, part, true) ? OMISSION_INSTANTIATION
                                                   : OMISSION_NONE;
    }
    part =
        header ? include_of(file, line, header) : host_parts_at(parts, index, at, whole);
    return part.to && !is_guess && leave_out(input, index, part, header != NULL)
               ? OMISSION_PLACE
               : OMISSION_NONE;
}

static json_t *place_finding(const json_t *error) {
    json_t *finding = json_deep_copy(error);
    autofree char *message =
        xasprintf("%s; the device code compiles without it, host code may need it",
                  json_get_string(error, "message", ""));
    json_object_set_new(finding, "severity",
                        json_string(finding_severity_name(FINDING_WARNING)));
    json_object_set_new(finding, "message", json_text(message, strlen(message)));
    return finding;
}

static json_t *instantiation_finding(const json_t *error) {
    const struct finding_span span = {
        .line = (int)json_get_integer(error, "line", 0),
        .column = (int)json_get_integer(error, "column", 0),
        .end_line = (int)json_get_integer(error, "end_line", 0),
        .end_column = (int)json_get_integer(error, "end_column", 0),
    };
    autofree char *message = xasprintf(
        "The instantiation that host code asks for here was not compiled. The compiler "
        "says: %.300s. To compile it, add an explicit instantiation with the kernel's "
        "parameters",
        json_get_string(error, "message", ""));
    return finding_new("upskilld", "instantiations_left_out", FINDING_WARNING, message,
                       json_get_string(error, "file", NULL), &span);
}

/* --- the attempts --- */

/* What the error is about is left out: what is told of it, a new reference; else NULL. */
static json_t *leave_named_out(struct omissions *o, struct check_input *input,
                               struct host_parts *parts, const json_t *answer,
                               const json_t *error) {
    static const char missing[] = "cannot open source file ";
    const struct source_set *sources = &input->closure.sources;
    const char *message = json_get_string(error, "message", "");
    autofree char *header =
        strncmp(message, missing, strlen(missing)) == 0 ? quoted(message) : NULL;
    enum omission what = OMISSION_NONE;
    for (size_t i = 0;
         i < sources->count && !what && json_says(error, "severity", "error"); i++) {
        if (json_says(error, "file", sources->files[i].display)) {
            what = leave_out_of(input, parts, i, error, header, o->rounds > 2);
        }
    }
    if (what == OMISSION_PLACE) {
        o->refused = o->refused ? o->refused : json_deep_copy(answer);
        o->lacks_header |= header != NULL;
    }
    return what == OMISSION_PLACE           ? place_finding(error)
           : what == OMISSION_INSTANTIATION ? instantiation_finding(error)
                                            : NULL;
}

bool omissions_next(struct omissions *o, struct check_input *input,
                    const json_t *answer) {
    const json_t *list = json_object_get(answer, "diagnostics");
    size_t before = json_array_size(o->findings);
    if (!json_says(answer, "outcome", "rejected") ||
        o->rounds++ == OMISSIONS_ROUNDS_MAX) {
        return false;
    }
    o->findings = o->findings ? o->findings : json_array();
    struct host_parts *parts = host_parts_new(&input->closure.sources);
    for (size_t i = 0;
         i < json_array_size(list) && json_array_size(o->findings) < OMISSIONS_MAX; i++) {
        json_t *told = leave_named_out(o, input, parts, answer, json_array_get(list, i));
        if (told) {
            json_array_append_new(o->findings, told);
            host_parts_forget(parts);
        }
    }
    host_parts_free(parts);
    return json_array_size(o->findings) > before;
}

/* Where nothing is compiled, nothing says that the device does without the header. */
bool omissions_missed(const struct omissions *o, const json_t *last) {
    bool compiled = json_says(last, "outcome", "compiled");
    bool code = json_array_size(json_object_get(last, "kernels")) ||
                json_get_integer(last, "functions", 0) > 0;
    return o->refused && (!compiled || (o->lacks_header && !code));
}

json_t *omissions_settle(const struct omissions *o, const json_t *last) {
    if (!json_array_size(o->findings)) {
        return NULL;
    }
    bool missed = omissions_missed(o, last);
    json_t *ret = json_deep_copy(missed ? o->refused : last);
    if (!missed) {
        json_array_extend(json_object_get(ret, "diagnostics"), o->findings);
    }
    return ret;
}

void omissions_finish(struct omissions *o) {
    json_decref(o->findings);
    json_decref(o->refused);
    *o = (struct omissions){0};
}
