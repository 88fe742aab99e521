#include "base/yaml.h"

#include "base/err.h"
#include "base/strings.h"
#include "base/text.h"

#include <yaml.h>

#define YAML_MAX_BYTES (64u << 10)
#define YAML_MAX_DEPTH 16
#define YAML_MAX_NODES 4096

/* --- words --- */

static json_t *typed_number(const char *s, size_t len) {
    if (len > 40 || strspn(s, "+-.0123456789eE") != len || !strpbrk(s, "0123456789")) {
        return NULL;
    }
    char *end;
    errno = 0;
    if (!strpbrk(s, ".eE")) {
        long long i = strtoll(s, &end, 10);
        return *end || errno ? NULL : json_integer(i);
    }
    double d = strtod(s, &end);
    return *end || errno ? NULL : json_real(d);
}

/* null, true, a number; NULL if it is a string. */
static json_t *plain_scalar(const char *s, size_t len) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    if (strlen(s) != len) {
        return NULL;
    }
    if (strings_have(nulls, s)) {
        return json_null();
    }
    if (strings_have(yes, s) || strings_have(no, s)) {
        return json_boolean(strings_have(yes, s));
    }
    return typed_number(s, len);
}

struct yaml_cure {
    const char *problem, *cure;
};
#include "base/yaml_cures_table.h"

/* The cure for an error of libyaml's; NULL if unknown. */
static const char *problem_cure(const char *problem) {
    const struct yaml_cure *c = yaml_cures;
    while (c->problem && !strstr(problem, c->problem)) {
        c++;
    }
    return c->cure;
}

/* --- reading --- */

struct reader {
    yaml_parser_t parser;
    const char *text;
    size_t len;
    size_t start;        /* after a byte order mark */
    size_t chars, bytes; /* the place that was looked up last, both ways of counting */
    enum yaml_scalars scalars;
    unsigned nodes, mappings;
    size_t leaf_end; /* of the last scalar or flow collection */
    struct yaml_map *map;
    struct err *err;
};

static int read_node(struct reader *r, yaml_event_t *event, unsigned depth, json_t **ret);

static bool is_continuation(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* libyaml counts characters. The text is UTF-8, and places come nearly in order. */
static size_t byte_offset(struct reader *r, size_t chars) {
    while (r->chars < chars && r->bytes < r->len) {
        do {
            r->bytes++;
        } while (r->bytes < r->len && is_continuation(r->text[r->bytes]));
        r->chars++;
    }
    while (r->chars > chars) {
        do {
            r->bytes--;
        } while (is_continuation(r->text[r->bytes]));
        r->chars--;
    }
    return r->bytes;
}

static size_t line_of(const struct reader *r, size_t offset) {
    size_t line = 1;
    for (size_t i = 0; i < offset && i < r->len; i++) {
        bool pair = r->text[i] == '\r' && i + 1 < r->len && r->text[i + 1] == '\n';
        line += r->text[i] == '\n' || (r->text[i] == '\r' && !pair);
    }
    return line;
}

static int complain(struct reader *r, size_t at, enum yaml_problem problem,
                    const char *what) {
    if (r->map) {
        r->map->problem = problem;
        r->map->problem_at = at;
    }
    return err_set(r->err, problem == YAML_TOO_LARGE ? -EFBIG : -EBADMSG, "line %zu: %s",
                   line_of(r, at), what);
}

static int complain_event(struct reader *r, const yaml_event_t *event,
                          enum yaml_problem problem, const char *what) {
    return complain(r, byte_offset(r, event->start_mark.index), problem, what);
}

/* Where a quote, bracket or key began that has no end says more than where the text ends.
 */
static size_t problem_place(struct reader *r) {
    const char *context = r->parser.context ? r->parser.context : "";
    if (r->parser.error == YAML_READER_ERROR) {
        size_t at = r->start + r->parser.problem_offset;
        return at < r->len ? at : r->len;
    }
    bool far = r->parser.context_mark.line < r->parser.problem_mark.line;
    if (strstr(context, "parsing a flow") && far) {
        return byte_offset(r, r->parser.context_mark.index);
    }
    if (strstr(context, "quoted scalar") || strstr(context, "simple key")) {
        bool escape = r->parser.problem && strstr(r->parser.problem, "escape");
        return byte_offset(r, escape ? r->parser.problem_mark.index
                                     : r->parser.context_mark.index);
    }
    return byte_offset(r, r->parser.problem_mark.index);
}

static int next_event(struct reader *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event)) {
        return 0;
    }
    const char *problem = r->parser.problem ? r->parser.problem : "not YAML";
    char what[256];
    const char *cure = problem_cure(problem);
    snprintf(what, sizeof what, cure ? "%s (%s)" : "%s", problem, cure);
    return complain(r, problem_place(r),
                    r->parser.error == YAML_READER_ERROR ? YAML_BAD_BYTES : YAML_SYNTAX,
                    what);
}

