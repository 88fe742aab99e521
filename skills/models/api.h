#pragma once
/* api: the request and the answer of one question in an endpoint's API. Three APIs,
 * messages_api, chat_api and embeddings_api, behind one table. Pure: JSON in, JSON out;
 * no network, no time. */
#include "skills/models/endpoint_error.h"
#include "skills/models/model_client.h"

#include "base/buf.h"

#define API_MAX_TEXT (4u << 20) /* bytes of an answer's text, of a tool's arguments */

/* Features that an endpoint refuses for a model; requests then avoid them. */
enum api_quirk {
    QUIRK_OTHER_LENGTH = 1 << 0, /* max_tokens for max_completion_tokens, or reversed */
    QUIRK_NO_USAGE_OPTION = 1 << 1, /* stream_options */
    QUIRK_NO_SCHEMA = 1 << 2,       /* structured output, refused or ignored */
    QUIRK_NO_TOOL = 1 << 3,         /* tools */
    QUIRK_NO_EFFORT = 1 << 4,
    QUIRK_OTHER_VERSION = 1 << 5, /* of anthropic-version */
    QUIRK_NO_STREAM = 1 << 6,
    /* a system message: its text goes before the first user text */
    QUIRK_NO_SYSTEM = 1 << 7,
};
#define QUIRK_COUNT 8
const char *api_quirk_name(unsigned bit); /* "stream_options refused" */

/* The ways to request JSON. */
/* FORM_OFFERED: a tool that the model may call or not; FORM_OFFERED_WORDS: described in
 * the text. */
enum answer_form {
    FORM_TEXT,
    FORM_NATIVE,
    FORM_TOOL,
    FORM_WORDS,
    FORM_OFFERED,
    FORM_OFFERED_WORDS,
};

/* Everything is borrowed. */
struct api_ask {
    const struct model *model;
    const char *system; /* or NULL */
    const struct model_message *messages;
    size_t message_count;
    unsigned max_tokens;
    enum answer_form form;
    const json_t *schema;    /* for the forms that need it */
    const char *schema_name; /* [A-Za-z0-9_-]{1,64} */
    /* description of a tool that is offered; NULL: the tool is forced */
    const char *tool;
    unsigned quirks;
};

enum reply_stop {
    REPLY_OPEN,
    REPLY_ENDED,
    REPLY_TRUNCATED,    /* max_tokens */
    REPLY_CONTEXT_FULL, /* the answer filled the context */
    REPLY_REFUSED,
};
struct api_reply {
    struct buf text, arguments, refusal; /* arguments: of a tool call, JSON text */
    struct model_usage usage;
    uint64_t uncached;       /* Messages: usage.input without cached tokens */
    uint64_t thinking_bytes; /* of reasoning that was streamed and not kept */
    char served_model[128], stop_reason[64];
    enum reply_stop stop;
    bool seen;   /* a part of the answer arrived */
    bool ended;  /* its end was announced: it is complete */
    bool failed; /* with `error`, after HTTP 200 */
    struct endpoint_error error;
};
void reply_init(struct api_reply *r);
void reply_finish(struct api_reply *r);

struct api {
    const char *path;                              /* "/chat/completions" */
    json_t *(*request)(const struct api_ask *ask); /* new reference */
    /* One parsed event of the stream; or a whole answer. 0, or -EMSGSIZE over
     * API_MAX_TEXT. Unknown events are skipped. */
    int (*event)(struct api_reply *r, const char *name, const json_t *data);
    int (*whole)(struct api_reply *r, const json_t *answer);
};
extern const struct api messages_api, chat_api, embeddings_api;
const struct api *api_of(const struct model *model);

/* The quirk that an error reveals (a bit), or 0. */
unsigned api_learn(const struct api_ask *sent, long status,
                   const struct endpoint_error *error);
json_t *api_effort(const struct api_ask *ask); /* the part that is sent: new, or NULL */
/* whether a tool is sent, forced or offered */
bool api_has_tool(const struct api_ask *ask);
const char *api_tool_help(const struct api_ask *ask);
bool api_sends_completion_length(const struct api_ask *ask); /* max_completion_tokens */

/* For the readers. */
void reply_set_word(char *ret, size_t size, const json_t *string);
/* 0 if absent or out of range */
uint64_t reply_count(const json_t *object, const char *key);
/* adds nothing if it is not a string */
int reply_add(struct buf *out, const json_t *string);
int reply_add_json(struct buf *out, const json_t *value);
