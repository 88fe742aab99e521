#include "daemon/prompts.h"

#include "base/buf.h"
#include "base/err.h"
#include "daemon/skill_serving.h"
#include "daemon/texts.h"
#include "skills/catalog/catalog.h"

#include <assert.h>

#define MAX_ARGUMENT (64u << 10) /* bytes */
#define NAMES_MAX 101            /* one more than a completion shows */
#define PROMPTS_MOST 8

/* From texts.json: "text" is a list of lines; `$task` is replaced by that argument or, if
 * it is missing, by its value in "defaults"; without both the line is left out. "told"
 * describes the answer. */
struct told_prompt {
    struct prompt prompt;
    char *arguments;
    const json_t *told;
    const struct skill_serving *serving;
};

struct prompts {
    const struct prompt *list[PROMPTS_MOST + 1];
    struct told_prompt prompts[PROMPTS_MOST];
    json_t *texts;
};

/* --- texts --- */

static const char *value_of(const struct told_prompt *p, const json_t *arguments,
                            const char *name) {
    const char *given = json_get_string(arguments, name, "");
    return *given ? given
                  : json_get_string(json_object_get(p->told, "defaults"), name, NULL);
}

static void add_line(struct buf *out, const struct told_prompt *p,
                     const json_t *arguments, const char *line) {
    const char *dollar = strchr(line, '$');
    size_t len = dollar ? strspn(dollar + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
    autofree char *name = xstrndup(dollar ? dollar + 1 : "", len);
    const char *value = dollar ? value_of(p, arguments, name) : NULL;
    if (!dollar) {
        buf_addf(out, "%s\n", line);
    } else if (value) {
        buf_addf(out, "%.*s%s%s\n", (int)(dollar - line), line, value, dollar + 1 + len);
    }
}

/* Bounded; a required one that is empty is an error. */
static int check_argument(const json_t *arguments, const json_t *declared,
                          struct err *err) {
    const char *name = json_get_string(declared, "name", "");
    const char *value = json_get_string(arguments, name, "");
    if (strlen(value) > MAX_ARGUMENT) {
        return err_set(err, -EINVAL, "%s is longer than %u KiB", name,
                       MAX_ARGUMENT >> 10);
    }
    return json_get_bool(declared, "required", 0) && !*value
               ? err_set(err, -EINVAL, "%s is empty", name)
               : 0;
}

static int get_text(void *data, const json_t *arguments, json_t **ret, struct err *err) {
    const struct told_prompt *p = data;
    json_each(json_object_get(p->told, "arguments"), i, declared) {
        int rc = check_argument(arguments, declared, err);
        if (rc < 0) {
            return rc;
        }
    }
    autobuf text = BUF_INIT(4 * MAX_ARGUMENT);
    json_each(json_object_get(p->told, "text"), i, line) {
        add_line(&text, p, arguments, json_string_value(line));
    }
    *ret = json_pack("{s:O,s:[{s:s,s:{s:s,s:o}}]}", "description",
                     json_object_get(p->told, "told"), "messages", "role", "user",
                     "content", "type", "text", "text", json_text(text.data, text.len));
    return 0;
}

/* --- completion: names of skills, once the catalog is current --- */

static void when_ready(void *data, void (*ready)(void *arg), void *arg) {
    const struct told_prompt *p = data;
    skill_serving_when_current((struct skill_serving *)(uintptr_t)p->serving, ready, arg);
}

static json_t *complete_name(void *data, const char *name, const char *value) {
    const struct told_prompt *p = data;
    return strcmp(name, "name") == 0
               ? catalog_names(skill_serving_catalog(p->serving), value, NAMES_MAX)
               : NULL;
}

/* --- the list --- */

/* The argument of that name is a skill's where one is needed. */
static bool names_skill(const json_t *told) {
    const json_t *first = json_array_get(json_object_get(told, "arguments"), 0);
    return json_says(first, "name", "name");
}

static void told_prompt_init(struct told_prompt *p, const json_t *told,
                             const struct skill_serving *serving) {
    bool skill = names_skill(told);
    p->arguments = json_dumps(json_object_get(told, "arguments"), JSON_COMPACT);
    p->told = told;
    p->serving = serving;
    p->prompt = (struct prompt){.name = json_get_string(told, "name", NULL),
                                .title = json_get_string(told, "title", NULL),
                                .description = json_get_string(told, "description", NULL),
                                .arguments = p->arguments,
                                .when_ready = skill ? when_ready : NULL,
                                .get = get_text,
                                .complete = skill ? complete_name : NULL,
                                .data = p};
}

const struct prompt *const *prompts_new(const struct skill_serving *serving) {
    struct prompts *p = xcalloc(1, sizeof *p);
    p->texts = json_loads(prompt_texts, 0, NULL);
    assert(json_array_size(p->texts) <= PROMPTS_MOST);
    json_each(p->texts, i, told) {
        told_prompt_init(&p->prompts[i], told, serving);
        p->list[i] = &p->prompts[i].prompt;
    }
    return p->list;
}

void prompts_free(const struct prompt *const *list) {
    struct prompts *p = (struct prompts *)(uintptr_t)list; /* its first member */
    for (size_t i = 0; i < PROMPTS_MOST; i++) {
        free(p->prompts[i].arguments);
    }
    json_decref(p->texts);
    free(p);
}
