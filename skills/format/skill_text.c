/* SKILL.md's text read: frontmatter, body, places of both. */
#include "base/err.h"
#include "base/find.h"
#include "base/text.h"
#include "skills/format/frontmatter.h"
#include "skills/format/skill.h"

/* --- places --- */

int skill_text_line(const struct skill_text *t, size_t offset, int *ret_column) {
    return lines_place(&t->lines, offset, ret_column);
}

const struct skill_field *skill_text_field(const struct skill_text *t, const char *name) {
    return list_find(one, t->fields, t->field_count, strcmp(one->name, name) == 0);
}

const struct yaml_pair *skill_text_pair(const struct skill_text *t, const char *name) {
    return list_find(one, t->places.pairs, t->places.count,
                     one->depth == 0 && strcmp(one->key, name) == 0);
}

static void add_field(struct skill_text *t, const struct yaml_pair *pair) {
    struct skill_field *f = &t->fields[t->field_count++];
    f->name = xstrdup(pair->key);
    f->line = skill_text_line(t, pair->key_at, NULL);
    skill_text_line(t, pair->at, &f->column);
    size_t last = pair->end > pair->key_at ? pair->end - 1 : pair->key_at;
    f->end_line = skill_text_line(t, last, NULL) + 1;
}

static void list_fields(struct skill_text *t) {
    t->fields = xcalloc(t->places.count + 1, sizeof *t->fields);
    for (size_t i = 0; i < t->places.count; i++) {
        if (t->places.pairs[i].depth == 0) {
            add_field(t, &t->places.pairs[i]);
        }
    }
}

/* --- problems --- */

static void set_problem(struct skill_text *t, const char *rule, size_t at,
                        const char *message) {
    t->problem.rule = rule;
    t->problem.at = at;
    t->problem.line = skill_text_line(t, at, &t->problem.column);
    snprintf(t->problem.message, sizeof t->problem.message, "%.255s", message);
}

static const char *rule_of(enum yaml_problem problem) {
    switch (problem) {
    case YAML_DUPLICATE:
        return "yaml_duplicate_key";
    case YAML_UNSUPPORTED:
        return "yaml_unsupported";
    case YAML_TOO_DEEP:
        return "yaml_too_deep";
    case YAML_TOO_LARGE:
        return "frontmatter_too_long";
    case YAML_BAD_BYTES:
        return "control_character";
    default:
        return "yaml_invalid";
    }
}

/* The YAML reader counts lines from the frontmatter's first; ours are the file's. */
static const char *without_line(const char *message) {
    const char *colon = strstr(message, ": ");
    return strncmp(message, "line ", 5) == 0 && colon ? colon + 2 : message;
}

/* The offset after the colon of the first "key:value"; 0 if there is none. YAML reads it
 * as a word and reports an error only some lines later. */
static size_t glued_key(const struct skill_text *t, size_t until) {
    size_t at = t->yaml;
    while (at <= until && at < t->yaml_end) {
        size_t colon = at;
        while (colon < t->yaml_end &&
               (islower((unsigned char)t->text[colon]) || strchr("-_", t->text[colon]))) {
            colon++;
        }
        if (colon > at && colon + 1 < t->yaml_end && t->text[colon] == ':' &&
            !strchr(" \t\r\n/:", t->text[colon + 1])) {
            return colon + 1;
        }
        const char *nl = memchr(t->text + at, '\n', t->yaml_end - at);
        at = nl ? (size_t)(nl - t->text) + 1 : t->yaml_end;
    }
    return 0;
}

/* The last line that begins at column 0, up to the one at `until`. */
static size_t outer_line(const struct skill_text *t, size_t until) {
    size_t line = lines_at(&t->lines, until), first = lines_at(&t->lines, t->yaml);
    while (line > first && strchr(" \t\r\n#", t->text[t->lines.starts[line]])) {
        line--;
    }
    return t->lines.starts[line];
}

