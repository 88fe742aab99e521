#include "gpu/draft/draft_arguments.h"

#include "base/find.h"
#include "gpu/host/kernel_launch.h"

enum { WANTED_MAX = 16 };
enum { STEPS_MAX = 16 }; /* from a function to its caller, from a name to its value */

/* "switch (number) {": the number, if a block's { is that; 0: it is not. */
static size_t switched(const struct code_tokens *t, size_t brace) {
    bool name = code_word(t, brace - 1) == WORD_PAREN_CLOSE &&
                code_word(t, brace - 2) == WORD_NAME &&
                code_word(t, brace - 3) == WORD_PAREN_OPEN;
    return name && code_token_is(t, brace - 4, "switch") ? brace - 2 : 0;
}

/* Whether token i is the number of "case 3:". */
static bool is_label(const struct code_tokens *t, size_t i) {
    return code_word(t, i) == WORD_NUMBER && code_word(t, i + 1) == WORD_COLON &&
           code_token_is(t, i - 1, "case");
}

/* The label of the innermost switch around token i of a function; 0: there is none.
 * *on: the name that is switched on. */
static size_t label_around(const struct code_tokens *t, const struct declaration *in,
                           size_t i, size_t *on) {
    size_t label = 0; /* the last one before, in the block that is looked at */
    bool other = false;
    for (int depth = 0; i-- > in->body;) {
        enum code_word word = code_word(t, i);
        depth += word == WORD_BRACE_CLOSE;
        if (word == WORD_BRACE_OPEN && depth > 0) {
            depth--;
        } else if (word == WORD_BRACE_OPEN) {
            *on = switched(t, i);
            if (*on) {
                return label;
            }
            label = 0;
            other = false;
        } else if (depth == 0 && !label && !other) {
            other = word == WORD_DEFAULT;
            label = is_label(t, i) ? i : 0;
        }
    }
    return 0;
}

/* What main calls the number of its arguments and their list: hashes of tokens. */
struct main_words {
    uint64_t count, list;
};

/* The last name of the parameter that begins at token i: "char **v", "char *v[]". */
static uint64_t parameter_name(const struct code_tokens *t, size_t i, size_t end,
                               size_t *ret_next) {
    uint64_t name = 0;
    for (; i < end && code_word(t, i) != WORD_COMMA; i++) {
        name = code_word(t, i) == WORD_NAME ? code_token_hash(t, i) : name;
    }
    *ret_next = i + 1;
    return name;
}

static struct main_words main_words(const struct host_program *p) {
    const struct code_tokens *t = &p->b.tokens;
    struct main_words ret = {0};
    list_each(k, d, p->b.declarations.list, p->b.declarations.count) {
        if (d->kind == DECLARATION_FUNCTION && d->params && d->name &&
            code_token_is(t, d->name, "main")) {
            size_t next;
            ret.count = parameter_name(t, d->params + 1, d->params_end, &next);
            ret.list = parameter_name(t, next, d->params_end, &next);
        }
    }
    return ret;
}

/* argc and argv, or what main calls them: a function that gets them may have other names.
 */
static bool is_count(const struct code_tokens *t, size_t i, struct main_words m) {
    return code_token_is(t, i, "argc") ||
           (m.count && code_word(t, i) == WORD_NAME && code_token_hash(t, i) == m.count);
}
static bool is_list(const struct code_tokens *t, size_t i, struct main_words m) {
    return code_token_is(t, i, "argv") ||
           (m.list && code_word(t, i) == WORD_NAME && code_token_hash(t, i) == m.list);
}

/* Whether the value that begins at token i is argv[1] as a number, whatever stands in for
 * it where it is missing. */
static bool is_argument(const struct code_tokens *t, size_t i, size_t end,
                        struct main_words m) {
    bool given = false, only = true;
    for (int depth = 0; i < end && only; i++) {
        enum code_word word = code_word(t, i);
        depth += code_word_nests(word);
        if (word == WORD_SEMICOLON || (word == WORD_COMMA && depth == 0)) {
            break;
        }
        given |= is_list(t, i, m) && code_token_is(t, i + 2, "1");
        only =
            word != WORD_NAME || is_count(t, i, m) || is_list(t, i, m) ||
            code_token_in(t, i, "atoi atol std stoi stol strtol NULL nullptr");
    }
    return given && only;
}

/* Whether the function that uses the name at `at` sets it to argv[1], perhaps only if
 * that is given. */
static bool is_read(const struct host_program *p, const struct place *at) {
    const struct code_tokens *t = &p->b.tokens;
    const struct declaration *in = at->frame ? at->frame->in : NULL;
    uint64_t name = code_token_hash(at->t, at->from);
    return in && any_of(i, in ? in->body : 0, in->body_end,
                        code_word(t, i) == WORD_NAME && code_token_hash(t, i) == name &&
                            code_word(t, i + 1) == WORD_ASSIGN &&
                            is_argument(t, i + 2, in->body_end, main_words(p)));
}

/* The same through the parameters of functions that get it. */
static bool is_given(struct host_program *p, struct place at) {
    struct place value;
    size_t variable;
    for (unsigned n = 0; n < STEPS_MAX; n++) {
        if (is_read(p, &at)) {
            return true;
        }
        if (host_look_up(p, &at, &value, &variable) != HOST_VALUE ||
            value.to != value.from + 1 || code_word(value.t, value.from) != WORD_NAME) {
            return false;
        }
        at = value;
    }
    return false;
}

