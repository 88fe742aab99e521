#include "skills/evaluation/standing.h"

#include "base/strings.h"
#include "base/text.h"

#define MAX_WORDS 300 /* bytes kept of a sentence */
#define SERVED_MAX 16
/* The number of questions without an answer after which a student is given up. */
#define UNREACHABLE_IS_GONE 6
#define SILENT_IS_GONE 12

void standing_finish(struct standing *s) {
    free(s->problem);
    free(s->hint);
}

static char *cut(const char *text) {
    return xstrndup(text, text_cut(text, strlen(text), MAX_WORDS));
}

/* Either the student does not exist or, behind a gateway, only this question is refused.
 */
static const char *const may_end_student[] = {"forbidden", "not_found", NULL};
static const char *const ends_student[] = {
    "unauthorized", "model_not_found", "out_of_money",  "no_http",
    "insecure",     "redirected",      "price_unknown", NULL};
/* Asking again does not help with these, nor with those above. */
static const char *const is_final[] = {"context_too_long", "context_cut", "bad_request",
                                       "answer_too_large", NULL};

bool standing_note_failure(struct standing *s, const char *reason, const char *message,
                           const char *hint) {
    if (hint && *hint) {
        free(s->hint);
        s->hint = cut(hint);
    }
    s->unreachable += strcmp(reason, "unreachable") == 0;
    s->unanswered++;
    bool gone = !s->answered && (s->unreachable >= UNREACHABLE_IS_GONE ||
                                 s->unanswered >= SILENT_IS_GONE ||
                                 strings_have(may_end_student, reason));
    if (!s->problem && (gone || strings_have(ends_student, reason))) {
        s->problem = cut(message ? message : reason);
    }
    return !strings_have(is_final, reason) && !strings_have(ends_student, reason) &&
           !strings_have(may_end_student, reason);
}

void standing_note_served(json_t *served, const char *student, const char *model) {
    json_t *list = json_object_get(served, student);
    if (!list) {
        list = json_array();
        json_object_set_new(served, student, list);
    }
    json_each(list, i, one) {
        if (strcmp(json_string_value(one), model) == 0) {
            return;
        }
    }
    if (*model && json_array_size(list) < SERVED_MAX) {
        json_array_append_new(list, json_clean_z(model));
    }
}