/* A line that is no "key: value", which YAML complains of in the next one; SIZE_MAX when
 * that line is one, or something else than words. */
static size_t lone_word(const struct skill_text *t, size_t until) {
    size_t at = outer_line(t, until), line = at;
    size_t end = lines_end(&t->lines, t->text, lines_at(&t->lines, at));
    if (lines_at(&t->lines, at) == lines_at(&t->lines, until) && until > at) {
        line = at = outer_line(t, at > t->yaml ? at - 1 : at);
        end = lines_end(&t->lines, t->text, lines_at(&t->lines, at));
    }
    while (at < end &&
           (isalnum((unsigned char)t->text[at]) || strchr("-_", t->text[at]))) {
        at++;
    }
    bool pair = memmem(t->text + line, end - line, ": ", 2) ||
                (end > line && t->text[end - 1] == ':');
    return at > line && !pair ? line : SIZE_MAX;
}

static void describe(struct skill_text *t, const struct yaml_map *map,
                     const struct err *err) {
    char message[256];
    size_t at = t->yaml + map->problem_at;
    if (map->problem == YAML_DUPLICATE) {
        t->problem.first_line = skill_text_line(t, t->yaml + map->first_at, NULL);
        snprintf(message, sizeof message,
                 "The key appears twice, first on line %d; keep one of them.",
                 t->problem.first_line);
    } else if (map->problem == YAML_SYNTAX && glued_key(t, at)) {
        at = glued_key(t, at);
        snprintf(message, sizeof message,
                 "The frontmatter is not YAML: put a space after the colon.");
    } else if (map->problem == YAML_SYNTAX && lone_word(t, at) != SIZE_MAX) {
        at = lone_word(t, at);
        snprintf(message, sizeof message,
                 "The frontmatter is not YAML: this line is not \"key: value\".");
    } else {
        snprintf(message, sizeof message,
                 "The frontmatter is not YAML that we read: %.180s",
                 without_line(err->msg));
    }
    set_problem(t, rule_of(map->problem), at, message);
    if (map->problem == YAML_BAD_BYTES &&
        !text_is_utf8(t->text + t->yaml, t->yaml_end - t->yaml)) {
        t->problem.rule = "not_utf8";
    }
}

/* --- reading --- */

static void shift_places(struct skill_text *t, const struct frontmatter_repair *repair) {
    list_each(i, p, t->places.pairs, t->places.count) {
        size_t *offsets[] = {&p->key_at, &p->key_end, &p->at, &p->end};
        for (size_t k = 0; k < ARRAY_LEN(offsets); k++) {
            *offsets[k] =
                t->yaml +
                (repair ? frontmatter_repair_origin(repair, *offsets[k]) : *offsets[k]);
        }
    }
}

static void move_problem_to_repair(struct skill_text *t) {
    t->repaired = true;
    t->repair.line = t->problem.line;
    snprintf(t->repair.message, sizeof t->repair.message, "%s", t->problem.message);
    memset(&t->problem, 0, sizeof t->problem);
}

/* Read again with values quoted; the first complaint stays when that does not help. */
static void read_repaired(struct skill_text *t, json_t **ret) {
    struct frontmatter_repair repair;
    if (!frontmatter_repair(&repair, t->text + t->yaml, t->yaml_end - t->yaml)) {
        return;
    }
    struct yaml_map map;
    if (yaml_parse_map(repair.yaml, repair.len, YAML_TYPED, ret, &map, NULL) == 0) {
        yaml_map_finish(&t->places);
        t->places = map;
        shift_places(t, &repair);
        move_problem_to_repair(t);
        t->repair.yaml = xstrndup(repair.yaml, repair.len);
    } else {
        yaml_map_finish(&map);
    }
    frontmatter_repair_finish(&repair);
}

