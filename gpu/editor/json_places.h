#pragma once
/* json_places: where the members and elements of a JSON text stand.
 *
 * For editors: the text may be half written. Nothing fails; what cannot be understood is
 * passed over, and a member may lack its value. Offsets are bytes of the text. */
#include <stdbool.h>
#include <stddef.h>

#define JSON_PLACES_MAX 65536u /* values that are looked at; the rest is passed over */

struct json_place {
    size_t parent;       /* index; the first of a text is its own */
    size_t index;        /* among its parent's members or elements */
    size_t key, key_end; /* a member's name with its quotes; else both 0 */
    size_t colon;        /* behind the ':'; 0 where there is none */
    size_t start, end;   /* the value, brackets and quotes included */
    char kind;           /* '{' '[' '"', 'v' a number or a word, 0: it is missing */
    bool closed;         /* of a container: its bracket is there */
};

struct json_places {
    const char *text; /* borrowed */
    size_t len;
    struct json_place *list;
    size_t count;
};

void json_places_read(struct json_places *ret, const char *text, size_t len);
void json_places_finish(struct json_places *p);

/* The place of a path such as "args[2].shape[0]" (a ".kernel" may begin with a dot),
 * len bytes of it; the deepest one on the way when the rest is not there. SIZE_MAX when
 * not even its first member is. *ret_whole (may be NULL): all of it was found. */
size_t json_places_find(const struct json_places *p, const char *path, size_t len,
                        bool *ret_whole);
/* The same for a JSON Pointer, "/args/2/shape". */
size_t json_places_pointer(const struct json_places *p, const char *pointer);
/* A member's name without its quotes, escapes as they stand; *ret_len 0: an element. */
const char *json_place_key(const struct json_places *p, size_t i, size_t *ret_len);
/* Likewise the text of a string's value. */
const char *json_place_string(const struct json_places *p, size_t i, size_t *ret_len);
/* The member of an object with this name, SIZE_MAX when there is none. */
size_t json_place_member(const struct json_places *p, size_t object, const char *name);

/* What stands at an offset. */
struct json_spot {
    size_t container;  /* the innermost object or list around it, SIZE_MAX: none */
    size_t place;      /* the member or element it belongs to, SIZE_MAX: a new one */
    bool is_key;       /* a member's name, else a value */
    size_t start, end; /* the bytes that a word put there would replace */
};
void json_places_at(const struct json_places *p, size_t offset, struct json_spot *ret);
