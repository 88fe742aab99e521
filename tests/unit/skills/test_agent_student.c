/* An agent's program as a student: real processes, scripts in the place of agents. What
 * it is given, what it may leave behind, and what is said of each way to end. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/evaluation/agent_student.h"
#include "skills/format/skill.h"
#include "skills/grading/suite.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY "very-secret-key-0123"

struct room {
    uv_loop_t loop;
    char home[64];
    struct agent_student student;
    struct skill skill;
    struct test_case test;
    json_t *files, *left; /* its test's, and what it left */
    int calls;
    struct agent_answer answer;
    struct agent_run *run;
    char *text, *why;
};

static struct room room;

static void start(void) {
    room = (struct room){.home = "/tmp/agent-student-XXXXXX"};
    cr_assert_not_null(mkdtemp(room.home));
    setenv("TMPDIR", room.home, 1);
    setenv("ANTHROPIC_API_KEY", KEY, 1);
    setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9", 1);
    setenv("SECRET_OF_MINE", "x", 1);
    setenv("LANG", "C.UTF-8", 1);
    signal(SIGPIPE, SIG_IGN); /* as the daemon does */
    uv_loop_init(&room.loop);
    room.test = (struct test_case){.id = "t", .input = "What is it?"};
}

static void end(void) {
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&room.loop), 0);
    agent_student_finish(&room.student);
    json_decref(room.files);
    json_decref(room.left);
    free(room.text);
    free(room.why);
    dir_remove(room.home, NULL);
}

TestSuite(agent_student, .init = start, .fini = end, .timeout = 60);

/* A student that is a shell's script. */
static void script(const char *words, const char *more) {
    autofree char *text = xasprintf(
        "{\"cli\":\"custom\",\"agent\":\"claude-code\",\"format\":\"text\",\"env\":["
        "\"ANTHROPIC_API_KEY\",\"ANTHROPIC_BASE_URL\",\"LANG\"]%s}",
        more);
    autojson *value = json_loads(text, 0, NULL);
    json_object_set_new(value, "argv", json_pack("[s,s,s]", "/bin/sh", "-c", words));
    struct err err = {0};
    agent_student_finish(&room.student);
    cr_assert_eq(agent_student_read(&room.student, value, true, &err), 0, "%s", err.msg);
}

static void on_done(struct agent_run *run, const struct agent_answer *answer,
                    void *data) {
    struct room *r = data;
    (void)run;
    r->calls++;
    r->answer = *answer;
    free(r->text);
    free(r->why);
    json_decref(r->left);
    r->left = json_deep_copy(answer->files);
    r->text = xstrdup(answer->text);
    r->why = xstrdup(answer->why);
}

static void begin(const struct skill *skill) {
    room.calls = 0;
    room.run = agent_run_start(&room.loop, &room.student, skill, &room.test,
                               "the question", on_done, &room);
    cr_assert_eq(room.calls, 0, "never from inside");
}

static size_t left_behind(void) {
    DIR *dir = opendir(room.home);
    size_t count = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        count += !strncmp(e->d_name, "upskilld-", 9);
    }
    closedir(dir);
    return count;
}

static void run_whole(const struct skill *skill) {
    begin(skill);
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_assert_eq(room.calls, 1);
    cr_expect_eq(left_behind(), 0, "its folders go");
}

/* --- what it is given --- */

Test(agent_student, the_question_comes_on_its_input) {
    script("cat", "");
    run_whole(NULL);
    cr_expect_eq(room.answer.failure, 0, "%s", room.why);
    cr_expect_str_eq(room.text, "the question");
    cr_expect(!room.answer.activated && !room.answer.reported);
    cr_expect(room.answer.cost < 0 && room.answer.ms > 0 && room.answer.ms < 60000);
}

