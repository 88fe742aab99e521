/* OpenAI-compatible embeddings: POST …/embeddings, one text at a time, as OpenAI,
 * llama.cpp, Ollama and vLLM speak it. The answer's text is the vector's direction, a
 * JSON list of whole numbers of a byte: all that is kept of it. */
#include "skills/models/api.h"

#include <math.h>

#define MAX_NUMBERS 16384u /* of a vector */

static json_t *embeddings_request(const struct api_ask *ask) {
    const char *text = ask->messages[ask->message_count - 1].text;
    return json_pack("{s:o, s:o}", "model",
                     json_text(ask->model->model, strlen(ask->model->model)), "input",
                     json_text(text, strlen(text)));
}

/* It never streams. */
static int embeddings_event(struct api_reply *r, const char *, const json_t *data) {
    r->failed = endpoint_error_read(&r->error, data);
    return 0;
}

/* The greatest of its numbers, without sign; 0 when it is no vector. */
static double greatest(const json_t *vector) {
    double most = 0;
    json_each(vector, i, number) {
        double x = fabs(json_number_value(number));
        if (!json_is_number(number) || !isfinite(x) || i == MAX_NUMBERS) {
            return 0;
        }
        most = fmax(most, x);
    }
    return most;
}

static int add_direction(struct buf *out, const json_t *vector, double most) {
    autojson *bytes = json_array();
    json_each(vector, i, number) {
        double x = 127 * json_number_value(number) / most;
        json_array_append_new(bytes, json_integer(lrint(x)));
    }
    return reply_add_json(out, bytes);
}

static int embeddings_whole(struct api_reply *r, const json_t *answer) {
    const json_t *first = json_array_get(json_object_get(answer, "data"), 0);
    const json_t *vector = json_object_get(first, "embedding");
    double most = greatest(vector);
    r->seen = r->ended = most > 0;
    if (!r->seen) {
        r->failed = endpoint_error_read(&r->error, answer);
        return 0;
    }
    r->stop = REPLY_ENDED;
    r->usage.input = reply_count(json_object_get(answer, "usage"), "prompt_tokens");
    r->usage.reported = r->usage.input > 0;
    reply_set_word(r->served_model, sizeof r->served_model,
                   json_object_get(answer, "model"));
    return add_direction(&r->text, vector, most);
}

const struct api embeddings_api = {"/embeddings", embeddings_request, embeddings_event,
                                   embeddings_whole};
