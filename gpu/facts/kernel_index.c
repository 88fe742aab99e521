#include "gpu/facts/kernel_index.h"

#include "base/buf.h"
#include "base/lines.h"
#include "gpu/source/host_code.h"
#include "gpu/source/kernel_name.h"
#include "gpu/source/kernel_parameters.h"
#include "gpu/source/ptx_text.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

#define MAX_SYMBOL 4096
#define MAX_NAME 4096
#define MAX_SPOTS 4096 /* kernels beyond are told without a place */
#define UNNAMED "(anonymous namespace)::"

struct kernel_index {
    struct kernel_spot *spots;
    size_t count;
};

static void add_spot(struct kernel_index *index, const struct source_file *file,
                     const char *text, const struct kernel_place *place,
                     const struct lines *lines) {
    size_t list =
        place->signature_end > place->end ? place->signature_end - place->end : 0;
    index->spots = xreallocarray(index->spots, index->count + 1, sizeof *index->spots);
    index->spots[index->count++] = (struct kernel_spot){
        .name = xstrdup(place->name),
        .file = file,
        .span = finding_span_of(lines, place->offset, place->end),
        .parameters = kernel_parameter_names(text + place->end, list),
    };
}

/* An entry of PTX has its symbol's name; of its parameters only numbers are known. */
static void add_entry(struct kernel_index *index, const struct source_file *file,
                      const char *name, size_t len, const struct lines *lines) {
    size_t at = (size_t)(name - file->text);
    index->spots = xreallocarray(index->spots, index->count + 1, sizeof *index->spots);
    index->spots[index->count++] = (struct kernel_spot){
        .name = xstrndup(name, len),
        .file = file,
        .span = finding_span_of(lines, at, at + len),
    };
}

static void add_ptx(struct kernel_index *index, const struct source_file *file) {
    static const char word[] = ".entry", blanks[] = " \t\r\n";
    struct lines lines;
    lines_init(&lines, file->text, file->len);
    const char *at = file->text;
    while ((at = strstr(at, word)) && index->count < MAX_SPOTS) {
        at += strlen(word);
        const char *name = at + strspn(at, blanks);
        size_t len = strcspn(name, " \t\r\n(;{");
        if (name > at && len > 0) {
            add_entry(index, file, name, len, &lines);
        }
    }
    lines_finish(&lines);
}

static void add_file(struct kernel_index *index, const struct source_file *file) {
    const char *text = file->original ? file->original : file->text;
    if (ptx_text_is(text, file->len)) {
        add_ptx(index, file);
        return;
    }
    if (!strstr(text, "__global__")) {
        return;
    }
    struct host_code code = {0};
    struct lines lines;
    host_code_scan(text, file->len, &code);
    lines_init(&lines, text, file->len);
    for (size_t i = 0; i < code.kernel_count && index->count < MAX_SPOTS; i++) {
        add_spot(index, file, text, &code.kernels[i], &lines);
    }
    lines_finish(&lines);
    host_code_finish(&code);
}

struct kernel_index *kernel_index_new(const struct source_set *sources) {
    struct kernel_index *index = xcalloc(1, sizeof *index);
    for (size_t i = 0; i < sources->count; i++) {
        add_file(index, &sources->files[i]);
    }
    return index;
}

void kernel_index_free(struct kernel_index *index) {
    if (!index) {
        return;
    }
    for (size_t i = 0; i < index->count; i++) {
        free(index->spots[i].name);
        json_decref(index->spots[i].parameters);
    }
    free(index->spots);
    free(index);
}

static const struct kernel_spot *find_by_last(const struct kernel_index *index,
                                              const char *name) {
    const struct kernel_spot *found = NULL;
    for (size_t i = 0; i < index->count; i++) {
        const char *candidate = index->spots[i].name;
        if (!kernel_same_plain_name(candidate, name)) {
            continue;
        }
        if (found && strcmp(found->name, candidate) != 0) {
            return NULL;
        }
        found = found ? found : &index->spots[i];
    }
    return found;
}

