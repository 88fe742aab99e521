/* Calls that stand in what an agent says, SWE-agent's actions, and words that are cut. */
#include "skills/traces/trace.h"
#include "skills/traces/trace_shell.h"

#include "base/buf.h"
#include "base/err.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(trace_words, a_block_in_words_that_was_run_is_a_call) {
    static const char s[] =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"Mend it.\"},"
        "{\"role\": \"assistant\", \"content\": \"THOUGHT: It "
        "breaks.\\n\\n```bash\\nmake "
        "-k\\n```\"},"
        "{\"role\": \"user\", \"content\": "
        "\"<returncode>2</returncode>\\n<output>\\na.c:1: "
        "error: x\\n</output>\"},"
        "{\"role\": \"assistant\", \"content\": \"Try ```bash\\nls\\n```\"},"
        "{\"role\": \"user\", \"content\": \"Give one action only.\"}],"
        "\"trajectory_format\": \"mini-swe-agent-1\"}";
    struct trace t;
    struct err err = {0};
    cr_assert(trace_read_text(&t, "t", s, strlen(s), &err) == 0, "%s", err.msg);
    cr_assert(eq(sz, t.count, 6));
    cr_expect(t.events[1].kind == EVENT_SAY && !strstr(t.events[1].text, "make"));
    cr_assert(t.events[2].kind == EVENT_CALL);
    cr_expect(eq(str, t.events[2].command, "make -k"));
    cr_assert(t.events[3].kind == EVENT_RESULT && t.events[3].has_exit);
    cr_expect(eq(int, t.events[3].exit, 2));
    cr_expect(eq(str, t.events[3].text, "a.c:1: error: x"));
    cr_expect(t.events[4].kind == EVENT_SAY && t.events[5].kind == EVENT_USER);
    trace_finish(&t);
}

/* OpenHands where the model cannot call tools; SWE-agent's tags are the same. */
Test(trace_words, tags_that_were_carried_out_are_calls_and_edits) {
    static const char s[] =
        "[{\"role\": \"user\", \"content\": \"Mend <function=x>.\"},"
        "{\"role\": \"assistant\", \"content\": \"It breaks.\\n<function=execute_bash>\\n"
        "<parameter=command>\\ncd /w && make -k\\n</parameter>\\n</function>\"},"
        "{\"role\": \"user\", \"content\": \"EXECUTION RESULT of [execute_bash]:\\n"
        "a.c:1: error: x\\n[Command finished with exit code 2]\"},"
        "{\"role\": \"assistant\", \"content\": \"<function=str_replace_editor>\\n"
        "<parameter=command>str_replace</parameter>\\n<parameter=path>/w/a.c</parameter>\\n"
        "<parameter=old_str>\\nx = 1\\n</parameter>\\n<parameter=new_str>\\ny = "
        "1\\n</parameter>\\n</function>\"},"
        "{\"role\": \"user\", \"content\": \"OBSERVATION:\\nThe file has been edited.\"},"
        "{\"role\": \"assistant\", \"content\": \"Or <function=execute_bash>?\"},"
        "{\"role\": \"user\", \"content\": \"No.\"}]";
    struct trace t;
    struct err err = {0};
    cr_assert(trace_read_text(&t, "t", s, strlen(s), &err) == 0, "%s", err.msg);
    cr_assert(eq(sz, t.count, 10));
    cr_expect(t.events[0].kind == EVENT_USER);
    cr_expect(eq(str, t.events[1].text, "It breaks.\n"));
    cr_assert(t.events[2].kind == EVENT_CALL);
    cr_expect(eq(str, t.events[2].command, "cd /w && make -k"));
    cr_assert(t.events[3].kind == EVENT_RESULT && t.events[3].has_exit);
    cr_expect(eq(int, t.events[3].exit, 2));
    cr_expect(strncmp(t.events[3].text, "a.c:1: error: x", 15) == 0);
    cr_assert(t.events[5].kind == EVENT_CALL && t.events[6].kind == EVENT_EDIT);
    cr_expect(eq(str, t.events[6].path, "/w/a.c"));
    cr_expect(strstr(t.events[6].text, "-x = 1\n") && strstr(t.events[6].text, "+y = 1\n"));
    cr_expect(t.events[8].kind == EVENT_SAY && t.events[9].kind == EVENT_USER);
    trace_finish(&t);
}

Test(trace_words, tags_without_an_end_are_read_as_far_as_they_go) {
    static const char s[] =
        "[{\"role\": \"user\", \"content\": \"Mend it.\"},"
        "{\"role\": \"assistant\", \"content\": \"<function=run>\\n<parameter=command>make\"},"
        "{\"role\": \"user\", \"content\": \"OBSERVATION:\\ndone\"},"
        "{\"role\": \"assistant\", \"content\": \"<function=<parameter=<parameter=\"},"
        "{\"role\": \"user\", \"content\": \"OBSERVATION:\"}]";
    struct trace t;
    struct err err = {0};
    cr_assert(trace_read_text(&t, "t", s, strlen(s), &err) == 0, "%s", err.msg);
    cr_assert(t.count >= 4 && t.events[2].kind == EVENT_CALL);
    cr_expect(eq(str, t.events[2].command, "make"));
    trace_finish(&t);
}

