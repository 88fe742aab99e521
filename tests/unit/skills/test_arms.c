/* What a student is told beside the question: the arms, and the placebo. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/evaluation/arms.h"
#include "skills/format/skill.h"
#include "skills/format/tokens.h"
#include "skills/grading/suite.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_file(const char *folder, const char *name, const char *text) {
    struct root root;
    struct err err = {0};
    cr_assert(root_open(&root, folder, &err) == 0, "%s", err.msg);
    cr_assert(root_write(&root, name, text, strlen(text), 0644, &err) == 0, "%s",
              err.msg);
    root_close(&root);
}

Test(arms, differ_in_the_skill_alone) {
    struct arm base, skill, placebo, again;
    const char *text = "Use the word marigold.";
    struct test_case test = {.id = "t", .input = "What is the word?"};
    autobuf a = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20);
    arm_baseline(&base);
    arm_framed(&skill, ARM_SKILL, "words", text, strlen(text));
    arm_again(&again, &base);
    cr_assert(strncmp(skill.system, base.system, strlen(base.system)) == 0);
    cr_assert(strstr(skill.system, text) != NULL && strstr(base.system, text) == NULL);
    cr_assert(strcmp(base.digest, again.digest) == 0 && again.again);
    cr_assert(strcmp(base.digest, skill.digest) != 0);
    cr_assert(skill.added_tokens ==
              tokens_estimate(skill.system + strlen(base.system),
                              strlen(skill.system) - strlen(base.system)));
    arm_question(&base, &test, true, &a);
    arm_question(&skill, &test, true, &b);
    cr_assert(strcmp(a.data, b.data) == 0, "the same question");
    arm_placebo(&placebo, &skill);
    cr_assert(strstr(placebo.system, "marigold") == NULL);
    arm_finish(&base);
    arm_finish(&skill);
    arm_finish(&again);
    arm_finish(&placebo);
}

Test(arms, a_placebo_is_as_large_as_the_skill) {
    static const size_t words[] = {10, 200, 2000, 30000};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct arm skill, placebo, second;
        autobuf text = BUF_INIT(1 << 20);
        for (size_t w = 0; w < words[i]; w++) {
            buf_adds(&text, "kernel ");
        }
        arm_framed(&skill, ARM_SKILL, "k", text.data, text.len);
        arm_placebo(&placebo, &skill);
        arm_placebo(&second, &skill);
        cr_assert(strcmp(placebo.digest, second.digest) == 0, "the same every time");
        double off = (double)placebo.added_tokens - (double)skill.added_tokens;
        cr_assert(fabs(off) < 60 + 0.05 * (double)skill.added_tokens, "%zu for %zu",
                  placebo.added_tokens, skill.added_tokens);
        arm_finish(&skill);
        arm_finish(&placebo);
        arm_finish(&second);
    }
}

/* From its first words, in the order in which it was written, and over again. */
Test(arms, a_placebo_is_the_prose_from_its_beginning) {
    autobuf text = BUF_INIT(1 << 20);
    size_t count = 0, at = 0;
    while (placebo_prose[count]) {
        count++;
    }
    placebo_text(&text, 30000);
    for (size_t i = 0; at < text.len; i++) {
        const char *prose = placebo_prose[i % count];
        size_t len = strlen(prose), left = text.len - at;
        bool last = left < len + 4;
        cr_assert_eq(strncmp(text.data + at, prose, last ? left - 2 : len), 0, "%zu", i);
        cr_assert(last || i < 1000);
        at += len + 2;
    }
    cr_assert_gt(at, 2 * count);
}

/* The largest text that a skill may have is not cut, nor one that is twice as long. */
Test(arms, a_skill_goes_in_whole) {
    size_t len = (size_t)2 * SKILL_MAX_TEXT;
    autofree char *text = xcalloc(len + 1, 1);
    struct arm arm;
    memset(text, 'x', len);
    arm_framed(&arm, ARM_SKILL, "k", text, len);
    cr_expect(strstr(arm.system, text));
    cr_expect(strstr(arm.system, "</skill>"));
    arm_finish(&arm);
}

