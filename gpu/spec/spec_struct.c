#include "gpu/spec/spec_struct.h"

#include "base/err.h"
#include "gpu/spec/spec_internal.h"

enum { POINTER_BYTES = 8 };

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* --- layout --- */

static bool is_pointer(const json_t *member) {
    return json_object_get(member, "of") != NULL;
}

static size_t member_count(const json_t *member) {
    const json_t *values = json_object_get(member, "values");
    return values ? json_array_size(values)
                  : (size_t)json_get_integer(member, "count", 1);
}

/* Of one element of a member. */
static struct spec_layout member_layout(const json_t *member) {
    if (json_object_get(member, "struct")) {
        return spec_struct_layout(member);
    }
    size_t bytes =
        is_pointer(member)
            ? POINTER_BYTES
            : tensor_type_bytes(tensor_type_find(json_get_string(member, "type", "")));
    return (struct spec_layout){bytes, bytes};
}

/* Returns the offset of the next member, and moves *at to the member's end; *at
 * saturates. */
static size_t place_member(const json_t *member, size_t *at, size_t *align) {
    struct spec_layout own = member_layout(member);
    size_t offset = round_up(*at, own.align), all;
    bool fits = !__builtin_mul_overflow(own.bytes, member_count(member), &all) &&
                all <= SPEC_STRUCT_MAX_BYTES;
    *at = offset + (fits ? all : SPEC_STRUCT_MAX_BYTES + 1);
    *align = own.align > *align ? own.align : *align;
    return offset;
}

struct spec_layout spec_struct_layout(const json_t *holder) {
    struct spec_layout ret = {0, (size_t)json_get_integer(holder, "align", 1)};
    json_each(json_object_get(holder, "struct"), i, member) {
        place_member(member, &ret.bytes, &ret.align);
        if (ret.bytes > SPEC_STRUCT_MAX_BYTES) {
            break; /* refused: the rest need not be counted */
        }
    }
    ret.bytes = round_up(ret.bytes, ret.align);
    return ret;
}

/* --- recognising one --- */

static int check_struct(struct spec_reader *r, const json_t *holder, const char *at,
                        unsigned depth);

static int check_count(struct spec_reader *r, const json_t *member, const char *at) {
    const json_t *count = json_object_get(member, "count");
    json_int_t value = json_integer_value(count);
    return !count || (value >= 1 && value <= SPEC_STRUCT_MAX_BYTES)
               ? 0
               : err_set(r->err, -EINVAL, "%s.count: 1 to %d is expected", at,
                         SPEC_STRUCT_MAX_BYTES);
}

