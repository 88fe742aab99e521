/* grade_judge: a model decides, one verdict a criterion.
 *
 * The judge sees the question, the criteria and the answer, and nothing of where the
 * answer comes from. The answer stands between two lines that hold a digest of it: no
 * answer can contain the digest of itself, and the same answer makes the same request,
 * which the cache then knows. A verdict's evidence must stand in the answer. */
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "skills/grading/grade_check.h"
#include "skills/models/model_client.h"

#include "skills/judge_texts.h"

#define MAX_SHOWN (128u << 10) /* of question and answer each */
#define MAX_PROMPT (1u << 20)
#define MAX_TOKENS 8192
#define BOUNDARY 24

struct judging {
    struct grade_step step;
    struct grade_wait wait;
    const struct answer *answer;
    const json_t *criteria;
    struct model_call *call;
};

/* --- the question --- */

static void add_text(struct buf *out, const char *text, size_t len) {
    size_t kept = text_cut(text, len, MAX_SHOWN);
    text_clean(out, text, kept);
    if (kept < len) {
        buf_addf(out, "\n[%zu more bytes are left out]", len - kept);
    }
}

static void set_boundary(const struct test_case *test, const struct answer *answer,
                         const json_t *criteria, char ret[static BOUNDARY + 1]) {
    autofree char *text = json_dumps(criteria, JSON_COMPACT);
    struct hash hash;
    char hex[HASH_HEX_SIZE];
    hash_init(&hash);
    hash_add_field(&hash, test->input, strlen(test->input));
    hash_add_field(&hash, text ? text : "", text ? strlen(text) : 0);
    hash_add_field(&hash, answer->text, answer->len);
    hash_hex(&hash, hex);
    memcpy(ret, hex, BOUNDARY);
    ret[BOUNDARY] = '\0';
}

static char *make_prompt(const struct test_case *test, const struct answer *answer,
                         const json_t *criteria) {
    struct buf out = BUF_INIT(MAX_PROMPT);
    char boundary[BOUNDARY + 1];
    autofree char *question = test_case_prompt(test);
    set_boundary(test, answer, criteria, boundary);
    buf_addf(&out, "The question, between two lines with the word question-%s:\n",
             boundary);
    buf_addf(&out, "question-%s\n", boundary);
    add_text(&out, question, strlen(question));
    buf_addf(&out, "\nquestion-%s\n\nThe criteria:\n", boundary);
    json_each(criteria, i, item) {
        buf_addf(&out, "%zu. ", i + 1);
        text_clean(&out, json_string_value(item), json_string_length(item));
        buf_addc(&out, '\n');
    }
    buf_addf(&out, "\nThe answer, between two lines with the word answer-%s:\n",
             boundary);
    buf_addf(&out, "answer-%s\n", boundary);
    add_text(&out, answer->text, answer->len);
    buf_addf(&out, "\nanswer-%s\n\nGive one verdict for each of the %zu criteria.",
             boundary, json_array_size(criteria));
    return buf_detach(&out);
}

/* --- the verdicts --- */

/* Without blanks and invisible characters, as quotations lose and gain them, and with
 * each ellipsis as three points, which are as long. */
static char *squeezed(const char *text, size_t len) {
    static const char sign[] = "\xE2\x80\xA6";
    autobuf clean = BUF_INIT(4 * (size_t)GRADE_MAX_ANSWER + 64);
    text_clean(&clean, text, len);
    char *out = xmalloc(clean.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < clean.len; i++) {
        if (!isspace((unsigned char)clean.data[i])) {
            out[n++] = clean.data[i];
        }
    }
    out[n] = '\0';
    for (char *at = out; (at = strstr(at, sign));) {
        memcpy(at, "...", 3);
    }
    return out;
}

/* Every piece of the evidence between ellipses stands in the answer, in this order. */
static bool is_quoted(const char *squeezed_answer, const char *quotation) {
    autofree char *quote = squeezed(quotation, strlen(quotation));
    const char *at = squeezed_answer;
    if (strstr(at, quote)) {
        return true;
    }
    for (char *piece = quote; *piece;) {
        char *end = strstr(piece, "...");
        size_t n = end ? (size_t)(end - piece) : strlen(piece);
        char kept = piece[n];
        piece[n] = '\0';
        const char *found = strstr(at, piece);
        piece[n] = kept;
        if (!found) {
            return false;
        }
        at = found + n;
        piece += n + (end ? 3 : 0);
    }
    return true;
}

static const json_t *verdict_on(const json_t *verdicts, size_t criterion) {
    const json_t *found = NULL;
    json_each(verdicts, i, verdict) {
        if (json_get_integer(verdict, "criterion", 0) == (json_int_t)criterion + 1) {
            if (found) {
                return NULL; /* two verdicts are none */
            }
            found = verdict;
        }
    }
    return found;
}

