/* What is told of an error and of the change that ended it, from public sessions, cut short. */
#include "tests/unit/skills/trace_maker.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define COMMAND "npx tsc --noEmit"

struct told {
    const char *output, *diffs[2]; /* of edits of one file; the second may be NULL */
    const char *quote; /* NULL: nothing is told */
    size_t changes;
};

static void check(const struct told *c, size_t i) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Check it.");
    run(&m, COMMAND, 2, c->output);
    for (size_t k = 0; k < 2 && c->diffs[k]; k++) {
        edit(&m, "src/group.ts", c->diffs[k], true);
    }
    run(&m, COMMAND, 0, "");
    learn(&l, &m);
    cr_assert(l.fixes.count == (c->quote != NULL), "%zu: %zu", i, l.fixes.count);
    if (c->quote) {
        const struct lesson *fix = l.fixes.list;
        cr_expect(strcmp(fix->quote, c->quote) == 0, "%zu: %s", i, fix->quote);
        cr_expect(fix->change_count == c->changes, "%zu: %zu", i, fix->change_count);
    }
    lessons_finish(&l);
    finish(&m);
}

Test(lesson_quote, the_line_behind_says_why) {
    static const struct told cases[] = {
        {"src/group.ts(5,2): error TS2769: No overload matches this call.\n"
         "  The last overload gave the following error.\n"
         "    Types of property 'status' are incompatible.\n"
         "      Type 'string' is not assignable to type '\"active\" | \"archived\"'.\n"
         "src/other.ts(1,1): note\n",
         {"@@\n-function f(data: { status?: string }) {\n+function f(data: { status?: 'active' | 'archived' }) {\n"},
         "src/group.ts(5,2): error TS2769: No overload matches this call. Type 'string' is not assignable to "
         "type '\"active\" | \"archived\"'.",
         1},
        /* nothing behind it says what was changed */
        {"src/group.ts(5,2): error TS2769: No overload matches this call.\n"
         "  The last overload gave the following error.\n",
         {"@@\n-function f(data: { status?: string }) {\n+function f(data: { status?: 'active' }) {\n"},
         "src/group.ts(5,2): error TS2769: No overload matches this call.",
         1},
        /* a compiler's words under the place */
        {"error[E0308]: mismatched types\n --> src/group.ts:4:9\n  |\n4 |         break;\n"
         "  |         ^^^^^ expected `Result<(), Error>`, found `()`\n",
         {"@@\n-        break;\n+        return Ok(());\n"},
         "error[E0308]: mismatched types: expected `Result<(), Error>`, found `()`",
         1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        check(&cases[i], i);
    }
}

/* An import alone is half of it where the line with the name was written otherwise, too. */
Test(lesson_quote, the_line_with_the_name_is_told_beside_its_import) {
    static const char output[] =
        "src/group.ts(9,4): error TS2339: Property 'QueryTypes' does not exist on type 'Function'.\n";
    static const char quote[] =
        "src/group.ts(9,4): error TS2339: Property 'QueryTypes' does not exist on type 'Function'.";
    check(&(struct told){output,
                         {"@@\n+import { QueryTypes } from 'sequelize';\n import x from 'x';\n",
                          "@@\n-  type: sequelize.constructor.QueryTypes?.SELECT,\n+  type: QueryTypes.SELECT,\n"},
                         quote,
                         2},
          0);
    check(&(struct told){output,
                         {"@@\n+import { QueryTypes } from 'sequelize';\n import x from 'x';\n",
                          "@@\n-  load(buffer);\n+  load(buffer as Buffer);\n"},
                         quote,
                         1},
          1);
}

/* What the compiler prints is to be read there. */
Test(lesson_quote, the_advice_of_the_compiler_is_no_lesson) {
    static const char error[] = "error[E0599]: the method `clone` exists for enum `Option<Config>`, but its "
                                "trait bounds were not satisfied\n";
    autofree char *advised = xasprintf("%shelp: consider annotating `Config`\n   |\n 7 + #[derive(Clone)]\n   |\n", error);
    static const char diff[] = "@@\n+#[derive(Clone)]\n pub struct Config {\n";
    autofree char *quote = xstrndup(error, sizeof error - 2);
    check(&(struct told){advised, {diff}, NULL, 0}, 0);
    check(&(struct told){error, {diff}, quote, 1}, 1);
}

/* Only a line that was taken away whole is brought back; what is to be typed otherwise is no check. */
Test(lesson_quote, a_part_of_a_line_that_went_is_no_attempt) {
    static const char *const gone[] = {"@@\n-    Ok(())\n+    run()\n", "@@\n-    return Ok(());\n+    run()\n"};
    for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Check it.");
        edit(&m, "src/main.rs", gone[i], true);
        run(&m, "cargo check", 1, "error[E0308]: mismatched types\n --> src/main.rs:4:9\n  |\n4 |         break;\n"
                                  "  |         ^^^^^ expected `Result<(), Error>`, found `()`\n");
        edit(&m, "src/main.rs", "@@\n-        break;\n+        return Ok(());\n", true);
        run(&m, "cargo check", 0, "Finished");
        learn(&l, &m);
        cr_expect(l.fixes.count == (i == 0), "%zu: %zu", i, l.fixes.count);
        cr_expect(l.commands.count == (i == 0), "%zu: %zu", i, l.commands.count);
        lessons_finish(&l);
        finish(&m);
    }
}

Test(lesson_quote, what_is_typed_otherwise_is_no_check) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Check it.");
    run(&m, COMMAND, 2, "src/group.ts(9,4): error TS2339: Property 'QueryTypes' does not exist on type 'Function'.");
    edit(&m, "src/group.ts", "@@\n-  type: sequelize.constructor.QueryTypes,\n+  type: QueryTypes.SELECT,\n", true);
    run(&m, COMMAND, 0, "");
    run(&m, COMMAND, 1, "This is not the tsc command you are looking for");
    run(&m, "./node_modules/.bin/tsc --noEmit", 0, "");
    learn(&l, &m);
    cr_expect(eq(sz, l.fixes.count, 2));
    cr_expect(eq(sz, l.commands.count, 0));
    lessons_finish(&l);
    finish(&m);
}
