#include "gpu/check/project_flags.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/yaml.h"
#include "gpu/compile/compile_options.h"
#include "protocol/finding.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define DATABASE "compile_commands.json"
#define SETTINGS "upskilld.yaml"
#define SETTINGS_MAX (64u << 10)
#define SOURCE_MAX (4u << 20)
#define RESPONSE_MAX (1u << 20)
#define RESPONSE_DEPTH 4

/* One question. */
struct search {
    const char *file;
    const struct project_places *places;
    struct root root; /* the outermost that holds the file */
    json_t *flags, *findings;
};

/* Where words stand. */
struct source {
    const char *name;   /* for a person */
    const char *folder; /* what relative names are meant from */
    bool is_ours; /* its options are meant for this program: an unknown one is told */
};

/* --- places --- */

static bool is_inside(const struct search *s, const char *path) {
    for (const char *const *root = s->places->roots; *root; root++) {
        if (path_is_beneath(path, *root)) {
            return true;
        }
    }
    return false;
}

static char *whole_path(const char *folder, const char *path) {
    autofree char *joined = path_join(folder, path);
    return path_normalize(joined);
}

static char *folder_of(const char *path) {
    size_t len = (size_t)(path_basename(path) - path);
    return xstrndup(path, len > 1 ? len - 1 : len);
}

/* From the root on; NULL: it lies elsewhere. */
static const char *below_root(const struct search *s, const char *path) {
    size_t len = strlen(s->root.path);
    if (!path_is_beneath(path, s->root.path) || !path[len]) {
        return NULL;
    }
    return path + len + (path[len] == '/');
}

static int read_beneath(const struct search *s, const char *path, struct buf *out,
                        struct err *err) {
    const char *rel = below_root(s, path);
    return rel ? root_read(&s->root, rel, out, err)
               : err_set(err, -EXDEV, "it lies outside of the project");
}

static bool is_missing(int rc) {
    return rc == -ENOENT || rc == -ENOTDIR;
}

/* --- what is gathered --- */

void project_flags_complain(json_t *findings, const char *what, const char *why) {
    autofree char *message = xasprintf("%s is not used: %s", what, why);
    struct finding_span none = {0};
    json_array_append_new(findings, finding_new("upskilld", "project_flags",
                                                FINDING_WARNING, message, NULL, &none));
}

static void complain(const struct search *s, const char *what, const char *why) {
    project_flags_complain(s->findings, what, why);
}

static json_t *member(const struct search *s, const char *name, json_t *(*make)(void)) {
    json_t *value = json_object_get(s->flags, name);
    if (!value) {
        value = make();
        json_object_set_new(s->flags, name, value);
    }
    return value;
}

static void add_text(const struct search *s, const char *list, const char *text) {
    json_array_append_new(member(s, list, json_array), json_text(text, strlen(text)));
}

static void add_folder(const struct search *s, const struct source *from,
                       const char *path) {
    autofree char *folder = whole_path(from->folder, path);
    add_text(s, is_inside(s, folder) ? "include_roots" : "outside", folder);
}

/* "NAME=VALUE" and "NAME", which is 1. */
static void add_macro(const struct search *s, const char *text) {
    size_t len = strcspn(text, "=");
    const char *value = text[len] ? text + len + 1 : "1";
    if (!compile_define_is_sound(text, len, value, strlen(value))) {
        autofree char *what = xasprintf("the macro \"%.60s\"", text);
        complain(s, what, "only NAME and NAME=VALUE on one line are taken");
        return;
    }
    json_object_setn_new(member(s, "defines", json_object), text, len,
                         json_text(value, strlen(value)));
}

static bool add_std(const struct search *s, const char *std) {
    bool is_gnu = strncmp(std, "gnu++", 5) == 0;
    autofree char *plain = is_gnu ? xasprintf("c++%s", std + 5) : xstrdup(std);
    bool known = compile_std_is_known(plain);
    if (known) {
        json_object_set_new(s->flags, "std", json_string(plain));
    }
    return known;
}

/* --- options as nvcc has them --- */

/* The value of an option in one of its forms, or NULL: "-Idir", "-I dir", "--std=c++17".
 * *used: how many words. */
static const char *value_of(const json_t *words, size_t at, const char *name,
                            size_t *used) {
    const char *word = json_string_value(json_array_get(words, at));
    size_t len = strlen(name);
    *used = 1;
    if (strncmp(word, name, len) != 0) {
        return NULL;
    }
    if (word[len] == '=') {
        return word + len + 1;
    }
    if (word[len]) {
        return len == 2 ? word + len : NULL;
    }
    *used = 2;
    return json_string_value(json_array_get(words, at + 1));
}

static const char *any_value(const json_t *words, size_t at, const char *const *names,
                             size_t *used) {
    const char *value = NULL;
    for (; *names && !value; names++) {
        value = value_of(words, at, *names, used);
    }
    return value;
}

