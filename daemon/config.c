#define LOG_MODULE "config"
#include "daemon/config.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/text.h"
#include "base/yaml.h"
#include "daemon/config.schema.h"
#include "protocol/schema/schema.h"

#include <getopt.h>
#include <unistd.h>

#define CONFIG_MAX_BYTES (64u << 10)
#define PROJECT_FILE "./upskilld.yaml"

/* Keys that ./upskilld.yaml may not set: they start programs, say where keys are sent and
 * whose models are paid, reach out of the project, or set a rule of safety aside. */
static const char *const trusted_keys[] = {"workers",
                                           "local_worker",
                                           "roots",
                                           "log_level",
                                           "models",
                                           "students",
                                           "teacher",
                                           "judge",
                                           "embeddings",
                                           "embeddings_query_prefix",
                                           "embeddings_text_prefix",
                                           "namer",
                                           "default_students",
                                           "runs_dir",
                                           "links",
                                           "agents_may_suppress",
                                           "tools",
                                           NULL};

/* Keys of a project's file that each check reads for itself (gpu/check/project_flags). */
static const char *const check_keys[] = {"defines", "std", "options", NULL};

/* Keys whose values are folders. */
static const char *const folder_keys[] = {"roots", "include_dirs", "runs_dir", NULL};

/* Absolute and normalised; "~/" is the home folder; relative to `base`. */
static char *absolute(const char *base, const char *path) {
    const char *home = getenv("HOME");
    autofree char *joined = strncmp(path, "~/", 2) == 0 && home
                                ? path_join(home, path + 2)
                                : path_join(base, path);
    return path_normalize(joined);
}

/* --- workers --- */

static const json_t *entry_argv(const json_t *entry) {
    const json_t *argv = json_object_get(entry, "argv");
    return argv ? argv : json_object_get(entry, "command");
}

static bool name_occurs(const json_t *workers, size_t before, const char *name) {
    return any_of(i, 0, before, json_says(json_array_get(workers, i), "name", name));
}

/* Rules that the schema cannot express: each worker has one argv, and names differ.
 * -EINVAL with a sentence. */
static int workers_check(const json_t *file, struct err *err) {
    const json_t *workers = json_object_get(file, "workers");
    json_each(workers, i, entry) {
        const char *name = json_get_string(entry, "name", NULL);
        if (!json_object_get(entry, "argv") == !json_object_get(entry, "command")) {
            return err_set(err, -EINVAL,
                           "workers[%zu]: its command line is needed, as \"argv\" or "
                           "\"command\"",
                           i);
        }
        if (name && name_occurs(workers, i, name)) {
            return err_set(err, -EINVAL, "workers[%zu]: there are two called \"%s\"", i,
                           name);
        }
    }
    return 0;
}

static enum pool_told told(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return !value ? POOL_UNTOLD : json_is_true(value) ? POOL_YES : POOL_NO;
}

static void worker_read(struct pool_worker_config *ret, const json_t *entry) {
    const json_t *offers = json_object_get(entry, "offers");
    *ret = (struct pool_worker_config){
        .argv = strings_from(entry_argv(entry)),
        .name = json_get_string(entry, "name", NULL),
        .parallel = (unsigned)json_get_integer(entry, "parallel", 0),
        .hello_ms = 1000 * (unsigned)json_get_integer(entry, "start_timeout_s", 0),
        .local = told(entry, "local"),
        .gpu = told(offers, "gpu"),
        .compile = told(offers, "compile"),
    };
}

/* Fills workers, count and add_local; names are the settings' own. */
static void workers_read(struct pool_config *pool, const json_t *settings) {
    const json_t *workers = json_object_get(settings, "workers");
    pool->add_local = json_get_bool(settings, "local_worker", 1);
    pool->count = json_array_size(workers);
    pool->workers = xcalloc(pool->count, sizeof *pool->workers);
    for (size_t i = 0; i < pool->count; i++) {
        worker_read(&pool->workers[i], json_array_get(workers, i));
    }
}

static void workers_free(struct pool_config *pool) {
    for (size_t i = 0; i < pool->count; i++) {
        strings_free(pool->workers[i].argv);
    }
    free(pool->workers);
}

/* --- values --- */

/* A folder, or each of a list, absolute. New reference; a path need not be UTF-8. */
static json_t *absolute_json(const json_t *value, const char *base) {
    if (json_is_string(value)) {
        autofree char *path = absolute(base, json_string_value(value));
        return json_string_nocheck(path);
    }
    return json_map(value, item, absolute_json(item, base));
}

