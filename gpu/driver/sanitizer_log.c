#include "gpu/driver/sanitizer_log.h"

#include "protocol/finding.h"

#include <ctype.h>

#define PREFIX "========="
enum { MAX_LINE = 1000, MAX_NAME = 256, MAX_MESSAGE = 600 };

struct sanitizer_place {
    char kernel[MAX_NAME], file[MAX_NAME];
    int line;
};

/* The complaint that is being read; head "" for none. */
struct complaint {
    char head[MAX_NAME], more[MAX_NAME];
    char code[32];
    enum finding_severity severity;
    struct sanitizer_place at, other; /* other: of the second access of a race */
    struct sanitizer_place frame;     /* of the device's stack, the outermost so far */
    char other_words[64];
    int block[3], thread[3];
    bool has_place, has_other, has_thread;
    uint64_t hazards;
};

struct reader {
    struct sanitizer_log *log;
    struct complaint now;
    char unknown[MAX_NAME]; /* the first words that were no complaint */
};

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* --- small parts --- */

/* Digits with or without thousands separators, at most 18 of them; where they end. */
static const char *read_number(const char *at, uint64_t *ret) {
    uint64_t value = 0;
    int digits = 0;
    for (; isdigit((unsigned char)*at) ||
           (*at == ',' && digits && isdigit((unsigned char)at[1]));
         at++) {
        if (*at != ',' && digits++ < 18) {
            value = value * 10 + (uint64_t)(*at - '0');
        }
    }
    *ret = value;
    return at;
}

/* "(31,0,0)". */
static bool read_triple(const char *text, int ret[static 3]) {
    int n = 0;
    return sscanf(text, "(%9d,%9d,%9d%n", &ret[0], &ret[1], &ret[2], &n) == 3 &&
           text[n] == ')' && ret[0] >= 0 && ret[1] >= 0 && ret[2] >= 0;
}

static void copy(char *to, size_t size, const char *from, size_t len) {
    snprintf(to, size, "%.*s", (int)(len < size ? len : size - 1), from);
}

/* "file.cu:53" and what is behind; false without digits after a colon. */
static bool read_file_line(const char *text, size_t len, struct sanitizer_place *ret) {
    for (size_t i = len; i-- > 0;) {
        uint64_t line;
        if (text[i] != ':' || i + 1 == len || !isdigit((unsigned char)text[i + 1])) {
            continue;
        }
        const char *end = read_number(text + i + 1, &line);
        if (i && line && line < 10000000 && (end == text + len || *end == ':')) {
            copy(ret->file, sizeof ret->file, text, i);
            ret->line = (int)line;
            if (*end == ':' && !*ret->kernel) { /* the older shape: its name is last */
                copy(ret->kernel, sizeof ret->kernel, end + 1,
                     len - (size_t)(end + 1 - text));
            }
            return true;
        }
    }
    return false;
}

/* What stands behind "at ": "k(int)+0x70 in f.cu:53", "k(int)+0x70", "0x70 in f.cu:53:k"
 * or "0x70 in k(int)". */
static bool read_place(const char *text, struct sanitizer_place *ret) {
    const char *in = strstr(text, " in ");
    const char *offset =
        in ? memmem(text, (size_t)(in - text), "+0x", 3) : strstr(text, "+0x");
    size_t len = strcspn(text, "\n");
    const char *bracket = strstr(text, " [");
    len = bracket && (size_t)(bracket - text) < len ? (size_t)(bracket - text) : len;
    *ret = (struct sanitizer_place){0};
    if (offset) {
        const char *name = text;
        size_t clone = begins(text, "[clone ") ? strlen("[clone ") : 0;
        const char *cloned = clone ? memchr(text, ']', (size_t)(offset - text)) : NULL;
        name += cloned ? clone : 0; /* "[clone k(int)] f()": k is the kernel */
        copy(ret->kernel, sizeof ret->kernel, name,
             (size_t)((cloned ? cloned : offset) - name));
    } else if (!begins(text, "0x")) {
        return false;
    }
    if (in && (size_t)(in - text) + 4 <= len) {
        const char *rest = in + 4;
        size_t rest_len = len - (size_t)(rest - text);
        if (!read_file_line(rest, rest_len, ret) && !*ret->kernel) {
            copy(ret->kernel, sizeof ret->kernel, rest, rest_len);
        }
    }
    return true;
}