Test(trace_words, actions_of_swe_agent_are_calls_and_edits) {
    static const char s[] =
        "{\"environment\": \"main\", \"trajectory\": [{\"action\": \"make -k\", "
        "\"observation\": \"a.c:1: error: x\", \"thought\": \"It breaks.\", \"state\": "
        "\"{}\"}, {\"action\": \"edit 1:1\\ny = 2\\nend_of_edit\", \"observation\": "
        "\"[File: /w/a.c (1 lines total)]\", \"state\": \"{\\\"open_file\\\": \\\"/w/a.c\\\"}\"}], \"history\": "
        "[{\"role\": \"user\", \"content\": \"Mend it.\"}], \"info\": {}}";
    struct trace t;
    struct err err = {0};
    cr_assert(trace_read_text(&t, "t", s, strlen(s), &err) == 0, "%s", err.msg);
    cr_expect(strcmp(t.format, "swe-agent") == 0);
    cr_assert(eq(sz, t.count, 4));
    cr_expect(t.events[0].kind == EVENT_SAY && t.events[1].kind == EVENT_CALL &&
              t.events[2].kind == EVENT_RESULT && t.events[3].kind == EVENT_EDIT);
    cr_expect(eq(str, t.events[1].command, "make -k"));
    cr_expect(eq(str, t.events[3].path, "/w/a.c"));
    cr_expect(eq(str, t.events[3].text, "+y = 2\n"));
    trace_finish(&t);
}

/* The editor's window and its search name errors of others; a refused edit changed nothing. */
Test(trace_words, what_swe_agents_editor_shows_is_no_commands_output) {
    static const char s[] =
        "{\"trajectory\": [{\"action\": \"goto 88\", \"observation\": \"[File: /w/a.c (99 lines "
        "total)]\\n88:error: x\"}, {\"action\": \"search_dir error\", \"observation\": \"Found 2 "
        "matches for \\\"error\\\" in /w\"}, {\"action\": \"edit 1:1\\ny\\nend_of_edit\", "
        "\"observation\": \"Your proposed edit has introduced new syntax error(s).\", \"state\": "
        "\"{\\\"open_file\\\": \\\"/w/a.c\\\"}\"}, {\"action\": \"edit 1:1\\ny\\nend_of_edit\", "
        "\"observation\": \"No file open. Use the `open` command first.\", \"state\": "
        "\"{\\\"open_file\\\": \\\"n/a\\\"}\"}, {\"action\": \"./run\", "
        "\"observation\": \"error: x\"}], \"history\": [], \"info\": {}}";
    struct trace t;
    struct err err = {0};
    cr_assert(trace_read_text(&t, "t", s, strlen(s), &err) == 0, "%s", err.msg);
    size_t commands = 0;
    for (size_t i = 0; i < t.count; i++) {
        commands += t.events[i].command != NULL;
        cr_expect(t.events[i].kind != EVENT_EDIT);
    }
    cr_expect(eq(sz, commands, 1));
    cr_expect(eq(sz, t.count, 10));
    cr_expect(t.events[5].is_error && t.events[7].is_error && !t.events[3].is_error);
    cr_expect(strstr(t.events[7].text, "No file open") != NULL);
    trace_finish(&t);
}

/* PowerShell writes files from a text between marks. */
Test(trace_words, files_of_powershell) {
    static const char s[] = "New-Item x | Out-Null\n@'\na = 1\nb = '@'\n'@ | Set-Content app\\a.py\n"
                            "@\"\nc\n\"@ | Set-Content -Encoding utf8 'my b.md'\n@'\nd\n'@ | Out-Host\n";
    static const struct {
        const char *path, *text;
    } files[] = {{"app\\a.py", "a = 1\nb = '@'\n"}, {"my b.md", "c\n"}};
    struct shell_file file;
    size_t at = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cr_assert(shell_next_file(s, &at, &file), "%zu", i);
        cr_expect(strcmp(file.path, files[i].path) == 0, "%s", file.path);
        cr_expect(file.len == strlen(files[i].text) && memcmp(file.text, files[i].text, file.len) == 0, "%zu", i);
        free(file.path);
    }
    cr_expect(not(shell_next_file(s, &at, &file)));
}

