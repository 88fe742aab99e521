#include "skills/traces/lessons_internal.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define MAX_EVIDENCE 64u /* of one lesson */

const char *evidence_role_name(enum evidence_role role) {
    static const char *const names[] = {"said", "error", "change", "proof"};
    return names[role];
}

void lessons_add_evidence(struct evidence_list *list, uint16_t trace, uint32_t event,
                          enum evidence_role role) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->list[i].trace == trace && list->list[i].event == event) {
            return;
        }
    }
    if (list->count < MAX_EVIDENCE) {
        list->list = xreallocarray(list->list, list->count + 1, sizeof *list->list);
        list->list[list->count++] = (struct evidence){trace, event, role};
    }
}

void *lessons_grow(void *array, size_t *count, size_t size) {
    char *grown = xreallocarray(array, *count + 1, size);
    memset(grown + *count * size, 0, size);
    ++*count;
    return grown;
}

void evidence_name(char ret[static EVIDENCE_NAME_SIZE], struct evidence e) {
    snprintf(ret, EVIDENCE_NAME_SIZE, "t%u e%u", e.trace + 1u, e.event);
}

void lesson_fix_finish(struct lesson_fix *f) {
    for (size_t i = 0; i < f->change_count; i++) {
        free(f->changes[i].path);
        free(f->changes[i].from);
        free(f->changes[i].to);
    }
    free(f->changes);
    free(f->error);
    free(f->quote);
    free(f->context);
    free(f->cause);
    free(f->verified_by);
    free(f->evidence.list);
    *f = (struct lesson_fix){0};
}

static void finish_words(struct lessons *l) {
    for (size_t i = 0; i < l->correction_count; i++) {
        free(l->corrections[i].text);
        free(l->corrections[i].heeded);
        free(l->corrections[i].instead);
        free(l->corrections[i].evidence.list);
    }
    for (size_t i = 0; i < l->link_count; i++) {
        free(l->links[i].url);
        free(l->links[i].why);
        free(l->links[i].evidence.list);
    }
    for (size_t i = 0; i < l->limit_count; i++) {
        free(l->limits[i].text);
        free(l->limits[i].evidence.list);
    }
    free(l->corrections);
    free(l->links);
    free(l->limits);
    free(l->task);
    free(l->task_evidence.list);
}

void lessons_finish(struct lessons *l) {
    for (size_t i = 0; i < l->fix_count; i++) {
        lesson_fix_finish(&l->fixes[i]);
    }
    for (size_t i = 0; i < l->dead_end_count; i++) {
        free(l->dead_ends[i].error);
        free(l->dead_ends[i].quote);
        free(l->dead_ends[i].context);
        free(l->dead_ends[i].evidence.list);
    }
    for (size_t i = 0; i < l->command_count; i++) {
        free(l->commands[i].command);
        free(l->commands[i].evidence.list);
    }
    for (size_t i = 0; i < l->file_count; i++) {
        free(l->files[i].path);
        free(l->files[i].text);
        free(l->files[i].evidence.list);
    }
    free(l->fixes);
    free(l->dead_ends);
    free(l->commands);
    free(l->files);
    finish_words(l);
    *l = (struct lessons){0};
}
