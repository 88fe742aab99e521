#pragma once
/* standing: what an evaluation knows of a student beside its cells: whether it can be
 * asked at all, and why not. */
#include "base/json.h"

struct standing {
    char *problem;   /* why it cannot be asked any more; NULL while it can */
    char *hint;      /* the cure of its last error, or NULL */
    size_t answered; /* questions with an answer, whatever it is worth */
    size_t unreachable, unanswered;
};

void standing_finish(struct standing *s);

/* Records a question without an answer. reason: a model_answer's (skills/models); message
 * and hint may be NULL. Sets `problem` once the student is given up. Returns whether
 * asking the same question again may help. */
bool standing_note_failure(struct standing *s, const char *reason, const char *message,
                           const char *hint);

/* Which model said that it answered: served is {student: [names]}, 16 names at most. */
void standing_note_served(json_t *served, const char *student, const char *model);
