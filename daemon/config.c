#define LOG_MODULE "config"
#include "daemon/config.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/text.h"
#include "base/yaml.h"
#include "daemon/config_workers.h"
#include "protocol/schema/schema.h"
#include "skills/models/model.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_MAX_BYTES (64u << 10)
#define PROJECT_FILE "./upskilld.yaml"

const char config_help[] =
    "usage: upskilld [options]\n"
    "\n"
    "Speaks JSON-RPC on standard input and output: MCP and plain methods one JSON text "
    "per\n"
    "line, LSP with Content-Length headers. Agents and editors start it; a person uses\n"
    "upskillctl.\n"
    "\n"
    "  --root DIR          a folder that requests may name files in (repeatable);\n"
    "                      the working directory always is one\n"
    "  --include-dir DIR   an include folder for every kernel check (repeatable)\n"
    "  --arch ARCH         architecture when a request names none (sm_90a)\n"
    "  --config FILE       read this instead of $XDG_CONFIG_HOME/upskilld/config.yaml\n"
    "  --log-level LEVEL   error, warning, info or debug, on standard error\n"
    "  --stdio             accepted and without meaning, as is --clientProcessId=N:\n"
    "                      language clients append them\n"
    "  --version, --help\n"
    "\n"
    "Environment: UPSKILLD_CONFIG, UPSKILLD_LOG, UPSKILLD_CUDA or CUDA_HOME (toolkit),\n"
    "UPSKILLD_WORKER (worker program), XDG_CONFIG_HOME, XDG_STATE_HOME.\n";

static const char config_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"log_level\":{\"enum\":[\"error\",\"warning\",\"info\",\"debug\"]},"
    "\"roots\":{\"type\":\"array\",\"maxItems\":64,\"items\":{\"type\":\"string\","
    "\"minLength\":1}},"
    "\"include_dirs\":{\"type\":\"array\",\"maxItems\":64,"
    "\"items\":{\"type\":\"string\",\"minLength\":1}},"
    "\"arch\":{\"type\":\"string\",\"pattern\":\"^sm_[0-9]{2,3}[af]?$\"}"
    "," CONFIG_WORKERS_SCHEMA
    "\"worker_idle_s\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":86400},"
    "\"compile_timeout_s\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600},"
    "\"cache_mb\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":4096},"
    "\"tool_wait_s\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600},"
    "\"structured_content\":{\"enum\":[\"always\",\"never\"]},"
    "\"tools\":{\"type\":\"array\",\"maxItems\":64,\"items\":{\"type\":\"string\"}},"
    "\"debounce_ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10000},"
    "\"models\":{\"type\":\"object\",\"maxProperties\":256,\"propertyNames\":{"
    "\"pattern\":\"^(?!(anthropic|openai|generic)[.])[!-~]{1,128}$\"},"
    "\"additionalProperties\":" MODEL_SCHEMA(
        "") "},"
            "\"teacher\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":512},"
            "\"judge\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":512},"
            "\"links\":{\"enum\":[\"public\",\"none\",\"any\"]},"
            "\"agents_may_suppress\":{\"type\":\"boolean\"},"
            "\"default_students\":{\"type\":\"array\",\"maxItems\":16,\"items\":{"
            "\"type\":\"string\",\"minLength\":1,\"maxLength\":512}},"
            "\"runs_dir\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096},"
            "\"students\":{\"type\":\"object\",\"additionalProperties\":{\"type\":"
            "\"object\"}}}}";

/* Keys that ./upskilld.yaml may not set: they start programs, say where keys are sent and
 * whose models are paid, reach out of the project, or set a rule of safety aside. */
static const char *const trusted_keys[] = {
    "workers",   "local_worker", "roots",
    "log_level", "models",       "students",
    "teacher",   "judge",        "default_students",
    "runs_dir",  "links",        "agents_may_suppress",
    "tools",     NULL};

/* Keys of a project's file that each check reads for itself (gpu/check/project_flags). */
static const char *const check_keys[] = {"defines", "std", "options", NULL};

static char **strings_new(void) {
    return xcalloc(1, sizeof(char *));
}

/* string is taken over. */
static void strings_add(char ***list, char *string) {
    size_t n = 0;
    while ((*list)[n]) {
        n++;
    }
    *list = xreallocarray(*list, n + 2, sizeof **list);
    (*list)[n] = string;
    (*list)[n + 1] = NULL;
}

static void strings_prepend(char ***list, char *string) {
    strings_add(list, string);
    size_t n = 0;
    while ((*list)[n + 1]) {
        n++;
    }
    memmove(*list + 1, *list, n * sizeof **list);
    (*list)[0] = string;
}

/* Absolute and normalised; "~/" is the home folder; relative to `base`. */
static char *absolute(const char *base, const char *path) {
    const char *home = getenv("HOME");
    autofree char *joined = strncmp(path, "~/", 2) == 0 && home
                                ? path_join(home, path + 2)
                                : path_join(base, path);
    return path_normalize(joined);
}

