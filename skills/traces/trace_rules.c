#include "skills/traces/trace_rules.h"

#include "base/buf.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_tool.h"

#include <ctype.h>

#define MAX_TAKEN 256 /* bytes of what a row takes */
#define MAX_WORDS 8

struct trace_rule {
    const char *group, *when, *taken;
};
#include "skills/trace_rules_table.h"

/* --- paths --- */

static const json_t *member(const json_t *value, const char *key, size_t len) {
    if (json_is_array(value)) {
        return isdigit((unsigned char)*key)
                   ? json_array_get(value, strtoul(key, NULL, 10))
                   : NULL;
    }
    return json_object_getn(value, key, len);
}

static const json_t *follow(const struct trace_node *node, const char *path, size_t len) {
    const struct trace_node *from = node;
    for (; len && *path == '^'; path++, len--) {
        from = from ? from->up : NULL;
    }
    const json_t *value = from ? from->value : NULL;
    for (size_t n; len && *path != '.'; path += n, len -= n) {
        const char *slash = memchr(path, '/', len);
        n = slash ? (size_t)(slash - path) : len;
        value =
            *path == '#' ? json_array_get(value, node->place) : member(value, path, n);
        n += slash != NULL;
    }
    return value;
}

/* len: of the paths, which are parted by ','. */
static const json_t *first_value(const struct trace_node *node, const char *paths,
                                 size_t len, bool text) {
    const json_t *value = NULL;
    while (len && (text ? !json_is_string(value) : !value)) {
        const char *comma = memchr(paths, ',', len);
        size_t n = comma ? (size_t)(comma - paths) : len;
        value = follow(node, paths, n);
        n += comma != NULL;
        paths += n;
        len -= n;
    }
    return value;
}

const json_t *trace_rules_get(const struct trace_node *node, const char *paths) {
    return first_value(node, paths, strlen(paths), false);
}

const char *trace_rules_text(const struct trace_node *node, const char *paths) {
    return *paths == '\''
               ? paths + 1
               : json_string_value(first_value(node, paths, strlen(paths), true));
}

/* --- conditions --- */

static bool fits(const char *text, char how, const char *wanted, size_t len) {
    size_t has = strlen(text);
    switch (how) {
    case '^':
        return strncmp(text, wanted, len) == 0;
    case '*':
        return has >= len && memcmp(text + has - len, wanted, len) == 0;
    case '~':
        return memmem(text, has, wanted, len) != NULL;
    default:
        return has == len && memcmp(text, wanted, len) == 0;
    }
}

static bool fits_any(const char *text, char how, const char *wanted, size_t len) {
    for (;;) {
        const char *comma = memchr(wanted, ',', len);
        size_t n = comma ? (size_t)(comma - wanted) : len;
        if (fits(text, how, wanted, n) || !comma) {
            return fits(text, how, wanted, n);
        }
        wanted += n + 1;
        len -= n + 1;
    }
}

static bool is_kind(const json_t *value, const char *kind) {
    return *kind == 'o'     ? json_is_object(value)
           : kind[1] == 'r' ? json_is_true(value)
                            : json_is_string(value);
}

static bool term_holds(const struct trace_node *node, const char *term, size_t len) {
    bool negated = *term == '!';
    term += negated;
    len -= negated;
    const char *colon = memchr(term, ':', len), *equals = memchr(term, '=', len);
    char how = equals && strchr("!^*~", equals[-1]) ? equals[-1] : 0;
    const char *sign = equals ? equals - (how != 0) : colon;
    const json_t *value =
        first_value(node, term, sign ? (size_t)(sign - term) : len, false);
    if (!sign) {
        return (value || *term == '*') != negated;
    }
    if (!equals) {
        return is_kind(value, colon + 1) != negated;
    }
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    size_t wanted = len - (size_t)(equals + 1 - term);
    return fits_any(text, how, equals + 1, wanted) != (negated != (how == '!'));
}

bool trace_rules_hold(const struct trace_node *node, const char *when) {
    for (size_t n; *when; when += n + (when[n] == ' ')) {
        n = strcspn(when, " ");
        if (n && !term_holds(node, when, n)) {
            return false;
        }
    }
    return true;
}

/* --- what is taken --- */

struct taking {
    struct trace_build *b;
    const struct trace_node *node;
    char text[MAX_TAKEN];
    char *words[MAX_WORDS + 1]; /* what, then its arguments; "" where there are no more */
};

static const json_t *json_of(const struct taking *t, size_t word) {
    return trace_rules_get(t->node, t->words[word]);
}

static const char *text_of(const struct taking *t, size_t word) {
    return trace_rules_text(t->node, t->words[word]);
}

/* The text after "id=" or a similar option, or NULL. */
static const char *option(const char *word, const char *name) {
    size_t len = strlen(name);
    return strncmp(word, name, len) == 0 ? word + len : NULL;
}

