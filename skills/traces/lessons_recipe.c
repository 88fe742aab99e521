/* The commands that worked, in order: of each kind the last success, unless a failure of
 * the same kind came after it. */
#include "skills/traces/lessons_internal.h"

#include "base/mem.h"

#include <string.h>

#define MAX_COMMANDS 40u
#define MAX_LENGTH 600u

static bool counts(const struct lesson_step *s) {
    return s->kind == STEP_RUN && s->done && !s->refused && s->command.key_count &&
           !(s->command.classes & COMMAND_PROBE);
}

/* For every step whether a later one does the same: one pass from the end. */
static bool *find_superseded(const struct steps *s) {
    bool *superseded = xcalloc(s->count + 1, sizeof *superseded);
    autojson *later = json_object();
    for (size_t i = s->count; i > 0; i--) {
        const struct lesson_step *step = &s->list[i - 1];
        if (counts(step)) {
            superseded[i - 1] = json_object_get(later, step->command.recipe) != NULL;
            json_object_set_new(later, step->command.recipe, json_true());
        }
    }
    return superseded;
}

static bool is_known(const struct lessons *l, const char *command) {
    for (size_t i = 0; i < l->command_count; i++) {
        if (strcmp(l->commands[i].command, command) == 0) {
            return true;
        }
    }
    return false;
}

void lessons_find_recipe(struct lessons *l, const struct steps *s) {
    autofree bool *superseded = find_superseded(s);
    for (size_t i = 0; i < s->count && l->command_count < MAX_COMMANDS; i++) {
        const struct lesson_step *step = &s->list[i];
        bool writes = step->text && step->kind == STEP_RUN && strstr(step->text, "<<");
        if (!counts(step) || step->failed || writes || strlen(step->text) > MAX_LENGTH ||
            superseded[i]) {
            continue;
        }
        autofree char *command = command_tidy(step->text);
        if (is_known(l, command)) {
            continue;
        }
        struct lesson_command *c = LESSON_NEW(l, commands, command_count);
        c->command = take(command);
        c->verifies = (step->command.classes & COMMAND_VERIFY) != 0;
        lessons_add_evidence(&c->evidence, s->trace, step->event);
    }
}
