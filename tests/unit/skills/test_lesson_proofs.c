/* Ends that need a proof of their own: logs, scripts typed anew, rules of a program, calls that
 * asked for more, two errors with one end. */
#include "tests/unit/skills/trace_maker.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* The status is that of what shows a log: it tells of the line's own failure only if the line
 * wrote the log. */
Test(lesson_proofs, a_log_that_the_line_wrote_is_what_it_says) {
    static const char *const shown[] = {"out.log", "old.log"};
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        struct maker m = {0};
        struct lessons l;
        autofree char *line =
            xasprintf("srun -c 8 ./fit -q > out.log 2>&1\necho $?\ntail %s", shown[i]);
        user(&m, "Fit it.");
        run(&m, line, 0, "1\nsrun: error: Unable to create step");
        run(&m, "./fit -q > out.log 2>&1", 0, "");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, i == 0));
        lessons_finish(&l);
        finish(&m);
    }
}

/* A script of so many lines that is typed anew behind so many words of the agent, without
 * the line that failed. */
static bool tells_retyped(size_t lines, size_t words) {
    struct maker m = {0};
    struct lessons l;
    autobuf rest = BUF_INIT(64u << 10);
    for (size_t i = 0; i < lines - 2; i++) {
        buf_addf(&rest, "print(%zu)\n", i);
    }
    autofree char *failing = xasprintf("python3 -c \"import yt\nt = yt.get_all(1)\n%s\"", rest.data);
    autofree char *again = xasprintf("python3 -c \"import yt\nt = yt.fetch(1)\n%s\"", rest.data);
    user(&m, "Get it to work.");
    run(&m, failing, 1, "AttributeError: module 'yt' has no attribute 'get_all'");
    for (size_t i = 0; i < words; i++) {
        say(&m, "I look at it.");
    }
    run(&m, again, 0, "fine");
    learn(&l, &m);
    size_t told = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return told == 1;
}

Test(lesson_proofs, scripts_are_compared_up_to_a_length_and_a_distance) {
    cr_expect(tells_retyped(64, 0));
    cr_expect(not(tells_retyped(65, 0)));
    cr_expect(tells_retyped(8, 15));
    cr_expect(not(tells_retyped(8, 16)));
}

/* The session wrote the line itself, which a program then refuses; an older file is mended
 * too. With again: an attempt to mend it was written in between. */
static size_t told_own(const char *error, const char *line, const char *now, bool again) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Show the pictures.");
    edit(&m, "old.ts", "-let x = 1\n+let x = 2\n", true);
    autofree char *text = xasprintf("import react\n%s\nexport x\n", line);
    autofree char *first = xasprintf("-%s\n+let useTimer = 1\n", line);
    autofree char *last = xasprintf("-%s\n+%s\n", again ? "let useTimer = 1" : line, now);
    edit(&m, "image.ts", text, false);
    run(&m, "npm run build", 1, error);
    if (again) {
        edit(&m, "image.ts", first, true);
        run(&m, "npm run build", 1, error);
    }
    edit(&m, "image.ts", last, true);
    run(&m, "npm run build", 0, "done");
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_proofs, a_rule_of_the_program_is_no_slip_of_the_session) {
    static const char line[] = "let timer = useTimer<Wait>()", now[] = "let timer = useTimer<int>()";
    cr_expect(eq(sz, told_own("image.ts:2: error: int is not assignable to type 'Clock'", line,
                              now, false), 1));
    cr_expect(eq(sz, told_own("image.ts:2: error: config too short, expected 32 bytes", line,
                              now, false), 1));
    cr_expect(eq(sz, told_own("image.ts:2: error: cannot find name 'Wait'", line, now, false), 0),
              "the session made the name up");
    cr_expect(eq(sz, told_own("image.ts:2: SyntaxError: unexpected token", line, now, false), 0));
    cr_expect(eq(sz, told_own("image.ts:2: error: int is not assignable to type 'Clock'", line,
                              now, true), 0), "an attempt that failed");
}

/* A command that only reads is refused, and passes when its call asks for more. */
static size_t told_granted(const char *options, bool edits) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Look at the notes.");
    run(&m, "sed -n 1,9p notes.md", 1, "bwrap: loopback: Operation not permitted");
    if (edits) {
        edit(&m, "notes.md", "-a\n+b\n", true);
    }
    run(&m, "sed -n 1,9p notes.md", 0, "# Notes");
    set_text(&m.trace.events[m.trace.count - 2], options);
    learn(&l, &m);
    size_t count = l.fixes.count;
    if (count) {
        cr_expect(eq(str, l.fixes.list[0].changes[0].to,
                     "sed -n 1,9p notes.md  # sandbox_permissions=require_escalated"));
    }
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_proofs, what_a_call_asked_for_besides_its_command_is_told) {
    cr_expect(eq(sz, told_granted("sandbox_permissions=require_escalated", false), 1));
    cr_expect(eq(sz, told_granted("sandbox_permissions=require_escalated", true), 0));
    cr_expect(eq(sz, told_granted("", false), 0));
}

/* Two errors that one run showed end with one change: the one that was seen less is told, as
 * the last run said it. */
Test(lesson_proofs, one_change_is_one_lesson) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to build.");
    run(&m, "make site", 2, "Failed to build the site.\nerror: a.ts: target is too low");
    edit(&m, "a.ts", "-target = 5\n+target = 6\n", true);
    run(&m, "make site", 2, "Failed to build the site.\nerror: b.ts: odds has no index 0");
    edit(&m, "b.ts", "-odds = read()\n+odds = read() as list\n", true);
    run(&m, "make site", 0, "done");
    learn(&l, &m);
    cr_expect(eq(sz, l.fixes.count, 2));
    for (size_t i = 0; i < l.fixes.count; i++) {
        const char *quote = l.fixes.list[i].quote;
        cr_expect(strstr(quote, "error: ") != NULL, "%s", quote);
    }
    lessons_finish(&l);
    finish(&m);
}