Test(arms, a_skill_brings_its_small_references_and_names_the_others) {
    char folder[] = "/tmp/test-arms-XXXXXX";
    struct skill skill;
    struct err err = {0};
    autobuf text = BUF_INIT(1 << 22), big = BUF_INIT(1 << 20);
    for (int i = 0; i < 4000; i++) {
        buf_adds(&big, "too long ");
    }
    cr_assert(mkdtemp(folder) != NULL);
    write_file(folder, "SKILL.md", "---\nname: s\ndescription: d\n---\nThe body.\n");
    write_file(folder, "references/small.md", "A small reference.");
    write_file(folder, "references/big.md", big.data);
    write_file(folder, "scripts/run.sh", "echo no");
    write_file(folder, "evals/evals.json", "{\"secret\": 1}");
    write_file(folder, "skill_meta.json", "{\"tests\": []}");
    cr_assert(skill_open(&skill, folder, false, &err) == 0, "%s", err.msg);
    arm_skill_text(&skill, &text);
    cr_assert(strstr(text.data, "The body.") && strstr(text.data, "A small reference."));
    cr_assert(strstr(text.data, "- references/big.md") &&
              strstr(text.data, "- scripts/run.sh"));
    cr_assert(strstr(text.data, "too long") == NULL &&
              strstr(text.data, "echo no") == NULL);
    cr_assert(strstr(text.data, "secret") == NULL && strstr(text.data, "evals") == NULL);
    skill_finish(&skill);
    dir_remove(folder, NULL);
}

Test(arms, a_trace_is_cut_to_its_tokens_on_a_character) {
    autobuf text = BUF_INIT(8 << 20);
    struct arm trace;
    struct test_case test = {.id = "t", .input = "And now?"};
    autobuf question = BUF_INIT(8 << 20);
    for (int i = 0; i < 100000; i++) {
        buf_adds(&text, "größer ");
    }
    arm_trace(&trace, text.data, text.len);
    cr_assert(trace.added_tokens <= ARM_TRACE_TOKENS + 40);
    cr_assert(trace.added_tokens >= ARM_TRACE_TOKENS * 9 / 10);
    arm_question(&trace, &test, true, &question);
    cr_assert(strstr(question.data, "And now?") != NULL);
    cr_assert(strstr(question.data, "\xef\xbf\xbd") == NULL);
    arm_finish(&trace);
}

Test(arms, have_their_names) {
    static const char *const names[] = {"baseline", "skill", "placebo", "previous",
                                        "trace"};
    for (int i = 0; i < ARM_KINDS; i++) {
        cr_assert(strcmp(arm_name(i), names[i]) == 0);
    }
}

Test(arms, a_question_brings_its_files_to_students_without_a_folder) {
    autojson *files = json_pack("{s:s,s:s}", "a.py", "x = 1\n", "b/c.txt", "words");
    struct test_case test = {.id = "t", .input = "What is x?", .files = files};
    struct arm base, trace;
    autobuf with = BUF_INIT(1 << 20), without = BUF_INIT(1 << 20),
            after = BUF_INIT(1 << 20);
    arm_baseline(&base);
    arm_trace(&trace, "Earlier.", 8);
    arm_question(&base, &test, true, &with);
    cr_assert_str_eq(with.data, "What is x?\n\n<file name=\"a.py\">\nx = 1\n\n</file>"
                                "\n\n<file name=\"b/c.txt\">\nwords\n</file>");
    arm_question(&base, &test, false, &without);
    cr_assert_str_eq(without.data, "What is x?");
    arm_question(&trace, &test, false, &after);
    cr_assert_str_eq(after.data,
                     "Here is the record of an earlier session, as context:\n\n"
                     "<context>\nEarlier.\n</context>\n\nWhat is x?");
    arm_finish(&base);
    arm_finish(&trace);
}

/* Five references of some 2,000 tokens each, of which 8,000 are shown. */
Test(arms, references_are_shown_until_there_is_no_room) {
    char folder[] = "/tmp/test-arms-XXXXXX";
    struct skill skill;
    autobuf text = BUF_INIT(1 << 22), big = BUF_INIT(1 << 20);
    while (tokens_estimate(big.data, big.len) < 1900) {
        buf_adds(&big, "kernel ");
    }
    size_t each = tokens_estimate(big.data, big.len), fit = ARM_REFERENCES_TOKENS / each;
    cr_assert(each <= ARM_REFERENCE_TOKENS && fit == 4 && mkdtemp(folder) != NULL);
    write_file(folder, "SKILL.md", "---\nname: s\ndescription: d\n---\nThe body.\n");
    write_file(folder, "LICENSE.txt", "Apache");
    write_file(folder, "references/empty.md", "");
    write_file(folder, "references/image.png", "none");
    for (int i = 0; i < 5; i++) {
        autofree char *name = xasprintf("references/r%d.%s", i, i % 2 ? "txt" : "md");
        write_file(folder, name, big.data);
    }
    cr_assert(skill_open(&skill, folder, false, NULL) == 0);
    arm_skill_text(&skill, &text);
    size_t shown = 0;
    for (const char *at = text.data; (at = strstr(at, "<file path=\"references/r"));
         at++) {
        shown++;
    }
    cr_assert(shown == fit, "%zu", shown);
    const char *others =
        strstr(text.data, "Further files of this skill, not shown here:");
    cr_assert_str_eq(others, "Further files of this skill, not shown here:\n"
                             "- references/empty.md\n- references/image.png\n"
                             "- references/r4.md");
    skill_finish(&skill);
    dir_remove(folder, NULL);
}
