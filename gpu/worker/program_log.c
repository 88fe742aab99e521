#include "gpu/worker/program_log.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/text.h"
#include "gpu/facts/compiler_log.h"
#include "gpu/facts/slice.h"
#include "protocol/finding.h"

enum { MAX_MISSING = 256, MAX_MESSAGE = 2000 };
#define UNDEFINED "undefined reference to `"
#define MULTIPLE "multiple definition of "

/* --- files --- */

const struct source_file *program_source(const char *path, const struct source_set *s) {
    autofree char *plain = path_normalize(path);
    const struct source_file *file = source_set_find(s, plain);
    for (const char *at = plain; !file && (at = strstr(at, "/src/")); at++) {
        file = source_set_find(s, at + strlen("/src/"));
    }
    return file;
}

char *program_file_name(const char *path, const struct source_set *sources) {
    const struct source_file *file = program_source(path, sources);
    autofree char *plain = path_normalize(path);
    if (file) {
        return xstrdup(file->display);
    }
    const char *last = NULL;
    for (const char *at = plain; (at = strstr(at, "/include/")); at++) {
        last = at + strlen("/include/");
    }
    if (last && !strncmp(last, "cccl/", 5)) {
        last += 5;
    }
    return last ? xasprintf("<%s>", last) : xstrdup(path_basename(plain));
}

/* --- lines --- */

struct reading {
    const struct source_set *sources;
    struct program_log *ret;
    json_t *seen; /* missing functions */
};

/* "FILE:LINE" or "FILE:LINE:COLUMN" at the end of a text; the file's length, 0: none. */
static size_t place_read(struct slice text, struct finding_span *ret) {
    int numbers[2] = {0}, count = 0;
    size_t len = text.len;
    while (count < 2) {
        size_t start = len;
        while (start && isdigit((unsigned char)text.at[start - 1])) {
            start--;
        }
        if (start == len || !start || text.at[start - 1] != ':') {
            break;
        }
        slice_number((struct slice){text.at + start, len - start}, &numbers[count++]);
        len = start - 1;
    }
    *ret = (struct finding_span){.line = numbers[count == 2],
                                 .column = count == 2 ? numbers[0] : 0};
    return count ? len : 0;
}

static json_t *finding_at(const struct reading *r, const char *source, const char *code,
                          enum finding_severity severity, struct slice message,
                          struct slice place) {
    struct finding_span span = {0};
    size_t cut = message.len < MAX_MESSAGE ? message.len : MAX_MESSAGE;
    autofree char *text = xstrndup(message.at, cut);
    size_t len = place_read(place, &span);
    autofree char *path = len ? xstrndup(place.at, len) : NULL;
    bool own = path && program_source(path, r->sources);
    autofree char *name = path ? program_file_name(path, r->sources) : NULL;
    return finding_new(source, code, severity, text, name,
                       own ? &span : &(struct finding_span){0});
}

/* Functions of NVIDIA's libraries have C names that say whose they are. */
static bool is_of_cuda(struct slice name) {
    static const char *const starts[] = {"cu", "__cu", "nv", "npp", "nccl"};
    for (size_t i = 0; i < name.len; i++) {
        if (!isalnum((unsigned char)name.at[i]) && name.at[i] != '_') {
            return false;
        }
    }
    return any_of(i, 0, ARRAY_LEN(starts), slice_starts(name, starts[i]));
}

static void add_missing(struct reading *r, struct slice name, const json_t *finding) {
    autofree char *function = xstrndup(name.at, name.len);
    if (json_object_get(r->seen, function) ||
        json_array_size(r->ret->missing) >= MAX_MISSING) {
        return;
    }
    json_t *one = json_pack("{s:o}", "function", json_clean_z(function));
    static const char *const places[] = {"file", "line", NULL};
    json_copy_members(one, finding, places);
    json_array_append_new(r->ret->missing, one);
    json_object_set_new(r->seen, function, json_true());
}

/* Of "/usr/bin/ld: k.cu:7: " what names the place. */
static struct slice linker_place(struct slice place) {
    static const char linker[] = "ld: ";
    const char *behind = memmem(place.at, place.len, linker, strlen(linker));
    place =
        behind ? slice_after(place, (size_t)(behind - place.at) + strlen(linker)) : place;
    place.len -= place.len >= 2 ? 2 : place.len; /* ": " */
    return place;
}