Test(agent_student, its_environment_is_its_own) {
    script("env", "");
    run_whole(NULL);
    cr_assert_eq(room.answer.failure, 0, "%s", room.why);
    static const char *const there[] = {"\nHOME=",
                                        "/home\n",
                                        "TMPDIR=",
                                        "/tmp\n",
                                        "CLAUDE_CONFIG_DIR=",
                                        "/home/.claude\n",
                                        "CODEX_HOME=",
                                        "XDG_CONFIG_HOME=",
                                        "XDG_CACHE_HOME=",
                                        "PATH=",
                                        "LANG=C.UTF-8",
                                        "ANTHROPIC_BASE_URL=http://127.0.0.1:9",
                                        "ANTHROPIC_API_KEY=********************\n"};
    autofree char *said = xasprintf("\n%s", room.text);
    for (size_t i = 0; i < ARRAY_LEN(there); i++) {
        cr_expect(strstr(said, there[i]), "%s: %s", there[i], said);
    }
    cr_expect(!strstr(said, "SECRET_OF_MINE") && !strstr(said, KEY), "%s", said);
}

/* codex does not start where its folder is not there. */
Test(agent_student, its_home_is_made_for_it) {
    script("test -d \"$CODEX_HOME\" && test -w \"$HOME\" && test -w \"$TMPDIR\" && pwd",
           "");
    run_whole(NULL);
    cr_expect_eq(room.answer.failure, 0, "%s", room.why);
    cr_expect(strstr(room.text, "/work\n"), "%s", room.text);
}

Test(agent_student, its_folder_holds_the_tests_files_alone) {
    room.files = json_pack("{s:s, s:s}", "notes/a.txt", "some words", "b.py", "x = 1");
    room.test.files = room.files;
    script("cat notes/a.txt; find . -type f | sort; ls $HOME $TMPDIR; touch $TMPDIR/x",
           "");
    run_whole(NULL);
    cr_assert_eq(room.answer.failure, 0, "%s", room.why);
    cr_expect_eq(strncmp(room.text, "some words./b.py\n./notes/a.txt\n", 31), 0, "%s",
                 room.text);
}

static void open_skill(void) {
    struct root root;
    struct err err = {0};
    static const char text[] = "---\nname: words\ndescription: d\n---\nmarigold\n";
    cr_assert_eq(root_open(&root, room.home, &err), 0);
    cr_assert_eq(root_write(&root, "words/SKILL.md", text, sizeof text - 1, 0644, &err),
                 0);
    root_close(&root);
    autofree char *folder = path_join(room.home, "words");
    cr_assert_eq(skill_open(&room.skill, folder, true, &err), 0, "%s", err.msg);
}

Test(agent_student, the_skill_lies_where_the_agent_looks) {
    open_skill();
    script("cat .claude/skills/words/SKILL.md", "");
    run_whole(&room.skill);
    cr_expect_eq(room.answer.failure, 0, "%s", room.why);
    cr_expect(strstr(room.text, "marigold"), "%s", room.text);
    run_whole(NULL);
    cr_expect_eq(room.answer.failure, -EIO, "the baseline has none");
    script("cat", ",\"agent\":\"nobody\"");
    run_whole(&room.skill);
    cr_expect_lt(room.answer.failure, 0);
    cr_expect(strstr(room.why, "the skill cannot be installed for nobody: no such agent"),
              "%s", room.why);
    skill_finish(&room.skill);
}

/* --- how it ends --- */