static json_t *read_yaml(struct skill_text *t) {
    struct err err = {0};
    json_t *value = NULL;
    const char *yaml = t->text + t->yaml;
    size_t len = t->yaml_end - t->yaml;
    if (yaml_parse_map(yaml, len, YAML_TYPED, &value, &t->places, &err) == 0) {
        shift_places(t, NULL);
        return value;
    }
    describe(t, &t->places, &err);
    if (t->places.problem == YAML_SYNTAX) {
        read_repaired(t, &value);
    }
    if (!value) {
        yaml_map_finish(&t->places);
    }
    return value;
}

static void accept(struct skill_text *t, json_t *value) {
    if (json_is_null(value)) {
        json_decref(value);
        value = json_object();
    }
    if (!json_is_object(value)) {
        set_problem(t, "frontmatter_not_mapping", t->yaml,
                    "The frontmatter must be a list of \"key: value\" lines, such as "
                    "\"name: my-skill\".");
        json_decref(value);
        return;
    }
    t->frontmatter = value;
    t->name = json_string_value(json_object_get(value, "name"));
    t->description = json_string_value(json_object_get(value, "description"));
    list_fields(t);
}

static void refuse_frontmatter(struct skill_text *t, const struct frontmatter *f) {
    struct frontmatter_almost almost;
    if (!f->opened && frontmatter_almost(&almost, t->text, t->len)) {
        set_problem(t, "frontmatter_missing", almost.first,
                    almost.fenced ? "The frontmatter is in a code block; remove the "
                                    "fences around it."
                                  : "The first line must be three hyphens, \"---\", and "
                                    "so must the line after the last field.");
    } else if (!f->opened) {
        set_problem(t, "frontmatter_missing", 0,
                    f->late ? "The frontmatter must begin on the first line; remove what "
                              "is before \"---\"."
                            : "The first line must be \"---\", followed by the "
                              "frontmatter with name and description and another "
                              "\"---\".");
    } else {
        set_problem(t, "frontmatter_unclosed", 0,
                    "The frontmatter has no end; put a line \"---\" after its last "
                    "field.");
    }
}

/* As some editors save: a byte order mark, or a NUL byte beside each dash. */
static bool is_utf16(const struct skill_text *t) {
    static const char *const begins[] = {"\xFF\xFE", "\xFE\xFF"};
    return any_of(i, 0, ARRAY_LEN(begins),
                  t->len >= 2 && memcmp(t->text, begins[i], 2) == 0) ||
           (t->len >= 4 &&
            (memcmp(t->text, "-\0-", 4) == 0 || memcmp(t->text, "\0-\0-", 4) == 0));
}

void skill_text_read(struct skill_text *ret, const char *text, size_t len) {
    *ret = (struct skill_text){0};
    ret->len = len < SKILL_MAX_TEXT ? len : text_cut(text, len, SKILL_MAX_TEXT);
    ret->text = xmalloc(ret->len + 1);
    memcpy(ret->text, text, ret->len);
    ret->text[ret->len] = '\0';
    lines_init(&ret->lines, ret->text, ret->len);
    if (is_utf16(ret)) {
        ret->body_line = 1;
        set_problem(ret, "not_utf8", 0,
                    "The file is saved as UTF-16, which no agent reads; save it as "
                    "UTF-8.");
        return;
    }
    struct frontmatter f;
    frontmatter_find(&f, ret->text, ret->len);
    ret->body = f.body;
    ret->body_line = skill_text_line(ret, f.body, NULL);
    if (!f.opened || !f.closed) {
        refuse_frontmatter(ret, &f);
        return;
    }
    ret->yaml = f.at;
    ret->yaml_end = f.end;
    json_t *value = read_yaml(ret);
    if (value) {
        accept(ret, value);
    }
}

void skill_text_finish(struct skill_text *t) {
    for (size_t i = 0; i < t->field_count; i++) {
        free(t->fields[i].name);
    }
    free(t->fields);
    free(t->repair.yaml);
    free(t->text);
    if (t->lines.starts) {
        lines_finish(&t->lines);
    }
    yaml_map_finish(&t->places);
    json_decref(t->frontmatter);
    *t = (struct skill_text){0};
}