/* A file's settings replace earlier ones. */
static void apply(struct config *c, json_t *file, const char *base) {
    for (const char *const *key = folder_keys; *key; key++) {
        const json_t *value = json_object_get(file, *key);
        if (value) {
            json_object_set_new(file, *key, absolute_json(value, base));
        }
    }
    json_object_update(c->settings, file);
}

/* Begins with the schema's defaults. */
static int begin(struct config *c, struct err *err) {
    *c = (struct config){
        .settings = json_object(), .files = json_array(), .warnings = json_array()};
    int rc = schema_new(CONFIG_SCHEMA, &c->schema, err);
    const json_t *properties = json_object_get(schema_json(c->schema), "properties");
    json_each_member(properties, key, property) {
        const json_t *value = json_object_get(property, "default");
        if (value) {
            json_object_set_new(c->settings, key, json_deep_copy(value));
        }
    }
    return rc;
}

static unsigned number(const struct config *c, const char *key) {
    return (unsigned)json_get_integer(c->settings, key, 0);
}

/* All of it is read, and every value has passed the schema. */
static void fill(struct config *c) {
    const json_t *s = c->settings;
    log_level_parse(json_get_string(s, "log_level", ""), &c->log_level);
    c->roots = strings_from(json_object_get(s, "roots"));
    c->include_dirs = strings_from(json_object_get(s, "include_dirs"));
    c->arch = json_get_string(s, "arch", NULL);
    c->pool.idle_ms = 1000 * number(c, "worker_idle_s");
    c->pool.hello_ms = 30000;
    workers_read(&c->pool, s);
    c->compile_timeout_s = number(c, "compile_timeout_s");
    c->cache_bytes = (size_t)number(c, "cache_mb") << 20;
    c->tool_wait_s = number(c, "tool_wait_s");
    c->debounce_ms = number(c, "debounce_ms");
    c->tools = json_object_get(s, "tools");
    c->structured = json_says(s, "structured_content", "always");
    c->agents_may_suppress = json_get_bool(s, "agents_may_suppress", 0);
    c->runs_dir = json_get_string(s, "runs_dir", NULL);
}

void config_finish(struct config *c) {
    strings_free(c->roots);
    strings_free(c->include_dirs);
    workers_free(&c->pool);
    json_decref(c->settings);
    json_decref(c->files);
    json_decref(c->warnings);
    schema_free(c->schema);
    *c = (struct config){0};
}

/* A folder outside the project would make its files readable through diagnostics. A link
 * to one is one. base is a real path. */
static bool stays_inside(const json_t *paths, const char *base) {
    json_each(paths, i, path) {
        autofree char *full = absolute(base, json_string_value(path));
        autofree char *real = realpath(full, NULL);
        if (!path_is_beneath(full, base) || (real && !path_is_beneath(real, base))) {
            return false;
        }
    }
    return true;
}

#define WARNINGS_MOST 20 /* a file may be wrong in every line */

static void warn(struct config *c, const char *what, const char *why) {
    if (json_array_size(c->warnings) >= WARNINGS_MOST) {
        return;
    }
    autofree char *sentence = xasprintf("%s is ignored: %s", what, why);
    json_array_append_new(c->warnings, json_clean_z(sentence));
    log_warning("%s", sentence);
}

static void drop(struct config *c, json_t *file, const char *key, const char *why) {
    int shown = (int)text_cut(key, strlen(key), 80);
    autofree char *what = xasprintf(PROJECT_FILE ": \"%.*s\"", shown, key);
    json_object_del(file, key);
    warn(c, what, why);
}

static void distrust(struct config *c, json_t *file, const char *base) {
    for (const char *const *key = trusted_keys; *key; key++) {
        if (json_object_get(file, *key)) {
            drop(c, file, *key,
                 "a project may not set it; put it into your own configuration file");
        }
    }
    if (!stays_inside(json_object_get(file, "include_dirs"), base)) {
        drop(c, file, "include_dirs",
             "it names a folder outside the project; put it into your own configuration "
             "file");
    }
}

static int check_values(const struct config *c, const json_t *file, struct err *err) {
    int rc = schema_check(c->schema, file, NULL, err);
    return rc < 0 ? rc : workers_check(file, err);
}