/* --- one finding --- */

static json_t *triple_json(const int *at) {
    return json_pack("[i,i,i]", at[0], at[1], at[2]);
}

static bool is_same(const json_t *a, const json_t *b) {
    static const char *const members[] = {"code", "severity", "kernel", "file", "line"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const json_t *x = json_object_get(a, members[i]);
        const json_t *y = json_object_get(b, members[i]);
        if (x != y && !(x && y && json_equal(x, y))) {
            return false;
        }
    }
    return true;
}

static void add(struct sanitizer_log *log, json_t *finding, uint64_t count) {
    json_each(log->findings, i, known) {
        if (is_same(known, finding)) {
            json_int_t sum = json_get_integer(known, "count", 1) + (json_int_t)count;
            json_object_set_new(known, "count", json_integer(sum));
            return;
        }
    }
    if (json_array_size(log->findings) == SANITIZER_LOG_MAX_FINDINGS) {
        log->omitted++;
        return;
    }
    if (count > 1) {
        json_object_set_new(finding, "count", json_integer((json_int_t)count));
    }
    json_array_append(log->findings, finding);
}

/* The kernel is the outermost function; a place without a line is in a library that the
 * outermost function's line called. */
static void use_frame(struct complaint *c) {
    if (*c->frame.kernel) {
        copy(c->at.kernel, sizeof c->at.kernel, c->frame.kernel, strlen(c->frame.kernel));
    }
    if (!c->at.line) {
        copy(c->at.file, sizeof c->at.file, c->frame.file, strlen(c->frame.file));
        c->at.line = c->frame.line;
    } else if (c->frame.line && !c->has_other) {
        c->other = c->frame;
        c->has_other = true;
        strcpy(c->other_words, "called from here");
    }
}

static void end_complaint(struct reader *r) {
    struct complaint *c = &r->now;
    char message[MAX_MESSAGE];
    if (!*c->head || (!c->has_place && !strcmp(c->code, "launch_error"))) {
        if (*c->head && !*r->unknown) {
            copy(r->unknown, sizeof r->unknown, c->head, strlen(c->head));
        }
        *c = (struct complaint){0}; /* words, not a complaint */
        return;
    }
    use_frame(c);
    const struct finding_span span = {.line = c->at.line};
    snprintf(message, sizeof message, "compute-sanitizer: %s%s%s", c->head,
             *c->more ? ": " : "", c->more);
    autojson *f = finding_new("run", c->code, c->severity, message,
                              c->at.line ? c->at.file : NULL, &span);
    if (*c->at.kernel) {
        json_object_set_new(f, "kernel", json_clean_z(c->at.kernel));
    }
    if (c->has_thread) {
        json_object_set_new(f, "block", triple_json(c->block));
        json_object_set_new(f, "thread", triple_json(c->thread));
    }
    if (c->has_other && c->other.line) {
        finding_add_related(f, c->other_words, c->other.file, c->other.line, 0);
    }
    add(r->log, f, c->hazards ? c->hazards : 1);
    *c = (struct complaint){0};
}

/* --- lines --- */

static void begin(struct reader *r, const char *code, enum finding_severity severity,
                  const char *words) {
    end_complaint(r);
    r->now.severity = severity;
    snprintf(r->now.code, sizeof r->now.code, "%s", code);
    copy(r->now.head, sizeof r->now.head, words, strlen(words));
}

/* "Race reported between Write access at f(..)+0x150 in file.cu:27" */
static bool read_race(struct reader *r, const char *line) {
    static const char between[] = "Race reported between ";
    enum finding_severity severity = FINDING_ERROR;
    if (!strncasecmp(line, "Error: ", 7)) {
        line += 7;
    } else if (!strncasecmp(line, "Warning: ", 9)) {
        line += 9;
        severity = FINDING_WARNING;
    } else if (!strncasecmp(line, "Info: ", 6)) {
        line += 6;
        severity = FINDING_INFO;
    }
    if (!begins(line, between)) {
        return false;
    }
    const char *at = strstr(line, " access at ");
    begin(r, "race", severity, "a race between accesses of shared memory");
    if (at) {
        const char *kind = line + sizeof between - 1;
        snprintf(r->now.more, sizeof r->now.more, "one is a %.*s",
                 (int)(at - kind < 20 ? at - kind : 20), kind);
        r->now.has_place = read_place(at + strlen(" access at "), &r->now.at);
    }
    return true;
}