static void add_words(const struct search *s, const struct source *from,
                      const json_t *words, int depth);

/* A file of more words, as CMake writes them for many include folders. */
static void add_response(const struct search *s, const struct source *from,
                         const char *name, int depth) {
    autofree char *path = whole_path(from->folder, name);
    autobuf text = BUF_INIT(RESPONSE_MAX);
    struct err err = {0};
    int rc = depth < RESPONSE_DEPTH
                 ? read_beneath(s, path, &text, &err)
                 : err_set(&err, -ELOOP, "response files name each other");
    autojson *words = rc == 0 ? shell_words(text.data) : NULL;
    if (words) {
        add_words(s, from, words, depth + 1);
    } else {
        complain(s, path, rc < 0 ? err.msg : "a quote is not closed");
    }
}

/* An option that the compiler of device code is asked for too. */
static size_t add_option(const struct search *s, const struct source *from,
                         const json_t *words, size_t at) {
    bool matters = false;
    size_t used = compile_option_words(words, at, &matters);
    for (size_t i = 0; matters && i < used; i++) {
        add_text(s, "options", json_string_value(json_array_get(words, at + i)));
    }
    if (!used && from->is_ours) {
        autofree char *what = xasprintf("%s: the option \"%.60s\"", from->name,
                                        json_string_value(json_array_get(words, at)));
        complain(s, what, "it is not one that a check takes");
    }
    return used ? used : 1;
}

static size_t add_word(const struct search *s, const struct source *from,
                       const json_t *words, size_t at, int depth) {
    static const char *const folders[] = {"-I", "-isystem", "--include-path",
                                          "--system-include", NULL};
    static const char *const macros[] = {"-D", "--define-macro", NULL};
    static const char *const standards[] = {"-std", "--std", NULL};
    static const char *const responses[] = {"--options-file", "-optf", NULL};
    const char *word = json_string_value(json_array_get(words, at)), *value;
    size_t used = 1;
    if (*word == '@') {
        add_response(s, from, word + 1, depth);
    } else if ((value = any_value(words, at, folders, &used))) {
        add_folder(s, from, value);
    } else if ((value = any_value(words, at, macros, &used))) {
        add_macro(s, value);
    } else if ((value = any_value(words, at, standards, &used))) {
        add_std(s, value);
    } else if ((value = any_value(words, at, responses, &used))) {
        add_response(s, from, value, depth);
    } else {
        used = add_option(s, from, words, at);
    }
    return used;
}

static void add_words(const struct search *s, const struct source *from,
                      const json_t *words, int depth) {
    for (size_t at = 0; at < json_array_size(words);) {
        bool is_word = json_string_value(json_array_get(words, at)) != NULL;
        at += is_word ? add_word(s, from, words, at, depth) : 1;
    }
}

/* --- compile_commands.json --- */

/* By the header's own name: "…/name.cuh" or <…/name.cuh>. */
static bool includes(const char *source, const char *header, void *data) {
    const char *name = path_basename(header);
    size_t len = strlen(name);
    autobuf text = BUF_INIT(SOURCE_MAX);
    if (read_beneath(data, source, &text, NULL) < 0) {
        return false;
    }
    for (const char *at = text.data; (at = strstr(at, name)); at++) {
        bool begins = at > text.data && strchr("/\"<", at[-1]);
        if (begins && at[len] && strchr("\">", at[len])) {
            return true;
        }
    }
    return false;
}

static void add_command(struct search *s, const char *path) {
    struct compile_command command;
    if (!compile_commands_find(s->places->commands, s->file, includes, s, &command)) {
        return;
    }
    bool is_own = strcmp(command.file, s->file) == 0;
    autofree char *other =
        is_own ? NULL : xasprintf("%s, by %s", path, path_basename(command.file));
    const struct source from = {.name = path, .folder = command.folder};
    add_text(s, "from", is_own ? path : other);
    add_words(s, &from, command.words, 0);
    compile_command_finish(&command);
}

/* True: the folder has a database, sound or not, and the search ends. */
static bool look_in(struct search *s, const char *folder) {
    static const char *const names[] = {DATABASE, "build/" DATABASE};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct err err = {0};
        autofree char *path = path_join(folder, names[i]);
        const char *rel = below_root(s, path);
        int rc = compile_commands_load(s->places->commands, &s->root, rel, &err);
        if (is_missing(rc)) {
            continue;
        }
        if (rc < 0) {
            complain(s, path, err.msg);
        } else {
            add_command(s, path);
        }
        return true;
    }
    return false;
}

/* --- the keys of upskilld.yaml --- */

static const char *const keys[] = {"include_dirs", "defines", "std", "options"};

static bool are_texts(const json_t *list) {
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) {
        if (!json_is_string(item)) {
            return false;
        }
    }
    return json_is_array(list);
}

