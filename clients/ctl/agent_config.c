#include "clients/ctl/agent_config.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/toml.h"
#include "base/yaml.h"
#include "clients/ctl/config_text.h"
#include "clients/ctl/jsonc.h"

#include <stdio.h>
#include <unistd.h>

#define NAME "upskilld"
#define NEWLINE "\n"

#include "clients/ctl/agent_configs.h"

const struct agent_config *agent_config_find(const char *name) {
    for (const struct agent_config *a = agent_configs; a->name; a++) {
        if (strcmp(a->name, name) == 0) {
            return a;
        }
    }
    return NULL;
}

/* --- where --- */

/* "${NAME:-default}rest" and "~/rest"; NULL without an absolute home. */
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
    return *given != '~'          ? take(given)
           : home && *home == '/' ? path_join(home, given + 2)
                                  : NULL;
}

char *agent_config_file(const struct agent_config *agent, bool project, int n) {
    const char *paths = project ? agent->project : agent->user;
    for (; paths && n > 0; n--) {
        const char *bar = strchr(paths, '|');
        paths = bar ? bar + 1 : NULL;
    }
    return paths ? expanded(paths, strcspn(paths, "|")) : NULL;
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

/* Its folder, unless that is the home folder, which everybody has, or holds nothing, or
 * only skills: setup and skill/install may have made it. */
static bool has_folder(const char *file) {
    const char *home = getenv("HOME");
    size_t len = (size_t)(path_basename(file) - file);
    autofree char *folder = xstrndup(file, len ? len - 1 : 0);
    autodir *entries = home && strcmp(folder, home) != 0 ? opendir(folder) : NULL;
    const struct dirent *e = NULL;
    while (entries && (e = readdir(entries)) &&
           (strspn(e->d_name, ".") == strlen(e->d_name) ||
            strcmp(e->d_name, "skills") == 0)) {
    }
    return e;
}

bool agent_config_is_here(const struct agent_config *agent) {
    autofree char *file = agent_config_file(agent, false, 0);
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

enum format { JSON, TOML, YAML };
static const char *const format_names[] = {"JSON", "TOML", "YAML"};

/* One of an agent's: for its tools, or for its compiler errors. */
struct entry {
    const char *outer, *form, *env, *head; /* as the table has them; head: or NULL */
};

static enum format format_of(const struct entry *e) {
    return *e->form == '{' ? JSON : *e->form == '[' ? TOML : YAML;
}

/* By value: a program that a desktop starts has no variables of a shell. JSON's texts are
 * also TOML's and YAML's. */
static void add_variables(struct buf *out, const struct entry *e, const json_t *set) {
    bool toml = format_of(e) == TOML;
    if (!json_object_size(set)) {
        return;
    }
    buf_addf(out, toml ? "%s = " : "    %s:", e->env);
    const char *before = toml ? "{" : "";
    json_each_member(set, name, value) {
        buf_addf(out, toml ? "%s %s = " : "%s\n      %s: ", before, name);
        add_json(out, value);
        before = toml ? "," : "";
    }
    buf_adds(out, toml ? " }\n" : "\n");
}

/* The table's text of an entry; of TOML and YAML it is the block that is written. */
static char *filled(const struct entry *e, const char *program, const json_t *set) {
    autojson *text = json_string(program);
    autobuf out = BUF_INIT(64u << 10);
    for (const char *at = e->form; *at; at++) {
        if (*at == '@') {
            add_json(&out, text);
        } else if (*at == '%') {
            add_variables(&out, e, set);
        } else {
            buf_addc(&out, *at);
        }
    }
    return buf_detach(&out);
}

/* --- what a text says --- */

static json_t *parse_toml(const char *text, struct err *err) {
    struct toml_error error = {0};
    autoptr(toml_free) struct toml_document *doc = toml_parse(text, strlen(text), &error);
    if (!doc) {
        err_set(err, -EBADMSG, "line %d: %s", error.line, error.msg);
    }
    return doc ? json_incref((json_t *)(uintptr_t)toml_json(doc)) : NULL;
}

/* NULL where it is not of its format. */
static json_t *parse(const struct entry *e, const char *text, struct err *err) {
    json_t *value = NULL;
    switch (format_of(e)) {
    case JSON:
        return jsonc_parse(text, err);
    case TOML:
        return parse_toml(text, err);
    default:
        yaml_parse(text, strlen(text), YAML_TYPED, &value, err);
        return value;
    }
}

/* Ours, or another of its name; borrowed, NULL without. YAML has a list of them. */
static json_t *entry_in(const json_t *doc, const struct entry *e) {
    const json_t *servers = json_object_get(doc, e->outer);
    json_each(servers, i, one) {
        if (json_says(one, "name", NAME)) {
            return one;
        }
    }
    return json_object_get(servers, NAME);
}

/* The one text says what the other says, and the entry: of a list, one more item. */
static bool differs_by(const struct entry *e, const json_t *without, const json_t *entry,
                       const json_t *with) {
    autojson *sum = json_is_null(without) ? json_object() : json_deep_copy(without);
    json_t *list = json_object_get(sum, e->outer);
    const json_t *own = entry_in(entry, e);
    if (json_is_array(list)) {
        json_each(json_object_get(with, e->outer), i, one) {
            if (one == entry_in(with, e)) {
                json_array_insert(list, i, (json_t *)(uintptr_t)own);
            }
        }
    } else {
        json_object_update_recursive(sum, (json_t *)(uintptr_t)entry);
    }
    return json_equal(sum, with);
}

/* The value that an entry has as setup writes it. */
static json_t *entry_value(const struct entry *e, const char *program,
                           const json_t *set) {
    autofree char *text = filled(e, program, set);
    if (format_of(e) != JSON) {
        autojson *doc = parse(e, text, NULL);
        return json_incref(entry_in(doc, e));
    }
    json_t *value = json_loads(text, 0, NULL);
    if (json_object_size(set)) {
        json_object_set_new(value, e->env, json_deep_copy(set));
    }
    return value;
}

/* The program that an entry starts, where ours has it; ours by its name, wherever it was
 * then. */
static const char *program_of(const json_t *entry, const struct entry *e) {
    const char *program = NULL;
    autojson *ours = entry_value(e, "@", NULL);
    json_each_member(ours, key, value) {
        const json_t *there = json_object_get(entry, key);
        bool list = json_is_array(value);
        const char *text = json_string_value(list ? json_array_get(value, 0) : value);
        if (text && strcmp(text, "@") == 0) {
            program = json_string_value(list ? json_array_get(there, 0) : there);
        }
    }
    return program && strcmp(path_basename(program), NAME) == 0 ? program : NULL;
}

/* Those of our variables that an entry has, as variables_set gives them. */
static json_t *variables_of(const json_t *entry, const struct entry *e) {
    json_t *set = json_object();
    const json_t *there = json_object_get(entry, e->env);
    for (const char *const *name = agent_config_variables; *name; name++) {
        json_t *value = json_object_get(there, *name);
        json_each(there, i, one) {
            value = json_is_string(one) && strcmp(json_string_value(one), *name) == 0
                        ? one
                        : value;
        }
        if (json_is_string(value)) {
            json_object_set(set, *name, value);
        }
    }
    return set;
}

static bool is_nothing(const json_t *value) {
    return json_is_null(value) || json_is_false(value) ||
           (json_is_array(value) && !json_array_size(value)) ||
           (json_is_object(value) && !json_object_size(value));
}

/* An agent that writes the file anew may add members, but with nothing in them. */
static bool says_no_more(const json_t *there, const json_t *ours) {
    json_each_member(there, key, value) {
        const json_t *own = json_object_get(ours, key);
        if (own ? !json_equal(own, value) : !is_nothing(value)) {
            return false;
        }
    }
    return true;
}

/* --- pieces of a text --- */

/* What a file has that setup has made. */
static char *whole_file(const struct entry *e, const char *block, const json_t *value) {
    return format_of(e) == JSON   ? jsonc_begin(e->outer, NAME, value)
                                : xasprintf("%s%s", e->head ? e->head : "", block);
}

/* Where an entry, or the whole of what setup would write, begins; the text's end where
 * there is none. */
static size_t place(const struct entry *e, const char *text, bool whole) {
    size_t at = strlen(text);
    if (format_of(e) == JSON) {
        return whole ? jsonc_root(text) : at;
    }
    if (format_of(e) == TOML) {
        struct toml_error error;
        autofree char *pointer = xasprintf("/%s/" NAME, e->outer);
        autoptr(toml_free) struct toml_document *doc = toml_parse(text, at, &error);
        const struct toml_node *node = doc ? toml_find(doc, pointer) : NULL;
        return node ? node->start : at;
    }
    struct yaml_map map;
    autojson *value = NULL;
    yaml_parse_map(text, at, YAML_TYPED, &value, &map, NULL);
    for (size_t i = map.count; i-- > 0;) {
        const struct yaml_pair *p = &map.pairs[i];
        at = p->depth == 0 && (whole || strcmp(p->key, e->outer) == 0) ? p->key_at : at;
    }
    yaml_map_finish(&map);
    return at;
}

static size_t yaml_entry(const struct entry *e, const char *text) {
    return config_yaml_entry(text, place(e, text, false), NAME);
}

static int line_at(const char *text, size_t at) {
    int line = 1;
    for (size_t i = 0; i < at; i++) {
        line += text[i] == '\n';
    }
    return line;
}

/* Of an entry that is there. */
static int entry_line(const struct entry *e, const char *text) {
    return line_at(text, format_of(e) == JSON   ? jsonc_place(text, e->outer, NAME)
                         : format_of(e) == TOML ? place(e, text, false)
                                                : yaml_entry(e, text));
}

/* --- the text of a file --- */

/* -EEXIST, which is told with what to do about it. */
static int has_another(const struct entry *e, const char *text, const char *advice,
                       struct err *err) {
    return err_set(err, -EEXIST,
                   "line %d has an entry \"" NAME "\" that is not as setup writes it; it "
                   "is left as it is%s",
                   entry_line(e, text), advice);
}

/* The member that holds servers may be there in a form that a block cannot follow. */
static int check_outer(const struct entry *e, const char *text, const json_t *before,
                       const char *block, struct err *err) {
    int line = line_at(text, place(e, text, false));
    if (format_of(e) == YAML && json_object_get(before, e->outer) &&
        !config_yaml_fits(text, e->outer, block)) {
        return err_set(err, -ENOTSUP,
                       "\"%s\" on line %d does not have each entry on lines of its own",
                       e->outer, line);
    }
    struct toml_error error;
    autofree char *pointer = xasprintf("/%s", e->outer);
    autoptr(toml_free) struct toml_document *doc =
        format_of(e) == TOML ? toml_parse(text, strlen(text), &error) : NULL;
    const struct toml_node *node = doc ? toml_find(doc, pointer) : NULL;
    return node && node->kind == TOML_INLINE_TABLE
               ? err_set(err, -EEXIST,
                         "\"%s\" on line %d is one inline table, to which setup adds "
                         "nothing; write it as tables [%s.NAME], and run setup again",
                         e->outer, line_at(text, node->start), e->outer)
               : 0;
}

/* -EBADMSG where a text with the entry says anything else than before, too. */
static int check_put(const struct entry *e, const json_t *before, const json_t *entry,
                     const char *next, struct err *err) {
    const char *format = format_names[format_of(e)];
    if (!next) {
        return err_set(err, -EBADMSG, "its \"%s\" is not an object", e->outer);
    }
    autojson *after = parse(e, next, err);
    if (!after) {
        return err_wrap(err, "adding the entry would make it invalid %s", format);
    }
    return differs_by(e, before, entry, after)
               ? 0
               : err_set(err, -EBADMSG, "its other content would change");
}

static int put_entry(const struct entry *e, const char *text, const char *program,
                     char **ret, struct err *err) {
    autojson *set = variables_set();
    autojson *value = entry_value(e, program, set);
    autofree char *block = filled(e, program, set);
    autofree char *whole = whole_file(e, block, value);
    if (!text) {
        *ret = take(whole);
        return 0;
    }
    autojson *before = parse(e, text, err);
    if (!before) {
        return err_wrap(err, "it is not valid %s", format_names[format_of(e)]);
    }
    const json_t *there = entry_in(before, e);
    if (there) {
        const char *advice = "; for setup's entry, delete it and run setup again";
        return json_equal(there, value) ? 0 : has_another(e, text, advice, err);
    }
    int rc = check_outer(e, text, before, block, err);
    if (rc < 0) {
        return rc;
    }
    autojson *head = e->head ? parse(e, e->head, NULL) : NULL;
    const char *known = json_get_string(head, "schema", "");
    const char *schema = json_get_string(before, "schema", known);
    if (*known && strcmp(schema, known) != 0) {
        return err_set(err, -ENOTSUP, "its schema is %s, and setup knows %s", schema,
                       known);
    }
    bool alone = json_is_null(before), inside = format_of(e) == JSON && !alone;
    bool listed = format_of(e) == YAML && json_object_get(before, e->outer);
    autofree char *next = inside   ? jsonc_put(text, e->outer, NAME, value)
                          : listed ? config_yaml_put(text, e->outer, block)
                                   : config_text_append(text, alone ? whole : block);
    autojson *entry = parse(e, alone || inside ? whole : block, NULL);
    rc = check_put(e, before, entry, next, err);
    *ret = rc == 0 ? take(next) : NULL;
    return rc;
}

/* Whether it is what was there, but for the entry that `piece` is. */
static bool is_without(const struct entry *e, const char *text, const json_t *before,
                       const char *piece, bool whole) {
    autojson *after = text ? parse(e, text, NULL) : NULL;
    autojson *entry = parse(e, piece, NULL);
    return after && !entry_in(after, e) && differs_by(e, after, entry, before) &&
           (!whole || !json_object_size(after));
}

/* The first way of taking it out that leaves all else; NULL: none does. */
static char *without_entry(const struct entry *e, const char *text, const json_t *before,
                           const char *block, const char *whole) {
    const json_t *there = entry_in(before, e);
    for (int way = -2; way < JSONC_WAYS; way++) {
        bool all = way == -2, json = format_of(e) == JSON;
        char *next = all                     ? config_text_cut(text, place(e, text, true), whole)
                     : way < 0               ? config_text_cut(text, place(e, text, false), block)
                     : json                  ? jsonc_take(text, e->outer, NAME, there, way)
                     : format_of(e) == YAML ? config_yaml_cut(text, yaml_entry(e, text), block)
                                             : NULL;
        if (is_without(e, next, before, all || json ? whole : block, all)) {
            return next;
        }
        free(next);
    }
    return NULL;
}

static int take_entry(const struct entry *e, const char *text, char **ret, bool *ret_gone,
                      struct err *err) {
    autojson *before = parse(e, text, err);
    if (!before) {
        return err_wrap(err, "it is not valid %s", format_names[format_of(e)]);
    }
    json_t *there = entry_in(before, e);
    const char *program = program_of(there, e);
    if (!program) {
        return there ? has_another(e, text, "", err) : 0;
    }
    autojson *set = variables_of(there, e);
    autojson *value = entry_value(e, program, set);
    if (!says_no_more(there, value)) {
        return has_another(e, text, "", err);
    }
    autofree char *block = filled(e, program, set);
    autofree char *whole = whole_file(e, block, there);
    *ret_gone = strcmp(text, whole) == 0;
    *ret = *ret_gone ? xstrdup("") : without_entry(e, text, before, block, whole);
    return *ret ? 0
                : err_set(err, -ENOTSUP,
                          "setup's entry is not as, or not where, setup writes it");
}

static struct entry entry_of(const struct agent_config *agent, int which) {
    return which
               ? (struct entry){agent->lsp_outer, agent->lsp_entry, "env", NULL}
               : (struct entry){agent->outer, agent->entry, agent->env, agent->head};
}

/* Both entries, the later one out first; each step's text is the next one's. Of two, one
 * may be another's: the other is taken out all the same. */
static int edit(const struct agent_config *agent, const char *text, const char *program,
                char **ret, bool *ret_gone, struct err *err) {
    autofree char *now = NULL;
    int another = 0;
    *ret = NULL;
    for (int i = 0; i < 2; i++) {
        const struct entry e = entry_of(agent, program ? i : 1 - i);
        const char *from = now ? now : text;
        char *next = NULL;
        int rc = !e.outer ? 0
                 : program ? put_entry(&e, from, program, &next, err)
                           : take_entry(&e, from, &next, ret_gone, err);
        if (rc < 0 && (program || rc != -EEXIST)) {
            return rc;
        }
        another = rc < 0 ? rc : another;
        if (next) {
            free(now);
            now = next;
        }
    }
    if (now && another) {
        *err = (struct err){0};
    }
    *ret = take(now);
    return *ret ? 0 : another;
}

int agent_config_put(const struct agent_config *agent, const char *text,
                     const char *program, char **ret, struct err *err) {
    return edit(agent, text, program, ret, NULL, err);
}

int agent_config_take(const struct agent_config *agent, const char *text, char **ret,
                      bool *ret_gone, struct err *err) {
    *ret_gone = false;
    return edit(agent, text, NULL, ret, ret_gone, err);
}

int agent_config_line(const struct agent_config *agent, const char *text) {
    int line = 0;
    for (int i = 0; i < 2 && !line; i++) {
        const struct entry e = entry_of(agent, i);
        autojson *doc = e.outer ? parse(&e, text, NULL) : NULL;
        line = entry_in(doc, &e) ? entry_line(&e, text) : 0;
    }
    return line;
}

/* The members of a JSON file that get an entry. */
static void show_members(const struct agent_config *agent, const json_t *before,
                         const char *program, const json_t *set, struct buf *out) {
    for (int i = 0; i < 2; i++) {
        const struct entry e = entry_of(agent, i);
        autojson *value = e.outer ? entry_value(&e, program, set) : NULL;
        bool more = value && json_object_size(json_object_get(before, e.outer));
        if (value) {
            buf_addf(out, "\"%s\": { %s\"" NAME "\": ", e.outer, more ? "…, " : "");
            add_json(out, value);
            buf_adds(out, " }\n");
        }
    }
}

void agent_config_manual(const struct agent_config *agent, const char *text,
                         const char *program, struct buf *out) {
    const struct entry e = entry_of(agent, 0);
    autojson *set = variables_set();
    autojson *before = text ? parse(&e, text, NULL) : NULL;
    autofree char *whole = NULL;
    if (format_of(&e) == JSON && json_is_object(before)) {
        show_members(agent, before, program, set, out);
    } else if (format_of(&e) != JSON && text && !json_is_null(before)) {
        autofree char *block = filled(&e, program, set);
        bool item = json_object_get(before, e.outer) && format_of(&e) == YAML;
        buf_adds(out, item ? strchr(block, '\n') + 1 : block);
    } else if (agent_config_put(agent, NULL, program, &whole, NULL) == 0 && whole) {
        buf_adds(out, whole);
    }
}