static void defaults(struct config *c) {
    *c = (struct config){
        .log_level = LOG_WARNING,
        .links = "public",
        .roots = strings_new(),
        .include_dirs = strings_new(),
        .arch = xstrdup("sm_90a"),
        .pool = {.add_local = true, .idle_ms = 60000, .hello_ms = 30000},
        .compile_timeout_s = 120,
        .cache_bytes = 32u << 20,
        .tool_wait_s = 20,
        .debounce_ms = 60,
        .files = strings_new(),
        .warnings = json_array(),
    };
}

void config_finish(struct config *c) {
    strings_free(c->roots);
    strings_free(c->include_dirs);
    strings_free(c->files);
    free(c->arch);
    config_workers_free(&c->pool);
    json_decref(c->warnings);
    json_decref(c->models);
    json_decref(c->students);
    json_decref(c->tools);
    json_decref(c->default_students);
    free(c->runs_dir);
    free(c->teacher);
    free(c->judge);
    *c = (struct config){0};
}

static void set_paths(char ***list, const json_t *values, const char *base) {
    strings_free(*list);
    *list = strings_new();
    size_t i;
    const json_t *value;
    json_array_foreach(values, i, value) {
        strings_add(list, absolute(base, json_string_value(value)));
    }
}

static void set_value(json_t **at, const json_t *file, const char *key) {
    json_t *value = json_object_get(file, key);
    if (value) {
        json_decref(*at);
        *at = json_incref(value);
    }
}

static void set_string(char **at, const json_t *file, const char *key) {
    const char *value = json_get_string(file, key, NULL);
    if (value) {
        free(*at);
        *at = xstrdup(value);
    }
}

static void set_path(char **at, const json_t *file, const char *key, const char *base) {
    const char *value = json_get_string(file, key, NULL);
    if (value) {
        free(*at);
        *at = absolute(base, value);
    }
}

static void apply(struct config *c, const json_t *file, const char *base) {
    const json_t *v;
    set_value(&c->models, file, "models");
    set_value(&c->students, file, "students");
    set_value(&c->tools, file, "tools");
    set_value(&c->default_students, file, "default_students");
    set_path(&c->runs_dir, file, "runs_dir", base);
    set_string(&c->teacher, file, "teacher");
    set_string(&c->judge, file, "judge");
    if ((v = json_object_get(file, "links"))) {
        const char *links = json_string_value(v);
        c->links = *links == 'p' ? "public" : *links == 'n' ? "none" : "any";
    }
    c->agents_may_suppress =
        json_get_bool(file, "agents_may_suppress", c->agents_may_suppress);
    if ((v = json_object_get(file, "log_level"))) {
        log_level_parse(json_string_value(v), &c->log_level);
    }
    if ((v = json_object_get(file, "roots"))) {
        set_paths(&c->roots, v, base);
    }
    if ((v = json_object_get(file, "include_dirs"))) {
        set_paths(&c->include_dirs, v, base);
    }
    if ((v = json_object_get(file, "arch"))) {
        free(c->arch);
        c->arch = xstrdup(json_string_value(v));
    }
    config_workers_apply(&c->pool, file);
    c->pool.idle_ms =
        1000 * (unsigned)json_get_integer(file, "worker_idle_s", c->pool.idle_ms / 1000);
    c->compile_timeout_s =
        (unsigned)json_get_integer(file, "compile_timeout_s", c->compile_timeout_s);
    c->cache_bytes =
        (size_t)json_get_integer(file, "cache_mb", (json_int_t)(c->cache_bytes >> 20))
        << 20;
    c->tool_wait_s = (unsigned)json_get_integer(file, "tool_wait_s", c->tool_wait_s);
    if ((v = json_object_get(file, "structured_content"))) {
        c->structured = strcmp(json_string_value(v), "always") == 0;
    }
    c->debounce_ms = (unsigned)json_get_integer(file, "debounce_ms", c->debounce_ms);
}

/* A folder outside the project would make its files readable through diagnostics. A link
 * to one is one. base is a real path. */
