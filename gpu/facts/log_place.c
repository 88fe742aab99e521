#include "gpu/facts/log_place.h"

#include "base/file.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/facts/ptx_lines.h"
#include "gpu/source/cuda_lexer.h"

/* The compiler ends lines at "\n" only; clients also at a lone "\r". */
struct line_table {
    size_t *starts;
    int *clients; /* the client's 0-based line at each start */
    size_t count;
};

#define MAX_INLINE_STEPS 64
/* Headers whose #include is looked for: each may cost a pass over all sources. */
#define MAX_INCLUDES 32

struct log_include {
    char *header;
    const struct source_file *file; /* NULL: no file includes it itself */
    int line;
};

static void table_init(struct line_table *t, const char *text, size_t len) {
    size_t room = 1;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + len - at)));
         at++) {
        room++;
    }
    t->starts = xreallocarray(NULL, room, sizeof *t->starts);
    t->clients = xreallocarray(NULL, room, sizeof *t->clients);
    t->starts[0] = 0;
    t->clients[0] = 0;
    t->count = 1;
    int client = 0;
    for (size_t i = 0; i < len && t->count < room; i++) {
        if (text[i] == '\n') {
            t->starts[t->count] = i + 1;
            t->clients[t->count++] = ++client;
        } else if (text[i] == '\r' && text[i + 1] != '\n') {
            client++;
        }
    }
}

static const struct line_table *table_of(struct log_scope *s,
                                         const struct source_file *file) {
    struct line_table *table = &s->tables[file - s->sources->files];
    if (table->count == 0) {
        table_init(table, file->text, file->len);
    }
    return table;
}

void log_scope_init(struct log_scope *s, const struct source_set *sources,
                    const char *const *cuda_dirs, const struct ptx_lines *ptx) {
    *s = (struct log_scope){
        .sources = sources,
        .cuda_dirs = cuda_dirs,
        .ptx = ptx,
        .tables = xcalloc(sources->count + 1, sizeof *s->tables),
    };
}

void log_scope_finish(struct log_scope *s) {
    for (size_t i = 0; i < s->sources->count; i++) {
        free(s->tables[i].starts);
        free(s->tables[i].clients);
    }
    for (size_t i = 0; i < s->include_count; i++) {
        free(s->includes[i].header);
    }
    free(s->includes);
    free(s->tables);
    kernel_index_free(s->kernels);
    *s = (struct log_scope){0};
}

/* Without looking at any file system. False when it leaves its own beginning, names
 * nothing or is too long. */
static bool path_read(struct slice in, char ret[LOG_PATH_MAX]) {
    if (in.len >= 4 * LOG_PATH_MAX) {
        return false;
    }
    autofree char *text = xstrndup(in.at, in.len), *path = path_normalize(text);
    size_t len = strlen(path);
    if (path_leads_out(text + strspn(text, "/")) || len >= LOG_PATH_MAX ||
        strcmp(path, ".") == 0) {
        return false;
    }
    memcpy(ret, path, len + 1);
    return true;
}

static bool is_cuda(const struct log_scope *s, const char *path) {
    for (size_t i = 0; s->cuda_dirs && s->cuda_dirs[i]; i++) {
        if (path_is_beneath(path, s->cuda_dirs[i])) {
            return true;
        }
    }
    return false;
}

/* PTX names files absolutely, beneath a folder only the compiler's process knows. */
static bool ends_in(const char *path, const char *tail) {
    size_t len = strlen(path), tail_len = strlen(tail);
    return len > tail_len && path[len - tail_len - 1] == '/' &&
           memcmp(path + len - tail_len, tail, tail_len) == 0;
}

static const struct source_file *find_source(const struct log_scope *s,
                                             const char *path) {
    const struct source_file *found = NULL;
    if (path[0] != '/') {
        return source_set_find(s->sources, path);
    }
    for (size_t i = 0; i < s->sources->count; i++) {
        const struct source_file *file = &s->sources->files[i];
        if (ends_in(path, file->path) &&
            (!found || strlen(file->path) > strlen(found->path))) {
            found = file;
        }
    }
    return found;
}

