/* The room's operations without a daemon: the table, its texts, refusals before the
 * catalog. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "protocol/call.h"
#include "protocol/schema/schema.h"
#include "skills/finding/find_operation.h"
#include "skills/skills.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <uv.h>

static struct operation_table *table_new(void) {
    struct operation_table *t = operation_table_new();
    struct err err = {0};
    int rc = operation_table_add(t, find_operations, find_operation_count, &err);
    rc = rc < 0 ? rc
                : operation_table_add(t, skills_operations, skills_operation_count, &err);
    cr_assert(rc == 0, "%s", err.msg);
    return t;
}

Test(skills_operations, the_table_is_sound_and_names_what_the_design_names) {
    static const char *const names[] = {"skill/find",  "skill/get",     "skill/list",
                                        "skill/check", "skill/install", "skill/uninstall",
                                        "skill/pack"};
    static const char *const tools[] = {"skill_find", "skill_get", "skill_check",
                                        "skill_install"};
    struct operation_table *t = table_new();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_assert(operation_find(t, names[i]) != NULL, "%s", names[i]);
    }
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        cr_assert(operation_find_tool(t, tools[i]) != NULL, "%s", tools[i]);
    }
    cr_assert(eq(sz, operation_count(t), sizeof names / sizeof *names));
    operation_table_free(t);
}

/* All tools of the program share 12,000 bytes; this room's leave two thirds of them. */
Test(skills_operations, tools_are_short_and_their_examples_are_good_arguments) {
    struct operation_table *t = table_new();
    size_t bytes = 0;
    for (size_t i = 0; i < operation_count(t); i++) {
        const struct operation *op = operation_at(t, i);
        if (!op->tool) {
            continue;
        }
        cr_assert(lt(sz, strlen(op->tool_help), 1536), "%s", op->name);
        bytes += strlen(op->tool_help) + strlen(op->tool_schema) + strlen(op->title);
        json_t *example = json_loads(op->example, 0, NULL);
        cr_assert(example != NULL, "%s", op->name);
        struct err err = {0};
        cr_assert(schema_check(operation_params(t, op), example, NULL, &err) == 0,
                  "%s: %s", op->name, err.msg);
        json_decref(example);
    }
    cr_assert(lt(sz, bytes, 3000));
    operation_table_free(t);
}

static json_t *from_text(const char *text) {
    json_t *value = json_loads(text, 0, NULL);
    cr_assert(value != NULL, "%s", text);
    return value;
}

Test(skills_operations, results_are_told_in_words) {
    static const struct {
        const char *operation, *result, *says;
    } cases[] = {
        {"skill/find", "{\"matches\": [], \"nearest\": []}", "No skill fits"},
        {"skill/find",
         "{\"matches\": [], \"nearest\": [{\"name\": \"near\", \"why\": \"too far\"}]}",
         "too far"},
        {"skill/find", "{\"matches\": [{\"name\": \"it\", \"score\": 0.5}]}", "it (0.50"},
        {"skill/find",
         "{\"matches\": [{\"name\": \"it\", \"score\": 0.5}], \"unsure\": true}",
         "once more with some"},
        {"skill/find",
         "{\"matches\": [{\"name\": \"it\", \"score\": 0.5}], \"unsure\": true}",
         "1 skill may fit:"},
        {"skill/find",
         "{\"matches\": [{\"name\": \"it\", \"score\": 0.9}], \"unsure\": false}",
         "1 skill fits:"},
        {"skill/get",
         "{\"name\": \"it\", \"body\": \"Do.\", \"files\": [{\"path\": \"a\", \"size\": "
         "3}]}",
         "- a (3 bytes)\n\nDo."},
        {"skill/check",
         "{\"ok\": false, \"findings\": [{\"file\": \"SKILL.md\", \"line\": 2, "
         "\"column\": "
         "7, \"severity\": \"error\", \"message\": \"bad\", \"code\": \"name_bad\"}]}",
         "SKILL.md:2:7: error: bad [name_bad]"},
        {"skill/install",
         "{\"results\": [{\"agent\": \"codex\", \"outcome\": \"refused\", \"reason\": "
         "\"changed\", \"path\": \"/x\"}]}",
         "codex: refused /x: changed"},
    };
    struct operation_table *t = table_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = BUF_INIT(1u << 16);
        json_t *result = from_text(cases[i].result);
        operation_find(t, cases[i].operation)->describe(result, &text);
        cr_assert(strstr(text.data, cases[i].says) != NULL, "%s", text.data);
        buf_finish(&text);
        json_decref(result);
    }
    operation_table_free(t);
}

Test(skills_operations, without_skills_a_call_fails_with_a_reason) {
    static const struct {
        const char *operation, *params;
    } cases[] = {{"skill/find", "{\"task\": \"x\"}"},
                 {"skill/list", "{}"},
                 {"skill/get", "{\"name\": \"x\"}"},
                 {"skill/install", "{\"path\": \"x\", \"agents\": [\"codex\"]}"}};
    struct operation_table *t = table_new();
    uv_loop_t loop;
    uv_loop_init(&loop);
    const struct call_origin origin = {.loop = &loop, .client = ""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call *call = call_start(operation_find(t, cases[i].operation),
                                       from_text(cases[i].params), &origin);
        cr_assert(call_ended(call), "%s", cases[i].operation);
        cr_assert(zero(int, strcmp(call_failure(call)->reason, "no_skills")));
        call_unref(call);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(zero(int, uv_loop_close(&loop)));
    operation_table_free(t);
}

Test(skills_operations, a_path_is_resolved_beneath_the_roots_only) {
    char dir[] = "/tmp/skills-operations-XXXXXX";
    cr_assert(mkdtemp(dir) != NULL);
    struct root root;
    struct err err = {0};
    cr_assert(zero(int, root_open(&root, dir, &err)));
    cr_assert(zero(int, root_write(&root, "desk/a/SKILL.md", "x", 1, 0644, &err)));
    cr_assert(zero(int, root_write(&root, "outside/b/SKILL.md", "x", 1, 0644, &err)));
    cr_assert(zero(int, symlinkat("../outside", root.fd, "desk/link")));
    char *work = path_join(dir, "desk");
    const char *const roots[] = {work, NULL};
    const struct call_origin origin = {.roots = roots};
    static const char *const refused[] = {"../outside/b", "link/b", "/etc", "none",
                                          "a/../../outside"};
    char *found = skills_resolve(&origin, "a", &err);
    cr_assert(found != NULL && strstr(found, "/desk/a"));
    free(found);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        err = (struct err){0};
        cr_assert(skills_resolve(&origin, refused[i], &err) == NULL, "%s", refused[i]);
        cr_assert(err.code < 0);
    }
    free(work);
    root_close(&root);
    dir_remove(dir, NULL);
}
