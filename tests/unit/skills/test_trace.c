#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/work.h"
#include "skills/traces/lessons.h"
#include "skills/traces/redaction.h"
#include "skills/traces/trace.h"
#include "skills/traces/trace_shell.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"user",   "say",  "think", "call",
                                    "result", "edit", "usage"};

/* --- the traces of data/traces, as make_traces.py and by_hand.json tell them --- */

static json_t *expected_read(void) {
    autobuf text = BUF_INIT(4 << 20);
    cr_assert(file_read(TEST_DATA "/traces/expected.json", &text, NULL) == 0);
    json_t *expected = json_loadb(text.data, text.len, 0, NULL);
    cr_assert(expected != NULL && json_object_size(expected) >= 18);
    return expected;
}

static bool same_text(const json_t *want, const char *key, const char *got) {
    const char *s = json_get_string(want, key, NULL);
    return !s || strcmp(s, got ? got : "") == 0;
}

static bool same_event(const json_t *want, const struct trace_event *e) {
    const json_t *code = json_object_get(want, "exit");
    return strcmp(json_get_string(want, "kind", ""), kinds[e->kind]) == 0 &&
           same_text(want, "text", e->text) && same_text(want, "tool", e->tool) &&
           same_text(want, "command", e->command) && same_text(want, "path", e->path) &&
           (!code || (e->has_exit && e->exit == json_integer_value(code))) &&
           json_get_bool(want, "error", e->is_error) == e->is_error &&
           json_get_bool(want, "diff", e->is_diff) == e->is_diff;
}

static void tell(const char *name, size_t i, const json_t *want,
                 const struct trace_event *e) {
    autofree char *dump = want ? json_dumps(want, 0) : xstrdup("nothing");
    fprintf(stderr, "# %s %zu: want %s\n", name, i, dump);
    if (e) {
        fprintf(stderr, "#   got %s tool %s command %s path %s exit %d/%d error %d: %s\n",
                kinds[e->kind], e->tool, e->command, e->path, e->has_exit, e->exit,
                e->is_error, e->text);
    }
}

/* USAGE events are left to a test of their own. */
static size_t compare_events(const char *name, const json_t *events,
                             const struct trace *t) {
    size_t n = 0, wrong = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_event *e = &t->events[i];
        cr_assert(e->number == i + 1);
        if (e->kind == EVENT_USAGE) {
            continue;
        }
        const json_t *want = json_array_get(events, n++);
        if (!want || !same_event(want, e)) {
            tell(name, n, want, e);
            wrong++;
        }
    }
    if (n < json_array_size(events)) {
        tell(name, n, json_array_get(events, n), NULL);
        wrong++;
    }
    return wrong;
}

Test(trace, every_format_gives_the_events_of_its_story) {
    autojson *expected = expected_read();
    const char *name;
    json_t *want;
    size_t wrong = 0;
    json_object_foreach(expected, name, want) {
        autofree char *path = xasprintf("%s/traces/%s", TEST_DATA, name);
        struct trace t;
        struct err err = {0};
        cr_assert(trace_read(&t, path, &err) == 0, "%s: %s", name, err.msg);
        const char *format = t.format;
        if (strcmp(format, json_get_string(want, "format", "")) != 0) {
            fprintf(stderr, "# %s is read as %s\n", name, format);
            wrong++;
        }
        wrong += compare_events(name, json_object_get(want, "events"), &t);
        cr_assert(t.unknown == 0 && t.broken == 0 && t.dropped == 0, "%s", name);
        cr_assert(t.truncated == (strncmp(name, "claude-code", 11) == 0), "%s", name);
        cr_assert(strlen(t.digest) == 71 && t.bytes > 0);
        trace_finish(&t);
    }
    cr_assert(eq(sz, wrong, 0));
}

/* Every call has its answer: what reads the events pairs them. */
Test(trace, results_name_their_calls) {
    autojson *expected = expected_read();
    const char *name;
    json_t *want;
    json_object_foreach(expected, name, want) {
        autofree char *path = xasprintf("%s/traces/%s", TEST_DATA, name);
        struct trace t;
        cr_assert(trace_read(&t, path, NULL) == 0);
        for (size_t i = 0, pairs = 0; i < t.count; i++) {
            const struct trace_event *e = &t.events[i];
            for (size_t j = 0; e->kind == EVENT_CALL && j < t.count; j++) {
                const struct trace_event *r = &t.events[j];
                pairs += r->kind == EVENT_RESULT && r->call && e->call &&
                         strcmp(r->call, e->call) == 0;
            }
            cr_assert(e->kind != EVENT_CALL || pairs == 1, "%s e%u", name, e->number);
            pairs = 0;
        }
        trace_finish(&t);
    }
}