static bool stays_inside(const json_t *paths, const char *base) {
    size_t i;
    const json_t *path;
    json_array_foreach(paths, i, path) {
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

static int check_values(const struct schema *schema, const json_t *file,
                        struct err *err) {
    int rc = schema_check(schema, file, NULL, err);
    return rc < 0 ? rc : config_workers_check(file, err);
}

static int check_file(const json_t *file, const char *path, struct err *err) {
    struct schema *schema;
    int rc = schema_new(config_schema, &schema, err);
    if (rc < 0) {
        return rc;
    }
    rc = check_values(schema, file, err);
    schema_free(schema);
    return rc < 0 ? err_wrap(err, "%s", path) : 0;
}

/* Each key by itself: one that is wrong takes none of the others along. */
static int drop_wrong(struct config *c, json_t *file, struct err *err) {
    struct schema *schema;
    int rc = schema_new(config_schema, &schema, err);
    if (rc < 0) {
        return rc;
    }
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(file, next, key, value) {
        struct err why = {0};
        autojson *alone = json_pack("{s:O}", key, value);
        if (check_values(schema, alone, &why) < 0) {
            autofree char *name = xstrdup(key); /* the object's own goes with the key */
            drop(c, file, name, why.msg);
        }
    }
    schema_free(schema);
    return 0;
}

static int parse(const struct buf *text, const char *path, json_t **ret,
                 struct err *err) {
    int rc = yaml_parse(text->data, text->len, YAML_TYPED, ret, err);
    return rc < 0 ? err_wrap(err, "%s", path) : 0;
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
    rc = check_file(file, path, err);
    if (rc == 0) {
        apply(c, file, base);
        strings_add(&c->files, xstrdup(path));
    }
    return rc;
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

static int read_project_file(struct config *c, const char *project, struct err *err) {
    autobuf text = BUF_INIT(CONFIG_MAX_BYTES);
    autojson *file = NULL;
    struct err why = {0};
    int rc = read_project_text(project, &text, &why);
    if (rc == -ENOENT) {
        return 0;
    }
    rc = rc < 0 ? rc : yaml_parse(text.data, text.len, YAML_TYPED, &file, &why);
    if (rc == 0 && !json_is_null(file) && !json_is_object(file)) {
        rc = err_set(&why, -EINVAL, "it holds no keys");
    }
    if (rc < 0) {
        warn(c, PROJECT_FILE, why.msg);
    }
    if (rc < 0 || json_is_null(file)) {
        return 0;
    }
    for (const char *const *key = check_keys; *key; key++) {
        json_object_del(file, *key);
    }
    rc = drop_wrong(c, file, err);
    if (rc == 0) {
        distrust(c, file, project);
        apply(c, file, project);
        strings_add(&c->files, path_join(project, "upskilld.yaml"));
    }
    return rc;
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
    return read_project_file(c, cwd, err);
}

enum {
    FLAG_ROOT = 256,
    FLAG_INCLUDE,
    FLAG_ARCH,
    FLAG_CONFIG,
    FLAG_LOG,
    FLAG_CLIENTS,
    FLAG_VERSION,
    FLAG_HELP
};
static const struct option flags[] = {
    {"root", required_argument, NULL, FLAG_ROOT},
    {"include-dir", required_argument, NULL, FLAG_INCLUDE},
    {"arch", required_argument, NULL, FLAG_ARCH},
    {"config", required_argument, NULL, FLAG_CONFIG},
    {"log-level", required_argument, NULL, FLAG_LOG},
    {"stdio", no_argument, NULL, FLAG_CLIENTS},
    {"clientProcessId", required_argument, NULL, FLAG_CLIENTS},
    {"version", no_argument, NULL, FLAG_VERSION},
    {"help", no_argument, NULL, FLAG_HELP},
    {0},
};

static int set_arch(struct config *c, const char *name, struct err *err) {
    autojson *file = json_pack("{s:o}", "arch", json_text(name, strlen(name)));
    int rc = check_file(file, "--arch", err);
    if (rc == 0) {
        apply(c, file, "");
    }
    return rc;
}

static int apply_flag(struct config *c, int flag, const char *cwd, struct err *err) {
    switch (flag) {
    case FLAG_ROOT:
        strings_add(&c->roots, absolute(cwd, optarg));
        return 0;
    case FLAG_INCLUDE:
        strings_add(&c->include_dirs, absolute(cwd, optarg));
        return 0;
    case FLAG_ARCH:
        return set_arch(c, optarg, err);
    case FLAG_LOG:
        return log_level_parse(optarg, &c->log_level) < 0
                   ? err_set(err, -EINVAL,
                             "--log-level %s: error, warning, info or debug", optarg)
                   : 0;
    default:
        return 0;
    }
}

/* Two passes: the first finds --config, --help and --version, the second applies the rest
 * over what the files said. */
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
        if (flag == FLAG_CONFIG && ret_file) {
            *ret_file = optarg;
        } else if (flag == FLAG_HELP || flag == FLAG_VERSION) {
            *ret_action = flag == FLAG_HELP ? CONFIG_HELP : CONFIG_VERSION;
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
    if (level && *level && log_level_parse(level, &c->log_level) < 0) {
        return err_set(err, -EINVAL, "UPSKILLD_LOG=%s: error, warning, info or debug",
                       level);
    }
    return 0;
}

/* The working directory, absolute. A client that runs its plugins' servers in the plugin's
 * folder names that in PLUGIN_ROOT: the project is where the client itself works. NULL
 * with errno. */
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
    strings_prepend(&c->roots, xstrdup(cwd)); /* relative paths mean this one */
    return rc;
}

int config_load(struct config *ret, int argc, char **argv, enum config_action *ret_action,
                struct err *err) {
    defaults(ret);
    int rc = load(ret, argc, argv, ret_action, err);
    if (rc < 0) {
        config_finish(ret);
    }
    return rc;
}
