#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#define MAX_EVIDENCE 64u /* of one lesson */
#define MAX_DIGITS 9u /* of a number that surely fits */

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

/* Not sscanf, which measures all of the text behind the number each time. */
static size_t read_number(const char *text, char mark, unsigned *ret) {
    size_t digits = *text == mark ? strspn(text + 1, "0123456789") : 0;
    if (digits == 0 || digits > MAX_DIGITS) {
        return 0;
    }
    *ret = (unsigned)strtoul(text + 1, NULL, 10);
    return digits + 1;
}

size_t evidence_read(const char *text, unsigned *trace, unsigned *event) {
    size_t len = read_number(text, 't', trace);
    const char *rest = text + len + strspn(text + len, " ");
    size_t more = len ? read_number(rest, 'e', event) : 0;
    return more ? (size_t)(rest - text) + more : 0;
}

/* --- a list --- */

struct lesson *lesson_list_find(const struct lesson_list *lessons, const char *key) {
    return list_find(one, lessons->list, lessons->count, strcmp(one->key, key) == 0);
}

struct lesson *lesson_list_add(struct lesson_list *lessons) {
    lessons->list =
        xreallocarray(lessons->list, lessons->count + 1, sizeof *lessons->list);
    lessons->list[lessons->count] = (struct lesson){0};
    return &lessons->list[lessons->count++];
}

struct lesson_change *lesson_add_change(struct lesson *fix, enum lesson_change_kind kind) {
    fix->changes =
        xreallocarray(fix->changes, fix->change_count + 1, sizeof *fix->changes);
    struct lesson_change *c = &fix->changes[fix->change_count++];
    *c = (struct lesson_change){.kind = kind};
    return c;
}

void lesson_list_drop(struct lesson_list *lessons, struct lessons *all,
                      bool (*goes)(struct lessons *all, struct lesson *lesson)) {
    size_t count = lessons->count;
    lessons->count = 0;
    list_each(i, lesson, lessons->list, count) {
        if (goes(all, lesson)) {
            lesson_finish(lesson);
        } else {
            lessons->list[lessons->count++] = *lesson;
        }
    }
}

static void list_finish(struct lesson_list *lessons) {
    for (size_t i = 0; i < lessons->count; i++) {
        lesson_finish(&lessons->list[i]);
    }
    free(lessons->list);
}

/* --- the end --- */

static void change_finish(struct lesson_change *c) {
    free(c->path);
    free(c->from);
    free(c->to);
}

void lesson_finish(struct lesson *l) {
    for (size_t i = 0; i < l->change_count; i++) {
        change_finish(&l->changes[i]);
    }
    free(l->changes);
    free(l->evidence.list);
    free(l->key);
    free(l->quote);
    free(l->context);
    free(l->cause);
    free(l->verified_by);
    free(l->heeded);
    free(l->instead);
    free(l->text);
    free(l->why);
}

void lessons_finish(struct lessons *l) {
    list_finish(&l->fixes);
    list_finish(&l->corrections);
    list_finish(&l->commands);
    list_finish(&l->files);
    list_finish(&l->links);
    list_finish(&l->limits);
    for (size_t i = 0; i < l->history.count; i++) {
        free(l->history.list[i].text);
        free(l->history.list[i].whole);
    }
    free(l->history.list);
    free(l->task);
    free(l->task_evidence.list);
    *l = (struct lessons){0};
}