static int read_scalar(struct reader *r, const yaml_event_t *event, json_t **ret) {
    const char *s = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    if (memchr(s, 0, len)) {
        return complain_event(r, event, YAML_BAD_BYTES, "a NUL character (\"\\0\")");
    }
    *ret = NULL;
    if (r->scalars == YAML_TYPED && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        *ret = plain_scalar(s, len);
    }
    if (!*ret) {
        *ret = json_text(s, len);
    }
    r->leaf_end = byte_offset(r, event->end_mark.index);
    return 0;
}

/* libyaml ends a block collection after the comments that follow it. */
static void end_collection(struct reader *r, yaml_event_t *event) {
    if (event->end_mark.index > event->start_mark.index) {
        r->leaf_end = byte_offset(r, event->end_mark.index);
    }
    yaml_event_delete(event);
}

static int read_sequence(struct reader *r, unsigned depth, json_t **ret) {
    autojson *array = json_array();
    for (;;) {
        yaml_event_t event;
        int rc = next_event(r, &event);
        if (rc < 0) {
            return rc;
        }
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            end_collection(r, &event);
            *ret = take(array);
            return 0;
        }
        json_t *item = NULL;
        rc = read_node(r, &event, depth, &item);
        if (rc < 0) {
            return rc;
        }
        json_array_append_new(array, item);
    }
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Index of the new pair; key is copied. */
static size_t add_pair(struct reader *r, const char *name, const yaml_event_t *key) {
    struct yaml_map *m = r->map;
    list_room(m->pairs, m->count, m->capacity, 16);
    m->pairs[m->count] =
        (struct yaml_pair){.key = xstrdup(name), .depth = r->mappings - 1};
    struct yaml_pair *p = &m->pairs[m->count];
    p->key_at = byte_offset(r, key->start_mark.index);
    p->key_end = byte_offset(r, key->end_mark.index);
    return m->count++;
}

static void begin_value(struct reader *r, size_t pair, const yaml_event_t *value) {
    struct yaml_pair *p = &r->map->pairs[pair];
    p->at = p->end = byte_offset(r, value->start_mark.index);
}

static void end_value(struct reader *r, size_t pair) {
    struct yaml_pair *p = &r->map->pairs[pair];
    size_t end = r->leaf_end;
    while (end > p->at && is_space(r->text[end - 1])) {
        end--;
    }
    p->end = end > p->at ? end : p->at;
}

static int complain_twice(struct reader *r, const yaml_event_t *key, const char *name) {
    size_t first = 0;
    for (size_t i = 0; r->map && i < r->map->count; i++) {
        const struct yaml_pair *p = &r->map->pairs[i];
        first =
            p->depth == r->mappings - 1 && strcmp(p->key, name) == 0 ? p->key_at : first;
    }
    char what[192];
    if (r->map) {
        r->map->first_at = first;
        snprintf(what, sizeof what, "the key \"%.100s\" occurs twice, first on line %zu",
                 name, line_of(r, first));
    } else {
        snprintf(what, sizeof what, "the key \"%.100s\" occurs twice", name);
    }
    return complain_event(r, key, YAML_DUPLICATE, what);
}

static int check_key(struct reader *r, const yaml_event_t *key, const json_t *object,
                     char **ret_name) {
    if (key->type != YAML_SCALAR_EVENT) {
        return complain_event(r, key, YAML_UNSUPPORTED, "a key must be plain text");
    }
    const char *s = (const char *)key->data.scalar.value;
    if (memchr(s, 0, key->data.scalar.length)) {
        return complain_event(r, key, YAML_BAD_BYTES, "a NUL character (\"\\0\")");
    }
    if (json_object_get(object, s)) {
        return complain_twice(r, key, s);
    }
    *ret_name = xstrdup(s);
    return 0;
}

/* Takes the key's event over. */
static int read_pair(struct reader *r, yaml_event_t *key, json_t *object,
                     unsigned depth) {
    autofree char *name = NULL;
    size_t pair = 0;
    int rc = check_key(r, key, object, &name);
    if (rc == 0 && r->map) {
        pair = add_pair(r, name, key);
    }
    yaml_event_delete(key);
    yaml_event_t event;
    if (rc < 0 || (rc = next_event(r, &event)) < 0) {
        return rc;
    }
    if (r->map) {
        begin_value(r, pair, &event);
    }
    json_t *value = NULL;
    rc = read_node(r, &event, depth, &value);
    if (rc == 0) {
        json_object_set_new(object, name, value);
    }
    if (rc == 0 && r->map) {
        end_value(r, pair);
    }
    return rc;
}

static int read_mapping(struct reader *r, unsigned depth, json_t **ret) {
    autojson *object = json_object();
    r->mappings++;
    for (;;) {
        yaml_event_t event;
        int rc = next_event(r, &event);
        if (rc < 0) {
            return rc;
        }
        if (event.type == YAML_MAPPING_END_EVENT) {
            r->mappings--;
            end_collection(r, &event);
            *ret = take(object);
            return 0;
        }
        rc = read_pair(r, &event, object, depth);
        if (rc < 0) {
            return rc;
        }
    }
}

