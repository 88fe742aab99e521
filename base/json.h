#pragma once
/* json: jansson, hardened.
 *
 * Values are jansson's; nothing is wrapped. This file adds what jansson refuses or leaves
 * to its callers: bytes that are not UTF-8, lone surrogates, a depth limit, numbers that
 * are not finite. */
#include "base/mem.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

#define JSON_MAX_NESTING 512

/* Parse one JSON text of any kind. `text` is changed in place where it needs repair (lone
 * surrogate escapes become \ufffd; malformed UTF-8 is replaced in a copy). Depth over
 * JSON_MAX_NESTING, trailing bytes and invalid JSON fail with -EBADMSG; out-of-range
 * numbers with -ERANGE. Of equal keys the last wins. Strings may hold U+0000. */
json_t *json_parse(char *text, size_t len, struct err *err);
/* The same, but a key that stands twice in an object fails with -EBADMSG and its name. */
json_t *json_parse_once(char *text, size_t len, struct err *err);

/* A JSON string of outside bytes: repaired, and for json_clean also stripped as
 * text_clean does. Never NULL. */
json_t *json_text(const char *s, size_t len);
json_t *json_clean(const char *s, size_t len);
json_t *json_clean_z(const char *s); /* NUL-terminated; NULL gives "" */
/* A copy in which every text, and every key, is clean. */
json_t *json_clean_all(const json_t *value);

/* A number, or the strings "NaN" "Infinity" "-Infinity". */
json_t *json_double(double value);

/* Append value as compact JSON (a real number in the fewest digits that give it back, key
 * order as inserted). -EMSGSIZE
 * at out's limit, -ELOOP when it nests too deeply to be a tree of ours; nothing is added
 * then. */
int json_write(struct buf *out, const json_t *value);

/* json_dumps of any value, its real numbers in few digits as above. */
char *json_shown(const json_t *value, size_t flags);

/* A text as it is, a number in nine digits at most. */
void json_tell(struct buf *out, const json_t *value);

/* Convenience for reading objects that a schema has already checked: a default for a
 * missing key. The string is borrowed from obj. */
const char *json_get_string(const json_t *obj, const char *key, const char *fallback);
json_int_t json_get_integer(const json_t *obj, const char *key, json_int_t fallback);
/* Whether it is this text; a missing one is "". */
bool json_says(const json_t *obj, const char *key, const char *text);
int json_get_bool(const json_t *obj, const char *key, int fallback);
double json_get_number(const json_t *obj, const char *key, double fallback);

/* A number, or null for what is not finite. */
json_t *json_finite(double value);
/* Is it an array of texts, and is this text one of them? */
bool json_is_texts(const json_t *array);
bool json_has_text(const json_t *array, const char *text);
/* The names of an object's members: new reference. */
json_t *json_keys(const json_t *object);
/* Those of from's members that keys (NULL-terminated) name and that are there. */
void json_copy_members(json_t *to, const json_t *from, const char *const *keys);

/* Each item of an array with its index, or each member of an object with its name:
 *     json_each(findings, i, finding) { … }
 * declares both, for the loop alone. Of what is no array (no object), none; break and
 * continue do what they do in any loop. Nothing may be added or removed meanwhile. */
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