static bool take_words(struct taking *t) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD), plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    enum trace_event_kind kind = *t->words[0] == 'u'   ? EVENT_USER
                                 : *t->words[0] == 's' ? EVENT_SAY
                                                       : EVENT_THINK;
    content_text(&text, json_of(t, 1));
    if (kind == EVENT_USER) {
        envelope_strip(&plain, text.data, text.len);
    }
    const struct buf *words = kind == EVENT_USER ? &plain : &text;
    if (!build_is_said(t->b, kind, words->data)) {
        build_words(t->b, kind, words->data, words->len);
    }
    return true;
}

static bool take_call(struct taking *t) {
    const char *name = text_of(t, 1);
    build_call(t->b, name ? name : "", text_of(t, 2), json_of(t, 3));
    return true;
}

static bool take_command(struct taking *t) {
    const char *command = text_of(t, 3);
    build_command(t->b, text_of(t, 1), text_of(t, 2), command ? command : "");
    return true;
}

static bool take_result(struct taking *t) {
    struct trace_event *e = build_result_json(t->b, text_of(t, 1), json_of(t, 2));
    for (size_t i = 3; *t->words[i]; i++) {
        const char *exit = option(t->words[i], "exit="),
                   *failed = option(t->words[i], "failed=");
        if (exit) {
            build_exit_json(t->b, e, trace_rules_get(t->node, exit));
        } else if (!failed) {
            build_exit_in_text(t->b, e);
        } else if (trace_rules_hold(t->node, failed)) {
            build_failed(t->b, e);
        }
    }
    return true;
}

static bool take_diff(struct taking *t) {
    const char *diff = text_of(t, 2);
    struct trace_event *edit = build_find(t->b, EVENT_EDIT, text_of(t, 1));
    if (diff && edit && edit->is_diff) {
        build_set_text(t->b, edit, diff, strlen(diff));
    }
    return true;
}

static uint64_t sum_of(const struct trace_node *node, const char *sum) {
    uint64_t total = 0;
    for (size_t n; *sum; sum += n) {
        bool less = *sum == '-';
        sum += less || *sum == '+';
        n = strcspn(sum, "+-");
        uint64_t count = build_count(follow(node, sum, n));
        total = !less ? total + count : total > count ? total - count : 0;
    }
    return total;
}

static bool take_usage(struct taking *t) {
    const struct trace_node usage = {json_of(t, 1), t->node, 0};
    build_usage(t->b, sum_of(&usage, t->words[2]), sum_of(&usage, t->words[3]));
    return true;
}

static bool take_name(struct taking *t) {
    struct trace *trace = t->b->trace;
    build_name(*t->words[0] == 'm' ? &trace->model : &trace->cwd, text_of(t, 1));
    return true;
}

static bool take_each(struct taking *t) {
    json_each(json_of(t, 1), i, value) {
        const struct trace_node part = {value, t->node, i};
        t->b->trace->unknown += !trace_rules_take(t->b, t->words[2], &part);
    }
    return true;
}

static bool take_part(struct taking *t) {
    const struct trace_node part = {json_of(t, 1), t->node, 0};
    bool same = is(t->words[1], ".");
    return trace_rules_take(t->b, t->words[2], same ? t->node : &part);
}

static bool take_odd(struct taking *t) {
    const struct trace_odd *odd = t->b->odd;
    while (odd->name && !is(odd->name, t->words[1])) {
        odd++;
    }
    if (!odd->name) {
        abort(); /* the rows are ours */
    }
    odd->does(t->b, t->node);
    return true;
}

static bool take_nothing(struct taking *) {
    return true;
}

static const struct {
    const char *name;
    bool (*does)(struct taking *t); /* false: of a kind not known */
} takers[] = {
    {"user", take_words}, {"say", take_words},       {"think", take_words},
    {"call", take_call},  {"command", take_command}, {"result", take_result},
    {"diff", take_diff},  {"usage", take_usage},     {"model", take_name},
    {"cwd", take_name},   {"each", take_each},       {"with", take_part},
    {"odd", take_odd},    {"skip", take_nothing},
};

static bool carry_out(struct trace_build *b, const struct trace_node *node,
                      const char *taken) {
    struct taking t = {.b = b, .node = node};
    char *rest = t.text;
    strncpy(t.text, taken, sizeof t.text - 1);
    for (size_t i = 0; i < MAX_WORDS; i++) {
        char *word = strsep(&rest, " ");
        t.words[i] = word ? word : t.text + sizeof t.text - 1;
    }
    t.words[MAX_WORDS] = t.text + sizeof t.text - 1;
    for (size_t i = 0; i < ARRAY_LEN(takers); i++) {
        if (is(takers[i].name, t.words[0])) {
            return takers[i].does(&t);
        }
    }
    abort(); /* the rows are ours */
}

bool trace_rules_take(struct trace_build *b, const char *group,
                      const struct trace_node *node) {
    bool held = false, known = false;
    for (const struct trace_rule *r = trace_rules; r->group; r++) {
        bool otherwise = *r->when == '-';
        if (!is(r->group, group) || (otherwise && held) ||
            !trace_rules_hold(node, r->when + otherwise)) {
            continue;
        }
        bool taken = carry_out(b, node, r->taken);
        known |= taken && *r->when;
        held |= *r->when != '\0';
    }
    return known;
}