const struct kernel_spot *kernel_index_find(const struct kernel_index *index,
                                            const char *symbol, const char *name) {
    for (size_t i = 0; i < index->count; i++) {
        if (strcmp(index->spots[i].name, symbol) == 0) {
            return &index->spots[i];
        }
    }
    size_t len = strcspn(name, "<");
    for (size_t i = 0; i < index->count; i++) {
        const struct kernel_spot *spot = &index->spots[i];
        if (strlen(spot->name) == len && memcmp(spot->name, name, len) == 0) {
            return spot;
        }
    }
    return find_by_last(index, name);
}

size_t kernel_index_order(const struct kernel_index *index,
                          const struct kernel_spot *spot) {
    return (size_t)(spot - index->spots);
}

struct demangling {
    struct buf text;
    jmp_buf too_long;
};

/* A short symbol can stand for a text of 2^100 bytes. The demangler cannot be asked to
 * stop; it keeps all it has on the stack, so that leaving it here loses nothing. */
static void take_text(const char *s, size_t len, void *data) {
    struct demangling *d = data;
    if (buf_add(&d->text, s, len) < 0) {
        longjmp(d->too_long, 1);
    }
}

/* Its own limit of recursion lets no symbol of over 1 KiB pass, and CUTLASS's have two or
 * three; MAX_SYMBOL bounds the depth. */
static bool demangle(const char *symbol, int how, struct demangling *d) {
    if (setjmp(d->too_long) != 0) {
        return false;
    }
    return cplus_demangle_v3_callback(symbol, DMGL_ANSI | DMGL_NO_RECURSE_LIMIT | how,
                                      take_text, d) != 0;
}

static void remove_unnamed(char *name) {
    char *at;
    while ((at = strstr(name, UNNAMED))) {
        char *rest = at + strlen(UNNAMED);
        memmove(at, rest, strlen(rest) + 1);
    }
}

/* "void ns::f<4>(float*)": where the name begins, and its length. */
static const char *function_name(const char *text, size_t len, size_t *ret_len) {
    const char *from = text, *end = text + len;
    for (int depth = 0; text < end && (depth || *text != '('); text++) {
        depth += (*text == '<') - (*text == '>');
        from = !depth && *text == ' ' ? text + 1 : from;
    }
    *ret_len = (size_t)(text - from);
    return from;
}

/* "k<&(void ns::f<4>(float*))>" as "k<&ns::f<4>>", as a source has it. */
static void shorten_functions(char *name) {
    for (char *at = name; (at = strstr(at, "&(")) != NULL; at++) {
        char *end = at + 1;
        for (int depth = 0; *end && (end == at + 1 || depth > 0); end++) {
            depth += (*end == '(') - (*end == ')');
        }
        if (end[-1] != ')') {
            return;
        }
        size_t len;
        const char *from = function_name(at + 2, (size_t)(end - 1 - (at + 2)), &len);
        memmove(at + 1, from, len);
        memmove(at + 1 + len, end, strlen(end) + 1);
    }
}

static char *demangled(const char *symbol, int how) {
    if (strncmp(symbol, "_Z", 2) != 0 || strnlen(symbol, MAX_SYMBOL) == MAX_SYMBOL) {
        return xstrdup(symbol);
    }
    struct demangling d = {.text = BUF_INIT(MAX_NAME)};
    bool known = demangle(symbol, how, &d);
    char *name = known && d.text.len > 0 ? xstrdup(d.text.data) : xstrdup(symbol);
    buf_finish(&d.text);
    remove_unnamed(name);
    shorten_functions(name);
    return name;
}

char *kernel_name_new(const char *symbol) {
    return demangled(symbol, 0);
}

char *kernel_signature_new(const char *symbol) {
    char *name = demangled(symbol, DMGL_PARAMS);
    size_t skip = strncmp(name, "void ", 5) ? 0 : 5;
    memmove(name, name + skip, strlen(name + skip) + 1);
    return name;
}
