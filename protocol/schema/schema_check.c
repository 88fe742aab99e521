/* Values checked against a compiled schema, with errors that name the member. */
#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "base/text.h"
#include "protocol/schema/schema.h"
#include "protocol/schema/schema_complaint.h"

#define MATCH_LIMIT 200000u /* steps of one pattern match: some ms */
#define MATCH_DEPTH 500u
#define MATCH_HEAP_KIB 4096u

static bool check(const struct schema *s, const json_t *value,
                  const struct schema_place *at, struct schema_complaint *c);

/* --- checking --- */

unsigned schema_type_of(const json_t *value) {
    static const unsigned types[] = {
        [JSON_NULL] = SCHEMA_NULL,     [JSON_TRUE] = SCHEMA_BOOLEAN,
        [JSON_FALSE] = SCHEMA_BOOLEAN, [JSON_INTEGER] = SCHEMA_INTEGER | SCHEMA_NUMBER,
        [JSON_REAL] = SCHEMA_NUMBER,   [JSON_STRING] = SCHEMA_STRING,
        [JSON_ARRAY] = SCHEMA_ARRAY,   [JSON_OBJECT] = SCHEMA_OBJECT};
    return types[json_typeof(value)];
}

static bool check_choices(const struct schema *s, const json_t *value,
                          const struct schema_place *at, struct schema_complaint *c) {
    autobuf list = BUF_INIT(SCHEMA_COMPLAINT_MAX);
    if (s->fixed && !json_equal(s->fixed, value)) {
        json_write(&list, s->fixed);
        return schema_complain(c, at, "must be %s", list.data);
    }
    json_each(s->choices, i, choice) {
        if (json_equal(choice, value)) {
            return true;
        }
        buf_adds(&list, i ? ", " : "");
        json_write(&list, choice);
    }
    if (!s->choices) {
        return true;
    }
    autobuf given = BUF_INIT(SCHEMA_COMPLAINT_MAX);
    schema_add_value(&given, value);
    return schema_complain(c, at, "expected one of %.120s, got %s", list.data,
                           given.data);
}

static long double number_of(const json_t *value) {
    return json_is_integer(value) ? (long double)json_integer_value(value)
                                  : (long double)json_real_value(value);
}

static bool check_number(const struct schema *s, const json_t *value,
                         const struct schema_place *at, struct schema_complaint *c) {
    long double n = number_of(value);
    const struct {
        const struct schema_bound *bound;
        bool broken;
        const char *words;
    } bounds[] = {{&s->minimum, n < s->minimum.value, "at least"},
                  {&s->maximum, n > s->maximum.value, "at most"},
                  {&s->above, n <= s->above.value, "more than"},
                  {&s->below, n >= s->below.value, "less than"}};
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        if (bounds[i].bound->set && bounds[i].broken) {
            return schema_complain(c, at, "must be %s %.15Lg, got %.15Lg",
                                   bounds[i].words, bounds[i].bound->value, n);
        }
    }
    return true;
}

/* what: "character", "item" or "member" */
static bool check_count(const struct schema_bound *low, const struct schema_bound *high,
                        size_t count, const char *what, const struct schema_place *at,
                        struct schema_complaint *c) {
    if (low->set && (long double)count < low->value) {
        return schema_complain(c, at, "needs at least %.15Lg %s%s, has %zu", low->value,
                               what, low->value == 1 ? "" : "s", count);
    }
    if (high->set && (long double)count > high->value) {
        return schema_complain(c, at, "may have at most %.15Lg %s%s, has %zu",
                               high->value, what, high->value == 1 ? "" : "s", count);
    }
    return true;
}

/* Returns pcre2_match's: negative for no match or a limit. */
static int match(const struct schema *s, const json_t *string) {
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(limits, MATCH_LIMIT);
    pcre2_set_depth_limit(limits, MATCH_DEPTH);
    pcre2_set_heap_limit(limits, MATCH_HEAP_KIB);
    int rc = pcre2_match(s->pattern, (PCRE2_SPTR)json_string_value(string),
                         json_string_length(string), 0, PCRE2_NO_UTF_CHECK, data, limits);
    pcre2_match_context_free(limits);
    pcre2_match_data_free(data);
    return rc;
}