/* How a command ended, in the words that each harness puts around its output. */
Test(trace_words, a_harness_says_how_a_command_ended) {
    static const struct {
        const char *format, *session, *text;
    } cases[] = {
        /* OpenHands stores an event per file; joined, each is a line */
        {"openhands",
         "{\"id\": 1, \"source\": \"agent\", \"action\": \"run\", \"args\": {\"command\": "
         "\"make\"}, \"tool_call_metadata\": {\"tool_call_id\": \"c1\"}}\n"
         "{\"id\": 2, \"source\": \"agent\", \"observation\": \"run\", \"content\": \"no "
         "rule\", \"extras\": {\"metadata\": {\"exit_code\": 2}}, \"tool_call_metadata\": "
         "{\"tool_call_id\": \"c1\"}}\n",
         "no rule"},
        /* Gemini CLI puts the status between the output and the process group */
        {"gemini",
         "{\"sessionId\": \"g\", \"messages\": [{\"id\": \"1\", \"type\": \"gemini\", "
         "\"content\": \"\", \"toolCalls\": [{\"id\": \"c1\", \"name\": "
         "\"run_shell_command\", \"args\": {\"command\": \"make\"}, \"status\": \"success\", "
         "\"result\": [{\"functionResponse\": {\"id\": \"c1\", \"name\": "
         "\"run_shell_command\", \"response\": {\"output\": \"Output: 0123456789012345678901234"
         "567890123456789012345678901234567890123456789012345678901234567890123456789012345678901"
         "234567890123456789012345678901234567890123456789012345678901234567890123456789012345678"
         "901234567890123456789\\nExit Code: 2\\nProcess Group PGID: 12196\"}}}]}]}]}",
         "0123456789"},
        /* mini-SWE-agent with a model that can call tools */
        {"messages",
         "[{\"role\": \"user\", \"content\": \"Mend it.\"}, {\"role\": \"assistant\", "
         "\"content\": null, \"tool_calls\": [{\"id\": \"c1\", \"type\": \"function\", "
         "\"function\": {\"name\": \"bash\", \"arguments\": \"{\\\"command\\\": "
         "\\\"make\\\"}\"}}]}, {\"role\": \"tool\", \"tool_call_id\": \"c1\", \"content\": "
         "\"<returncode>2</returncode>\\n<output>\\nno rule\\n</output>\"}]",
         "<returncode>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace t;
        struct err err = {0};
        const char *s = cases[i].session;
        cr_assert(trace_read_text(&t, "t", s, strlen(s), &err) == 0, "%zu: %s", i, err.msg);
        cr_expect(strcmp(t.format, cases[i].format) == 0, "%zu: %s", i, t.format);
        cr_assert(t.count >= 2);
        const struct trace_event *call = &t.events[t.count - 2], *result = call + 1;
        cr_expect(call->command && strcmp(call->command, "make") == 0, "%zu", i);
        cr_assert(result->kind == EVENT_RESULT, "%zu", i);
        cr_expect(result->has_exit && result->exit == 2, "%zu", i);
        cr_expect(strncmp(result->text, cases[i].text, strlen(cases[i].text)) == 0, "%zu: %s", i,
                  result->text);
        trace_finish(&t);
    }
}

/* Half of a secret would not be known for one: what is too long is cut between two words. */
Test(trace_words, a_long_text_is_cut_between_words) {
    static const char word[] = "ghp_Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9Qw8";
    for (size_t lead = 1; lead < sizeof word; lead++) {
        autobuf s = BUF_INIT(1u << 20);
        struct trace t;
        buf_addf(&s, "{\"messages\": [{\"role\": \"user\", \"content\": \"%.*s", (int)lead, word);
        for (size_t i = 0; i < 4000; i++) {
            buf_addf(&s, " %s", word);
        }
        buf_addf(&s, " %.*s\"}, {\"role\": \"assistant\", \"content\": \"Done.\"}]}", (int)lead, word);
        cr_assert(trace_read_text(&t, "t", s.data, s.len, NULL) == 0);
        const char *text = t.events[0].text, *gap = strstr(text, "\n[… ");
        cr_assert(gap != NULL && t.events[0].text_len > TRACE_MAX_TEXT - 200);
        const char *half = memrchr(text, 'g', (size_t)(gap - text)), *behind = strchr(gap + 1, '\n') + 1;
        cr_expect(eq(int, strncmp(half, word, strlen(word)), 0), "%zu: %.60s", lead, half);
        behind += strspn(behind, " ");
        cr_expect(eq(int, strncmp(behind, word, strlen(word)), 0), "%zu: %.60s", lead, behind);
        trace_finish(&t);
    }
}

/* How a call was to be run is told; what its name says is secret is not, whatever it looks like. */
Test(trace_words, options_that_are_named_as_secrets_are_left_out) {
    static const char s[] =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"Ship it.\"},"
        "{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"a\", \"type\": \"function\", "
        "\"function\": {\"name\": \"bash\", \"arguments\": \"{\\\"command\\\": \\\"ship\\\", "
        "\\\"api_key\\\": \\\"purple_monkey_dish\\\", \\\"password\\\": \\\"sword_fish\\\", "
        "\\\"mode\\\": \\\"as_root\\\"}\"}}]},"
        "{\"role\": \"tool\", \"tool_call_id\": \"a\", \"content\": \"done\"}]}";
    struct trace t;
    struct err err = {0};
    cr_assert(trace_read_text(&t, "t", s, strlen(s), &err) == 0, "%s", err.msg);
    cr_assert(eq(sz, t.count, 3));
    cr_expect(eq(str, t.events[1].text, "mode=as_root"));
    trace_finish(&t);
}