/* Each key by itself: one that is wrong takes none of the others along. */
static void drop_wrong(struct config *c, json_t *file) {
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(file, next, key, value) {
        struct err why = {0};
        autojson *alone = json_pack("{s:O}", key, value);
        if (check_values(c, alone, &why) < 0) {
            autofree char *name = xstrdup(key); /* the object's own goes with the key */
            drop(c, file, name, why.msg);
        }
    }
}

static int parse(const struct buf *text, const char *path, json_t **ret,
                 struct err *err) {
    int rc = yaml_parse(text->data, text->len, YAML_TYPED, ret, err);
    return rc < 0 ? err_wrap(err, "%s", path) : 0;
}

/* Only folders of the user's own file; a project's are reported with each check. */
static void tell_absent(struct config *c, const char *path) {
    json_each(json_object_get(c->settings, "include_dirs"), i, folder) {
        if (access(json_string_value(folder), F_OK) < 0) {
            autofree char *what =
                xasprintf("%s: include_dirs: %s", path, json_string_value(folder));
            warn(c, what, "there is no such folder");
        }
    }
}

/* A missing file is fine unless it was asked for by name. */
static int read_own_file(struct config *c, const char *path, const char *base,
                         bool required, struct err *err) {
    autobuf text = BUF_INIT(CONFIG_MAX_BYTES);
    autojson *file = NULL;
    int rc = file_read(path, &text, err);
    if (rc == -EACCES && !required) {
        warn(c, path, strerror(EACCES));
    }
    if (file_is_missing(rc) && !required) {
        return 0;
    }
    rc = rc < 0 ? rc : parse(&text, path, &file, err);
    if (rc < 0 || json_is_null(file)) {
        return rc;
    }
    if (check_values(c, file, err) < 0) {
        return err_wrap(err, "%s", path);
    }
    apply(c, file, base);
    tell_absent(c, path);
    json_array_append_new(c->files, json_clean_z(path));
    return 0;
}

/* Opened beneath the project: a link that leads out would show a file of the user's. */
static int read_project_text(const char *project, struct buf *ret, struct err *err) {
    struct root root;
    int rc = root_open(&root, project, err);
    if (rc == 0) {
        rc = root_read(&root, "upskilld.yaml", ret, err);
        root_close(&root);
    }
    return rc;
}

static void read_project_file(struct config *c, const char *project) {
    autobuf text = BUF_INIT(CONFIG_MAX_BYTES);
    autojson *file = NULL;
    struct err why = {0};
    int rc = read_project_text(project, &text, &why);
    if (rc == -ENOENT) {
        return;
    }
    rc = rc < 0 ? rc : yaml_parse(text.data, text.len, YAML_TYPED, &file, &why);
    if (rc == 0 && !json_is_null(file) && !json_is_object(file)) {
        rc = err_set(&why, -EINVAL, "it holds no keys");
    }
    if (rc < 0) {
        warn(c, PROJECT_FILE, why.msg);
    }
    if (rc < 0 || json_is_null(file)) {
        return;
    }
    for (const char *const *key = check_keys; *key; key++) {
        json_object_del(file, *key);
    }
    drop_wrong(c, file);
    distrust(c, file, project);
    apply(c, file, project);
    autofree char *path = path_join(project, "upskilld.yaml");
    json_array_append_new(c->files, json_clean_z(path));
}

static int read_files(struct config *c, const char *named, const char *cwd,
                      struct err *err) {
    autofree char *folder = xdg_config_dir();
    autofree char *own = folder ? path_join(folder, "config.yaml") : NULL;
    const char *path = named ? named : own;
    if (path) {
        autofree char *full = absolute(cwd, path);
        autofree char *base = xstrndup(full, (size_t)(path_basename(full) - full));
        int rc = read_own_file(c, full, base, named != NULL, err);
        if (rc < 0) {
            return rc;
        }
    }
    read_project_file(c, cwd);
    return 0;
}

