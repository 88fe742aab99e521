/* The commands that worked, in order: of each kind the last success, unless a failure of
 * the same kind came after it. */
#include "skills/traces/lessons_internal.h"

#include "base/mem.h"

#include <string.h>

#define MAX_COMMANDS 40u
#define MAX_LENGTH 600u

static bool counts(const struct step *s) {
    return s->kind == STEP_RUN && s->done && !s->refused && s->command.key_count &&
           !(s->command.classes & COMMAND_PROBE);
}

static bool is_superseded(const struct steps *s, size_t at) {
    const struct step *step = &s->list[at];
    for (size_t i = at + 1; i < s->count; i++) {
        const struct step *later = &s->list[i];
        if (!counts(later)) {
            continue;
        }
        if (strcmp(later->command.recipe, step->command.recipe) == 0 ||
            (later->failed && command_shares_key(&later->command, &step->command) &&
             later->error_count == 0)) {
            return true;
        }
    }
    return false;
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
    for (size_t i = 0; i < s->count && l->command_count < MAX_COMMANDS; i++) {
        const struct step *step = &s->list[i];
        bool writes = step->text && step->kind == STEP_RUN && strstr(step->text, "<<");
        if (!counts(step) || step->failed || writes || strlen(step->text) > MAX_LENGTH ||
            is_superseded(s, i)) {
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
