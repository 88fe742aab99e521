/* Deviations of endpoints from the standard, learnt from their refusals. */
#include "skills/models/api.h"

#include "skills/api_quirks_table.h"

const struct api *api_of(const struct model *model) {
    return model->api == MODEL_MESSAGES     ? &messages_api
           : model->api == MODEL_EMBEDDINGS ? &embeddings_api
                                            : &chat_api;
}

const char *api_quirk_name(unsigned bit) {
    return bit ? quirk_names[__builtin_ctz(bit)] : "";
}

static bool mentions(const struct endpoint_error *e, const char *word) {
    return strcasestr(e->message, word) != NULL;
}

/* Not "max_tokens is too large: 9000": another name for the parameter would not help. */
static bool says_unknown(const struct endpoint_error *e) {
    return endpoint_error_speaks(e, unknown_phrases) ||
           strcmp(e->code, "unsupported_parameter") == 0 ||
           strcmp(e->code, "unknown_parameter") == 0;
}

static bool is_length_quirk(const struct api_ask *sent, const struct endpoint_error *e) {
    if (sent->model->api != MODEL_CHAT) {
        return false;
    }
    return api_sends_completion_length(sent)
               ? mentions(e, "max_completion_tokens") && says_unknown(e)
               : mentions(e, "max_completion_tokens") ||
                     (mentions(e, "max_tokens") && says_unknown(e));
}

/* Whatever the endpoint calls what it refused, the next request uses a plainer form. */
static unsigned learn_form(const struct api_ask *sent) {
    return sent->form == FORM_NATIVE ? QUIRK_NO_SCHEMA
           : api_has_tool(sent)      ? QUIRK_NO_TOOL
                                     : 0;
}

static bool mentions_form(const struct api_ask *sent, const struct endpoint_error *e) {
    return (sent->form == FORM_NATIVE && endpoint_error_speaks(e, native_form_words)) ||
           (api_has_tool(sent) && endpoint_error_speaks(e, tool_form_words));
}

static unsigned learn_word(const struct api_ask *sent, const struct endpoint_error *e) {
    if (is_length_quirk(sent, e)) {
        return QUIRK_OTHER_LENGTH;
    }
    if (mentions(e, "stream_options") || mentions(e, "include_usage")) {
        return QUIRK_NO_USAGE_OPTION;
    }
    if (mentions_form(sent, e)) {
        return learn_form(sent);
    }
    if (sent->model->effort && mentions(e, "effort")) {
        return QUIRK_NO_EFFORT;
    }
    if (mentions(e, "anthropic-version")) {
        return QUIRK_OTHER_VERSION;
    }
    if (mentions(e, "stream") && says_unknown(e)) {
        return QUIRK_NO_STREAM;
    }
    if (sent->system && mentions(e, "system") && mentions(e, "role") &&
        (says_unknown(e) || mentions(e, "alternate"))) {
        return QUIRK_NO_SYSTEM;
    }
    return learn_form(sent);
}

unsigned api_learn(const struct api_ask *sent, long status,
                   const struct endpoint_error *error) {
    bool about_request = status == 400 || status == 422 || status == 501 ||
                         (status == 500 && mentions_form(sent, error));
    if (!about_request || endpoint_error_is_context(error)) {
        return 0;
    }
    unsigned quirk = learn_word(sent, error);
    return quirk & (QUIRK_OTHER_LENGTH | QUIRK_OTHER_VERSION) ? quirk
                                                              : quirk & ~sent->quirks;
}
