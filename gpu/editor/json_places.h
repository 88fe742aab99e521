#pragma once
/* json_places: the positions of the members and elements of a JSON text. For editors: the
 * text may be incomplete. Never fails; parts that cannot be parsed are skipped, and a
 * member may have no value. Offsets are bytes of the text. */
#include "base/mem.h"

#define JSON_PLACES_MAX 65536u /* values that are read; the rest is skipped */

struct json_place {
    size_t parent;       /* index; the first of a text is its own parent */
    size_t index;        /* among its parent's members or elements */
    size_t key, key_end; /* a member's name with its quotes; otherwise both 0 */
    size_t colon;        /* after the ':'; 0 if there is none */
    size_t start, end;   /* the value, brackets and quotes included */
    char kind;           /* '{' '[' '"', 'v' a number or a word, 0: missing */
    bool closed;         /* for a container: its closing bracket is there */
};

struct json_places {
    const char *text; /* borrowed */
    size_t len;
    struct json_place *list;
    size_t count;
};

void json_places_read(struct json_places *ret, const char *text, size_t len);
void json_places_finish(struct json_places *p);

/* The place for a path such as "args[2].shape[0]" (a ".kernel" may begin with a dot), len
 * bytes long; the deepest one on the path if the rest does not exist. SIZE_MAX if its
 * first member does not. *ret_whole (may be NULL): the whole path was found. */
size_t json_places_find(const struct json_places *p, const char *path, size_t len,
                        bool *ret_whole);
/* The same for a JSON Pointer, "/args/2/shape". */
size_t json_places_pointer(const struct json_places *p, const char *pointer);
/* A member's name without its quotes, escapes unchanged; *ret_len 0: an element. */
const char *json_place_key(const struct json_places *p, size_t i, size_t *ret_len);
/* The text of a string value in the same way. */
const char *json_place_string(const struct json_places *p, size_t i, size_t *ret_len);
/* The member of an object with this name, SIZE_MAX if there is none. */
size_t json_place_member(const struct json_places *p, size_t object, const char *name);

/* The position of an offset in the structure. */
struct json_spot {
    size_t container; /* the innermost object or list around it, SIZE_MAX: none */
    size_t place;     /* the member or element to which it belongs, SIZE_MAX: a new one */
    bool is_key;      /* a member's name, otherwise a value */
    size_t start, end; /* the bytes that a word inserted there would replace */
};
void json_places_at(const struct json_places *p, size_t offset, struct json_spot *ret);