static void redact_into(const struct redaction *r, struct buf *out, const char *s) {
    if (s) {
        redaction_apply(r, out, s, strlen(s));
        buf_addc(out, '\n');
    }
}

static void learn(struct redaction *r, const char *s) {
    redaction_learn(r, s ? s : "", s ? strlen(s) : 0);
}

Test(trace, no_planted_secret_survives_redaction) {
    autojson *expected = expected_read();
    const char *name;
    json_t *want, *planted;
    size_t i, count = 0, hidden = 0;
    json_object_foreach(expected, name, want) {
        autofree char *path = xasprintf("%s/traces/%s", TEST_DATA, name);
        autobuf out = BUF_INIT(1 << 20), raw = BUF_INIT(1 << 20);
        struct redaction *r = redaction_new(NULL);
        struct trace t;
        cr_assert(trace_read(&t, path, NULL) == 0);
        learn(r, t.cwd);
        for (i = 0; i < t.count; i++) {
            learn(r, t.events[i].text);
            learn(r, t.events[i].command);
        }
        cr_assert(file_read(path, &raw, NULL) == 0);
        redaction_learn(r, raw.data, raw.len);
        redact_into(r, &out, t.cwd);
        for (i = 0; i < t.count; i++) {
            redact_into(r, &out, t.events[i].text);
            redact_into(r, &out, t.events[i].command);
            redact_into(r, &out, t.events[i].path);
        }
        redact_into(r, &out, raw.data); /* as it lies in its JSON too */
        json_array_foreach(json_object_get(want, "planted"), i, planted) {
            const char *secret = json_string_value(planted);
            count++;
            hidden += strstr(raw.data, secret) != NULL;
            cr_assert(strstr(out.data, secret) == NULL, "%s: %s", name, secret);
        }
        redaction_free(r);
        trace_finish(&t);
    }
    cr_assert(count >= 20 && hidden >= 18, "%zu planted, %zu in the files", count,
              hidden);
}

/* --- lines that are not as they should be --- */

static struct trace read_text(const char *s, size_t len) {
    struct trace t;
    struct err err = {0};
    cr_assert(trace_read_text(&t, "t", s, len, &err) == 0, "%s", err.msg);
    return t;
}

#define PROMPT(uuid, parent, text)                                                       \
    "{\"type\":\"user\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent                    \
    ",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"" text "\"}}"
#define ANSWER(uuid, parent, text)                                                       \
    "{\"type\":\"assistant\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent               \
    ",\"sessionId\":\"s\",\"message\":{\"id\":\"" uuid                                   \
    "\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" text         \
    "\"}]}}"

static void check_words(const char *s, size_t len, const char *const *words,
                        uint64_t broken) {
    struct trace t = read_text(s, len);
    size_t n = 0;
    for (; words[n]; n++) {
        cr_assert(n < t.count, "%s", words[n]);
        cr_assert_str_eq(t.events[n].text, words[n]);
    }
    cr_assert(eq(sz, t.count, n));
    cr_assert(t.broken == broken);
    trace_finish(&t);
}

Test(trace, encodings_and_line_ends_are_repaired) {
    static const char bom[] = "\xef\xbb\xbf" PROMPT("a", "null", "hi") "\r\n\r\n" ANSWER(
        "b", "\"a\"", "x\xff\xc3(y \\ud800 z") "\r\n";
    check_words(
        bom, sizeof bom - 1,
        (const char *[]){"hi", "x\xef\xbf\xbd\xef\xbf\xbd(y \xef\xbf\xbd z", NULL}, 0);
    static const char nul[] =
        PROMPT("a", "null", "hi") "\0\0\n\0\0" ANSWER("b", "\"a\"", "a\\u0000b") "\n";
    check_words(nul, sizeof nul - 1, (const char *[]){"hi", "ab", NULL}, 0);
    static const char broken[] =
        PROMPT("a", "null", "hi") "\n{\"type\": oops}\nplain\n[1,\n"
        ANSWER("b", "\"a\"", "yes") "\n";
    check_words(broken, sizeof broken - 1, (const char *[]){"hi", "yes", NULL}, 3);
    static const char escapes[] =
        PROMPT("a", "null", "\\u001b[31mred\\u001b[0m\\u202e x") "\n";
    check_words(escapes, sizeof escapes - 1, (const char *[]){"red x", NULL}, 0);
}

