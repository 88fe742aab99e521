#include "clients/ctl/agent_config.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/toml.h"
#include "base/yaml.h"
#include "clients/ctl/jsonc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "upskilld"
#define NEWLINE "\n"

#include "clients/ctl/agent_configs.h"

/* What a YAML file of Continue's begins with. */
#define YAML_HEAD "name: " NAME "\nversion: 1.0.0\nschema: v1\n"

const struct agent_config *agent_config_find(const char *name) {
    for (const struct agent_config *a = agent_configs; a->name; a++) {
        if (strcmp(a->name, name) == 0) {
            return a;
        }
    }
    return NULL;
}

/* --- where --- */

/* "${NAME:-default}rest" and "~/rest"; NULL without a home. */
static char *expanded(const char *path, size_t len) {
    autofree char *given = xstrndup(path, len);
    const char *home = getenv("HOME");
    if (strncmp(given, "${", 2) == 0) {
        char *dash = strstr(given, ":-"), *brace = strchr(given, '}');
        *dash = *brace = '\0';
        const char *value = getenv(given + 2);
        autofree char *both =
            xasprintf("%s%s", value && *value ? value : dash + 2, brace + 1);
        return *both == '$' ? NULL : expanded(both, strlen(both));
    }
    return *given != '~'   ? take(given)
           : home && *home ? path_join(home, given + 2)
                           : NULL;
}

char *agent_config_file(const struct agent_config *agent, bool project) {
    const char *paths = project ? agent->project : agent->user;
    char *first = NULL;
    while (paths && *paths) {
        size_t len = strcspn(paths, "|");
        char *path = expanded(paths, len);
        if (path && access(path, F_OK) == 0) {
            free(first);
            return path;
        }
        if (first) {
            free(path);
        } else {
            first = path;
        }
        paths += len + (paths[len] == '|');
    }
    return first;
}

static bool on_path(const char *program) {
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        autofree char *file = xasprintf("%.*s/%s", (int)len, path, program);
        if (len && access(file, X_OK) == 0) {
            return true;
        }
        path += len + (path[len] == ':');
    }
    return false;
}

/* Its folder, unless that is the home folder, which everybody has. */
static bool has_folder(const char *file) {
    const char *home = getenv("HOME");
    size_t len = (size_t)(path_basename(file) - file);
    autofree char *folder = xstrndup(file, len ? len - 1 : 0);
    return access(folder, F_OK) == 0 && home && strcmp(folder, home) != 0;
}

bool agent_config_owns(const struct agent_config *agent, const char *folder) {
    const char *home = getenv("HOME");
    autofree char *above = home ? path_normalize(home) : NULL;
    autofree char *name =
        xstrndup(agent->user + 2,
                 strncmp(agent->user, "${", 2) == 0 ? strcspn(agent->user + 2, ":") : 0);
    const char *named = getenv(name);
    return *folder && (!named || !path_is_beneath(named, folder)) &&
           (!above || !path_is_beneath(above, folder));
}

bool agent_config_is_here(const struct agent_config *agent) {
    autofree char *file = agent_config_file(agent, false);
    return file &&
           (access(file, F_OK) == 0 || has_folder(file) || on_path(agent->program));
}

/* --- what --- */

const char *const agent_config_variables[] = {"CUDA_HOME", "UPSKILLD_CUDA",
                                              "UPSKILLD_WORKER", "UPSKILLD_CONFIG", NULL};

static json_t *variables_set(void) {
    json_t *set = json_object();
    for (const char *const *name = agent_config_variables; *name; name++) {
        const char *value = getenv(*name);
        if (value && *value) {
            json_object_set_new(set, *name, json_string(value));
        }
    }
    return set;
}

static void add_json(struct buf *out, const json_t *value) {
    autofree char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    buf_adds(out, text ? text : "\"\"");
}

/* Codex takes names, and passes on what it has itself; Continue takes values. */
static void add_variables(struct buf *out, bool yaml) {
    autojson *set = variables_set();
    if (!yaml && json_object_size(set)) {
        autojson *names = json_array();
        json_each_member(set, name, value) {
            json_array_append_new(names, json_string(name));
        }
        buf_adds(out, "env_vars = ");
        add_json(out, names);
        buf_addc(out, '\n');
    } else if (json_object_size(set)) {
        buf_adds(out, "    env:\n");
        json_each_member(set, name, value) {
            buf_addf(out, "      %s: ", name);
            add_json(out, value);
            buf_addc(out, '\n');
        }
    }
}

static bool is_yaml(const char *entry) {
    return strncmp(entry, "mcpServers:", 11) == 0;
}

static char *filled(const char *entry, const char *program) {
    autojson *text = json_string(program);
    autobuf out = BUF_INIT(64u << 10);
    for (const char *at = entry; *at; at++) {
        if (*at == '@') {
            add_json(&out, text);
        } else if (*at == '%') {
            add_variables(&out, is_yaml(entry));
        } else {
            buf_addc(&out, *at);
        }
    }
    return buf_detach(&out);
}

static json_t *entry_json(const char *entry, const char *program, const char *env) {
    autofree char *text = filled(entry, program);
    json_t *value = json_loads(text, 0, NULL);
    autojson *set = variables_set();
    if (json_object_size(set)) {
        json_object_set(value, env, set);
    }
    return value;
}

/* --- blocks at the end of a text --- */

/* Where a line begins with `head`; NULL: none does. */
static const char *line_with(const char *text, const char *head) {
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *word = at + strspn(at, " \t");
        if (strncmp(word, head, strlen(head)) == 0) {
            return at;
        }
    }
    return NULL;
}