/* The names of options alone count; the letters are for the switches below. */
static const struct option flags[] = {
    {"root", required_argument, NULL, 'r'},
    {"include-dir", required_argument, NULL, 'i'},
    {"arch", required_argument, NULL, 'a'},
    {"config", required_argument, NULL, 'c'},
    {"log-level", required_argument, NULL, 'l'},
    {"stdio", no_argument, NULL, 's'},
    {"clientProcessId", required_argument, NULL, 's'},
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static int set_arch(struct config *c, const char *name, struct err *err) {
    autojson *file = json_pack("{s:o}", "arch", json_text(name, strlen(name)));
    if (check_values(c, file, err) < 0) {
        return err_wrap(err, "--arch");
    }
    json_object_update(c->settings, file);
    return 0;
}

/* said: the text before the word, for messages. */
static int set_level(struct config *c, const char *said, const char *word,
                     struct err *err) {
    if (log_level_parse(word, &c->log_level) < 0) {
        return err_set(err, -EINVAL, "%s%s: error, warning, info or debug", said, word);
    }
    json_object_set_new(c->settings, "log_level", json_string(word));
    return 0;
}

static int apply_flag(struct config *c, int flag, const char *cwd, struct err *err) {
    json_t *folders =
        json_object_get(c->settings, flag == 'r' ? "roots" : "include_dirs");
    autofree char *folder = NULL;
    switch (flag) {
    case 'r':
    case 'i':
        folder = absolute(cwd, optarg);
        json_array_append_new(folders, json_string_nocheck(folder));
        return 0;
    case 'a':
        return set_arch(c, optarg, err);
    case 'l':
        return set_level(c, "--log-level ", optarg, err);
    default:
        return 0;
    }
}

/* Two passes: the first finds --config, --help and --version, the second applies the
 * others, which override the files. */
static int scan_flags(struct config *c, int argc, char **argv, const char *cwd,
                      const char **ret_file, enum config_action *ret_action,
                      struct err *err) {
    optind = 0;
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, "+", flags, NULL)) != -1;) {
        if (flag == '?') {
            return err_set(err, -EINVAL,
                           "%s: unknown option or missing value; see --help",
                           argv[optind - 1]);
        }
        if (flag == 'c' && ret_file) {
            *ret_file = optarg;
        } else if (flag == 'h' || flag == 'v') {
            *ret_action = flag == 'h' ? CONFIG_HELP : CONFIG_VERSION;
        } else if (!ret_file) {
            int rc = apply_flag(c, flag, cwd, err);
            if (rc < 0) {
                return rc;
            }
        }
    }
    return optind < argc
               ? err_set(err, -EINVAL, "%s: not an option; see --help", argv[optind])
               : 0;
}

static int apply_environment(struct config *c, struct err *err) {
    const char *level = getenv("UPSKILLD_LOG");
    return level && *level ? set_level(c, "UPSKILLD_LOG=", level, err) : 0;
}

/* The working directory, absolute. A client that runs its plugins' servers in the
 * plugin's folder names that in PLUGIN_ROOT: the project is where the client itself
 * works. NULL with errno. */
static char *project_folder(void) {
    char *cwd = getcwd(NULL, 0);
    const char *named = getenv("PLUGIN_ROOT");
    autofree char *plugin = named ? realpath(named, NULL) : NULL;
    if (cwd && plugin && path_is_beneath(cwd, plugin)) {
        char link[32], project[PATH_MAX];
        snprintf(link, sizeof link, "/proc/%d/cwd", (int)getppid());
        ssize_t len = readlink(link, project, sizeof project);
        if (len > 0 && (size_t)len < sizeof project) {
            free(cwd);
            cwd = xstrndup(project, (size_t)len);
        }
    }
    return cwd;
}

static int load(struct config *c, int argc, char **argv, enum config_action *ret_action,
                struct err *err) {
    autofree char *cwd = project_folder();
    if (!cwd) {
        return err_set(err, -errno, "working directory: %s", strerror(errno));
    }
    const char *named = getenv("UPSKILLD_CONFIG");
    named = named && *named ? named : NULL;
    *ret_action = CONFIG_RUN;
    int rc = scan_flags(c, argc, argv, cwd, &named, ret_action, err);
    if (rc < 0 || *ret_action != CONFIG_RUN) {
        return rc;
    }
    if ((rc = read_files(c, named, cwd, err)) < 0 ||
        (rc = apply_environment(c, err)) < 0) {
        return rc;
    }
    rc = scan_flags(c, argc, argv, cwd, NULL, ret_action, err);
    json_array_insert_new(json_object_get(c->settings, "roots"), 0,
                          json_string_nocheck(cwd)); /* relative paths mean this one */
    fill(c);
    return rc;
}

int config_load(struct config *ret, int argc, char **argv, enum config_action *ret_action,
                struct err *err) {
    int rc = begin(ret, err);
    rc = rc < 0 ? rc : load(ret, argc, argv, ret_action, err);
    if (rc < 0) {
        config_finish(ret);
    }
    return rc;
}