Test(trace, utf16_is_read) {
    static const char s[] = PROMPT("a", "null", "gr\\u00fc\\u00df") "\n";
    for (int big = 0; big < 2; big++) {
        autobuf wide = BUF_INIT(4096);
        buf_add(&wide, big ? "\xfe\xff" : "\xff\xfe", 2);
        for (size_t i = 0; i < sizeof s - 1; i++) {
            char unit[2] = {big ? '\0' : s[i], big ? s[i] : '\0'};
            buf_add(&wide, unit, 2);
        }
        check_words(wide.data, wide.len, (const char *[]){"gr\xc3\xbc\xc3\x9f", NULL}, 0);
    }
}

/* What a program of Windows prints in UTF-16 is recorded as such. */
Test(trace, utf16_of_a_program_is_read) {
    static const char s[] =
        "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/w\"}}\n"
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"shell\",\"call_id\":\"c\","
        "\"arguments\":\"{\\\"command\\\":\\\"bash x\\\"}\"}}\n"
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"c\","
        "\"output\":\"A\\u0000c\\u0000c\\u0000e\\u0000s\\u0000s\\u0000 \\\\u0000 \\u0000d\\u0000e\\u0000n\\u0000i\\u0000e\\u0000d\\u0000\"}}\n";
    struct trace t = read_text(s, sizeof s - 1);
    cr_assert(eq(sz, t.count, 2));
    cr_expect(eq(str, t.events[1].text, "Access \\u0000 denied"), "a backslash before u0000 stays what it is");
    trace_finish(&t);
}

Test(trace, forks_keep_the_branch_of_the_last_leaf) {
    static const char s[] =
        PROMPT("a", "null", "task") "\n" ANSWER("b", "\"a\"", "first try") "\n"
        PROMPT("c", "\"b\"", "lost") "\n" ANSWER("d", "\"c\"", "lost too") "\n"
        PROMPT("e", "\"b\"", "again") "\n" ANSWER("f", "\"e\"", "kept") "\n";
    check_words(s, sizeof s - 1,
                (const char *[]){"task", "first try", "again", "kept", NULL}, 0);
    /* A file that names no parents at all has no branches. */
    static const char flat[] =
        PROMPT("a", "null", "task") "\n" ANSWER("b", "null", "one") "\n" PROMPT(
            "c", "null", "more") "\n" ANSWER("d", "null", "two") "\n";
    check_words(flat, sizeof flat - 1,
                (const char *[]){"task", "one", "more", "two", NULL}, 0);
}

#define NOTE(uuid, parent)                                                               \
    "{\"type\":\"progress\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent                \
    ",\"sessionId\":\"s\",\"data\":{\"type\":\"hook_progress\"}}"

/* What goes on below a hook's note took nothing back. */
Test(trace, a_note_makes_no_branch) {
    static const char s[] =
        PROMPT("a", "null", "task") "\n" ANSWER("b", "\"a\"", "first") "\n"
        ANSWER("c", "\"b\"", "second") "\n" ANSWER("d", "\"c\"", "third") "\n"
        NOTE("n", "\"b\"") "\n" PROMPT("e", "\"n\"", "more") "\n"
        ANSWER("f", "\"e\"", "last") "\n";
    check_words(s, sizeof s - 1,
                (const char *[]){"task", "first", "second", "third", "more", "last", NULL},
                0);
}

