#include "gpu/check/guess_attempts.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/lines.h"
#include "gpu/source/cuda_lexer.h"
#include "protocol/finding.h"

#define MAX_NAMED 4      /* instantiations that the note names */
#define IN_GUESS_BYTES 4 /* compared: one of them may be the same by chance */

/* --- the attempts --- */

static bool is_same(const json_t *a, const json_t *b) {
    static const char *const members[] = {"file", "line", "column", "message"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const json_t *x = json_object_get(a, members[i]),
                     *y = json_object_get(b, members[i]);
        if (x != y && !json_equal(x, y)) {
            return false;
        }
    }
    return true;
}

static bool is_among(const json_t *finding, const json_t *list) {
    return json_any(list, other, is_same(finding, other));
}

bool guess_may_cause(const json_t *finding) {
    return json_any(
               json_object_get(finding, "related"), related,
               strstr(json_get_string(related, "message", ""), "instantiation of")) ||
           strstr(json_get_string(finding, "message", ""), "static assertion failed");
}

/* Whether its place is in text that a guess wrote rather than in the source. */
static bool is_in_guess(const struct source_set *sources, const json_t *finding) {
    const char *name = json_get_string(finding, "file", "");
    size_t line = (size_t)json_get_integer(finding, "line", 0);
    size_t column = (size_t)json_get_integer(finding, "column", 0);
    bool ret = false;
    for (size_t i = 0; i < sources->count && line && column && !ret; i++) {
        const struct source_file *f = &sources->files[i];
        struct lines lines;
        if (f->original && strcmp(f->display, name) == 0) {
            lines_init(&lines, f->text, f->len);
            size_t at =
                line <= lines.count ? lines.starts[line - 1] + column - 1 : f->len;
            ret = at + IN_GUESS_BYTES <= f->len &&
                  memcmp(f->text + at, f->original + at, IN_GUESS_BYTES) != 0;
            lines_finish(&lines);
        }
    }
    return ret;
}

/* The first attempt's errors. */
static void note_errors(struct guess_attempts *a, const struct source_set *sources,
                        const json_t *findings) {
    a->common = json_array();
    json_each(findings, i, finding) {
        if (!json_says(finding, "severity", "error")) {
            continue;
        }
        a->error = a->error ? a->error : json_deep_copy(finding);
        if (!is_in_guess(sources, finding) && !guess_may_cause(finding)) {
            json_array_append_new(a->common, json_deep_copy(finding));
        }
    }
    a->error = a->error ? a->error : json_object();
}

static void keep_common(struct guess_attempts *a, const json_t *findings) {
    for (size_t i = json_array_size(a->common); i-- > 0;) {
        if (!is_among(json_array_get(a->common, i), findings)) {
            json_array_remove(a->common, i);
        }
    }
}

/* The next choice that can be written; at last none, unless the errors are the source's
 * own. */
static bool go_on(struct guess_attempts *a, struct check_input *input) {
    struct source_set *sources = &input->closure.sources;
    unsigned last = a->choice;
    while (++a->choice < host_guesses_choices(&input->guesses)) {
        if (host_guesses_write(&input->guesses, sources, a->choice)) {
            return true;
        }
    }
    bool own = last > 0 && json_array_size(a->common);
    a->choice = own ? last : HOST_GUESSES_NONE;
    return !own && host_guesses_write(&input->guesses, sources, a->choice);
}

bool guess_attempts_next(struct guess_attempts *a, struct check_input *input,
                         const json_t *answer) {
    if (json_says(answer, "outcome", "timeout") && input->closure.sources.appended) {
        a->shortened = true;
        source_set_shorten(&input->closure.sources);
        return true;
    }
    const json_t *findings = json_object_get(answer, "diagnostics");
    if (!input->guesses.count || !json_says(answer, "outcome", "rejected") ||
        a->choice == HOST_GUESSES_NONE) {
        return false;
    }
    if (a->choice == 0) {
        note_errors(a, &input->closure.sources, findings);
    } else {
        keep_common(a, findings);
    }
    return go_on(a, input);
}

json_t *guess_attempts_settle(const struct guess_attempts *a, struct check_input *input,
                              const json_t *last) {
    if (a->shortened) {
        source_set_shorten(&input->closure.sources);
    }
    host_guesses_write(&input->guesses, &input->closure.sources, a->choice);
    if (!a->error || a->choice == HOST_GUESSES_NONE ||
        !json_says(last, "outcome", "rejected")) {
        return NULL;
    }
    json_t *ret = json_deep_copy(last);
    json_t *findings = json_object_get(ret, "diagnostics");
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        if (json_says(finding, "severity", "error") && !is_among(finding, a->common)) {
            json_array_remove(findings, i);
        }
    }
    return ret;
}