/* For what stands at token i, and for the calls that lead there. */
static size_t label_of(struct host_program *p, size_t i) {
    const struct code_tokens *t = &p->b.tokens;
    const struct host_frame *f = host_frame_at(p, i);
    for (unsigned n = 0; n < STEPS_MAX && f && f->in; n++) {
        size_t on, label = label_around(t, f->in, i, &on);
        struct place name = {f, t, on, on + 1, on};
        if (label && is_given(p, name)) {
            return label;
        }
        i = f->called ? f->at.from : 0;
        f = f->called ? f->at.frame : NULL;
    }
    return 0;
}

/* The label of the case in which the kernel is launched; 0: none is known. */
static size_t launch_label(struct host_program *p, const struct declaration *kernel) {
    const struct code_tokens *t = &p->b.tokens;
    uint64_t name = code_token_hash(t, kernel->name);
    struct kernel_launch one;
    size_t label = 0;
    for (size_t i = 1; i < t->count && !label; i++) {
        label = kernel_launch_at(p, i, &one) && code_token_hash(t, one.name.from) == name
                    ? label_of(p, i)
                    : 0;
    }
    return label;
}

/* --- what the program ends without --- */

static unsigned number_at(const struct code_tokens *t, size_t i) {
    const char *s = t->text + t->list[i].start;
    size_t len = t->list[i].end - t->list[i].start;
    unsigned ret = 0;
    for (size_t k = 0; k < len && len < 4; k++) {
        ret = ret * 10 + (unsigned)(s[k] - '0');
    }
    return code_word(t, i) == WORD_NUMBER ? ret : 0;
}

/* Whether the statement at token i ends the function or the program. */
static bool gives_up(const struct code_tokens *t, size_t i) {
    bool block = code_word(t, i) == WORD_BRACE_OPEN;
    for (size_t end = block ? host_close(t, i) : t->count; i < end; i++) {
        if (code_token_in(t, i, "return exit abort usage Usage")) {
            return true;
        }
        if (!block && code_word(t, i) == WORD_SEMICOLON) {
            return false;
        }
    }
    return false;
}

/* The token behind the statement at token i, if it is an else; 0: it is not. */
static size_t behind_else(const struct code_tokens *t, size_t i) {
    bool block = code_word(t, i) == WORD_BRACE_OPEN;
    size_t end = block ? host_close(t, i) : i;
    while (!block && end < t->count && code_word(t, end) != WORD_SEMICOLON) {
        end++;
    }
    return code_token_is(t, end + 1, "else") ? end + 2 : 0;
}

/* "if (argc != 3) { ... return 1; }" wants two, as "if (argc == 3) ...; else exit(1);".
 */
static unsigned wanted_at(const struct code_tokens *t, size_t i, struct main_words m) {
    bool check = code_token_is(t, i, "if") && is_count(t, i + 2, m) &&
                 code_token_in(t, i + 3, "!= < <= ==") &&
                 code_word(t, i + 5) == WORD_PAREN_CLOSE;
    size_t other = check && code_token_is(t, i + 3, "==") ? behind_else(t, i + 6) : i + 6;
    unsigned number = check && other && gives_up(t, other) ? number_at(t, i + 4) : 0;
    number += number && code_token_is(t, i + 3, "<=");
    return number > 1 && number <= WANTED_MAX ? number - 1 : 0;
}

/* Whether argument n is read as a number. */
static bool is_number(const struct code_tokens *t, unsigned n, struct main_words m) {
    return any_of(
        i, 1, t->count,
        is_list(t, i, m) && number_at(t, i + 2) == n &&
            code_token_in(t, i - 2,
                          "atoi atol atoll atof stoi stol stoll stof stod strtol "
                          "strtoul strtof strtod"));
}

static unsigned wanted_numbers(const struct host_program *p) {
    const struct code_tokens *t = &p->b.tokens;
    struct main_words m = main_words(p);
    unsigned wanted = 0;
    for (size_t i = 1; i < t->count && !wanted; i++) {
        wanted = wanted_at(t, i, m);
    }
    for (unsigned n = 1; n <= wanted; n++) {
        if (!is_number(t, n, m)) {
            return 0;
        }
    }
    return wanted;
}

unsigned draft_argument_numbers(const struct host_program *p) {
    unsigned n = 0;
    struct main_words m = main_words(p);
    while (n < WANTED_MAX && is_number(&p->b.tokens, n + 1, m)) {
        n++;
    }
    return n;
}

/* 257, 129, 65 ... 5, 259, 131 ...: more than a whole number of warps or blocks. */
static json_t *example(unsigned n) {
    return json_sprintf("%u", (256u >> n % 7) + 1 + 2 * (n / 7));
}

json_t *draft_arguments(struct host_program *p, const struct declaration *kernel,
                        json_t **round) {
    const struct code_tokens *t = &p->b.tokens;
    json_t *ret = json_array();
    size_t label = launch_label(p, kernel);
    unsigned wanted = wanted_numbers(p);
    if (label) {
        const struct code_token *number = &t->list[label];
        json_array_append_new(
            ret, json_stringn(t->text + number->start, number->end - number->start));
    }
    *round = json_array_size(ret) < wanted ? json_copy(ret) : NULL;
    for (unsigned n = 0; json_array_size(ret) < wanted; n++) {
        json_array_append_new(ret, example(n));
        json_array_append_new(*round, json_string(DRAFT_ARGUMENT_ROUND));
    }
    return ret;
}