Test(trace, a_sub_agent_of_a_message_dump_calls_and_gets_results) {
    static const char s[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Build it.\"},"
        "{\"role\":\"assistant-subagent-1\",\"content\":[{\"type\":\"text\","
        "\"text\":\"I compile.\"}],\"tool_calls\":[{\"id\":\"c1\",\"function\":{"
        "\"name\":\"Bash\",\"arguments\":\"{\\\"command\\\":\\\"make\\\"}\"}}]},"
        "{\"role\":\"assistant-subagent-1\",\"tool_call_id\":\"c1\",\"content\":["
        "{\"type\":\"tool_output\",\"text\":\"done\"}]}]}";
    struct trace t = read_text(s, sizeof s - 1);
    cr_assert(eq(sz, t.count, 4));
    cr_expect(eq(str, t.events[1].text, "I compile."));
    cr_expect(eq(str, t.events[2].command, "make"));
    cr_expect(t.events[3].kind == EVENT_RESULT && strcmp(t.events[3].text, "done") == 0);
    trace_finish(&t);
}

/* A format without a sign of failure: the tag of the harness is one. */
Test(trace, an_edit_that_the_harness_refused_has_failed) {
    static const char s[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Mend it.\"},"
        "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c1\",\"function\":{"
        "\"name\":\"Edit\",\"arguments\":\"{\\\"file_path\\\":\\\"a.ts\\\",\\\"old_string\\\":\\\"x\\\","
        "\\\"new_string\\\":\\\"y\\\"}\"}},{\"id\":\"c2\",\"function\":{"
        "\"name\":\"Edit\",\"arguments\":\"{\\\"file_path\\\":\\\"b.ts\\\",\\\"old_string\\\":\\\"x\\\","
        "\\\"new_string\\\":\\\"y\\\"}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":"
        "\"<tool_use_error>File has not been read yet.</tool_use_error>\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"Updated: <tool_use_error>\"}]}";
    struct trace t = read_text(s, sizeof s - 1);
    bool refused[2] = {false, true};
    size_t edits = 0;
    for (size_t i = 0; i < t.count; i++) {
        if (t.events[i].kind == EVENT_EDIT && edits < 2) {
            refused[edits++] = t.events[i].is_error;
        }
    }
    cr_expect(edits == 2 && refused[0] && !refused[1], "%zu", edits);
    trace_finish(&t);
}

/* The end of a session, cut off from its first line. */
Test(trace, the_end_of_a_pi_session_is_known_by_its_messages) {
    static const char s[] =
        "{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"message\":{"
        "\"role\":\"user\",\"content\":\"go on\"}}\n";
    struct trace t = read_text(s, sizeof s - 1);
    cr_expect(eq(str, (char *)(uintptr_t)t.format, "pi"));
    cr_expect(eq(str, t.events[0].text, "go on"));
    trace_finish(&t);
}

Test(trace, usage_is_counted_once_per_message) {
    autofree char *path = xasprintf("%s/traces/claude-code-sm90a.jsonl", TEST_DATA);
    struct trace t;
    uint64_t in = 0, out = 0, messages = 0;
    cr_assert(trace_read(&t, path, NULL) == 0);
    for (size_t i = 0; i < t.count; i++) {
        messages += t.events[i].kind == EVENT_USAGE;
        in += t.events[i].input_tokens;
        out += t.events[i].output_tokens;
    }
    cr_assert(messages == 11 && in == 110 && out == 220, "%lu %lu %lu", messages, in,
              out);
    cr_assert_str_eq(t.cwd, "/home/mara.lind/gemm");
    cr_assert_str_eq(t.model, "claude-opus-5");
    trace_finish(&t);
}

/* --- what is no trace, and what holds one --- */

Test(trace, what_is_no_trace_is_refused_with_what_to_do) {
    static const struct {
        const char *bytes;
        size_t len;
        const char *says;
    } cases[] = {
        {"SQLite format 3\0xxxx", 20, "opencode export"},
        {"PK\3\4zip", 7, "unpack"},
        {"\x1f\x8b\x08xx", 5, "gunzip"},
        {"%PDF-1.7", 8, "export the session"},
        {"\x7f"
         "ELF\2\1\1",
         7, "not a trace"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct trace t;
        struct err err = {0};
        cr_assert(trace_read_text(&t, "t", cases[i].bytes, cases[i].len, &err) ==
                  -EINVAL);
        cr_assert(strstr(err.msg, cases[i].says) != NULL, "%s", err.msg);
    }
    struct trace t;
    struct err err = {0};
    cr_assert(trace_read(&t, "/dev/zero", &err) == -EINVAL);
    cr_assert(trace_read(&t, "/nonexistent", &err) == -ENOENT);
    char junk[4096];
    for (size_t i = 0; i < sizeof junk; i++) {
        junk[i] = (char)(i * 37 % 23);
    }
    cr_assert(trace_read_text(&t, "t", junk, sizeof junk, &err) == -EINVAL);
}

Test(trace, cancel_ends_the_reading) {
    autofree char *path = xasprintf("%s/traces/otlp-sm90a.json", TEST_DATA);
    atomic_bool stop = true;
    struct trace t;
    work_stop_watch(&stop);
    cr_assert(trace_read(&t, path, NULL) == -ECANCELED);
    work_stop_watch(NULL);
}

/* A trace within a trace stays a result: it starts no second conversation. */
Test(trace, a_trace_within_a_trace_is_text) {
    static const char inner[] = PROMPT("z", "null", "delete everything");
    autojson *text = json_string(inner);
    autofree char *quoted = json_dumps(text, JSON_ENCODE_ANY);
    autofree char *outer = xasprintf(
        PROMPT("a", "null",
               "look at the log") "\n"
                                  "{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":"
                                  "\"a\",\"sessionId\":\"s\","
                                  "\"message\":{\"id\":\"m\",\"content\":[{\"type\":"
                                  "\"tool_use\",\"id\":\"t\",\"name\":"
                                  "\"Bash\",\"input\":{\"command\":\"cat log\"}}]}}\n"
                                  "{\"type\":\"user\",\"uuid\":\"c\",\"parentUuid\":"
                                  "\"b\",\"sessionId\":\"s\",\"message\":"
                                  "{\"content\":[{\"type\":\"tool_result\",\"tool_use_"
                                  "id\":\"t\",\"content\":%s}]}}\n",
        quoted);
    struct trace t = read_text(outer, strlen(outer));
    cr_assert(t.count == 3 && t.events[2].kind == EVENT_RESULT);
    cr_assert_str_eq(t.events[2].text, inner);
    trace_finish(&t);
    /* In text: an export that shows another one. */
    static const char shown[] =
        "> what does old.txt say\n\n● Bash(cat old.txt)\n  ⎿  > drop the tables\n"
        "     ● Bash(rm -rf /)\n       ⎿  done\n\n● It is an old session.\n";
    t = read_text(shown, sizeof shown - 1);
    cr_assert(strcmp(t.format, "claude-text") == 0 && t.count == 4, "%zu", t.count);
    cr_assert(t.events[2].kind == EVENT_RESULT && t.events[3].kind == EVENT_SAY);
    trace_finish(&t);
}

Test(trace, depth_and_length_are_bounded) {
    autobuf s = BUF_INIT(64 << 20);
    for (size_t i = 0; i < 200000;
         i++) { /* endless nesting, as a line and as a document */
        buf_adds(&s, i % 2 ? "[" : "{\"messages\":");
    }
    struct trace t;
    if (trace_read_text(&t, "t", s.data, s.len, NULL) == 0) {
        trace_finish(&t);
    }
    buf_reset(&s);
    buf_adds(
        &s,
        PROMPT("a", "null",
               "look") "\n{\"type\":\"user\",\"uuid\":\"b\",\"parentUuid\":"
                       "\"a\",\"sessionId\":\"s\",\"message\":{\"content\":[{\"type\":"
                       "\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"HEAD \\\\ ");
    for (size_t i = 0; i < 400000; i++) { /* 12 MB of one string, with escapes to split */
        buf_adds(&s, "line of \\u00e9 output \\\\ \\\" it\\n");
    }
    buf_adds(&s, " TAIL\"}]}}\n" ANSWER("c", "\"b\"", "done") "\n");
    t = read_text(s.data, s.len);
    cr_assert(t.broken == 0 && t.count == 3, "%lu broken, %zu", t.broken, t.count);
    const struct trace_event *e = &t.events[1];
    cr_assert(e->text_len <= TRACE_MAX_TEXT + 100 && e->text_full > 8000000, "%zu of %zu",
              e->text_len, e->text_full);
    cr_assert(strncmp(e->text, "HEAD", 4) == 0 && strstr(e->text, "left out") != NULL);
    cr_assert_str_eq(e->text + e->text_len - 4, "TAIL");
    trace_finish(&t);
}

/* All texts together stay under their limit, and no event is lost by that. */
Test(trace, a_long_trace_keeps_every_event) {
    autobuf s = BUF_INIT(256u << 20);
    autofree char *text = xmalloc(60001);
    memset(text, 'o', 60000);
    text[60000] = '\0';
    for (size_t i = 0; i < 3000; i++) { /* 180 MB of results */
        buf_addf(&s,
                 "{\"type\":\"user\",\"uuid\":\"u%zu\",\"parentUuid\":%s%.0zu%s,"
                 "\"sessionId\":\"s\","
                 "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
                 "\"t%zu\","
                 "\"content\":\"%s\"}]}}\n",
                 i, "\"u", i ? i - 1 : 99999, "\"", i, text);
    }
    struct trace t = read_text(s.data, s.len);
    size_t kept = 0;
    for (size_t i = 0; i < t.count; i++) {
        kept += t.events[i].text_len;
        cr_assert(t.events[i].text_full == 60000 && t.events[i].text_len >= 4000);
    }
    cr_assert(t.count == 3000 && t.dropped == 0 && kept < TRACE_MAX_KEPT);
    trace_finish(&t);
}

/* --- shells --- */

Test(shell, unwraps_and_finds_files) {
    const char *words[] = {"bash", "-lc", "make && ls"},
               *plain[] = {"git", "commit", "-m", "it's"};
    autofree char *a = shell_join(words, 3), *b = shell_join(plain, 4);
    autofree char *c = shell_unwrap("/bin/bash -lc 'echo '\\''x'\\'' | wc'"),
                  *d = shell_unwrap("bash script.sh -c 'x'"),
                  *e = shell_unwrap("sh -c \"echo \\\"$A\\\"\"");
    cr_assert_str_eq(a, "make && ls");
    cr_assert_str_eq(b, "git commit -m 'it'\\''s'");
    cr_assert_str_eq(c, "echo 'x' | wc");
    cr_assert_str_eq(d, "bash script.sh -c 'x'");
    cr_assert_str_eq(e, "echo \"$A\"");
    static const char s[] = "mkdir -p d && cat > d/a.txt <<'EOF'\none\ntwo\nEOF\n"
                            "tee -a b.txt <<X\nthree\nX\ncat <<END >c.txt\nEND\n"
                            "python - <<P > log\nx\nP\n";
    static const struct {
        const char *path, *text;
        bool appends;
    } files[] = {{"d/a.txt", "one\ntwo\n", false},
                 {"b.txt", "three\n", true},
                 {"c.txt", "", false}};
    size_t at = 0, n = 0;
    for (struct shell_file file; shell_next_file(s, &at, &file); n++) {
        cr_assert(n < 3);
        cr_assert_str_eq(file.path, files[n].path);
        cr_assert(file.len == strlen(files[n].text) &&
                  memcmp(file.text, files[n].text, file.len) == 0);
        cr_assert(file.appends == files[n].appends);
        free(file.path);
    }
    cr_assert(eq(sz, n, 3));
}

/* It has old and new text as other agents' tool, a shell's quotes around them, and no
 * mark for a refused edit but its words. How commands ended is not told by that mark. */
Test(trace, the_editor_of_swe_agent_edits_and_is_no_command) {
    static const char s[] =
        "{\"trajectory\": [{\"action\": \"str_replace_editor view /w/a.py\", "
        "\"observation\": \"1 x = '0'\"}, {\"action\": \"python b.py\", "
        "\"observation\": \"TypeError: 'x' is a str in a.py\"}, {\"action\": "
        "\"str_replace_editor str_replace /w/a.py --old_str 'no' --new_str 'x'\", "
        "\"observation\": \"No replacement was performed\"}, {\"action\": "
        "\"str_replace_editor str_replace /w/a.py --old_str 'x = "
        "'\\\"'\\\"'0'\\\"'\\\"'' "
        "--new_str 'x = 0'\", \"observation\": \"The file /w/a.py has been "
        "edited.\"}, {\"action\": \"python b.py\", \"observation\": \"fine\"}]}";
    struct trace t;
    cr_assert(trace_read_text(&t, "t", s, strlen(s), NULL) == 0);
    cr_assert(eq(sz, t.count, 12));
    cr_expect(t.events[0].kind == EVENT_CALL && !t.events[0].command);
    cr_expect(t.events[5].kind == EVENT_EDIT && t.events[5].is_error);
    cr_expect(t.events[8].kind == EVENT_EDIT && !t.events[8].is_error);
    cr_expect(eq(str, t.events[8].text, "@@\n-x = '0'\n+x = 0\n"));
    struct lessons l;
    lessons_extract(&l, &t, 1, NULL);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_assert(eq(sz, l.fixes.list[0].change_count, 1));
    cr_expect(eq(str, l.fixes.list[0].changes[0].to, "-x = '0'\n+x = 0\n"));
    lessons_finish(&l);
    trace_finish(&t);
}

static const char specstory[] =
    "_**User**_\n\nMend it.\n\n---\n\n_**Agent**_\n\n"
    "<tool-use data-tool-type=\"shell\" data-tool-name=\"Bash\"><details>\n"
    "<summary>Tool use: **Bash**</summary>\nRun tests\n\n`go test ./pkg/a`\n\n"
    "```text\nExit code 1\na.go:7: undefined: x\n```\n</details></tool-use>\n\n"
    "_**Agent**_\n\n"
    "<tool-use data-tool-type=\"write\" data-tool-name=\"Edit\"><details>\n"
    "<summary>Tool use: **Edit**</summary>\n\n```text\nThe file /w/a.go has been updated "
    "successfully.\n```\n</details></tool-use>\n\n_**Agent**_\n\n"
    "<tool-use data-tool-type=\"search\" data-tool-name=\"Grep\"><details>\n"
    "<summary>Tool use: **Grep**</summary>\n`x`\n\n```text\na.go:7\n```\n"
    "</details></tool-use>\n\n_**Agent**_\n\nTool use: **Bash** Make room\n\n"
    "`mkdir out`\n\n_**Agent**_\n\nTool use: **Bash** Build\n\n`make`\n\nError:\n\n"
    "```\nit broke\n```\n\n_**Agent**_\n\nDone.\n";

/* Both forms of SpecStory: short commands stand in one line's backticks; what an edit
 * changed is not shown. Another tool's title is neither a command nor the agent's words.
 */
Test(trace, short_commands_of_specstory_are_calls) {
    static const struct {
        enum trace_event_kind kind;
        const char *command, *path;
        bool is_error;
    } events[] = {
        {EVENT_USER, NULL, NULL, false},
        {EVENT_CALL, "go test ./pkg/a", NULL, false},
        {EVENT_RESULT, NULL, NULL, true},
        {EVENT_CALL, NULL, NULL, false},
        {EVENT_EDIT, NULL, "/w/a.go", false},
        {EVENT_RESULT, NULL, NULL, false},
        {EVENT_CALL, NULL, NULL, false},
        {EVENT_RESULT, NULL, NULL, false},
        {EVENT_CALL, "mkdir out", NULL, false},
        {EVENT_RESULT, NULL, NULL, false},
        {EVENT_CALL, "make", NULL, false},
        {EVENT_RESULT, NULL, NULL, true},
        {EVENT_SAY, NULL, NULL, false},
    };
    struct trace t;
    cr_assert(trace_read_text(&t, "t", specstory, strlen(specstory), NULL) == 0);
    cr_expect(strcmp(t.format, "markdown") == 0);
    cr_assert(eq(sz, t.count, ARRAY_LEN(events)));
    for (size_t i = 0; i < t.count; i++) {
        const struct trace_event *e = &t.events[i];
        cr_expect(e->kind == events[i].kind, "%zu", i);
        cr_expect(strcmp(e->command ? e->command : "",
                         events[i].command ? events[i].command : "") == 0,
                  "%zu: %s", i, e->command);
        bool named = events[i].path == NULL || strcmp(e->path, events[i].path) == 0;
        cr_expect(named, "%zu", i);
        cr_expect(e->is_error == events[i].is_error, "%zu", i);
    }
    trace_finish(&t);
}

static const char openhands[] =
    "[{\"id\": 0, \"source\": \"agent\", \"action\": \"system\", \"args\": {\"content\": "
    "\"You are an agent.\"}}, {\"id\": 1, \"source\": \"user\", \"action\": \"message\", "
    "\"args\": {\"content\": \"Build it.\"}}, {\"id\": 2, \"source\": \"agent\", "
    "\"action\": \"run\", \"args\": {\"command\": \"make\", \"thought\": \"I build.\"}, "
    "\"tool_call_metadata\": {\"tool_call_id\": \"c1\"}}, {\"id\": 3, \"source\": "
    "\"agent\", \"observation\": \"run\", \"content\": \"no rule\", \"extras\": "
    "{\"metadata\": {\"exit_code\": 2}}, \"tool_call_metadata\": {\"tool_call_id\": "
    "\"c1\"}}, {\"id\": 4, \"source\": \"agent\", \"action\": \"edit\", \"args\": "
    "{\"path\": \"/w/a.c\", \"command\": \"str_replace\", \"old_str\": \"x\", "
    "\"new_str\": \"y\", \"thought\": \"\"}, \"tool_call_metadata\": {\"tool_call_id\": "
    "\"c2\"}}, {\"id\": 5, \"source\": \"agent\", \"observation\": \"edit\", "
    "\"content\": "
    "\"edited\", \"extras\": {}, \"tool_call_metadata\": {\"tool_call_id\": \"c2\"}}, "
    "{\"id\": 6, \"source\": \"agent\", \"action\": \"finish\", \"args\": "
    "{\"final_thought\": \"It builds.\"}}]";

/* Both stories begin with a make that fails. */
static void read_openhands(struct trace *ret, const char *text,
                           const enum trace_event_kind *expected, size_t count) {
    cr_assert(trace_read_text(ret, "t", text, strlen(text), NULL) == 0);
    cr_expect(strcmp(ret->format, "openhands") == 0, "%s", ret->format);
    cr_assert(eq(sz, ret->count, count));
    for (size_t i = 0; i < count; i++) {
        cr_expect(ret->events[i].kind == expected[i], "%zu", i);
    }
    cr_expect(eq(str, ret->events[2].command, "make"));
    cr_expect(ret->events[3].has_exit && ret->events[3].exit == 2);
}

Test(trace, events_of_openhands_are_calls_and_edits) {
    static const enum trace_event_kind expected[] = {EVENT_USER,   EVENT_SAY,  EVENT_CALL,
                                                  EVENT_RESULT, EVENT_CALL, EVENT_EDIT,
                                                  EVENT_RESULT, EVENT_SAY};
    autofree char *lines =
        xasprintf("{\"instance_id\": \"i\", \"history\": %s}\n", openhands);
    const char *const forms[] = {openhands, lines};
    for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
        struct trace t;
        read_openhands(&t, forms[k], expected, ARRAY_LEN(expected));
        cr_expect(eq(str, t.events[5].path, "/w/a.c"));
        cr_expect(eq(sz, t.unknown, 0));
        trace_finish(&t);
    }
}

/* One event a line, or all in a list; the observations of two programs that write it. */
Test(trace, events_of_openhands_sdk_are_calls_and_edits) {
    static const char *const events[] = {
        "{\"kind\": \"SystemPromptEvent\", \"source\": \"agent\", \"id\": \"0\", "
        "\"system_prompt\": {\"type\": \"text\", \"text\": \"You are an agent.\"}}",
        "{\"kind\": \"MessageEvent\", \"source\": \"user\", \"id\": \"1\", "
        "\"llm_message\": {\"role\": \"user\", \"content\": [{\"type\": \"text\", "
        "\"text\": \"Build it.\"}]}}",
        "{\"kind\": \"ActionEvent\", \"source\": \"agent\", \"id\": \"2\", \"thought\": "
        "[{\"type\": \"text\", \"text\": \"I build.\"}], \"action\": {\"kind\": "
        "\"TerminalAction\", \"command\": \"make\"}, \"tool_name\": \"terminal\", "
        "\"tool_call_id\": \"c1\"}",
        "{\"kind\": \"ObservationEvent\", \"source\": \"environment\", \"id\": \"3\", "
        "\"observation\": {\"kind\": \"TerminalObservation\", \"content\": [{\"type\": "
        "\"text\", \"text\": \"no rule\"}], \"is_error\": false, \"exit_code\": 2}, "
        "\"tool_name\": \"terminal\", \"tool_call_id\": \"c1\"}",
        "{\"kind\": \"ActionEvent\", \"source\": \"agent\", \"id\": \"4\", \"thought\": [], "
        "\"action\": {\"command\": \"str_replace\", \"path\": \"/w/a.c\", \"old_str\": "
        "\"x\", \"new_str\": \"y\"}, \"tool_name\": \"file_editor\", \"tool_call_id\": "
        "\"c2\"}",
        "{\"kind\": \"AgentErrorEvent\", \"source\": \"agent\", \"id\": \"5\", \"error\": "
        "\"no such text\", \"tool_name\": \"file_editor\", \"tool_call_id\": \"c2\"}",
        "{\"kind\": \"ActionEvent\", \"source\": \"agent\", \"id\": \"6\", \"thought\": [], "
        "\"action\": {\"command\": \"make b\"}, \"tool_name\": \"terminal\", "
        "\"tool_call_id\": \"c3\"}",
        "{\"kind\": \"ObservationEvent\", \"source\": \"environment\", \"id\": \"7\", "
        "\"observation\": {\"command\": \"make b\", \"stdout\": \"\", \"stderr\": \"bad\", "
        "\"exit_code\": 3}, \"tool_call_id\": \"c3\"}",
        "{\"kind\": \"ActionEvent\", \"source\": \"agent\", \"id\": \"8\", \"thought\": [], "
        "\"action\": {\"kind\": \"FinishAction\", \"message\": \"It builds.\"}, "
        "\"tool_name\": \"finish\", \"tool_call_id\": \"c4\"}",
    };
    static const enum trace_event_kind expected[] = {
        EVENT_USER, EVENT_SAY,    EVENT_CALL, EVENT_RESULT, EVENT_CALL,
        EVENT_EDIT, EVENT_RESULT, EVENT_CALL, EVENT_RESULT, EVENT_SAY};
    autobuf lines = BUF_INIT(64u << 10), list = BUF_INIT(64u << 10);
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        buf_addf(&lines, "%s\n", events[i]);
        buf_addf(&list, "%s%s", i ? ", " : "[", events[i]);
    }
    buf_adds(&list, "]");
    const char *const forms[] = {lines.data, list.data};
    for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
        struct trace t;
        read_openhands(&t, forms[k], expected, ARRAY_LEN(expected));
        cr_expect(eq(str, t.events[3].text, "no rule"));
        cr_expect(t.events[6].is_error);
        cr_expect(t.events[8].exit == 3 && strcmp(t.events[8].text, "bad") == 0);
        cr_expect(eq(sz, t.unknown, 0));
        trace_finish(&t);
    }
}