static const char *refusal(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return "aliases (*name) are not supported";
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor ? "anchors (&name) are not supported"
               : event->data.scalar.tag  ? "tags (!name) are not supported"
                                         : NULL;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor ? "anchors (&name) are not supported"
               : event->data.sequence_start.tag  ? "tags (!name) are not supported"
                                                 : NULL;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor ? "anchors (&name) are not supported"
               : event->data.mapping_start.tag  ? "tags (!name) are not supported"
                                                : NULL;
    default:
        return "a value is missing";
    }
}

/* Takes the event over. */
static int read_node(struct reader *r, yaml_event_t *event, unsigned depth,
                     json_t **ret) {
    const char *why = refusal(event);
    int rc = 0;
    if (why) {
        rc = complain_event(r, event, YAML_UNSUPPORTED, why);
    } else if (depth >= YAML_MAX_DEPTH) {
        rc = complain_event(r, event, YAML_TOO_DEEP, "nested too deeply");
    } else if (++r->nodes > YAML_MAX_NODES) {
        rc = complain_event(r, event, YAML_TOO_LARGE, "too many values");
    } else if (event->type == YAML_SCALAR_EVENT) {
        rc = read_scalar(r, event, ret);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        rc = read_sequence(r, depth + 1, ret);
    } else {
        rc = read_mapping(r, depth + 1, ret);
    }
    yaml_event_delete(event);
    return rc;
}

/* Skips events up to the first node; false at the end of the stream. */
static int first_node(struct reader *r, yaml_event_t *event, bool *ret_found) {
    for (;;) {
        int rc = next_event(r, event);
        if (rc < 0) {
            return rc;
        }
        if (event->type != YAML_STREAM_START_EVENT &&
            event->type != YAML_DOCUMENT_START_EVENT) {
            break;
        }
        yaml_event_delete(event);
    }
    *ret_found = event->type != YAML_STREAM_END_EVENT;
    if (!*ret_found) {
        yaml_event_delete(event);
    }
    return 0;
}

static int expect_end(struct reader *r) {
    for (;;) {
        yaml_event_t event;
        int rc = next_event(r, &event);
        if (rc < 0) {
            return rc;
        }
        bool end = event.type == YAML_STREAM_END_EVENT;
        bool second = event.type == YAML_DOCUMENT_START_EVENT;
        if (second) {
            rc = complain_event(r, &event, YAML_UNSUPPORTED, "a second document");
        }
        yaml_event_delete(&event);
        if (end || second) {
            return rc;
        }
    }
}

static void note_outermost(struct reader *r, const yaml_event_t *event) {
    bool mapping = event->type == YAML_MAPPING_START_EVENT &&
                   event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    bool sequence = event->type == YAML_SEQUENCE_START_EVENT &&
                    event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    if (r->map) {
        r->map->flow = mapping || sequence;
    }
}

static int read_document(struct reader *r, json_t **ret) {
    yaml_event_t event;
    bool found;
    autojson *value = NULL;
    int rc = first_node(r, &event, &found);
    if (rc == 0 && found) {
        note_outermost(r, &event);
        json_t *node = NULL;
        rc = read_node(r, &event, 0, &node);
        value = rc < 0 ? NULL : node;
        if (rc == 0) {
            rc = expect_end(r);
        }
    }
    if (rc == 0) {
        *ret = value ? take(value) : json_null();
    }
    return rc;
}

static size_t first_bad_byte(const char *text, size_t len) {
    size_t at = 0;
    while (at < len) {
        uint32_t cp;
        size_t step = text_decode(text + at, len - at, &cp);
        if (step == 1 && (unsigned char)text[at] >= 0x80) {
            break;
        }
        at += step;
    }
    return at;
}

int yaml_parse_map(const char *text, size_t len, enum yaml_scalars scalars, json_t **ret,
                   struct yaml_map *map, struct err *err) {
    struct reader r = {
        .text = text, .len = len, .scalars = scalars, .map = map, .err = err};
    if (map) {
        *map = (struct yaml_map){0};
    }
    if (len > YAML_MAX_BYTES) {
        char what[64];
        snprintf(what, sizeof what, "more than %u KiB of YAML", YAML_MAX_BYTES >> 10);
        return complain(&r, 0, YAML_TOO_LARGE, what);
    }
    if (!text_is_utf8(text, len)) {
        return complain(&r, first_bad_byte(text, len), YAML_BAD_BYTES, "not UTF-8");
    }
    if (!yaml_parser_initialize(&r.parser)) {
        return err_set(err, -ENOMEM, "line 1: out of memory");
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    r.bytes = r.start = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text + r.bytes,
                                 len - r.bytes);
    int rc = read_document(&r, ret);
    yaml_parser_delete(&r.parser);
    return rc;
}

int yaml_parse(const char *text, size_t len, enum yaml_scalars scalars, json_t **ret,
               struct err *err) {
    return yaml_parse_map(text, len, scalars, ret, NULL, err);
}

void yaml_map_finish(struct yaml_map *map) {
    for (size_t i = 0; i < map->count; i++) {
        free(map->pairs[i].key);
    }
    free(map->pairs);
    *map = (struct yaml_map){0};
}
