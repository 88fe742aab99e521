#include "skills/install/agents.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/yaml.h"
#include "protocol/schema/schema.h"

#include <unistd.h>
#include <yaml.h>

/* As struct agent, before expansion: `~/` is the home folder, `${NAME:-fallback}` the
 * environment's; "a|b" is the first that exists on this machine, else a. */
struct agent_row {
    const char *name, *title, *project, *user, *detect;
    const char *reads; /* further folders, separated by spaces; NULL when unknown */
};
#include "skills/agents_schema.h"
#include "skills/agents_table.h"

#define USER_FILE_MAX (64u << 10)
#define PATH_LIMIT 4096

/* --- paths with variables --- */

/* The value of a variable counts only when it is absolute, as the XDG specification has
 * it; "~/" in front of it is the home folder. */
static char *home_path(const char *path) {
    const char *home = getenv("HOME");
    if (strncmp(path, "~/", 2) == 0 || strcmp(path, "~") == 0) {
        return home && home[0] == '/' ? xasprintf("%s%s", home, path + 1) : NULL;
    }
    return path[0] == '/' ? xstrdup(path) : NULL;
}

/* "${NAME:-fallback}rest"; NULL when it is not written so or leads nowhere. */
static char *variable_path(const char *path) {
    const char *colon = strstr(path, ":-");
    const char *close = strchr(path, '}');
    if (!close || (colon && colon > close)) {
        return NULL;
    }
    autofree char *name =
        xstrndup(path + 2, (size_t)((colon ? colon : close) - path - 2));
    autofree char *fallback =
        colon ? xstrndup(colon + 2, (size_t)(close - colon - 2)) : NULL;
    const char *set = getenv(name);
    autofree char *value = set ? home_path(set) : NULL;
    if (!value && fallback) {
        value = home_path(fallback);
    }
    return value ? xasprintf("%s%s", value, close + 1) : NULL;
}