static void place_in_job(struct log_scope *s, const struct source_file *file, int line,
                         struct log_place *ret) {
    const struct line_table *table = table_of(s, file);
    ret->origin = LOG_JOB;
    ret->file = file;
    if (line > 0 && (size_t)line <= table->count) {
        ret->compiler_line = line;
        ret->span.line = table->clients[line - 1] + 1;
    }
}

void log_place_resolve(struct log_scope *s, struct slice file, int line,
                       struct log_place *ret) {
    *ret = (struct log_place){.origin = LOG_FOREIGN};
    if (!path_read(file, ret->path)) {
        return;
    }
    if (is_cuda(s, ret->path)) {
        ret->origin = LOG_CUDA;
        ret->compiler_line = ret->span.line = line;
        return;
    }
    const struct source_file *source = find_source(s, ret->path);
    if (source) {
        place_in_job(s, source, line, ret);
    } else if (ret->path[0] != '/') {
        /* The compiler runs in the job's folder, which holds the job's files alone. */
        ret->origin = LOG_BUILT_IN;
        ret->compiler_line = ret->span.line = line;
    }
}

void log_place_end(struct log_scope *s, struct log_place *ret) {
    *ret = (struct log_place){0};
    if (s->sources->count == 0) {
        return;
    }
    const struct source_file *unit = &s->sources->files[0];
    const struct line_table *table = table_of(s, unit);
    size_t last = table->count;
    if (last > 1 && table->starts[last - 1] == unit->len) {
        last--;
    }
    place_in_job(s, unit, (int)last, ret);
}

void log_place_kernel(struct log_scope *s, const char *symbol, struct log_place *ret) {
    *ret = (struct log_place){0};
    if (!s->kernels) {
        s->kernels = kernel_index_new(s->sources);
    }
    autofree char *name = kernel_name_new(symbol);
    const struct kernel_spot *spot = kernel_index_find(s->kernels, symbol, name);
    if (spot) {
        ret->origin = LOG_JOB;
        ret->file = spot->file;
        ret->span = spot->span;
    }
}

static void place_ptx_step(struct log_scope *s, const struct ptx_line_place *at,
                           struct log_place *ret) {
    *ret = (struct log_place){0};
    if (at->file) {
        struct slice file = {at->file, strlen(at->file)};
        log_place_resolve(s, file, at->line, ret);
    }
    if (at->column > 0) {
        struct slice none = {"", 0};
        log_place_point(s, ret, none, (size_t)at->column - 1, none);
    }
}

void log_place_ptx(struct log_scope *s, int ptx_line, struct log_place *ret,
                   struct log_place *written) {
    *ret = *written = (struct log_place){0};
    if (!s->ptx) {
        return;
    }
    struct ptx_line_place at = ptx_lines_at(s->ptx, ptx_line);
    const char *function = at.function;
    place_ptx_step(s, &at, ret);
    if (ret->origin == LOG_CUDA) {
        *written = *ret;
    }
    for (int i = 0; ret->origin != LOG_JOB && i < MAX_INLINE_STEPS; i++) {
        if (!ptx_lines_caller(s->ptx, &at)) {
            break;
        }
        place_ptx_step(s, &at, ret);
    }
    if (ret->origin != LOG_JOB && function) {
        log_place_kernel(s, function, ret);
    }
}

static bool names_header(const struct log_scope *s, const char *header,
                         const char *target) {
    if (strcmp(header, target) == 0) {
        return true; /* in memory */
    }
    if (!ends_in(header, target)) {
        return false;
    }
    size_t dir = strlen(header) - strlen(target) - 1;
    for (size_t i = 0; s->cuda_dirs && s->cuda_dirs[i]; i++) {
        size_t len = strlen(s->cuda_dirs[i]);
        if (len == dir && memcmp(s->cuda_dirs[i], header, dir) == 0) {
            return true;
        }
    }
    return false;
}

static bool token_names_header(const struct log_scope *s, const struct cuda_lexer *l,
                               const struct cuda_token *token, const char *header) {
    struct cuda_directive directive;
    cuda_directive_read(l, token, &directive);
    bool names = directive.target && strncmp(directive.name, "include", 7) == 0 &&
                 names_header(s, header, directive.target);
    cuda_directive_finish(&directive);
    return names;
}