/* "…: k.cu:7: undefined reference to `cudaX'" */
static bool read_undefined(struct reading *r, struct slice line) {
    const char *at = memmem(line.at, line.len, UNDEFINED, strlen(UNDEFINED));
    if (!at) {
        return false;
    }
    const char *name = at + strlen(UNDEFINED);
    const char *end = memchr(name, '\'', (size_t)(line.at + line.len - name));
    struct slice function = {name, (size_t)((end ? end : line.at + line.len) - name)};
    struct slice place = {line.at, (size_t)(at - line.at)};
    struct slice message = {at, (size_t)(line.at + line.len - at)};
    json_t *finding =
        finding_at(r, "ld", "undefined", FINDING_ERROR, message, linker_place(place));
    if (is_of_cuda(function)) {
        add_missing(r, function, finding);
        json_decref(finding);
    } else {
        r->ret->errors++;
        json_array_append_new(r->ret->findings, finding);
    }
    return true;
}

/* "b.cu:1: multiple definition of `f'; OBJECT:a.cu:2: first defined here" */
static bool read_multiple(struct reading *r, struct slice line) {
    const char *at = memmem(line.at, line.len, MULTIPLE, strlen(MULTIPLE));
    const char *end = line.at + line.len;
    const char *first = at ? memchr(at, ';', (size_t)(end - at)) : NULL;
    const char *first_end =
        first ? memmem(first, (size_t)(end - first), ": first", strlen(": first")) : NULL;
    if (!at) {
        return false;
    }
    struct slice message = {at, (size_t)((first ? first : end) - at)};
    json_t *finding = finding_at(r, "ld", "host", FINDING_ERROR, message,
                                 linker_place((struct slice){line.at, (size_t)(at - line.at)}));
    struct finding_span span = {0};
    struct slice other = {first ? first + 2 : end, 0};
    other.len = first_end ? (size_t)(first_end - other.at) : 0;
    const char *object = memmem(other.at, other.len, ".o:", 3);
    other = object ? slice_after(other, (size_t)(object - other.at) + 3) : other;
    size_t len = place_read(other, &span);
    autofree char *path = xstrndup(other.at, len);
    if (len && program_source(path, r->sources)) {
        autofree char *name = program_file_name(path, r->sources);
        finding_add_related(finding, "first defined here", name, span.line, 0);
    }
    r->ret->errors++;
    json_array_append_new(r->ret->findings, finding);
    return true;
}

/* "k.cu:3:5: error: …" of the host's compiler, "collect2: error: …" of the linker. */
static void read_host(struct reading *r, struct slice line) {
    static const struct {
        const char *mark;
        enum finding_severity severity;
    } kinds[] = {{": fatal error: ", FINDING_ERROR},
                 {": error: ", FINDING_ERROR},
                 {": Error: ", FINDING_ERROR}, /* the assembler's */
                 {": warning: ", FINDING_WARNING},
                 {"/ld: cannot find ", FINDING_ERROR}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const char *at = memmem(line.at, line.len, kinds[i].mark, strlen(kinds[i].mark));
        if (!at) {
            continue;
        }
        bool words = kinds[i].mark[0] != ':'; /* of the message itself */
        const char *text = at + (words ? (*at == '/') : strlen(kinds[i].mark));
        struct slice place = {line.at, (size_t)(at - line.at)};
        struct slice message = {text, (size_t)(line.at + line.len - text)};
        bool front_end = place.len && place.at[place.len - 1] == ')';
        if (front_end || slice_starts(line, "collect2: ")) {
            return; /* read elsewhere; the linker has said why */
        }
        r->ret->errors += kinds[i].severity == FINDING_ERROR;
        json_array_append_new(r->ret->findings,
                              finding_at(r, words ? "ld" : "gcc", "host",
                                         kinds[i].severity, message, place));
        return;
    }
}

/* The text after "error   : " and the like: the rest names temporary files. */
static struct slice tool_message(struct slice line) {
    static const char *const kinds[] = {"error", "fatal"};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const char *at = memmem(line.at, line.len, kinds[i], strlen(kinds[i]));
        const char *colon =
            at ? memchr(at, ':', (size_t)(line.at + line.len - at)) : NULL;
        if (colon) {
            return slice_trim(slice_after(line, (size_t)(colon - line.at) + 1));
        }
    }
    return line;
}

