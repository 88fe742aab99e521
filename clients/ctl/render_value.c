/* Any JSON value on a terminal, as an indented outline. */
#include "clients/ctl/render.h"

static void put_scalar(const struct terminal *t, const json_t *value) {
    if (json_is_string(value)) {
        terminal_put(t, STYLE_PLAIN, json_string_value(value));
        return;
    }
    autofree char *text =
        json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputs(text ? text : "", stdout);
}

static bool is_flat(const json_t *value) {
    return !(json_is_object(value) && json_object_size(value)) &&
           !(json_is_array(value) && json_array_size(value));
}

static void outline(const struct terminal *t, const json_t *value, int indent) {
    json_each_member(value, key, member) {
        printf("%*s", indent, "");
        terminal_put(t, STYLE_BOLD, key);
        fputs(is_flat(member) ? ": " : ":\n", stdout);
        if (is_flat(member)) {
            put_scalar(t, member);
            putchar('\n');
        } else {
            outline(t, member, indent + 2);
        }
    }
    json_each(value, i, member) {
        printf("%*s- ", indent, "");
        if (is_flat(member)) {
            put_scalar(t, member);
            putchar('\n');
        } else {
            putchar('\n');
            outline(t, member, indent + 2);
        }
    }
}

void render_value(const struct terminal *t, const json_t *value) {
    if (is_flat(value)) {
        put_scalar(t, value);
        putchar('\n');
    } else {
        outline(t, value, 0);
    }
}