/* The line of the first directive of the file that includes the header; 0 = none. */
static int find_include(const struct log_scope *s, const struct source_file *file,
                        const char *header) {
    struct cuda_lexer lexer;
    struct cuda_token token;
    cuda_lexer_init(&lexer, file->text, file->len);
    while ((token = cuda_lexer_next(&lexer)).kind != CUDA_END) {
        if (token.kind != CUDA_DIRECTIVE ||
            !token_names_header(s, &lexer, &token, header)) {
            continue;
        }
        int line = 1;
        for (size_t i = 0; i < token.start; i++) {
            line += file->text[i] == '\n';
        }
        return line;
    }
    return 0;
}

static const struct log_include *look_up_include(struct log_scope *s,
                                                 const char *header) {
    for (size_t i = 0; i < s->include_count; i++) {
        if (strcmp(s->includes[i].header, header) == 0) {
            return &s->includes[i];
        }
    }
    if (s->include_count >= MAX_INCLUDES) {
        return NULL;
    }
    s->includes = xreallocarray(s->includes, s->include_count + 1, sizeof *s->includes);
    struct log_include *found = &s->includes[s->include_count++];
    *found = (struct log_include){.header = xstrdup(header)};
    for (size_t i = 0; i < s->sources->count && found->line == 0; i++) {
        found->file = &s->sources->files[i];
        found->line = find_include(s, found->file, header);
    }
    return found;
}

void log_place_include(struct log_scope *s, const struct log_place *header,
                       struct log_place *ret) {
    *ret = (struct log_place){0};
    const struct log_include *include = look_up_include(s, header->path);
    if (include && include->line > 0) {
        place_in_job(s, include->file, include->line, ret);
    }
}

/* The source's line without its ending. */
static struct slice line_text(const struct source_file *file,
                              const struct line_table *table, int line) {
    size_t start = table->starts[line - 1];
    size_t end = (size_t)line < table->count ? table->starts[line] - 1 : file->len;
    if (end > start && file->text[end - 1] == '\r') {
        end--;
    }
    return (struct slice){file->text + start, end - start};
}

static bool is_quotation(struct slice quoted, struct slice line) {
    if (quoted.len > 0 && quoted.at[quoted.len - 1] == '\r') {
        quoted.len--;
    }
    return quoted.len <= line.len && memcmp(quoted.at, line.at, quoted.len) == 0;
}

/* Columns after the client's last line start: a lone "\r" before them began a new line.
 */
static int client_column(struct slice line, size_t offset, int *ret_extra_lines) {
    size_t start = 0;
    for (size_t i = 0; i < offset && i < line.len; i++) {
        if (line.at[i] == '\r') {
            start = i + 1;
            ++*ret_extra_lines;
        }
    }
    return (int)(offset - start) + 1;
}

static size_t token_end(struct slice line, size_t offset) {
    return offset + cuda_token_end(line.at + offset, line.len - offset, 0);
}

void log_place_point(struct log_scope *s, struct log_place *place, struct slice quoted,
                     size_t offset, struct slice target) {
    if (place->origin == LOG_CUDA) {
        place->span.column = (int)(offset < (1 << 20) ? offset : 0) + 1;
        return;
    }
    if (place->origin != LOG_JOB || place->compiler_line == 0) {
        return;
    }
    struct slice line =
        line_text(place->file, table_of(s, place->file), place->compiler_line);
    if (!is_quotation(quoted, line) || offset > line.len) {
        return;
    }
    size_t end = token_end(line, offset);
    const char *word = offset >= line.len && target.len > 0
                           ? memmem(line.at, line.len, target.at, target.len)
                           : NULL;
    if (word) {
        offset = (size_t)(word - line.at);
        end = offset + target.len;
    }
    int extra = 0;
    place->span.column = client_column(line, offset, &extra);
    place->span.line += extra;
    if (end > offset && !memchr(line.at + offset, '\r', end - offset)) {
        place->span.end_line = place->span.line;
        place->span.end_column = place->span.column + (int)(end - offset);
    }
}

const char *log_place_file(const struct log_place *place) {
    switch (place->origin) {
    case LOG_JOB:
        return place->file->display;
    case LOG_CUDA:
        return place->path;
    default:
        return NULL;
    }
}