static int check_array(struct spec_reader *r, const json_t *member, const char *at) {
    const json_t *values = json_object_get(member, "values");
    enum tensor_type type;
    int n = spec_check_type(r, member, at, &type);
    if (n < 0) {
        return n;
    }
    if (!json_array_size(values) || json_array_size(values) > SPEC_STRUCT_MAX_BYTES ||
        json_object_get(member, "count")) {
        return err_set(r->err, -EINVAL,
                       "%s.values: a list of values, without a count, is expected", at);
    }
    json_each(values, i, value) {
        char path[256];
        snprintf(path, sizeof path, "%s.values[%zu]", at, i);
        n = spec_check_value(r, type, value, path);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

static int check_pointer(struct spec_reader *r, const json_t *member, const char *at) {
    const char *name = json_get_string(member, "of", NULL);
    if (!name || kernel_spec_buffer(r->spec, name) == SIZE_MAX) {
        return err_set(r->err, -EINVAL,
                       "%s.of: expected the name of a buffer described earlier", at);
    }
    char path[256];
    const json_t *behind = json_object_get(member, "at");
    snprintf(path, sizeof path, "%.240s.at", at);
    return behind ? spec_check_value(r, TENSOR_INT64, behind, path) : 0;
}

/* One thing at a time: what it would be otherwise is anybody's guess. */
static int check_kind(struct spec_reader *r, const json_t *member, const char *at) {
    static const char *const kinds[] = {"value", "values", "of", "struct"};
    const char *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        bool is = json_object_get(member, kinds[i]) != NULL;
        if (is && found) {
            return err_set(r->err, -EINVAL, "%s: it has \"%s\" and \"%s\"", at, found,
                           kinds[i]);
        }
        found = is ? kinds[i] : found;
    }
    bool typed = found && (!strcmp(found, "value") || !strcmp(found, "values"));
    static const char *const others[] = {"align", "bytes"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (found && strcmp(found, "struct") != 0 && json_object_get(member, others[i])) {
            return err_set(r->err, -EINVAL, "%s.%s: only a \"struct\" has it", at,
                           others[i]);
        }
    }
    if (found && strcmp(found, "of") != 0 && json_object_get(member, "at")) {
        return err_set(r->err, -EINVAL, "%s.at: only a pointer (\"of\") has it", at);
    }
    return found && !typed && json_object_get(member, "type")
               ? err_set(r->err, -EINVAL, "%s.type: a member with \"%s\" takes no type",
                         at, found)
               : 0;
}

static int check_member(struct spec_reader *r, const json_t *member, const char *at,
                        unsigned depth) {
    enum tensor_type type;
    if (!json_is_object(member)) {
        return err_set(r->err, -EINVAL, "%s: an object is expected", at);
    }
    int n = spec_check_members(r, member, KERNEL_SPEC_STRUCTURE_MEMBER_MEMBERS, at);
    n = n < 0 ? n : check_count(r, member, at);
    n = n < 0 ? n : check_kind(r, member, at);
    if (n < 0) {
        return n;
    }
    return json_object_get(member, "struct")   ? check_struct(r, member, at, depth + 1)
           : json_object_get(member, "values") ? check_array(r, member, at)
           : is_pointer(member)                ? check_pointer(r, member, at)
                                               : spec_check_scalar(r, member, at, &type);
}

/* Checks the author's offset of a member, or size of the struct. */
static int check_told(struct spec_reader *r, const json_t *told, size_t have,
                      const char *what, const char *at) {
    if (told && (!json_is_integer(told) || json_integer_value(told) < 0 ||
                 (size_t)json_integer_value(told) != have)) {
        autofree char *text = json_dumps(told, JSON_ENCODE_ANY);
        return err_set(r->err, -EINVAL,
                       "%s.%s: %.40s is declared, natural alignment "
                       "gives %zu",
                       at, what, text ? text : "?", have);
    }
    return 0;
}

static int check_struct(struct spec_reader *r, const json_t *holder, const char *at,
                        unsigned depth) {
    const json_t *members = json_object_get(holder, "struct");
    size_t bytes = 0, align = 1;
    if (!json_is_array(members) || !json_array_size(members) ||
        json_array_size(members) > SPEC_STRUCT_MAX_MEMBERS ||
        depth > SPEC_STRUCT_MAX_DEPTH) {
        return err_set(r->err, -EINVAL,
                       "%s.struct: a list of 1 to %d members, nested at most %d deep, is "
                       "expected",
                       at, SPEC_STRUCT_MAX_MEMBERS, SPEC_STRUCT_MAX_DEPTH);
    }
    int n = 0;
    json_each(members, i, member) {
        char path[224];
        snprintf(path, sizeof path, "%.180s.struct[%zu]", at, i);
        n = n < 0 ? n : check_member(r, member, path, depth);
        if (n < 0) {
            return n;
        }
        size_t offset = place_member(member, &bytes, &align);
        n = check_told(r, json_object_get(member, "offset"), offset, "offset", path);
        if (n == 0 && bytes > SPEC_STRUCT_MAX_BYTES) {
            n = err_set(r->err, -EINVAL, "%s: a kernel's parameters hold %d bytes", path,
                        SPEC_STRUCT_MAX_BYTES);
        }
    }
    return n < 0 ? n
                 : check_told(r, json_object_get(holder, "bytes"),
                              spec_struct_layout(holder).bytes, "bytes", at);
}

int spec_struct_check(struct spec_reader *r, const json_t *holder, const char *at) {
    return check_struct(r, holder, at, 1);
}

/* --- its values --- */

struct struct_walk {
    int (*visit)(const struct spec_struct_value *value, void *data);
    void *data;
};

static int walk_struct(const struct struct_walk *w, const json_t *holder, size_t base);

static int walk_member(const struct struct_walk *w, const json_t *member, size_t base) {
    const json_t *values = json_object_get(member, "values");
    struct spec_layout own = member_layout(member);
    for (size_t k = 0; k < member_count(member); k++) {
        size_t offset = base + k * own.bytes;
        const struct spec_struct_value value = {
            .type = is_pointer(member)
                        ? TENSOR_TYPES
                        : tensor_type_find(json_get_string(member, "type", "")),
            .value = values
                         ? json_array_get(values, k)
                         : json_object_get(member, is_pointer(member) ? "of" : "value"),
            .at = json_object_get(member, "at"),
            .offset = offset,
        };
        int n = json_object_get(member, "struct") ? walk_struct(w, member, offset)
                                                  : w->visit(&value, w->data);
        if (n) {
            return n;
        }
    }
    return 0;
}

static int walk_struct(const struct struct_walk *w, const json_t *holder, size_t base) {
    size_t at = 0, align = 1;
    json_each(json_object_get(holder, "struct"), i, member) {
        int n = walk_member(w, member, base + place_member(member, &at, &align));
        if (n) {
            return n;
        }
    }
    return 0;
}

int spec_struct_each(const json_t *holder,
                     int (*visit)(const struct spec_struct_value *value, void *data),
                     void *data) {
    return walk_struct(&(struct struct_walk){visit, data}, holder, 0);
}