/* "nvcc fatal   : …", "ptxas x.ptx, line 23; error   : …", "sh: 1: gcc: not found" */
static void read_tool(struct reading *r, struct slice line) {
    static const char *const tools[] = {"nvcc ", "ptxas ",    "nvlink ", "fatbinary ",
                                        "sh: ",  "cudafe++ ", "cicc "};
    bool is_error = slice_has(line, "error") || slice_has(line, "fatal") ||
                    slice_has(line, "not found");
    for (size_t i = 0; is_error && i < ARRAY_LEN(tools); i++) {
        if (slice_starts(line, tools[i])) {
            autofree char *source = xstrndup(tools[i], strcspn(tools[i], " :"));
            r->ret->errors++;
            json_array_append_new(r->ret->findings,
                                  finding_at(r, source, "tool", FINDING_ERROR,
                                             tool_message(line),
                                             (struct slice){line.at, 0}));
            return;
        }
    }
}

static void read_lines(struct reading *r, const char *log, size_t len) {
    const char *end = log + len;
    struct slice last = {0}, error = {0};
    for (const char *at = log; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        struct slice line = {at, (size_t)(stop - at)};
        last = slice_trim(line).len ? slice_trim(line) : last;
        error = slice_has(line, "error") ? line : error;
        if (!read_undefined(r, line) && !read_multiple(r, line)) {
            read_host(r, line);
            read_tool(r, line);
        }
        at = stop + 1;
    }
    last = error.len ? slice_trim(error) : last; /* gcc ends with where to report it */
    autobuf text = BUF_INIT(MAX_MESSAGE);
    if (last.len && text_clean(&text, last.at, last.len) == 0) {
        r->ret->last = buf_detach(&text);
    }
}

/* 'identifier "cublasSgemm" is undefined': of a library whose headers say less here. */
static bool read_unknown(struct reading *r, const json_t *finding) {
    static const char *const libraries[] = {"cublas", "cufft",    "curand", "cusolver",
                                            "cudnn",  "cusparse", "nvrtc",  "nccl"};
    static const char begins[] = "identifier \"";
    const char *message = json_get_string(finding, "message", "");
    const char *name = strstr(message, begins);
    name = name ? name + strlen(begins) : "";
    size_t len = strcspn(name, "\"");
    bool theirs = any_of(i, 0, ARRAY_LEN(libraries),
                         !strncasecmp(name, libraries[i], strlen(libraries[i])));
    if (theirs && len) {
        add_missing(r, (struct slice){name, len}, finding);
    }
    return theirs && len;
}

/* The front end's, which are NVRTC's as well. */
static void read_front_end(struct reading *r, const char *log, size_t len,
                           const char *nvcc) {
    int folder = (int)(path_basename(nvcc) - nvcc);
    autofree char *beside = xasprintf("%.*s../include", folder, nvcc);
    autofree char *elsewhere = xasprintf("%.*s../targets", folder, nvcc);
    autofree char *include = path_normalize(beside), *targets = path_normalize(elsewhere);
    const char *const cuda[] = {include, targets, NULL};
    struct compiler_log front;
    compiler_log_read(&front, log, len, r->sources, cuda, NULL);
    json_each(front.findings, i, finding) {
        if (json_says(finding, "source", "nvrtc")) {
            json_object_set_new(finding, "source", json_string("nvcc"));
            if (read_unknown(r, finding)) {
                continue;
            }
            r->ret->errors += json_says(finding, "severity", "error");
            json_array_append(r->ret->findings, finding);
        }
    }
    compiler_log_finish(&front);
}

void program_log_read(struct program_log *ret, const char *log, size_t len,
                      const struct source_set *sources, const char *nvcc) {
    *ret = (struct program_log){.findings = json_array(), .missing = json_array()};
    autojson *seen = json_object();
    struct reading r = {.sources = sources, .ret = ret, .seen = seen};
    read_front_end(&r, log, len, nvcc);
    read_lines(&r, log, len);
    (void)findings_tidy(ret->findings, COMPILER_LOG_MAX_FINDINGS);
}

void program_log_finish(struct program_log *l) {
    json_decref(l->findings);
    json_decref(l->missing);
    free(l->last);
}
