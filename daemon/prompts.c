#include "daemon/prompts.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "daemon/skill_serving.h"
#include "skills/catalog/catalog.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define MAX_ARGUMENT (64u << 10) /* bytes */
#define NAMES_MAX 101            /* one more than a completion shows */

enum prompt_kind {
    PROMPT_KERNEL,
    PROMPT_FIND,
    PROMPT_MAKE,
    PROMPT_IMPROVE,
    PROMPT_COUNT
};

struct prompts {
    const struct prompt *list[PROMPT_COUNT + 1];
    struct prompt prompts[PROMPT_COUNT];
};

/* --- texts --- */

static json_t *message_of(const char *description, const struct buf *text) {
    return json_pack("{s:s,s:[{s:s,s:{s:s,s:o}}]}", "description", description,
                     "messages", "role", "user", "content", "type", "text", "text",
                     json_text(text->data, text->len));
}

/* The argument, bounded; a required one that is empty is an error. */
static int argument(const json_t *arguments, const char *name, bool required,
                    const char **ret, struct err *err) {
    const char *value = json_get_string(arguments, name, "");
    if (strlen(value) > MAX_ARGUMENT) {
        return err_set(err, -EINVAL, "%s is longer than %u KiB", name,
                       MAX_ARGUMENT >> 10);
    }
    if (required && !*value) {
        return err_set(err, -EINVAL, "%s is empty", name);
    }
    *ret = value;
    return 0;
}

static int get_kernel(void *data, const json_t *arguments, json_t **ret,
                      struct err *err) {
    (void)data;
    const char *task = "", *path = "";
    int rc = argument(arguments, "task", true, &task, err);
    rc = rc < 0 ? rc : argument(arguments, "path", false, &path, err);
    if (rc < 0) {
        return rc;
    }
    autobuf text = BUF_INIT(4 * MAX_ARGUMENT);
    buf_addf(&text, "Write a CUDA kernel for the H100 (sm_90a): %s\n\n", task);
    if (*path) {
        buf_addf(&text, "Put it into %s.\n", path);
    }
    buf_adds(
        &text,
        "1. Call skill_find with this task and read the skills that fit with "
        "skill_get; h100-cuda-kernels has the hardware's numbers.\n"
        "2. Write the kernel, with bounds checks for sizes that are not a multiple of "
        "the "
        "block.\n"
        "3. Call kernel_check with the file or the source and mend every error and "
        "warning, until it is ok.\n"
        "4. Look at registers, spills, shared memory and occupancy in its answer: no "
        "spills, and a reason for what limits the occupancy.\n"
        "5. Say what the kernel assumes about its inputs and how it should be launched, "
        "and which of this was not run.\n");
    *ret = message_of("Write a CUDA kernel and check it", &text);
    return 0;
}

static int get_find(void *data, const json_t *arguments, json_t **ret, struct err *err) {
    (void)data;
    const char *task = "";
    int rc = argument(arguments, "task", true, &task, err);
    if (rc < 0) {
        return rc;
    }
    autobuf text = BUF_INIT(4 * MAX_ARGUMENT);
    buf_addf(
        &text,
        "Find a skill for this task, then do the task with it: %s\n\n"
        "Call skill_find with the task and, behind a colon, two to four other names for "
        "it: the kind of work, the thing, its formats, its tools. When skills fit, read "
        "the best one with skill_get, say which one you follow and why, and read its "
        "further files only when its instructions call for them. When none fits, say so "
        "and go on without one.\n",
        task);
    *ret = message_of("Find a skill and follow it", &text);
    return 0;
}

static int get_make(void *data, const json_t *arguments, json_t **ret, struct err *err) {
    (void)data;
    const char *task = "", *name = "";
    int rc = argument(arguments, "task", true, &task, err);
    rc = rc < 0 ? rc : argument(arguments, "name", false, &name, err);
    if (rc < 0) {
        return rc;
    }
    autobuf text = BUF_INIT(4 * MAX_ARGUMENT);
    buf_addf(&text, "Make a skill that teaches this: %s\n\n", task);
    buf_addf(
        &text,
        "1. Call skill_find with the task: if a skill fits already, improve that one "
        "instead.\n"
        "2. Write skills/%s/SKILL.md: frontmatter with `name` (the folder's name) and "
        "`description` (what it does and when to use it, in the words people use for "
        "such tasks), then short instructions: steps, the mistakes that cost time, "
        "commands and code that were tried. Depth goes into references/.\n"
        "3. Call skill_check with the folder and strict: true; mend every finding.\n"
        "4. Call skill_find with three tasks it is for and three it is not for; mend the "
        "description until it is found for the former only.\n"
        "5. Where the user has a model to ask, write 12 or more tests into a file, each "
        "{input, expected: {contains: [...]}}, and call skill_evaluate with it and a "
        "budget; keep what helps.\n"
        "6. Ask before skill_install puts it into agents' folders.\n",
        *name ? name : "NAME");
    *ret = message_of("Make a skill", &text);
    return 0;
}