static bool check_string(const struct schema *s, const json_t *value,
                         const struct schema_place *at, struct schema_complaint *c) {
    if ((s->min_length.set || s->max_length.set) &&
        !check_count(
            &s->min_length, &s->max_length,
            text_code_points(json_string_value(value), json_string_length(value)),
            "character", at, c)) {
        return false;
    }
    int rc = s->pattern ? match(s, value) : 0;
    if (rc == PCRE2_ERROR_NOMATCH) {
        return schema_complain(c, at, "does not match the pattern %s",
                               json_get_string(s->json, "pattern", ""));
    }
    return rc >= 0 ||
           schema_complain(c, at, "is too long or too complex for the pattern %s",
                           json_get_string(s->json, "pattern", ""));
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted as text: a long list must not cost its square. */
static bool all_different(const json_t *array) {
    size_t count = json_array_size(array);
    autofree char **texts = xcalloc(count, sizeof *texts);
    json_each(array, i, item) {
        texts[i] = json_dumps(item, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT);
    }
    qsort(texts, count, sizeof *texts, compare_texts);
    bool different = all_of(i, 1, count, strcmp(texts[i - 1], texts[i]) != 0);
    for (size_t i = 0; i < count; i++) {
        free(texts[i]);
    }
    return different;
}

static bool check_array(const struct schema *s, const json_t *value,
                        const struct schema_place *at, struct schema_complaint *c) {
    if (!check_count(&s->min_items, &s->max_items, json_array_size(value), "item", at,
                     c)) {
        return false;
    }
    json_each(value, i, item) {
        const struct schema *own = i < s->prefix.count ? s->prefix.items[i] : s->items;
        struct schema_place place = {.up = at, .index = i};
        if (own && !check(own, item, &place, c)) {
            return false;
        }
    }
    return !s->unique || all_different(value) ||
           schema_complain(c, at, "holds the same item twice");
}

const struct schema_property *schema_property(const struct schema *s, const char *name) {
    return list_find(one, s->properties.items, s->properties.count,
                     strcmp(one->name, name) == 0);
}

static bool check_member(const struct schema *s, const char *name, const json_t *value,
                         const struct schema_place *up, struct schema_complaint *c) {
    struct schema_place at = {.up = up, .key = name};
    const struct schema_property *property = schema_property(s, name);
    if (s->names) {
        autojson *key = json_string(name);
        if (!check(s->names, key, &at, c)) {
            return false;
        }
    }
    if (property) {
        return check(property->schema, value, &at, c);
    }
    if (s->additional && !s->additional->types) {
        return schema_complain_unknown(s, name, up, c);
    }
    return !s->additional || check(s->additional, value, &at, c);
}

static bool check_object(const struct schema *s, const json_t *value,
                         const struct schema_place *at, struct schema_complaint *c) {
    /* First: an unknown name is often a needed one misspelt. */
    json_each_member(value, name, member) {
        if (!check_member(s, name, member, at, c)) {
            return false;
        }
    }
    json_each(s->required, i, needed) {
        if (!json_object_get(value, json_string_value(needed))) {
            return schema_complain(c, at, "missing parameter \"%s\"",
                                   json_string_value(needed));
        }
    }
    return check_count(&s->min_members, &s->max_members, json_object_size(value),
                       "member", at, c);
}

static void complaint_move(struct schema_complaint *to, struct schema_complaint *from) {
    free(to->pointer);
    *to = *from;
    from->pointer = NULL;
}

/* Forms of which each only wants one more name: "one of" them. */
static bool complain_choice(const struct schema_list *forms, const json_t *value,
                            const struct schema_place *at, struct schema_complaint *c) {
    autobuf names = BUF_INIT(1000);
    for (size_t i = 0; i < forms->count; i++) {
        const json_t *needed = forms->items[i]->required;
        const char *name = json_string_value(json_array_get(needed, 0));
        if (json_array_size(needed) != 1 || forms->items[i]->properties.count ||
            json_object_get(value, name)) {
            return false;
        }
        buf_addf(&names, "%s\"%s\"", i ? ", " : "", name);
    }
    schema_complain(c, at, "missing parameter: one of %s", names.data);
    return true;
}

/* Among the alternatives tried, the one that matched furthest gives the best message. */
static bool complain_forms(const struct schema_list *forms, const json_t *value,
                           const struct schema_place *at, struct schema_complaint *best,
                           struct schema_complaint *c) {
    unsigned types = 0;
    for (size_t i = 0; i < forms->count; i++) {
        types |= forms->items[i]->types;
    }
    if (!(types & schema_type_of(value))) {
        return schema_complain_type(types, value, at, c);
    }
    if (!json_is_object(value) || !complain_choice(forms, value, at, c)) {
        complaint_move(c, best);
    }
    return false;
}

static bool check_forms(const struct schema_list *forms, bool only_one,
                        const json_t *value, const struct schema_place *at,
                        struct schema_complaint *c) {
    struct schema_complaint best = {.text = ""};
    size_t fits = 0;
    for (size_t i = 0; i < forms->count && (only_one || !fits); i++) {
        struct schema_complaint one = {.text = ""};
        const struct schema *form = forms->items[i];
        bool fit = check(form, value, at, &one);
        bool apt = form->types & schema_type_of(value);
        fits += fit;
        if (!fit && (!best.pointer || (apt && one.depth >= best.depth))) {
            complaint_move(&best, &one);
        }
        free(one.pointer);
    }
    bool good = only_one ? fits == 1 : fits > 0;
    if (!fits) {
        complain_forms(forms, value, at, &best, c);
    } else if (!good) {
        schema_complain(c, at, "fits more than one of the forms it may have");
    }
    free(best.pointer);
    return good;
}

static bool check_combined(const struct schema *s, const json_t *value,
                           const struct schema_place *at, struct schema_complaint *c) {
    for (size_t i = 0; i < s->all.count; i++) {
        if (!check(s->all.items[i], value, at, c)) {
            return false;
        }
    }
    if ((s->any.count && !check_forms(&s->any, false, value, at, c)) ||
        (s->one.count && !check_forms(&s->one, true, value, at, c))) {
        return false;
    }
    if (s->negated) {
        struct schema_complaint unused = {.text = ""};
        bool fits = check(s->negated, value, at, &unused);
        free(unused.pointer);
        return !fits || schema_complain(c, at, "has a form that is not allowed here");
    }
    return true;
}

static bool check(const struct schema *s, const json_t *value,
                  const struct schema_place *at, struct schema_complaint *c) {
    if (!(s->types & schema_type_of(value))) {
        return schema_complain_type(s->types, value, at, c);
    }
    bool good = check_choices(s, value, at, c);
    if (good && json_is_number(value)) {
        good = check_number(s, value, at, c);
    } else if (good && json_is_string(value)) {
        good = check_string(s, value, at, c);
    } else if (good && json_is_array(value)) {
        good = check_array(s, value, at, c);
    } else if (good && json_is_object(value)) {
        good = check_object(s, value, at, c);
    }
    return good && check_combined(s, value, at, c);
}

/* --- strings that C would cut short, anywhere in the value --- */

static bool check_nul(const json_t *value, const struct schema_place *at,
                      struct schema_complaint *c) {
    if (json_is_string(value)) {
        return !memchr(json_string_value(value), '\0', json_string_length(value)) ||
               schema_complain(c, at, "holds the character U+0000");
    }
    json_each(value, i, item) {
        if (!check_nul(item, &(struct schema_place){.up = at, .index = i}, c)) {
            return false;
        }
    }
    json_each_member(value, name, member) {
        if (!check_nul(member, &(struct schema_place){.up = at, .key = name}, c)) {
            return false;
        }
    }
    return true;
}

int schema_check(const struct schema *s, const json_t *value, char **path,
                 struct err *err) {
    const struct schema_place root = {.up = NULL};
    struct schema_complaint c = {.text = ""};
    /* The schema first: it limits the size of the value to search. */
    if (check(s, value, &root, &c) && check_nul(value, &root, &c)) {
        return 0;
    }
    if (path) {
        *path = take(c.pointer);
    }
    free(c.pointer);
    return err_set(err, -EINVAL, "%s", c.text);
}