void guess_attempts_finish(struct guess_attempts *a) {
    json_decref(a->error);
    json_decref(a->common);
    *a = (struct guess_attempts){0};
}

/* --- notes about guesses --- */

/* "k<float>, ns::j<float, 4>" */
static void add_names(struct buf *out, const struct host_guesses *g, unsigned choice) {
    for (size_t i = 0; i < g->count && i < MAX_NAMED; i++) {
        autofree char *name = host_guess_text(g, g->list[i].expression, choice);
        buf_addf(out, "%s%s", i ? ", " : "", name ? name : "");
    }
    if (g->count > MAX_NAMED) {
        buf_addf(out, " and %zu more", g->count - MAX_NAMED);
    }
}

static void add_types(struct buf *out, const struct host_guesses *g) {
    static const char *const holes[] = {GUESS_FLOATING, GUESS_INTEGRAL};
    for (size_t h = 0; h < ARRAY_LEN(holes); h++) {
        bool used =
            any_of(i, 0, g->count, strchr(g->list[i].expression, holes[h][0]) != NULL);
        for (unsigned k = 0; used && k < host_guesses_choices(g); k++) {
            autofree char *type = host_guess_text(g, holes[h], k);
            if (type && !memmem(out->data, out->len, type, strlen(type))) {
                buf_addf(out, "%s%s", out->len ? ", " : "", type);
            }
        }
    }
}

static void add_advice(struct buf *out, const struct host_guess *guess) {
    size_t name = strcspn(guess->expression, "<");
    buf_addf(out,
             "To say which types are meant, add an explicit instantiation: `template "
             "__global__ void %.*s<TYPE>(…);` with the kernel's parameters",
             (int)name, guess->expression);
}

static void add_outcome(struct buf *out, const struct guess_attempts *a,
                        const struct host_guesses *g) {
    if (a->choice != HOST_GUESSES_NONE) {
        add_names(out, g, a->choice);
        buf_adds(out, " compiled instead. ");
        return;
    }
    autobuf types = BUF_INIT(256);
    add_types(&types, g);
    buf_adds(out, "Not all compile with any of ");
    buf_add(out, types.data, types.len);
    buf_adds(out, ", so they are left out; the error may be the kernel's own. ");
}

static struct finding_span span_of(const struct host_guess *guess,
                                   const struct source_file *file) {
    const char *text = file->original ? file->original : file->text;
    return finding_span_in(text, file->len, guess->offset,
                           cuda_token_end(text, file->len, guess->offset));
}

static json_t *shortened_note(const struct check_input *input) {
    const struct finding_span nowhere = {0};
    return finding_new(
        "upskilld", "instantiations_left_out", FINDING_INFO,
        "The compiler ran out of time with the header kernels that this file's host code "
        "instantiates, so these are left out here. To check them, raise compile_timeout_s "
        "in the daemon's configuration, or put one explicit instantiation into its own "
        "file.",
        input->closure.sources.files[0].display, &nowhere);
}

json_t *guess_attempts_note(const struct guess_attempts *a,
                            const struct check_input *input, const json_t *last) {
    const struct host_guesses *g = &input->guesses;
    if (a->shortened && !a->error && json_says(last, "outcome", "compiled")) {
        return shortened_note(input);
    }
    if (!a->error || !json_says(last, "outcome", "compiled")) {
        return NULL;
    }
    const struct source_file *file = &input->closure.sources.files[g->list[0].file];
    const struct finding_span span = span_of(&g->list[0], file);
    autobuf words = BUF_INIT(8192);
    add_names(&words, g, 0);
    buf_addf(&words,
             ": these types are a guess, because nothing shows which ones the macros "
             "around the launch mean, and it does not compile with them: %.300s. ",
             json_get_string(a->error, "message", "the compiler gave no reason"));
    add_outcome(&words, a, g);
    add_advice(&words, &g->list[0]);
    autofree char *message = buf_detach(&words);
    /* When nothing compiles, the kernel itself may be wrong. */
    json_t *note =
        finding_new("upskilld", "guessed_instantiation",
                    a->choice == HOST_GUESSES_NONE ? FINDING_WARNING : FINDING_INFO,
                    message, file->display, &span);
    if (json_get_integer(a->error, "line", 0) > 0) {
        finding_add_related(note, json_get_string(a->error, "message", ""),
                            json_get_string(a->error, "file", ""),
                            (int)json_get_integer(a->error, "line", 0),
                            (int)json_get_integer(a->error, "column", 0));
    }
    return note;
}
