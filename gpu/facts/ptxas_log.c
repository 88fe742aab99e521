/* What ptxas prints, line by line: figures of kernels, and messages as findings. */
#include "gpu/facts/log_reader.h"

#include "base/buf.h"

#include <ctype.h>

/* --- Figures of -v ---------------------------------------------------------------------
 */

static void set_figure(struct log_reader *r, const char *key, int value) {
    if (!r->entry) {
        return;
    }
    json_t *usage = json_object_get(r->ret->usage, r->entry);
    if (!usage) {
        usage = json_object();
        json_object_set_new(r->ret->usage, r->entry, usage);
    }
    json_object_set_new(usage, key, json_integer(value));
}

/* The text between the first pair of single quotes, or up to a blank. */
static struct slice first_name(struct slice s) {
    const char *quote = s.len > 0 ? memchr(s.at, '\'', s.len) : NULL;
    if (quote) {
        s = slice_after(s, (size_t)(quote - s.at) + 1);
        const char *close = s.len > 0 ? memchr(s.at, '\'', s.len) : NULL;
        return (struct slice){s.at, close ? (size_t)(close - s.at) : 0};
    }
    s = slice_trim(s);
    const char *blank = s.len > 0 ? memchr(s.at, ' ', s.len) : NULL;
    return (struct slice){s.at, blank ? (size_t)(blank - s.at) : s.len};
}

static void set_entry(struct log_reader *r, struct slice name) {
    free(r->entry);
    /* A symbol is ASCII; anything else would not be one of the cubin's. */
    for (size_t i = 0; i < name.len; i++) {
        if (!isgraph((unsigned char)name.at[i])) {
            name.len = 0;
        }
    }
    r->entry = name.len > 0 && name.len < 4096 ? xstrndup(name.at, name.len) : NULL;
}

/* "Used 40 registers, used 1 barriers, 528 bytes cumulative stack size, 1200 bytes smem"
 * and "528 bytes stack frame, 1232 bytes spill stores, 1304 bytes spill loads": a number,
 * then what it counts. */
static void read_figure(struct log_reader *r, struct slice part) {
    static const struct {
        const char *words, *key;
    } figures[] = {
        {" registers", "registers"},
        {" barriers", "barriers"},
        {" bytes smem", "static_shared_bytes"},
        {" bytes stack frame", "stack_bytes"},
        {" bytes spill stores", "spill_store_bytes"},
        {" bytes spill loads", "spill_load_bytes"},
    };
    int value;
    while (part.len > 0 && !isdigit((unsigned char)part.at[0])) {
        part = slice_after(part, 1);
    }
    struct slice words = slice_after(part, slice_number(part, &value));
    for (size_t i = 0; words.len < part.len && i < ARRAY_LEN(figures); i++) {
        if (slice_starts(words, figures[i].words)) {
            set_figure(r, figures[i].key, value);
        }
    }
}

static void read_figures(struct log_reader *r, struct slice line) {
    while (line.len > 0) {
        const char *comma = memchr(line.at, ',', line.len);
        size_t len = comma ? (size_t)(comma - line.at) : line.len;
        read_figure(r, (struct slice){line.at, len});
        line = slice_after(line, len + 1);
    }
}

static void read_usage(struct log_reader *r, struct slice text) {
    static const char compiling[] = "Compiling entry function ",
                      properties[] = "Function properties for ";
    if (slice_starts(text, compiling)) {
        set_entry(r, first_name(slice_after(text, strlen(compiling))));
        set_figure(r, "static_shared_bytes", 0);
    } else if (slice_starts(text, properties)) {
        set_entry(r, first_name(slice_after(text, strlen(properties))));
    } else if (slice_starts(text, "Used ") || slice_has(text, " bytes stack frame")) {
        read_figures(r, text);
    }
}

/* --- Messages --------------------------------------------------------------------------
 */

/* "(C7510) Potential Performance Loss: …": the number becomes the finding's code. */
static struct slice take_advice_code(struct slice text, char code[16]) {
    code[0] = '\0';
    const char *close = text.len > 0 ? memchr(text.at, ')', text.len) : NULL;
    size_t len = close ? (size_t)(close - text.at) : 0;
    if (!slice_starts(text, "(C") || len < 3 || len > 15) {
        return text;
    }
    memcpy(code, text.at + 1, len - 1);
    code[len - 1] = '\0';
    return slice_trim(slice_after(text, len + 1));
}

/* "… is injected in around line 58 by compiler …" */
static const char around[] = " in around line ";

static int around_line(struct slice text) {
    int line = 0;
    const char *at =
        text.len > 0 ? memmem(text.at, text.len, around, strlen(around)) : NULL;
    if (at) {
        slice_number(slice_after(text, (size_t)(at - text.at) + strlen(around)), &line);
    }
    return line;
}

/* The symbol in "Entry function 'k' uses …" or "… in function 'k'". */
static bool take_function(struct slice text, char **ret_symbol) {
    static const char word[] = "unction '";
    const char *at = text.len > 0 ? memmem(text.at, text.len, word, strlen(word)) : NULL;
    if (!at) {
        return false;
    }
    struct slice name = first_name(slice_after(text, (size_t)(at - text.at)));
    *ret_symbol = xstrndup(name.at, name.len);
    return name.len > 0;
}