/* A list of folders, or of options. */
static const char *take_list(const struct search *s, const struct source *from,
                             const char *key, const json_t *list) {
    if (!are_texts(list)) {
        return "a list of texts is expected";
    }
    if (strcmp(key, "options") == 0) {
        add_words(s, from, list, 0);
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        add_folder(s, from, json_string_value(json_array_get(list, i)));
    }
    return NULL;
}

static const char *take_defines(const struct search *s, const json_t *defines) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)defines, name, value) {
        const char *text = json_is_integer(value) ? "1" : json_string_value(value);
        if (!text || !compile_define_is_sound(name, strlen(name), text, strlen(text))) {
            return "a map from names to texts or whole numbers is expected";
        }
        json_object_set(member(s, "defines", json_object), name, value);
    }
    return json_is_object(defines) ? NULL : "a map from names to values is expected";
}

static const char *take_key(const struct search *s, const struct source *from,
                            const char *key, const json_t *value) {
    if (strcmp(key, "defines") == 0) {
        return take_defines(s, value);
    }
    if (strcmp(key, "std") == 0) {
        const char *std = json_string_value(value);
        return std && add_std(s, std) ? NULL : "a standard such as c++17 is expected";
    }
    return take_list(s, from, key, value);
}

static void take_keys(const struct search *s, const struct source *from,
                      const json_t *settings) {
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const json_t *value = json_object_get(settings, keys[i]);
        const char *problem = value ? take_key(s, from, keys[i], value) : NULL;
        any = any || value;
        if (problem) {
            autofree char *what = xasprintf("%s: %s", from->name, keys[i]);
            complain(s, what, problem);
        }
    }
    if (any) {
        add_text(s, "from", from->name);
    }
}

static void add_settings_file(const struct search *s, const char *folder) {
    struct err err = {0};
    autobuf text = BUF_INIT(SETTINGS_MAX);
    autofree char *path = path_join(folder, SETTINGS);
    json_t *parsed = NULL;
    int rc = read_beneath(s, path, &text, &err);
    rc = rc < 0 ? rc : yaml_parse(text.data, text.len, YAML_TYPED, &parsed, &err);
    autojson *settings = parsed;
    if (rc < 0 && !is_missing(rc)) {
        complain(s, path, err.msg);
    }
    const struct source from = {.name = path, .folder = folder, .is_ours = true};
    take_keys(s, &from, settings);
}

/* --- all of it --- */

static bool open_root(struct search *s) {
    const char *best = NULL;
    for (const char *const *root = s->places->roots; *root; root++) {
        if (path_is_beneath(s->file, *root) && (!best || strlen(*root) < strlen(best))) {
            best = *root;
        }
    }
    return best && root_open(&s->root, best, NULL) == 0;
}

static void search_folder(struct search *s, const char *folder, bool has_database) {
    has_database = has_database || look_in(s, folder);
    if (strcmp(folder, s->root.path) != 0) {
        autofree char *above = folder_of(folder);
        search_folder(s, above, has_database);
    }
    add_settings_file(s, folder);
}

json_t *project_flags_read(const struct project_places *places, const char *file,
                           json_t *findings) {
    struct search s = {.file = file, .places = places, .findings = findings};
    if (!open_root(&s)) {
        return NULL;
    }
    autojson *flags = s.flags = json_object();
    autofree char *folder = folder_of(file);
    const struct source editor = {
        .name = "the editor's settings", .folder = s.root.path, .is_ours = true};
    search_folder(&s, folder, false);
    take_keys(&s, &editor, places->settings);
    root_close(&s.root);
    return json_object_get(flags, "from") ? json_incref(flags) : NULL;
}

/* --- what it means for a check --- */

static bool tells_missing(const json_t *finding) {
    static const char cannot_open[] = "cannot open source file";
    const char *message = json_get_string(finding, "message", "");
    return strncmp(message, cannot_open, strlen(cannot_open)) == 0 ||
           strcmp(json_get_string(finding, "code", ""), "include_not_found") == 0;
}

void project_flags_tell_outside(const json_t *flags, json_t *findings) {
    const json_t *outside = json_object_get(flags, "outside");
    const json_t *finding;
    size_t i;
    bool missing = false;
    json_array_foreach(findings, i, finding) {
        missing = missing || tells_missing(finding);
    }
    for (i = 0; missing && i < json_array_size(outside); i++) {
        autofree char *message = xasprintf(
            "%s lies outside the workspace and was not looked in: name it in "
            "include_dirs of your own configuration (~/.config/upskilld/config.yaml)",
            json_string_value(json_array_get(outside, i)));
        struct finding_span none = {0};
        json_array_append_new(findings, finding_new("upskilld", "project_flags",
                                                    FINDING_INFO, message, NULL, &none));
    }
}
