#include "skills/triggers/trigger_list.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "skills/format/skill.h"
#include "skills/trigger_list_texts.h"

const char *const trigger_controls[] = {control_first, control_second};

/* --- neighbours --- */

static bool is_taken(const json_t *list, const char *name) {
    return json_any(list, one, json_says(one, "name", name));
}

static void take_rows(json_t *list, const json_t *rows, const char *self, size_t count) {
    json_each(rows, i, row) {
        const char *name = json_get_string(row, "name", "");
        if (json_array_size(list) < count && *name && strcmp(name, self) != 0 &&
            strcmp(name, TRIGGER_CONTROL) != 0 && !is_taken(list, name) &&
            !json_array_size(json_object_get(row, "danger"))) {
            json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "name", name, "description",
                                            json_get_string(row, "description", "")));
        }
    }
}

json_t *trigger_neighbours(const char *name, const json_t *found, const json_t *listed,
                           size_t count) {
    json_t *list = json_array();
    take_rows(list, json_object_get(found, "matches"), name, count);
    take_rows(list, json_object_get(found, "nearest"), name, count);
    take_rows(list, listed, name, count);
    return list;
}

/* --- the list --- */

struct line {
    const char *name, *description;
};

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct line *)a)->name, ((const struct line *)b)->name);
}

/* On one line, cleaned, at most what the specification allows. */
static void add_words(struct buf *out, const char *text) {
    size_t from = out->len;
    text_clean(out, text, text_cut(text, strlen(text), 4 * SKILL_MAX_DESCRIPTION));
    for (size_t i = from; i < out->len; i++) {
        out->data[i] = strchr("\t\n", out->data[i]) ? ' ' : out->data[i];
    }
}

static void add_lines(struct buf *out, struct line *lines, size_t count) {
    qsort(lines, count, sizeof *lines, by_name);
    for (size_t i = 0; i < count; i++) {
        buf_adds(out, "- ");
        add_words(out, lines[i].name);
        buf_adds(out, ": ");
        add_words(out, lines[i].description);
        buf_adds(out, "\n");
    }
}

void trigger_arm(struct arm *ret, const char *name, const char *description,
                 const json_t *neighbours) {
    struct line lines[TRIGGER_MAX_NEIGHBOURS + 2] = {
        {name, description}, {TRIGGER_CONTROL, control_description}};
    autobuf tool = BUF_INIT(ARM_MAX_TEXT);
    size_t count = 2;
    json_each(neighbours, i, one) {
        if (count < ARRAY_LEN(lines)) {
            lines[count++] = (struct line){json_get_string(one, "name", ""),
                                           json_get_string(one, "description", "")};
        }
    }
    buf_adds(&tool, tool_help);
    add_lines(&tool, lines, count);
    arm_offering(ret, ARM_SKILL, TRIGGER_TOOL, tool.data,
                 json_pack("{s:s,s:[s],s:{s:{s:s,s:s}}}", "type", "object", "required",
                           "skill", "properties", "skill", "type", "string",
                           "description", "A name of the list."));
}