/* A text whose last line has an end is followed by a block with one, and one without by a
 * block without: so both can be told apart afterwards. */
static char *with_block(const char *text, const char *block) {
    size_t len = strlen(text);
    return len && text[len - 1] != '\n'
               ? xasprintf("%s\n\n%.*s", text, (int)strlen(block) - 1, block)
               : xasprintf("%s\n%s", text, block);
}

/* -EBADMSG with the line of what is wrong in it. */
static int parse(bool yaml, const char *text, struct err *err) {
    if (yaml) {
        json_t *value = NULL;
        int rc = yaml_parse(text, strlen(text), YAML_TYPED, &value, err);
        json_decref(value);
        return rc;
    }
    struct toml_error error = {0};
    struct toml_document *doc = toml_parse(text, strlen(text), &error);
    toml_free(doc);
    return doc ? 0 : err_set(err, -EBADMSG, "line %d: %s", error.line, error.msg);
}

/* What is broken, or would be with the block, is nothing to write into. */
static int put_block(const struct agent_config *agent, const char *text,
                     const char *block, char **ret, struct err *err) {
    bool yaml = is_yaml(agent->entry);
    const char *format = yaml ? "YAML" : "TOML";
    if (strstr(text, block)) {
        return 0;
    }
    if (parse(yaml, text, err) < 0) {
        return err_wrap(err, "it is no %s", format);
    }
    char *next =
        *text ? with_block(text, block) : xasprintf("%s%s", yaml ? YAML_HEAD : "", block);
    if (parse(yaml, next, err) < 0) {
        free(next);
        return err_wrap(err, "with this at its end it would be no %s", format);
    }
    *ret = next;
    return 0;
}

/* What stands behind the block belongs to nothing in it: the end, another table of TOML,
 * another key of YAML's outermost map. */
static bool ends_there(const char *block, const char *behind) {
    behind += strspn(behind, "\r\n");
    if (*block == '[') {
        return !*behind || (*behind == '[' && !line_with(behind, "[mcp_servers." NAME));
    }
    return !strchr(" \t-#", *behind) || !*behind;
}

static int take_block(const char *text, const char *block, char **ret, struct err *err) {
    autofree char *begun = xasprintf(YAML_HEAD "%s", block);
    if (strcmp(text, block) == 0 || strcmp(text, begun) == 0) {
        *ret = xstrdup("");
        return 0;
    }
    size_t len = strlen(text), size = strlen(block);
    const char *at = strstr(text, block);
    if (at && (at == text || at[-1] == '\n') && ends_there(block, at + size)) {
        int before = at == text ? 0 : (int)(at - 1 - text);
        *ret = xasprintf("%.*s%s", before, text, at + size);
        return 0;
    }
    if (len >= size + 1 && strncmp(text + len - (size - 1), block, size - 1) == 0 &&
        strncmp(text + len - (size - 1) - 2, "\n\n", 2) == 0) {
        *ret = xstrndup(text, len - (size - 1) - 2);
        return 0;
    }
    return line_with(text, "[mcp_servers." NAME) || strstr(text, "name: " NAME "\n")
               ? err_set(err, -EEXIST, "its entry is not as setup writes it")
               : 0;
}

/* --- the text of a file --- */

/* As setup writes it: it starts a program of our name, wherever that was then. */
static bool is_our_entry(const json_t *entry) {
    const json_t *command = json_object_get(entry, "command");
    const char *program =
        json_string_value(json_is_array(command) ? json_array_get(command, 0) : command);
    const char *slash = program ? strrchr(program, '/') : NULL;
    return program && strcmp(slash ? slash + 1 : program, NAME) == 0;
}

/* Both members of a JSON file; each step's text is the next one's. */
static int edit_json(const struct agent_config *agent, const char *text,
                     const char *program, bool put, char **ret, struct err *err) {
    const char *const outers[] = {agent->outer, agent->lsp_outer};
    const char *const entries[] = {agent->entry, agent->lsp_entry};
    autofree char *now = NULL;
    for (int i = 0; i < 2; i++) {
        int which = put ? i : 1 - i;
        if (!outers[which]) {
            continue;
        }
        autojson *value = entry_json(entries[which], program, which ? "env" : agent->env);
        const char *from = now ? now : text;
        char *next = NULL;
        int rc = put ? jsonc_put(from, outers[which], NAME, value, &next, err)
                     : jsonc_take(from, outers[which], NAME, is_our_entry, &next, err);
        if (rc < 0) {
            return rc;
        }
        if (next) {
            free(now);
            now = next;
        }
    }
    *ret = take(now);
    return 0;
}

static int edit(const struct agent_config *agent, const char *text, const char *program,
                bool put, char **ret, struct err *err) {
    *ret = NULL;
    if (agent->outer) {
        return edit_json(agent, text, program, put, ret, err);
    }
    autofree char *block = filled(agent->entry, program);
    return put ? put_block(agent, text, block, ret, err)
               : take_block(text, block, ret, err);
}

int agent_config_put(const struct agent_config *agent, const char *text,
                     const char *program, char **ret, struct err *err) {
    return edit(agent, text, program, true, ret, err);
}

int agent_config_take(const struct agent_config *agent, const char *text,
                      const char *program, char **ret, struct err *err) {
    return edit(agent, text, program, false, ret, err);
}

void agent_config_manual(const struct agent_config *agent, const char *program,
                         struct buf *out) {
    autofree char *whole = NULL;
    struct err err;
    if (agent_config_put(agent, "", program, &whole, &err) == 0 && whole) {
        buf_adds(out, whole);
    }
}
