/* grade_text: contains, regex, equals and json_schema. */
#include "base/err.h"
#include "protocol/schema/schema.h"
#include "skills/grading/grade_check.h"
#include "skills/grading/regex.h"
#include "skills/models/structured.h"

#include <ctype.h>
#include <math.h>

#define MAX_SCHEMA (128u << 10)
#define MAX_JSON (128u << 10) /* a schema's patterns may take the square of it */
#define AROUND 60             /* bytes shown on both sides of a match */
#define MAX_DIGITS 64
#define MAX_FURTHER 1024

/* The match with its surrounding text. */
static json_t *excerpt(const struct answer *a, size_t start, size_t end) {
    size_t from = start > AROUND ? start - AROUND : 0;
    size_t to = a->len - end > AROUND ? end + AROUND : a->len;
    while (from < start && ((unsigned char)a->text[from] & 0xC0) == 0x80) {
        from++;
    }
    while (to < a->len && ((unsigned char)a->text[to] & 0xC0) == 0x80) {
        to++;
    }
    return evidence(a->text + from, to - from);
}

/* found: 1, 0 or an error of regex_find. */
static void add_search(struct assertions *out, const char *check, const json_t *expected,
                       int found, json_t *where) {
    bool wanted = strncmp(check, "not_", 4) != 0;
    if (found < 0) {
        out->slow = true;
        assertion_add(out, check, GRADE_ERRORED, expected, NULL,
                      "the pattern took too long");
        return;
    }
    assertion_add(out, check, (found == 1) == wanted ? GRADE_PASSED : GRADE_FAILED,
                  expected, where, "%s", found ? "found" : "not found");
}

static void search(const struct answer *answer, const char *check, const json_t *expected,
                   struct regex *regex, struct assertions *out) {
    size_t start = 0, end = 0;
    if (out->slow) {
        assertion_skip(out, check, expected, "not tried: an earlier one took too long");
        regex_free(regex);
        return;
    }
    int found = regex_find(regex, answer->text, answer->len, &start, &end);
    add_search(out, check, expected, found,
               found == 1 ? excerpt(answer, start, end) : NULL);
    regex_free(regex);
}

/* A list of texts or patterns: each is an assertion. */
void grade_search(struct answer *answer, const struct test_case *, const char *check,
                  const json_t *expected, struct assertions *out) {
    json_each(expected, i, item) {
        const json_t *pattern = json_object_get(item, "pattern");
        const json_t *words = pattern ? pattern : item;
        const char *text = json_string_value(words);
        size_t len = json_string_length(words);
        struct regex *regex = NULL;
        struct err err = {0};
        int rc = pattern ? regex_new(&regex, text, len,
                                     json_get_string(item, "flags", ""), &err)
                         : regex_new_literal(&regex, text, len, &err);
        if (rc < 0) {
            assertion_add(out, check, GRADE_ERRORED, item, NULL, "%s", err.msg);
        } else {
            search(answer, check, item, regex, out);
        }
    }
}

/* --- equals --- */

static void trim(const char **s, size_t *len) {
    while (*len && isspace((unsigned char)(*s)[0])) {
        (*s)++;
        (*len)--;
    }
    while (*len && isspace((unsigned char)(*s)[*len - 1])) {
        (*len)--;
    }
}

static bool is_digit(const char *s) {
    return *s >= '0' && *s <= '9';
}

/* Digits with or without commas between groups of three, copied without them. Returns
 * where they end. */
static const char *read_digits(const char *s, char *out, size_t *n) {
    const char *at = s;
    size_t group = 0;
    bool commas = false;
    for (;; at++) {
        if (is_digit(at)) {
            group++;
        } else if (*at == ',' && group > 0 && group <= 3 && (!commas || group == 3) &&
                   is_digit(at + 1) && is_digit(at + 2) && is_digit(at + 3) &&
                   !is_digit(at + 4)) {
            commas = true;
            group = 0;
            continue;
        } else {
            break;
        }
        if (*n < MAX_DIGITS) {
            out[(*n)++] = *at;
        }
    }
    return at;
}

/* The sign before s, '+' when there is none ("10-5" has none), and whether the number is
 * part of a word, as in sm_90. */
static char read_sign(const char *text, const char *s, bool *ret_in_word) {
    const char *before = s;
    char sign = '+';
    if (s > text && (s[-1] == '-' || s[-1] == '+')) {
        before = s - 1;
        sign = s[-1];
    } else if (s - text >= 3 && memcmp(s - 3, "\xE2\x88\x92", 3) == 0) { /* U+2212 */
        before = s - 3;
        sign = '-';
    }
    unsigned char c = before > text ? (unsigned char)before[-1] : ' ';
    bool operand = before < s && (isalnum(c) || c == ')' || c == '_');
    *ret_in_word = !operand && (isalpha(c) || c == '_' || c >= 0x80);
    return operand ? '+' : sign;
}