/* Absolute and normalised, or NULL when a variable it needs is not set. */
static char *expand(const char *path) {
    autofree char *full =
        strncmp(path, "${", 2) == 0 ? variable_path(path) : home_path(path);
    if (!full || full[0] != '/' || strlen(full) >= PATH_LIMIT) {
        return NULL;
    }
    return path_normalize(full);
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static bool parent_exists(const char *path) {
    autofree char *parent = xasprintf("%s/..", path);
    autofree char *normal = path_normalize(parent);
    return exists(normal);
}

/* Of "a|b|c" the first that exists (for a folder of skills: whose parent does), else a.
 */
static char *expand_first(const char *paths, bool there(const char *)) {
    autofree char *copy = paths ? xstrdup(paths) : NULL;
    char *first = NULL, *rest = NULL;
    for (char *word = copy ? strtok_r(copy, "|", &rest) : NULL; word;
         word = strtok_r(NULL, "|", &rest)) {
        autofree char *path = expand(word);
        if (path && there(path)) {
            free(first);
            return take(path);
        }
        if (path && !first) {
            first = take(path);
        }
    }
    return first;
}

/* --- rows --- */

static void agent_finish(struct agent *a) {
    free(a->name);
    free(a->title);
    free(a->project);
    free(a->user);
    free(a->detect);
    for (char **path = a->reads; path && *path; path++) {
        free(*path);
    }
    free(a->reads);
}

void agents_finish(struct agents *a) {
    for (size_t i = 0; i < a->count; i++) {
        agent_finish(&a->list[i]);
    }
    free(a->list);
    *a = (struct agents){0};
}

static char **split(const char *words) {
    char **list = xcalloc(strlen(words) / 2 + 2, sizeof *list);
    autofree char *copy = xstrdup(words);
    char *rest;
    size_t n = 0;
    for (char *word = strtok_r(copy, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        list[n++] = xstrdup(word);
    }
    return list;
}

static struct agent agent_from_row(const struct agent_row *row) {
    return (struct agent){
        .name = xstrdup(row->name),
        .title = xstrdup(row->title),
        .project = row->project ? xstrdup(row->project) : NULL,
        .user = expand_first(row->user, parent_exists),
        .detect = expand_first(row->detect, exists),
        .reads = split(row->reads ? row->reads : ""),
    };
}

/* Takes agent; it replaces a row of the same name. */
static void agents_put(struct agents *agents, struct agent agent) {
    for (size_t i = 0; i < agents->count; i++) {
        if (strcmp(agents->list[i].name, agent.name) == 0) {
            agent_finish(&agents->list[i]);
            agents->list[i] = agent;
            return;
        }
    }
    agents->list = xreallocarray(agents->list, agents->count + 1, sizeof *agents->list);
    agents->list[agents->count++] = agent;
}

/* --- the user's file --- */

/* The entry `key` of a mapping or sequence and its line (of the key in a mapping). */
static yaml_node_t *child_of(yaml_document_t *doc, const yaml_node_t *node,
                             const char *key, size_t *line) {
    if (node->type == YAML_SEQUENCE_NODE) {
        const yaml_node_item_t *start = node->data.sequence.items.start;
        size_t count = (size_t)(node->data.sequence.items.top - start);
        size_t i = strtoul(key, NULL, 10);
        yaml_node_t *item = i < count ? yaml_document_get_node(doc, start[i]) : NULL;
        *line = item ? item->start_mark.line + 1 : *line;
        return item;
    }
    if (node->type != YAML_MAPPING_NODE) {
        return NULL;
    }
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(doc, pair->key);
        if (name->type == YAML_SCALAR_NODE &&
            strcmp((const char *)name->data.scalar.value, key) == 0) {
            *line = name->start_mark.line + 1;
            return yaml_document_get_node(doc, pair->value);
        }
    }
    return NULL;
}

/* The 1-based line of what a JSON Pointer names, or of the nearest thing around it. The
 * text has passed yaml_parse, so it is small and has no aliases. */
static size_t line_of(const struct buf *text, const char *pointer) {
    yaml_parser_t parser;
    yaml_document_t doc;
    size_t line = 1;
    if (!yaml_parser_initialize(&parser)) {
        return line;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->data, text->len);
    if (yaml_parser_load(&parser, &doc)) {
        autofree char *copy = xstrdup(pointer);
        char *rest = NULL;
        const yaml_node_t *node = yaml_document_get_root_node(&doc);
        for (char *key = strtok_r(copy, "/", &rest); key && node;
             key = strtok_r(NULL, "/", &rest)) {
            node = child_of(&doc, node, key, &line);
        }
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return line;
}

/* Where an entry of the user's file goes wrong beyond the schema: the key, and *why. */
static const char *entry_fault(const json_t *entry, const char **why) {
    const char *project = json_get_string(entry, "project", NULL);
    autofree char *normal = project ? path_normalize(project) : NULL;
    if (normal && (path_leads_out(normal) || strcmp(normal, ".") == 0)) {
        *why = "expected a folder inside the project, such as .my-agent/skills";
        return "project";
    }
    static const char *const absolute[] = {"user", "detect"};
    for (size_t i = 0; i < ARRAY_LEN(absolute); i++) {
        const char *path = json_get_string(entry, absolute[i], NULL);
        autofree char *full = path ? expand(path) : NULL;
        if (path && !full) {
            *why = "expected a path that begins with /, ~/ or ${NAME:-~/fallback}";
            return absolute[i];
        }
    }
    if (!project && !json_get_string(entry, "user", NULL)) {
        *why = "an agent needs a folder: project, user, or both";
        return "name";
    }
    return NULL;
}

static struct agent agent_from_entry(const json_t *entry) {
    const char *name = json_get_string(entry, "name", "");
    const char *project = json_get_string(entry, "project", NULL);
    const char *user = json_get_string(entry, "user", NULL);
    const char *detect = json_get_string(entry, "detect", NULL);
    const json_t *reads = json_object_get(entry, "reads");
    struct agent agent = {
        .name = xstrdup(name),
        .title = xstrdup(json_get_string(entry, "title", name)),
        .project = project ? path_normalize(project) : NULL,
        .user = user ? expand(user) : NULL,
        .detect = detect ? expand(detect) : NULL,
        .reads = xcalloc(json_array_size(reads) + 1, sizeof(char *)),
    };
    json_each(reads, i, path) {
        agent.reads[i] = xstrdup(json_string_value(path));
    }
    return agent;
}

static int put_entries(struct agents *agents, const json_t *entries,
                       const struct buf *text, struct err *err) {
    json_each(entries, i, entry) {
        const char *why;
        const char *key = entry_fault(entry, &why);
        if (key) {
            autofree char *pointer = xasprintf("/%zu/%s", i, key);
            return err_set(err, -EINVAL, "line %zu: [%zu].%s: %s", line_of(text, pointer),
                           i, key, why);
        }
        agents_put(agents, agent_from_entry(entry));
    }
    return 0;
}

static int check_schema(const json_t *entries, const struct buf *text, struct err *err) {
    struct schema *schema;
    int rc = schema_new(user_schema, &schema, err);
    if (rc < 0) {
        return rc;
    }
    autofree char *pointer = NULL;
    rc = schema_check(schema, entries, &pointer, err);
    schema_free(schema);
    return rc < 0 ? err_wrap(err, "line %zu", line_of(text, pointer ? pointer : "")) : 0;
}

static int put_user_file(struct agents *agents, const char *path, struct err *err) {
    autobuf text = BUF_INIT(USER_FILE_MAX);
    autojson *entries = NULL;
    int rc = file_read(path, &text, err);
    if (rc < 0) {
        return file_is_missing(rc) ? 0 : rc;
    }
    rc = yaml_parse(text.data, text.len, YAML_STRINGS, &entries, err);
    if (rc == 0) {
        rc = check_schema(entries, &text, err);
    }
    if (rc == 0) {
        rc = put_entries(agents, entries, &text, err);
    }
    return rc < 0 ? err_wrap(err, "%s", path) : 0;
}

/* --- the table --- */

void agents_builtin(struct agents *ret) {
    *ret = (struct agents){0};
    for (const struct agent_row *row = agents_table; row->name; row++) {
        agents_put(ret, agent_from_row(row));
    }
}

int agents_load(struct agents *ret, struct err *err) {
    struct agents agents;
    agents_builtin(&agents);
    autofree char *folder = xdg_config_dir();
    autofree char *path = folder ? path_join(folder, "agents.yaml") : NULL;
    int rc = path ? put_user_file(&agents, path, err) : 0;
    if (rc < 0) {
        agents_finish(&agents);
        return rc;
    }
    *ret = agents;
    return 0;
}

const struct agent *agents_find(const struct agents *a, const char *name) {
    return list_find(one, a->list, a->count, strcmp(one->name, name) == 0);
}

/* The first part of its name, or its title. */
static bool is_called(const struct agent *a, const char *word) {
    size_t len = strlen(word);
    return strcasecmp(a->title, word) == 0 ||
           (strncasecmp(a->name, word, len) == 0 && a->name[len] == '-');
}

const struct agent *agents_meant(const struct agents *a, const char *word) {
    size_t third = strlen(word) / 3;
    struct nearest_name near = {.said = word, .limit = third < 2 ? (unsigned)third : 2};
    for (size_t i = 0; i < a->count; i++) {
        if (is_called(&a->list[i], word)) {
            return &a->list[i];
        }
        nearest_name_try(&near, a->list[i].name);
    }
    return near.best ? agents_find(a, near.best) : NULL;
}

int agents_unknown(const struct agents *a, const char *word, struct err *err) {
    const struct agent *meant = agents_meant(a, word);
    if (meant) {
        return err_set(err, -EINVAL, "no agent is named \"%.64s\"; did you mean \"%s\"?",
                       word, meant->name);
    }
    return err_set(
        err, -EINVAL,
        "no agent is named \"%.64s\"; known are %s, %s, %s, %s, %s and %zu more", word,
        a->list[0].name, a->list[1].name, a->list[2].name, a->list[3].name,
        a->list[4].name, a->count - 5);
}

bool agent_is_installed(const struct agent *a) {
    return a->detect && exists(a->detect);
}

char *agent_folder(const struct agent *a, const char *scope, const char *root) {
    if (strcmp(scope, "user") == 0) {
        return a->user ? xstrdup(a->user) : NULL;
    }
    return a->project && root ? path_join(root, a->project) : NULL;
}