static void add_verdict(struct judging *j, const json_t *criterion, const json_t *verdict,
                        const char *squeezed_answer) {
    const char *quote = json_get_string(verdict, "evidence", "");
    bool met = json_get_bool(verdict, "met", 0);
    if (!verdict) {
        assertion_add(j->wait.out, "judge", GRADE_ERRORED, criterion, NULL,
                      "the judge gave no single verdict");
    } else if (met && quote[0] && !is_quoted(squeezed_answer, quote)) {
        assertion_add(j->wait.out, "judge", GRADE_FAILED, criterion,
                      evidence(quote, strlen(quote)),
                      "the judge's evidence is not in the answer");
    } else {
        assertion_add(j->wait.out, "judge", met ? GRADE_PASSED : GRADE_FAILED, criterion,
                      quote[0] ? evidence(quote, strlen(quote)) : NULL, "%s",
                      met ? "met" : "not met");
    }
}

static void add_all(const json_t *criteria, struct assertions *out, const char *why) {
    json_each(criteria, i, criterion) {
        assertion_add(out, "judge", GRADE_ERRORED, criterion, NULL, "%s", why);
    }
}

static void read_answer(struct judging *j, const struct model_answer *answer) {
    if (answer->outcome != MODEL_ANSWERED || !answer->json) {
        autofree char *why = xasprintf("the judge did not answer: %s",
                                       answer->message && answer->message[0]
                                           ? answer->message
                                           : model_outcome_name(answer->outcome));
        add_all(j->criteria, j->wait.out, why);
        return;
    }
    const json_t *verdicts = json_object_get(answer->json, "verdicts");
    autofree char *text = squeezed(j->answer->text, j->answer->len);
    json_each(j->criteria, i, criterion) {
        add_verdict(j, criterion, verdict_on(verdicts, i), text);
    }
}

static void on_answer(struct model_call *, const struct model_answer *answer,
                      void *data) {
    struct judging *j = data;
    read_answer(j, answer);
    j->wait.done(j->wait.data);
    free(j);
}

/* --- asking --- */

static void judge_cancel(struct grade_step *step) {
    model_call_cancel(container_of(step, struct judging, step)->call);
}

/* The check's own judge by name (never an address: tests come with skills), or the
 * default one. own is filled when it is used. */
static const struct model *find_judge(const struct grade_room *room,
                                      const json_t *expected, struct model *own,
                                      struct err *err) {
    const json_t *name = json_object_get(expected, "model");
    if (!name) {
        if (!room->judge) {
            err_set(err, -ENOENT, "no judge is configured");
        }
        return room->judge;
    }
    return model_resolve(own, name, room->model_aliases, NULL, err) < 0 ? NULL : own;
}

static int ask(struct judging *j, const struct grade_room *room, const char *prompt,
               const struct model *model, struct err *err) {
    autojson *schema = json_loads(verdict_schema, 0, NULL);
    const struct model_message message = {"user", prompt};
    struct model_request request = {.model = model,
                                    .system = instructions,
                                    .messages = &message,
                                    .message_count = 1,
                                    .max_tokens = MAX_TOKENS,
                                    .schema = schema,
                                    .schema_name = "verdicts",
                                    .budget = room->budget};
    return model_call_start(room->models, &request, NULL, on_answer, j, &j->call, err);
}

struct grade_step *grade_judge_start(const struct grade_wait *wait,
                                     const struct test_case *test,
                                     const struct answer *answer) {
    const struct grade_room *room = wait->room;
    const json_t *criteria = json_object_get(wait->expected, "criteria");
    struct err err = {0};
    struct model own = {0};
    const struct model *model =
        room->models ? find_judge(room, wait->expected, &own, &err) : NULL;
    if (!model) {
        add_all(criteria, wait->out, err.msg[0] ? err.msg : "no model can be asked here");
        return NULL;
    }
    struct judging *j = xcalloc(1, sizeof *j);
    *j = (struct judging){
        .step = {judge_cancel}, .wait = *wait, .answer = answer, .criteria = criteria};
    autofree char *prompt = make_prompt(test, answer, criteria);
    int rc = ask(j, room, prompt, model, &err);
    if (model == &own) {
        model_finish(&own);
    }
    if (rc < 0) {
        add_all(criteria, wait->out, err.msg);
        free(j);
        return NULL;
    }
    return &j->step;
}

void grade_judge_skip(const json_t *expected, struct assertions *out, const char *why) {
    json_each(json_object_get(expected, "criteria"), i, criterion) {
        assertion_skip(out, "judge", criterion, why);
    }
}