/* "and Read access at f(..)+0x160 in file.cu:30 [4194304 hazards]" */
static bool read_race_other(struct complaint *c, const char *line) {
    const char *at = strstr(line, " access at ");
    if (strcmp(c->code, "race") != 0 || !begins(line, "and ") || !at) {
        return false;
    }
    c->has_other = read_place(at + strlen(" access at "), &c->other);
    snprintf(c->other_words, sizeof c->other_words, "the other access, a %.*s",
             (int)(at - (line + 4) < 20 ? at - (line + 4) : 20), line + 4);
    const char *bracket = strrchr(line, '[');
    if (bracket) {
        (void)read_number(bracket + 1, &c->hazards);
    }
    return true;
}

/* "Potential RAW hazard detected at __shared__ 0x10 in block (0,0,0) :" and its threads:
 * "Write Thread (31,0,0) at 0x108 in file.cu:27:k(int*)". */
static bool read_hazard(struct reader *r, const char *line) {
    struct complaint *c = &r->now;
    const char *kind = strstr(line, "Potential ");
    const char *block = strstr(line, " in block ");
    if (kind && kind - line <= 9 && strstr(line, " hazard detected at ")) {
        begin(r, "race", begins(line, "Warning") ? FINDING_WARNING : FINDING_ERROR,
              "a race between accesses of shared memory");
        copy(c->more, sizeof c->more, kind + 10, strcspn(kind + 10, " "));
        c->has_thread = block && read_triple(block + 10, c->block);
        return true;
    }
    const char *thread = strstr(line, " Thread (");
    const char *at = strstr(line, ") at ");
    if (strcmp(c->code, "race") != 0 || !thread || thread - line > 5 || !at) {
        return false;
    }
    if (!c->has_place) {
        (void)read_triple(thread + 8, c->thread);
        c->has_place = read_place(at + 5, &c->at);
    } else if (!c->has_other) {
        c->has_other = read_place(at + 5, &c->other);
        snprintf(c->other_words, sizeof c->other_words, "the other access, a %.*s",
                 (int)(thread - line), line);
    }
    return true;
}

/* Heads of memcheck, initcheck and synccheck. Whether an access is out of bounds or
 * misaligned is told by a later line. */
static bool read_head(struct reader *r, const char *line) {
    if (begins(line, "Invalid __") || begins(line, "Potential invalid __") ||
        begins(line, "Invalid global") || begins(line, "Invalid shared") ||
        begins(line, "Invalid local")) {
        begin(r, "out_of_bounds", FINDING_ERROR, line);
    } else if (begins(line, "Uninitialized __")) {
        begin(r, "uninitialized", FINDING_ERROR, line);
    } else if (begins(line, "Barrier error detected")) {
        bool mask = strstr(line, "nvalid arguments") || strstr(line, "mask");
        begin(r, mask ? "invalid_mask" : "barrier_divergence", FINDING_ERROR, line);
    } else {
        return false;
    }
    return true;
}

static bool read_access(struct complaint *c, const char *line) {
    const char *said = strstr(line, " is misaligned");
    if (!*c->head) {
        return false;
    }
    if (begins(line, "Address ") || begins(line, "Access ")) {
        bool bounds = strstr(line, "out of bounds") != NULL;
        if (said && !strcmp(c->code, "out_of_bounds")) {
            strcpy(c->code, "misaligned");
        }
        const char *words = said     ? "the address is misaligned"
                            : bounds ? "the address is out of bounds"
                                     : "";
        snprintf(c->more, sizeof c->more, "%s", words);
        return true;
    }
    if (begins(line, "and is ") && strstr(line, "nearest allocation")) {
        uint64_t bytes = 0, size = 0;
        const char *rest = read_number(line + 7, &bytes);
        const char *of = strstr(line, " of size ");
        (void)read_number(of ? of + 9 : "", &size);
        rest += begins(rest, " bytes ") ? 7 : 0;
        snprintf(c->more, sizeof c->more,
                 "the address is %llu bytes %.*s the nearest allocation, which has %llu",
                 (unsigned long long)bytes,
                 (int)strcspn(rest, " ") < 10 ? (int)strcspn(rest, " ") : 10, rest,
                 (unsigned long long)size);
        return true;
    }
    return false;
}

