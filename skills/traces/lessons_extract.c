/* Traces read step by step: what each part of the room finds in them. */
#include "skills/traces/lessons_internal.h"

#include "base/work.h"

void lessons_extract(struct lessons *ret, const struct trace *traces, size_t count,
                     const struct redaction *redaction) {
    struct lesson_reader r;
    *ret = (struct lessons){0};
    lesson_reader_init(&r, redaction);
    for (size_t i = 0; i < count && i < UINT16_MAX && !work_is_stopped(); i++) {
        struct steps s;
        steps_read(&s, &traces[i], (uint16_t)i, &r);
        lessons_find_words(ret, &s, &r);
        lessons_find_history(ret, &s, &r);
        lessons_find_fixes(ret, &s, &r);
        lessons_find_files(ret, &s);
        lessons_find_facts(ret, &s);
        steps_finish(&s);
    }
    lesson_reader_finish(&r);
    lessons_consolidate(ret);
    ret->nothing = !ret->fixes.count && !ret->corrections.count;
}
