#include "skills/models/api.h"

#define MAX_COUNT                                                                        \
    1000000000000ll /* tokens; a larger value is invalid and could overflow a sum */

json_t *api_effort(const struct api_ask *ask) {
    const char *effort = ask->quirks & QUIRK_NO_EFFORT ? NULL : ask->model->effort;
    return effort ? json_text(effort, strlen(effort)) : NULL;
}

bool api_has_tool(const struct api_ask *ask) {
    return ask->form == FORM_TOOL || ask->form == FORM_OFFERED;
}

const char *api_tool_help(const struct api_ask *ask) {
    return ask->tool ? ask->tool : "Hands over the answer.";
}

/* --- replies --- */

void reply_init(struct api_reply *r) {
    *r = (struct api_reply){.text = BUF_INIT(API_MAX_TEXT),
                            .arguments = BUF_INIT(API_MAX_TEXT),
                            .refusal = BUF_INIT(1u << 16)};
}

void reply_finish(struct api_reply *r) {
    buf_finish(&r->text);
    buf_finish(&r->arguments);
    buf_finish(&r->refusal);
}

void reply_set_word(char *ret, size_t size, const json_t *string) {
    if (json_is_string(string)) {
        endpoint_word(ret, size, json_string_value(string), json_string_length(string));
    }
}

uint64_t reply_count(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    return n > 0 && n < MAX_COUNT ? (uint64_t)n : 0;
}

int reply_add(struct buf *out, const json_t *string) {
    return json_is_string(string)
               ? buf_add(out, json_string_value(string), json_string_length(string))
               : 0;
}

int reply_add_json(struct buf *out, const json_t *value) {
    return json_write(out, value) == -EMSGSIZE ? -EMSGSIZE : 0;
}