static int get_improve(void *data, const json_t *arguments, json_t **ret,
                       struct err *err) {
    (void)data;
    const char *name = "", *problem = "";
    int rc = argument(arguments, "name", true, &name, err);
    rc = rc < 0 ? rc : argument(arguments, "problem", false, &problem, err);
    if (rc < 0) {
        return rc;
    }
    autobuf text = BUF_INIT(4 * MAX_ARGUMENT);
    buf_addf(&text, "Improve the skill %s.\n", name);
    if (*problem) {
        buf_addf(&text, "What goes wrong with it: %s\n", problem);
    }
    buf_adds(
        &text,
        "\n1. Read it with skill_get, and its further files.\n"
        "2. Call skill_check with its path and strict: true.\n"
        "3. Mend the findings and what goes wrong with small edits; keep what works, "
        "and every field of the frontmatter that you do not know.\n"
        "4. Check again. Shorter is better: what a reader does not need goes into "
        "references/.\n"
        "5. Where it has tests and the user has a model to ask, compare with the older "
        "version: skill_evaluate with previous and a budget.\n"
        "6. Show the changes before skill_install updates installed copies.\n");
    *ret = message_of("Improve a skill", &text);
    return 0;
}

/* --- completion: names of skills, once the catalog is current --- */

static void when_ready(void *data, void (*ready)(void *arg), void *arg) {
    skill_serving_when_current(data, ready, arg);
}

static json_t *complete_name(void *data, const char *name, const char *value) {
    return strcmp(name, "name") == 0
               ? catalog_names(skill_serving_catalog(data), value, NAMES_MAX)
               : NULL;
}

static const struct prompt templates[PROMPT_COUNT] = {
    [PROMPT_KERNEL] =
        {.name = "write-kernel",
         .title = "Write a CUDA kernel and check it",
         .description =
             "Writes a kernel for the H100, compiles it and mends it until it is clean.",
         .arguments = "[{\"name\":\"task\",\"description\":\"What the kernel "
                      "computes.\",\"required\":true},"
                      "{\"name\":\"path\",\"description\":\"The .cu file to "
                      "write.\",\"required\":false}]",
         .get = get_kernel},
    [PROMPT_FIND] = {.name = "use-skill",
                     .title = "Find a skill for a task and follow it",
                     .description =
                         "Looks for a skill that fits, and does the task with it.",
                     .arguments = "[{\"name\":\"task\",\"description\":\"What is to be "
                                  "done.\",\"required\":true}]",
                     .get = get_find},
    [PROMPT_MAKE] =
        {.name = "make-skill",
         .title = "Make a skill",
         .description =
             "Writes a SKILL.md for a task, checks it and tries whether it is found.",
         .arguments = "[{\"name\":\"task\",\"description\":\"What the skill "
                      "teaches.\",\"required\":true},"
                      "{\"name\":\"name\",\"description\":\"The skill's name: small "
                      "letters, digits, "
                      "hyphens.\",\"required\":false}]",
         .get = get_make},
    [PROMPT_IMPROVE] =
        {.name = "improve-skill",
         .title = "Improve a skill",
         .description = "Checks a skill and mends it by small edits.",
         .arguments =
             "[{\"name\":\"name\",\"description\":\"The skill.\",\"required\":true},"
             "{\"name\":\"problem\",\"description\":\"What goes wrong with "
             "it.\",\"required\":false}]",
         .when_ready = when_ready,
         .get = get_improve,
         .complete = complete_name},
};

const struct prompt *const *prompts_new(const struct skill_serving *serving) {
    struct prompts *p = xcalloc(1, sizeof *p);
    for (size_t i = 0; i < PROMPT_COUNT; i++) {
        p->prompts[i] = templates[i];
        p->prompts[i].data = (void *)(uintptr_t)serving;
        p->list[i] = &p->prompts[i];
    }
    return p->list;
}

void prompts_free(const struct prompt *const *list) {
    free((void *)(uintptr_t)list);
}
