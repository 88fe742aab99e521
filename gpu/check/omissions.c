#include "gpu/check/omissions.h"

#include "base/lines.h"
#include "base/mem.h"
#include "protocol/finding.h"

#include <ctype.h>
#include <string.h>

/* A part of a file's text: [from, to). Empty: nothing. */
struct part {
    size_t from, to;
};

/* The text between the first two quotation marks; NULL: there are none. Malloc'ed. */
static char *quoted(const char *message) {
    const char *open = strchr(message, '"');
    const char *close = open ? strchr(open + 1, '"') : NULL;
    return close ? xstrndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

/* --- leaving out --- */

static void blank(char *text, struct part part) {
    for (size_t i = part.from; i < part.to; i++) {
        text[i] = text[i] == '\n' || text[i] == '\r' ? text[i] : ' ';
    }
}

/* False: the guesses of this attempt wrote it, and they have a say of their own. */
static bool leave_out(struct check_input *input, size_t index, struct part part) {
    struct source_file *file = &input->closure.sources.files[index];
    char *kept = host_guesses_text(&input->guesses, index);
    size_t len = part.to - part.from;
    if (kept && memcmp(kept + part.from, file->text + part.from, len) != 0) {
        return false;
    }
    if (!file->original) {
        file->original = xmalloc(file->len + 1);
        memcpy(file->original, file->text, file->len + 1);
    }
    blank(file->text, part);
    if (kept) {
        blank(kept, part);
    }
    return true;
}

/* --- headers --- */

/* The line of a finding, when it is an #include of the header in angle brackets. */
static struct part include_of(const struct source_file *file, const json_t *finding,
                              const char *header) {
    json_int_t number = json_get_integer(finding, "line", 0);
    autofree char *bracketed = xasprintf("<%s>", header);
    struct part ret = {0};
    struct lines lines;
    lines_init(&lines, file->text, file->len);
    if (number > 0 && (size_t)number <= lines.count) {
        size_t line = (size_t)number - 1, from = lines.starts[line];
        size_t to = line + 1 < lines.count ? lines.starts[line + 1] : file->len;
        const char *text = file->text + from + strspn(file->text + from, " \t");
        if (*text == '#' &&
            memmem(file->text + from, to - from, bracketed, strlen(bracketed))) {
            ret = (struct part){from, to};
        }
    }
    lines_finish(&lines);
    return ret;
}

static bool leave_header_out(struct check_input *input, const json_t *finding,
                             const char *header) {
    const struct source_set *sources = &input->closure.sources;
    const char *name = json_get_string(finding, "file", "");
    for (size_t i = 0; i < sources->count; i++) {
        struct part part = {0};
        if (strcmp(sources->files[i].display, name) == 0) {
            part = include_of(&sources->files[i], finding, header);
        }
        if (part.to > part.from && leave_out(input, i, part)) {
            return true;
        }
    }
    return false;
}

static json_t *header_finding(const json_t *error) {
    json_t *finding = json_deep_copy(error);
    autofree char *message =
        xasprintf("%s; the device code compiles without it, host code may need it",
                  json_get_string(error, "message", ""));
    json_object_set_new(finding, "severity",
                        json_string(finding_severity_name(FINDING_WARNING)));
    json_object_set_new(finding, "message", json_text(message, strlen(message)));
    return finding;
}

/* --- instantiations --- */

#define ASSERTION "static_assert"

static bool is_name_byte(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool names_kernel(const char *text, struct part part, const char *name) {
    size_t len = strlen(name);
    for (const char *at = text + part.from, *end = text + part.to;
         (at = memmem(at, (size_t)(end - at), name, len)); at += len) {
        if (!is_name_byte(at[-1]) && !is_name_byte(at[len])) {
            return true;
        }
    }
    return false;
}

/* The next instantiation from `from` on that was written in place of host code, or behind
 * the unit's last line; empty: none. */
static struct part next_assertion(const struct source_set *sources, size_t index,
                                  size_t from) {
    const struct source_file *file = &sources->files[index];
    size_t len = strlen(ASSERTION), own = file->len - (index ? 0 : sources->appended);
    for (const char *at = file->text + from; (at = strstr(at, ASSERTION)); at += len) {
        size_t start = (size_t)(at - file->text);
        bool ours = start >= own ||
                    (file->original && memcmp(file->original + start, at, len) != 0);
        const char *end = ours ? strchr(at, ';') : NULL;
        if (end) {
            return (struct part){start, (size_t)(end - file->text) + 1};
        }
    }
    return (struct part){0};
}

static bool leave_kernel_out(struct check_input *input, const char *kernel) {
    const struct source_set *sources = &input->closure.sources;
    const char *colon = strrchr(kernel, ':');
    bool any = false;
    for (size_t i = 0; i < sources->count; i++) {
        struct part part = {0};
        while ((part = next_assertion(sources, i, part.to)).to) {
            any |=
                names_kernel(sources->files[i].text, part, colon ? colon + 1 : kernel) &&
                leave_out(input, i, part);
        }
    }
    return any;
}

static json_t *kernel_finding(const json_t *error, const char *kernel) {
    const struct finding_span span = {
        .line = (int)json_get_integer(error, "line", 0),
        .column = (int)json_get_integer(error, "column", 0),
        .end_line = (int)json_get_integer(error, "end_line", 0),
        .end_column = (int)json_get_integer(error, "end_column", 0),
    };
    autofree char *message =
        xasprintf("Which of several kernels \"%.200s\" is launched cannot be told from "
                  "its template "
                  "arguments, so what host code asks of that name is not compiled. To "
                  "compile it, add "
                  "an explicit instantiation with the kernel's parameters",
                  kernel);
    return finding_new("upskilld", "instantiations_left_out", FINDING_INFO, message,
                       json_get_string(error, "file", NULL), &span);
}

/* --- the attempts --- */

static bool is_error(const json_t *finding, const char *begins) {
    return strcmp(json_get_string(finding, "severity", ""), "error") == 0 &&
           strncmp(json_get_string(finding, "message", ""), begins, strlen(begins)) == 0;
}

/* What the error names is left out: what is told of it, a new reference; else NULL. */
static json_t *leave_named_out(struct omissions *o, struct check_input *input,
                               const json_t *answer, const json_t *error) {
    autofree char *name = quoted(json_get_string(error, "message", ""));
    if (name && is_error(error, "cannot open source file ") &&
        leave_header_out(input, error, name)) {
        o->refused = o->refused ? o->refused : json_deep_copy(answer);
        return header_finding(error);
    }
    if (name && is_error(error, "cannot determine which instance of ") &&
        leave_kernel_out(input, name)) {
        return kernel_finding(error, name);
    }
    return NULL;
}

bool omissions_next(struct omissions *o, struct check_input *input,
                    const json_t *answer) {
    const json_t *list = json_object_get(answer, "diagnostics");
    size_t before = json_array_size(o->findings);
    if (strcmp(json_get_string(answer, "outcome", ""), "rejected") != 0) {
        return false;
    }
    o->findings = o->findings ? o->findings : json_array();
    for (size_t i = 0;
         i < json_array_size(list) && json_array_size(o->findings) < OMISSIONS_MAX; i++) {
        json_t *told = leave_named_out(o, input, answer, json_array_get(list, i));
        if (told) {
            json_array_append_new(o->findings, told);
        }
    }
    return json_array_size(o->findings) > before;
}

static bool has_code(const json_t *answer) {
    return strcmp(json_get_string(answer, "outcome", ""), "compiled") == 0 &&
           (json_array_size(json_object_get(answer, "kernels")) ||
            json_get_integer(answer, "functions", 0) > 0);
}

bool omissions_missed(const struct omissions *o, const json_t *last) {
    return o->refused && !has_code(last);
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
