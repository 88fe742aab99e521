#include "gpu/facts/ptx_lines.h"

#include "gpu/facts/slice.h"

#include <ctype.h>

/* PTX of one source has some thousand lines; these bound what a hostile one costs. */
#define MAX_LOCS (1u << 20)
#define MAX_FILES 4096
#define MAX_FUNCTIONS (1u << 16)

struct position {
    int file, line, column;
};

struct loc {
    int ptx_line;
    struct position at;
    struct position inlined_at; /* file 0 = not inlined */
    size_t function;            /* index + 1, 0 = outside */
};

struct function {
    char *symbol;
    int begin, end; /* PTX lines; end 0 = to the end of the text */
};

struct ptx_lines {
    struct loc *locs;
    size_t loc_count, loc_room;
    char **files; /* by .file number */
    size_t file_count;
    struct function *functions;
    size_t function_count, function_room;
    int before; /* lines in front of a file's own: files[0]; 0: there is none */
};

static bool take_word(struct slice *s, const char *word) {
    struct slice rest = slice_trim(*s);
    bool is = slice_starts(rest, word);
    *s = is ? slice_after(rest, strlen(word)) : *s;
    return is;
}

static bool take_number(struct slice *s, int *ret) {
    struct slice rest = slice_trim(*s);
    size_t digits = slice_number(rest, ret);
    *s = slice_after(rest, digits);
    return digits > 0;
}

static bool take_position(struct slice *c, struct position *ret) {
    return take_number(c, &ret->file) && take_number(c, &ret->line) &&
           take_number(c, &ret->column);
}

/* Behind the first such character; false: there is none. ret: what stands before it. */
static bool take_until(struct slice *s, char c, struct slice *ret) {
    const char *at = s->len ? memchr(s->at, c, s->len) : NULL;
    *ret = (struct slice){s->at, at ? (size_t)(at - s->at) : 0};
    *s = at ? slice_after(*s, ret->len + 1) : *s;
    return at;
}

/* ".loc 1 3 5, function_name $L__info_string0, inlined_at 1 7 5" */
static void read_loc(struct ptx_lines *p, struct slice c, int ptx_line) {
    struct loc loc = {.ptx_line = ptx_line, .function = p->function_count};
    if (p->loc_count >= MAX_LOCS || !take_position(&c, &loc.at)) {
        return;
    }
    static const char inlined[] = "inlined_at";
    const char *at = c.len ? memmem(c.at, c.len, inlined, strlen(inlined)) : NULL;
    c = slice_after(c, at ? (size_t)(at - c.at) + strlen(inlined) : 0);
    if (at && !take_position(&c, &loc.inlined_at)) {
        loc.inlined_at = (struct position){0};
    }
    list_room(p->locs, p->loc_count, p->loc_room, 256);
    p->locs[p->loc_count++] = loc;
}

/* `.file 1 "k.cu"`, later versions with a time stamp and size behind it. */
static void read_file(struct ptx_lines *p, struct slice c) {
    int number;
    struct slice name;
    if (!take_number(&c, &number) || number >= MAX_FILES || !take_word(&c, "\"") ||
        !take_until(&c, '"', &name)) {
        return;
    }
    if ((size_t)number >= p->file_count) {
        p->files = xreallocarray(p->files, (size_t)number + 1, sizeof *p->files);
        memset(p->files + p->file_count, 0,
               ((size_t)number + 1 - p->file_count) * sizeof *p->files);
        p->file_count = (size_t)number + 1;
    }
    free(p->files[number]);
    p->files[number] = xstrndup(name.at, name.len);
}