static bool read_where(struct complaint *c, const char *line) {
    if (begins(line, "at ") && *c->head && !c->has_place) {
        c->has_place = read_place(line + 3, &c->at);
        return c->has_place;
    }
    if (begins(line, "Device Frame:") && *c->head) {
        struct sanitizer_place frame;
        if (read_place(line + 13 + strspn(line + 13, " "), &frame)) {
            c->frame = frame;
        }
        return true;
    }
    const char *block = strstr(line, " in block ");
    if (begins(line, "by thread ") && block && *c->head) {
        c->has_thread =
            read_triple(line + 10, c->thread) && read_triple(block + 10, c->block);
        return true;
    }
    return false;
}

/* The end, and what the tool says of itself. */
static bool read_summary(struct reader *r, const char *line) {
    static const char *const troubles[] = {"Error: No attachable process found",
                                           "Error: process didn't terminate",
                                           "Internal Sanitizer Error",
                                           "Error: Device not supported",
                                           "Error: Unsupported",
                                           "Error: Failed to",
                                           "Error: Could not",
                                           "Error: Target application terminated",
                                           "Target application returned an error"};
    struct sanitizer_log *log = r->log;
    const char *sum = strstr(line, "SUMMARY: ");
    if (sum && (begins(line, "ERROR SUMMARY") || begins(line, "RACECHECK SUMMARY"))) {
        end_complaint(r);
        (void)read_number(sum + 9, &log->reported);
        log->ended = true;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(troubles); i++) {
        if (begins(line, troubles[i])) {
            end_complaint(r);
            if (!*log->trouble) {
                copy(log->trouble, sizeof log->trouble, line, strlen(line));
            }
            return true;
        }
    }
    return false;
}

/* `Program hit CUDA_ERROR_X (error 700) due to "…" on CUDA API call to f.` */
static bool read_api(struct reader *r, const char *line) {
    if (!begins(line, "Program hit ")) {
        return false;
    }
    begin(r, "launch_error", FINDING_WARNING, line);
    r->now.has_place = true;
    return true;
}

static void read_line(struct reader *r, const char *line) {
    if (!*line) {
        end_complaint(r); /* complaints are parted by empty lines */
    } else if (!read_summary(r, line) && !read_race(r, line) &&
               !read_race_other(&r->now, line) && !read_hazard(r, line) &&
               !read_head(r, line) && !read_api(r, line) && !read_where(&r->now, line) &&
               !read_access(&r->now, line) && !*r->now.head &&
               !begins(line, "COMPUTE-SANITIZER")) {
        begin(r, "launch_error", FINDING_ERROR, line); /* if a place follows */
    }
}

/* It counts errors and none of its words was understood. */
static void add_unknown(struct reader *r) {
    const struct finding_span nowhere = {0};
    char message[MAX_MESSAGE];
    if (!r->log->reported || json_array_size(r->log->findings)) {
        return;
    }
    snprintf(message, sizeof message,
             "compute-sanitizer reports %llu errors of an unknown kind%s%s",
             (unsigned long long)r->log->reported, *r->unknown ? ": " : "", r->unknown);
    autojson *f =
        finding_new("run", "launch_error", FINDING_ERROR, message, NULL, &nowhere);
    add(r->log, f, 1);
}

void sanitizer_log_read(struct sanitizer_log *ret, const char *text, size_t len) {
    struct reader r = {.log = ret};
    *ret = (struct sanitizer_log){.findings = json_array()};
    for (size_t at = 0, next; at < len; at = next) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t line_len = end ? (size_t)(end - (text + at)) : len - at;
        next = at + line_len + 1;
        char line[MAX_LINE];
        const char *from = text + at;
        if (line_len < strlen(PREFIX) || memcmp(from, PREFIX, strlen(PREFIX)) != 0) {
            continue;
        }
        from += strlen(PREFIX);
        line_len -= strlen(PREFIX);
        for (; line_len && (*from == ' ' || *from == '\t'); from++, line_len--) {}
        for (; line_len && isspace((unsigned char)from[line_len - 1]); line_len--) {}
        copy(line, sizeof line, from, line_len);
        read_line(&r, line);
    }
    end_complaint(&r);
    add_unknown(&r);
}

void sanitizer_log_finish(struct sanitizer_log *log) {
    json_decref(log->findings);
    *log = (struct sanitizer_log){0};
}