Test(agent_student, each_failure_has_its_sentence) {
    static const struct {
        const char *words, *more;
        int failure;
        const char *why;
    } cases[] = {
        {"echo no luck >&2; exit 3", "", -EIO, "custom ended with status 3: "},
        {"echo no luck >&2; exit 3", "", -EIO, "; it said: no luck"},
        {"kill -9 $$", "", -EIO, "custom was ended by signal 9: "},
        {"sleep 100", ",\"timeout_s\":1", -ETIMEDOUT, "custom took longer than 1 s: "},
        {"true", "", -EIO, "custom failed: it ended without its closing record"},
        {"echo " KEY " >&2; exit 1", "", -EIO, "; it said: ********************"},
        {"echo fine", ",\"model\":\"m\"", 0, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        script(cases[i].words, cases[i].more);
        run_whole(NULL);
        cr_expect_eq(room.answer.failure, cases[i].failure, "%s: %d", cases[i].words,
                     room.answer.failure);
        cr_expect(strstr(room.why, cases[i].why), "%s: %s", cases[i].words, room.why);
        cr_expect(!strstr(room.why, KEY));
    }
}

Test(agent_student, a_program_that_is_not_there_is_said_to_be_so) {
    autojson *value = json_loads(
        "{\"cli\":\"custom\",\"argv\":[\"/no/such/agent\"],\"env\":[]}", 0, NULL);
    cr_assert_eq(agent_student_read(&room.student, value, true, NULL), 0);
    run_whole(NULL);
    cr_expect_eq(room.answer.failure, -ENOENT);
    cr_expect(strstr(room.why, "/no/such/agent cannot be started: No such file"), "%s",
              room.why);
}

/* The last 200 bytes of what it said, with a key at their edge struck out all the same.
 */
Test(agent_student, of_many_words_the_last_are_told) {
    script(
        "head -c 5000 /dev/zero | tr '\\0' a >&2; printf %s \"$ANTHROPIC_API_KEY\" >&2; "
        "head -c 190 /dev/zero | tr '\\0' b >&2; exit 1",
        "");
    run_whole(NULL);
    const char *said = strstr(room.why, "; it said: ");
    cr_assert_not_null(said, "%s", room.why);
    said += strlen("; it said: ");
    cr_expect_eq(strlen(said), 200);
    cr_expect_eq(strncmp(said, "**********bbb", 13), 0, "%s", said);
}

Test(agent_student, what_it_prints_has_a_limit) {
    script("head -c 34000000 /dev/zero | tr '\\0' a", "");
    run_whole(NULL);
    cr_expect_eq(room.answer.failure, -EMSGSIZE);
    cr_expect(strstr(room.why, "custom printed more than 32 MiB: "), "%s", room.why);
}

/* A file that its test names twice over or outside of its folder is written nowhere. */
Test(agent_student, files_that_cannot_be_written_are_told) {
    room.files = json_pack("{s:s}", "../outside.txt", "x");
    room.test.files = room.files;
    script("cat", "");
    run_whole(NULL);
    cr_expect_lt(room.answer.failure, 0);
    cr_expect(*room.why);
}

/* What was not looked at is not taken for something that is not there. */
Test(agent_student, more_files_than_are_read_are_told) {
    script("echo text > a; ln -s / out", "");
    run_whole(NULL);
    cr_expect_str_eq(json_get_string(room.left, "a", ""), "text\n");
    cr_expect_null(json_object_get(room.left, ""));
    script("for k in $(seq 600); do echo x > f$k; done", "");
    run_whole(NULL);
    cr_expect(json_is_null(json_object_get(room.left, "")));
}

/* --- cancelled --- */

Test(agent_student, cancelled_it_is_killed_with_its_children) {
    autofree char *mark = path_join(room.home, "mark");
    autofree char *words =
        xasprintf("(sleep 1; touch %s) & touch %s.begun; wait", mark, mark);
    autofree char *begun = xasprintf("%s.begun", mark);
    script(words, "");
    begin(NULL);
    while (access(begun, F_OK) < 0) {
        uv_run(&room.loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
    agent_run_cancel(room.run);
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_expect_eq(room.calls, 1);
    cr_expect_eq(room.answer.failure, -ECANCELED);
    cr_expect_eq(left_behind(), 0);
    usleep(1200000);
    cr_expect_lt(access(mark, F_OK), 0, "its child lives on");
    begin(NULL);
    agent_run_cancel(room.run); /* before it has begun */
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_expect_eq(room.calls, 1);
    cr_expect_eq(room.answer.failure, -ECANCELED);
    cr_expect_eq(left_behind(), 0);
}

/* --- the programs that are known --- */

static size_t place_of(char *const *words, const char *word) {
    size_t i = 0;
    while (words[i] && strcmp(words[i], word) != 0) {
        i++;
    }
    return i;
}

/* A model stands behind its flag; without one the flag goes too. */
Test(agent_student, a_known_program_gets_its_model_and_its_limits) {
    static const struct {
        const char *cli, *flag, *limit;
        const char *key;
    } cases[] = {{"claude-code", "--model", "acceptEdits", "ANTHROPIC_API_KEY"},
                 {"codex", "--model", "workspace-write", "OPENAI_API_KEY"},
                 {"opencode", "-m", "--pure", "OPENAI_API_KEY"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *plain = json_pack("{s:s}", "cli", cases[i].cli);
        autojson *with = json_pack("{s:s, s:s, s:i}", "cli", cases[i].cli, "model", "m7",
                                   "timeout_s", 9);
        struct agent_student a, b;
        cr_assert_eq(agent_student_read(&a, plain, false, NULL), 0);
        cr_assert_eq(agent_student_read(&b, with, false, NULL), 0);
        autofree char *name = xasprintf("%s:m7", cases[i].cli);
        cr_expect_str_eq(a.name, cases[i].cli);
        cr_expect_str_eq(b.name, name);
        cr_expect_str_eq(a.agent, cases[i].cli);
        cr_expect_null(a.model);
        cr_expect_str_eq(b.model, "m7");
        cr_expect_eq(a.timeout_ms, 600000);
        cr_expect_eq(b.timeout_ms, 9000);
        size_t count_a = place_of(a.argv, ""), count_b = place_of(b.argv, "");
        size_t flag = place_of(b.argv, cases[i].flag);
        cr_assert_lt(flag + 1, count_b, "%s", cases[i].cli);
        cr_expect_str_eq(b.argv[flag + 1], "m7");
        cr_expect_eq(count_a + 2, count_b);
        cr_expect_eq(place_of(a.argv, cases[i].flag), count_a);
        for (size_t k = 0, m = 0; k < count_a; k++, m++) { /* the others stay */
            m += m == flag ? 2 : 0;
            cr_expect_str_eq(a.argv[k], b.argv[m]);
        }
        cr_expect_lt(place_of(a.argv, cases[i].limit), count_a);
        cr_expect_neq(place_of(a.env, cases[i].key), place_of(a.env, ""));
        agent_student_finish(&a);
        agent_student_finish(&b);
    }
}

/* Limits of one's own configuration hold within bounds. */
Test(agent_student, of_a_configuration_words_and_times_are_bounded) {
    static const struct {
        const char *more;
        int rc;
        unsigned timeout_ms;
    } cases[] = {
        {"\"argv\":[\"a\"]", 0, 600000},
        {"\"argv\":[\"a\"],\"timeout_s\":7200", 0, 7200000},
        {"\"argv\":[\"a\"],\"timeout_s\":7201", 0, 600000},
        {"\"argv\":[\"a\"],\"timeout_s\":1", 0, 1000},
        {"\"argv\":[\"a\"],\"timeout_s\":0", 0, 600000},
        {"\"argv\":[\"a\",\"\"]", -EINVAL, 0},
        {"\"argv\":[]", -EINVAL, 0},
        {"\"argv\":\"a\"", -EINVAL, 0},
        {"\"argv\":[\"a\"],\"env\":[1]", -EINVAL, 0},
        {"\"argv\":[\"a\"],\"env\":[]", 0, 600000},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *text = xasprintf("{\"cli\":\"custom\",%s}", cases[i].more);
        autojson *value = json_loads(text, 0, NULL);
        struct agent_student a = {0};
        cr_expect_eq(agent_student_read(&a, value, true, NULL), cases[i].rc, "%s", text);
        cr_expect_eq(a.timeout_ms, cases[i].timeout_ms, "%s: %u", text, a.timeout_ms);
        if (cases[i].rc == 0) {
            cr_expect_str_eq(a.name, "custom");
            cr_expect_str_eq(a.agent, "universal");
            cr_expect_eq(a.format, AGENT_TEXT);
            agent_student_finish(&a);
        }
    }
    autojson *words = json_array();
    for (int i = 0; i < 65; i++) {
        struct agent_student a = {0};
        json_array_append_new(words, json_string("w"));
        autojson *value = json_pack("{s:s, s:O}", "cli", "custom", "argv", words);
        int rc = agent_student_read(&a, value, true, NULL);
        cr_expect_eq(rc, i < 64 ? 0 : -EINVAL, "%d words", i + 1);
        agent_student_finish(&a);
    }
}