static bool is_symbol_byte(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* After ".entry", or after ".func" and its optional "(.param .b32 func_retval0)". */
static void read_function(struct ptx_lines *p, struct slice c, int ptx_line) {
    struct slice result;
    size_t len = 0;
    c = slice_trim(c);
    if (slice_starts(c, "(")) {
        take_until(&c, ')', &result);
        c = slice_trim(c);
    }
    while (len < c.len && is_symbol_byte(c.at[len])) {
        len++;
    }
    if (!len || p->function_count >= MAX_FUNCTIONS) {
        return;
    }
    list_room(p->functions, p->function_count, p->function_room, 64);
    p->functions[p->function_count++] =
        (struct function){xstrndup(c.at, len), ptx_line, 0};
}

/* A body's own brace stands at the margin, but inline assembly may put more there: the
 * last one before the next function counts. */
static void end_function(struct ptx_lines *p, int ptx_line) {
    if (p->function_count > 0) {
        p->functions[p->function_count - 1].end = ptx_line;
    }
}

static bool take_linkage(struct slice *c) {
    return take_word(c, ".visible") || take_word(c, ".weak") || take_word(c, ".extern") ||
           take_word(c, ".common");
}

static void read_line(struct ptx_lines *p, struct slice c, int ptx_line) {
    if (slice_starts(c, "}")) {
        end_function(p, ptx_line);
        return;
    }
    while (take_linkage(&c)) {}
    if (take_word(&c, ".loc")) {
        read_loc(p, c, ptx_line);
    } else if (take_word(&c, ".file")) {
        read_file(p, c);
    } else if (take_word(&c, ".entry") || take_word(&c, ".func")) {
        read_function(p, c, ptx_line);
    }
}

struct ptx_lines *ptx_lines_new(const char *ptx, size_t len) {
    struct ptx_lines *p = xcalloc(1, sizeof *p);
    const char *end = ptx + len;
    int number = 1;
    for (const char *at = ptx; at < end && number < (1 << 28); number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        read_line(p, (struct slice){at, (size_t)((newline ? newline : end) - at)},
                  number);
        at = newline ? newline + 1 : end;
    }
    return p;
}

struct ptx_lines *ptx_lines_copied(const char *file, int before) {
    struct ptx_lines *p = xcalloc(1, sizeof *p);
    p->files = xcalloc(1, sizeof *p->files);
    p->files[0] = xstrdup(file);
    p->file_count = 1;
    p->before = before;
    return p;
}

void ptx_lines_free(struct ptx_lines *p) {
    if (!p) {
        return;
    }
    for (size_t i = 0; i < p->file_count; i++) {
        free(p->files[i]);
    }
    for (size_t i = 0; i < p->function_count; i++) {
        free(p->functions[i].symbol);
    }
    free(p->files);
    free(p->functions);
    free(p->locs);
    free(p);
}

static const char *file_name(const struct ptx_lines *p, int number) {
    return number >= 0 && (size_t)number < p->file_count ? p->files[number] : NULL;
}

/* How many locs stand at or before the line. */
static size_t locs_until(const struct ptx_lines *p, int line) {
    size_t low = 0, high = p->loc_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->locs[middle].ptx_line <= line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Index + 1 of the function whose text holds the line; 0 = none. */
static size_t function_at(const struct ptx_lines *p, int line) {
    size_t low = 0, high = p->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->functions[middle].begin <= line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && p->functions[low - 1].end != 0 && p->functions[low - 1].end < line
               ? 0
               : low;
}

static void place_at(const struct ptx_lines *p, struct position at,
                     struct ptx_line_place *ret) {
    ret->file = file_name(p, at.file);
    ret->line = at.line;
    ret->column = at.column;
}

struct ptx_line_place ptx_lines_at(const struct ptx_lines *p, int line) {
    struct ptx_line_place place = {0};
    if (p->before) {
        bool inside = line > p->before;
        return (struct ptx_line_place){.file = inside ? p->files[0] : NULL,
                                       .line = inside ? line - p->before : 0};
    }
    size_t function = function_at(p, line);
    if (function == 0) {
        return place;
    }
    place.function = p->functions[function - 1].symbol;
    size_t count = locs_until(p, line);
    if (count > 0 && p->locs[count - 1].function == function) {
        place_at(p, p->locs[count - 1].at, &place);
        place.caller = p->locs[count - 1].inlined_at.file != 0 ? count : 0;
    }
    return place;
}

static bool same_position(struct position a, struct position b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

/* inlined_at names a position; when that is inlined itself, an earlier .loc of the
 * function says where. */
bool ptx_lines_caller(const struct ptx_lines *p, struct ptx_line_place *place) {
    if (place->caller == 0 || place->caller > p->loc_count) {
        return false;
    }
    const struct loc *from = &p->locs[place->caller - 1];
    place_at(p, from->inlined_at, place);
    size_t i = place->caller - 1;
    place->caller = 0;
    for (; i > 0 && p->locs[i - 1].function == from->function; i--) {
        const struct loc *earlier = &p->locs[i - 1];
        if (same_position(earlier->at, from->inlined_at)) {
            place->caller = earlier->inlined_at.file != 0 ? i : 0;
            break;
        }
    }
    return true;
}