/* A number that begins at the digit or point s; returns where it ends. *ret stays when it
 * is part of a word. */
static const char *read_number(const char *text, const char *s, double *ret) {
    static const char further[] = "0123456789.eE+-"; /* a fraction, an exponent */
    char digits[MAX_DIGITS + MAX_FURTHER + 2], *end;
    bool in_word;
    size_t n = 1;
    digits[0] = read_sign(text, s, &in_word);
    const char *at = read_digits(s, digits, &n);
    size_t more = strnlen(at, MAX_FURTHER);
    more = strspn(at, further) < more ? strspn(at, further) : more;
    memcpy(digits + n, at, more);
    digits[n + more] = '\0';
    double value = strtod(digits, &end);
    if (!in_word) {
        *ret = value;
    }
    at += end - (digits + n);
    return at + strspn(at, "0123456789"); /* of one that is longer than all that */
}

/* The last number; false if there is none. */
static bool last_number(const char *text, size_t len, double *ret) {
    bool found = false;
    const char *end = text + len;
    for (const char *s = text; s < end;) {
        if (is_digit(s) || (*s == '.' && is_digit(s + 1))) {
            double value = NAN;
            s = read_number(text, s, &value);
            if (!isnan(value)) {
                *ret = value;
                found = true;
            }
        } else {
            s++;
        }
    }
    return found;
}

static void equals_number(const struct answer *answer, const json_t *expected,
                          struct assertions *out) {
    double wanted = json_number_value(json_object_get(expected, "number"));
    double tolerance = json_number_value(json_object_get(expected, "tolerance"));
    double found = 0;
    if (!last_number(answer->text, answer->len, &found)) {
        assertion_add(out, "equals", GRADE_FAILED, expected, NULL,
                      "the answer has no number");
        return;
    }
    bool equal = found == wanted || fabs(found - wanted) <= tolerance;
    assertion_add(out, "equals", equal ? GRADE_PASSED : GRADE_FAILED, expected,
                  json_double(found), "the last number is %.17g", found);
}

void grade_equals(struct answer *answer, const struct test_case *, const char *check,
                  const json_t *expected, struct assertions *out) {
    if (json_is_object(expected)) {
        equals_number(answer, expected, out);
        return;
    }
    const char *text = answer->text, *wanted = json_string_value(expected);
    size_t len = answer->len, wanted_len = json_string_length(expected);
    trim(&text, &len);
    trim(&wanted, &wanted_len);
    bool equal = len == wanted_len && memcmp(text, wanted, len) == 0;
    assertion_add(out, check, equal ? GRADE_PASSED : GRADE_FAILED, expected,
                  evidence(text, len), "%s", equal ? "equal" : "something else");
}

/* --- json_schema --- */

static const struct markdown_code *first_json(const struct answer_code *code) {
    const struct markdown_code *bare = NULL;
    for (size_t i = 0; i < code->blocks.code_count; i++) {
        const struct markdown_code *block = &code->blocks.codes[i];
        if (strcmp(block->language, "json") == 0) {
            return block;
        }
        bool opens = strchr("{[", block->text[strspn(block->text, " \t\r\n")]) != NULL;
        bare = !bare && !block->language[0] && opens ? block : bare;
    }
    return bare;
}

/* The whole answer when it is JSON, else its first block of JSON. */
static json_t *json_of(struct answer *answer, struct err *err) {
    json_t *whole = answer->len <= MAX_JSON
                        ? structured_parse(answer->text, answer->len, NULL)
                        : NULL;
    if (whole) {
        return whole;
    }
    const struct markdown_code *block = first_json(answer_code_of(answer));
    if (!block) {
        err_set(err, -1, "the answer is not JSON and has no JSON block");
        return NULL;
    }
    size_t len = strlen(block->text);
    if (len > MAX_JSON) {
        err_set(err, -1, "the block of JSON at line %d has more than 128 KiB",
                block->line);
        return NULL;
    }
    json_t *value = structured_parse(block->text, len, err);
    if (!value) {
        err_wrap(err, "the block of JSON at line %d", block->line);
    }
    return value;
}

void grade_json_schema(struct answer *answer, const struct test_case *, const char *check,
                       const json_t *expected, struct assertions *out) {
    struct err err = {0};
    struct schema *schema = NULL;
    autobuf text = BUF_INIT(MAX_SCHEMA);
    if (json_write(&text, expected) < 0 || schema_new(text.data, &schema, &err) < 0) {
        assertion_add(out, check, GRADE_ERRORED, expected, NULL, "the schema: %s",
                      err.msg);
        return;
    }
    autojson *value = json_of(answer, &err);
    bool fits = value && schema_check(schema, value, NULL, &err) == 0;
    autofree char *found =
        value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    assertion_add(out, check, fits ? GRADE_PASSED : GRADE_FAILED, expected,
                  found ? evidence(found, strlen(found)) : NULL, "%s",
                  fits ? "it fits" : err.msg);
    schema_free(schema);
}
