#include "base/yaml.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#define YAML_MAX_BYTES (64u << 10)
#define YAML_MAX_DEPTH 16
#define YAML_MAX_NODES 4096

struct reader {
    yaml_parser_t parser;
    enum yaml_scalars scalars;
    unsigned nodes;
    struct err *err;
};

static int read_node(struct reader *r, yaml_event_t *event, unsigned depth, json_t **ret);

static int complain(struct reader *r, const yaml_event_t *event, const char *what) {
    return err_set(r->err, -EBADMSG, "line %zu: %s", event->start_mark.line + 1, what);
}

/* libyaml's most frequent complaint comes from a value that holds ": " unquoted. */
static const char *problem_cure(const char *problem) {
    return strstr(problem, "mapping values are not allowed")
               ? " (a value with \": \" in it must be quoted)"
               : "";
}

static int next_event(struct reader *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event)) {
        return 0;
    }
    const char *problem = r->parser.problem ? r->parser.problem : "not YAML";
    return err_set(r->err, -EBADMSG, "line %zu: %s%s", r->parser.problem_mark.line + 1,
                   problem, problem_cure(problem));
}

static bool is_word(const char *s, const char *const words[]) {
    for (; *words; words++) {
        if (strcmp(s, *words) == 0) {
            return true;
        }
    }
    return false;
}

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

static json_t *plain_scalar(const char *s, size_t len) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    if (strlen(s) != len) {
        return NULL;
    }
    if (is_word(s, nulls)) {
        return json_null();
    }
    if (is_word(s, yes) || is_word(s, no)) {
        return json_boolean(is_word(s, yes));
    }
    return typed_number(s, len);
}

static int read_scalar(struct reader *r, const yaml_event_t *event, json_t **ret) {
    const char *s = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    *ret = NULL;
    if (r->scalars == YAML_TYPED && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        *ret = plain_scalar(s, len);
    }
    if (!*ret) {
        *ret = json_text(s, len);
    }
    return 0;
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
            yaml_event_delete(&event);
            *ret = take(array);
            return 0;
        }
        json_t *item;
        rc = read_node(r, &event, depth, &item);
        if (rc < 0) {
            return rc;
        }
        json_array_append_new(array, item);
    }
}

/* Takes the key's event over. */
static int read_pair(struct reader *r, yaml_event_t *key, json_t *object,
                     unsigned depth) {
    int rc = 0;
    autofree char *name = NULL;
    if (key->type != YAML_SCALAR_EVENT) {
        rc = complain(r, key, "a key must be plain text");
    } else {
        name = xstrndup((const char *)key->data.scalar.value, key->data.scalar.length);
        if (json_object_get(object, name)) {
            rc = err_set(r->err, -EBADMSG, "line %zu: key \"%.100s\" is there twice",
                         key->start_mark.line + 1, name);
        }
    }
    yaml_event_delete(key);
    yaml_event_t event;
    if (rc < 0 || (rc = next_event(r, &event)) < 0) {
        return rc;
    }
    json_t *value;
    rc = read_node(r, &event, depth, &value);
    if (rc == 0) {
        json_object_set_new(object, name, value);
    }
    return rc;
}

static int read_mapping(struct reader *r, unsigned depth, json_t **ret) {
    autojson *object = json_object();
    for (;;) {
        yaml_event_t event;
        int rc = next_event(r, &event);
        if (rc < 0) {
            return rc;
        }
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
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
        rc = complain(r, event, why);
    } else if (depth >= YAML_MAX_DEPTH) {
        rc = complain(r, event, "nested too deeply");
    } else if (++r->nodes > YAML_MAX_NODES) {
        rc = complain(r, event, "too many values");
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
            rc = complain(r, &event, "a second document");
        }
        yaml_event_delete(&event);
        if (end || second) {
            return rc;
        }
    }
}

static int read_document(struct reader *r, json_t **ret) {
    yaml_event_t event;
    bool found;
    autojson *value = NULL;
    int rc = first_node(r, &event, &found);
    if (rc == 0 && found) {
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

int yaml_parse(const char *text, size_t len, enum yaml_scalars scalars, json_t **ret,
               struct err *err) {
    if (len > YAML_MAX_BYTES) {
        return err_set(err, -EFBIG, "line 1: over %u KiB of YAML", YAML_MAX_BYTES >> 10);
    }
    if (!text_is_utf8(text, len)) {
        return err_set(err, -EBADMSG, "line 1: not UTF-8");
    }
    struct reader r = {.scalars = scalars, .err = err};
    if (!yaml_parser_initialize(&r.parser)) {
        return err_set(err, -ENOMEM, "line 1: out of memory");
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    int rc = read_document(&r, ret);
    yaml_parser_delete(&r.parser);
    return rc;
}
