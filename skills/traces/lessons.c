#include "skills/traces/lessons_internal.h"

#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>
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

void evidence_name(char ret[static EVIDENCE_NAME_SIZE], struct evidence e) {
    snprintf(ret, EVIDENCE_NAME_SIZE, "t%u e%u", e.trace + 1u, e.event);
}

/* --- of all kinds --- */

#define SHAPE(of, number, type, owned)                                                   \
    {                                                                                    \
        offsetof(struct lessons, of), offsetof(struct lessons, number),                  \
            sizeof(struct type), owned, offsetof(struct type, evidence)                  \
    }
static const struct {
    size_t list, count;           /* their places in struct lessons */
    size_t size, texts, evidence; /* of one */
} shapes[LESSON_KINDS] = {
    [LESSON_FIX] = SHAPE(fixes, fix_count, lesson_fix, 5),
    [LESSON_DEAD_END] = SHAPE(dead_ends, dead_end_count, lesson_dead_end, 3),
    [LESSON_CORRECTION] = SHAPE(corrections, correction_count, lesson_correction, 3),
    [LESSON_COMMAND] = SHAPE(commands, command_count, lesson_command, 1),
    [LESSON_FILE] = SHAPE(files, file_count, lesson_file, 2),
    [LESSON_LINK] = SHAPE(links, link_count, lesson_link, 2),
    [LESSON_LIMIT] = SHAPE(limits, limit_count, lesson_limit, 1),
};

static char *list_of(const struct lessons *l, enum lesson_kind kind) {
    char *list;
    memcpy(&list, (const char *)l + shapes[kind].list, sizeof list);
    return list;
}

static size_t *count_of(const struct lessons *l, enum lesson_kind kind) {
    return (size_t *)((char *)(uintptr_t)l + shapes[kind].count);
}

void *lessons_find(const struct lessons *l, enum lesson_kind kind, const char *text) {
    char *list = list_of(l, kind);
    for (size_t i = 0; i < *count_of(l, kind); i++) {
        char *one = list + i * shapes[kind].size;
        if (strcmp(*(char **)one, text) == 0) {
            return one;
        }
    }
    return NULL;
}

void *lessons_add(struct lessons *l, enum lesson_kind kind) {
    size_t size = shapes[kind].size, at = (*count_of(l, kind))++;
    char *list = xreallocarray(list_of(l, kind), at + 1, size);
    memcpy((char *)l + shapes[kind].list, &list, sizeof list);
    return memset(list + at * size, 0, size);
}

void lessons_drop(struct lessons *l, enum lesson_kind kind,
                  bool (*goes)(struct lessons *l, void *lesson)) {
    size_t size = shapes[kind].size, *kept = count_of(l, kind), count = *kept;
    char *list = list_of(l, kind);
    *kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (goes(l, list + i * size)) {
            lesson_finish(kind, list + i * size);
        } else {
            memmove(list + (*kept)++ * size, list + i * size, size);
        }
    }
}

static void finish_changes(struct lesson_fix *f) {
    for (size_t i = 0; i < f->change_count; i++) {
        free(f->changes[i].path);
        free(f->changes[i].from);
        free(f->changes[i].to);
    }
    free(f->changes);
}

void lesson_finish(enum lesson_kind kind, void *lesson) {
    struct evidence_list *evidence = (void *)((char *)lesson + shapes[kind].evidence);
    for (size_t i = 0; i < shapes[kind].texts; i++) {
        free(((char **)lesson)[i]);
    }
    free(evidence->list);
    if (kind == LESSON_FIX) {
        finish_changes(lesson);
    }
}

static bool goes(struct lessons *l, void *lesson) {
    (void)l;
    (void)lesson;
    return true;
}

void lessons_finish(struct lessons *l) {
    for (enum lesson_kind kind = 0; kind < LESSON_KINDS; kind++) {
        lessons_drop(l, kind, goes);
        free(list_of(l, kind));
    }
    free(l->task);
    free(l->task_evidence.list);
    *l = (struct lessons){0};
}