/* The hexadecimal digits after "0x" at the start of s; 0 when it does not start so. */
static size_t hex_length(struct slice s) {
    size_t len = 2;
    if (!slice_starts(s, "0x")) {
        return 0;
    }
    while (len < s.len && len < 18 && isxdigit((unsigned char)s.at[len])) {
        len++;
    }
    return len > 2 ? len : 0;
}

/* The text as a person reads it: "(0x493e0 bytes, 0x38c00 max)" in decimal, and without
 * lines of the PTX, which nobody wrote. */
static char *plain_text(struct slice text) {
    autobuf out = BUF_INIT(2 * LOG_MESSAGE_MAX);
    while (text.len > 0 && !out.full) {
        bool word_start = out.len == 0 || !isalnum((unsigned char)out.data[out.len - 1]);
        size_t used = word_start ? hex_length(text) : 0;
        int line;
        if (used > 0) {
            autofree char *digits = xstrndup(text.at, used);
            buf_addf(&out, "%llu", strtoull(digits, NULL, 16));
        } else if (slice_starts(text, around)) {
            used = strlen(around);
            used += slice_number(slice_after(text, used), &line);
        } else {
            buf_addc(&out, text.at[0]);
            used = 1;
        }
        text = slice_after(text, used);
    }
    return xstrndup(out.data, out.len);
}

static void emit(struct log_reader *r, enum log_kind kind, const char *code,
                 struct slice text, int ptx_line) {
    struct log_place place = {0}, written = {0};
    autofree char *symbol = NULL;
    if (ptx_line > 0) {
        log_place_ptx(&r->scope, ptx_line, &place, &written);
    }
    if (place.origin != LOG_JOB && take_function(text, &symbol)) {
        log_place_kernel(&r->scope, symbol, &place);
    }
    autofree char *plain = plain_text(text);
    autofree char *message =
        log_text_new(&r->scope, (struct slice){plain, strlen(plain)});
    json_t *finding = log_reader_emit(r, "ptxas", code, kind, message, &place);
    const char *file = log_place_file(&written);
    if (finding && file) {
        finding_add_related(finding, "the instruction is in this header", file,
                            written.span.line, written.span.column);
    }
}

static void read_message(struct log_reader *r, enum log_kind kind, struct slice text,
                         int ptx_line) {
    char code[16];
    if (slice_starts(text, "Ptx assembly aborted")) {
        r->ptxas_aborted = true;
        return;
    }
    text = take_advice_code(text, code);
    if (ptx_line == 0) {
        ptx_line = around_line(text);
    }
    if (ptx_line > 1 && slice_starts(text, "Parsing error near '.loc'")) {
        ptx_line--; /* what it choked on stands before the directive it names */
    }
    emit(r, kind, code, text, ptx_line);
}

/* Of what it calls info, only advice that carries a number is worth passing on. */
static void read_info(struct log_reader *r, struct slice text, int ptx_line) {
    if (slice_starts(text, "(C")) {
        bool loss = slice_has(text, "Performance Loss");
        read_message(r, loss ? LOG_KIND_WARNING : LOG_KIND_REMARK, text, ptx_line);
    } else {
        read_usage(r, text);
    }
}

/* "error   : text": the words are padded to one width. */
static bool take_level(struct slice *s, const char *word) {
    if (!slice_starts(*s, word)) {
        return false;
    }
    struct slice rest = slice_trim(slice_after(*s, strlen(word)));
    if (!slice_starts(rest, ":")) {
        return false;
    }
    *s = slice_trim(slice_after(rest, 1));
    return true;
}

static void read_levelled(struct log_reader *r, struct slice s, int ptx_line) {
    if (take_level(&s, "info")) {
        read_info(r, s, ptx_line);
    } else if (take_level(&s, "warning")) {
        read_message(r, LOG_KIND_WARNING, s, ptx_line);
    } else if (take_level(&s, "error") || take_level(&s, "fatal")) {
        read_message(r, LOG_KIND_ERROR, s, ptx_line);
    } else {
        read_usage(r, s);
    }
}

/* "ptxas info    : …", "ptxas         .     528 bytes stack frame, …" and
 * "ptxas application ptx input, line 23; error   : …" */
void ptxas_log_line(struct log_reader *r, struct slice line) {
    static const char located[] = ", line ";
    struct slice rest = slice_trim(slice_after(line, strlen("ptxas ")));
    const char *at =
        rest.len > 0 ? memmem(rest.at, rest.len, located, strlen(located)) : NULL;
    int ptx_line = 0;
    if (at && !memchr(rest.at, ':', (size_t)(at - rest.at))) {
        struct slice number = slice_after(rest, (size_t)(at - rest.at) + strlen(located));
        struct slice after = slice_after(number, slice_number(number, &ptx_line));
        if (slice_starts(after, ";")) {
            read_levelled(r, slice_trim(slice_after(after, 1)), ptx_line);
            return;
        }
    }
    read_levelled(r, rest, 0);
}
