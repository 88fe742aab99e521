#pragma once
/* json: jansson, hardened.
 *
 * Values are plain json_t; nothing is wrapped. This file handles what jansson refuses or
 * leaves to its callers: bytes that are not UTF-8, lone surrogates, a depth limit,
 * numbers that are not finite. */
#include "base/mem.h"

#include <jansson.h>

#define JSON_MAX_NESTING 512

/* Append a step to a JSON Pointer: "/", and the name with its '~' and '/' escaped. */
void json_pointer_add(struct buf *out, const char *name);
/* Parse one JSON text of any type; a new reference, or NULL with err. Repairs `text` in
 * place where needed (lone surrogate escapes become \ufffd; malformed UTF-8 is replaced
 * in a copy). Nesting over JSON_MAX_NESTING, trailing bytes and invalid JSON fail with
 * -EBADMSG, out-of-range numbers with -ERANGE. The last of equal keys wins. Strings may
 * contain U+0000. */
json_t *json_parse(char *text, size_t len, struct err *err);
/* The same, but a repeated key in an object fails with -EBADMSG; the message names it. */
json_t *json_parse_once(char *text, size_t len, struct err *err);

/* A JSON string from outside bytes: UTF-8 repaired, for json_clean also processed by
 * text_clean. Never NULL. */
json_t *json_text(const char *s, size_t len);
json_t *json_clean(const char *s, size_t len);
json_t *json_clean_z(const char *s); /* NUL-terminated; NULL gives "" */
/* A deep copy in which text_clean has processed every string and every key. */
json_t *json_clean_all(const json_t *value);

/* A number, or the strings "NaN" "Infinity" "-Infinity". */
json_t *json_double(double value);

/* Append value as compact JSON: real numbers in the fewest digits that round-trip, keys
 * in insertion order. On -EMSGSIZE (out's limit) or -ELOOP (nested deeper than any tree
 * we build) nothing is added. */
int json_write(struct buf *out, const json_t *value);

/* Like json_dumps, with any value as the root and real numbers as above. Freed by the
 * caller. */
char *json_shown(const json_t *value, size_t flags);

/* Append for display: a string without quotes, a number with at most nine digits. */
void json_tell(struct buf *out, const json_t *value);

/* Members of objects that a schema has already checked, with a default for a missing key.
 * The string is borrowed from obj. */
const char *json_get_string(const json_t *obj, const char *key, const char *fallback);
json_int_t json_get_integer(const json_t *obj, const char *key, json_int_t fallback);
/* Whether the string member equals text; a missing member counts as "". */
bool json_says(const json_t *obj, const char *key, const char *text);
int json_get_bool(const json_t *obj, const char *key, int fallback);
double json_get_number(const json_t *obj, const char *key, double fallback);

/* A number, or null if value is not finite. */
json_t *json_finite(double value);
/* Whether the value is an array of strings; whether such an array contains text. */
bool json_is_texts(const json_t *array);
bool json_has_text(const json_t *array, const char *text);
/* The names of an object's members: new reference. */
json_t *json_keys(const json_t *object);
/* Copies the members named in keys (NULL-terminated) that `from` has. */
void json_copy_members(json_t *to, const json_t *from, const char *const *keys);

/* Loops over the items of an array with their index, or the members of an object with
 * their names:
 *     json_each(findings, i, finding) { … }
 * Both variables are declared for the loop only. Any other value gives no iterations.
 * break and continue work as usual. The loop must not add or remove anything. */
#define json_each(array, index, item)                                                    \
    for (json_t * item, *index##_of = (json_t *)(uintptr_t)(array); index##_of;          \
         index##_of = NULL)                                                              \
        for (size_t index = 0; (item = json_array_get(index##_of, index)); index++)
#define json_each_member(object, key, item)                                              \
    for (json_t * item, *key##_of = (json_t *)(uintptr_t)(object); key##_of;             \
         key##_of = NULL)                                                                \
        for (const char *key = json_object_iter_key(json_object_iter(key##_of));         \
             key && (item = json_object_iter_value(json_object_key_to_iter(key)));       \
             key = json_object_iter_key(                                                 \
                 json_object_iter_next(key##_of, json_object_key_to_iter(key))))

DEFINE_CLEANUP(json_t *, json_decref);
#define autojson autoptr(json_decref) json_t
