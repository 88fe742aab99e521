#include "gpu/check/project_flags.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/shell_words.h"
#include "base/yaml.h"
#include "gpu/compile/compile_options.h"
#include "protocol/finding.h"

#include <limits.h>
#include <unistd.h>

#define DATABASE "compile_commands.json"
#define SETTINGS "upskilld.yaml"
#define SETTINGS_MAX (64u << 10)
#define SOURCE_MAX (4u << 20)
#define RESPONSE_MAX (1u << 20)
#define RESPONSE_DEPTH 4
#define MOST_FOLDERS 200
#define MOST_DEFINES 200
#define MOST_OPTIONS 32
#define MOST_COMPLAINTS 50

/* One question. */
struct flags_search {
    const char *file;
    const struct project_places *places;
    struct root root; /* the outermost that holds the file */
    json_t *flags, *findings;
    json_t *later; /* include folders that are looked in after all others */
};

/* Where words stand. */
struct source {
    const char *name;   /* for a person */
    const char *folder; /* what relative names are meant from */
    bool is_ours; /* its options are meant for this program: an unknown one is told */
    int depth;    /* of response files and lists of host options around them */
};

/* --- places --- */

static bool is_inside(const struct flags_search *s, const char *path) {
    for (const char *const *root = s->places->roots; *root; root++) {
        if (path_is_beneath(path, *root)) {
            return true;
        }
    }
    return false;
}

/* From the root on; NULL: it lies elsewhere. */
static const char *below_root(const struct flags_search *s, const char *path) {
    size_t len = strlen(s->root.path);
    if (!path_is_beneath(path, s->root.path) || !path[len]) {
        return NULL;
    }
    return path + len + (path[len] == '/');
}

static int read_beneath(const struct flags_search *s, const char *path, struct buf *out,
                        struct err *err) {
    const char *rel = below_root(s, path);
    return rel ? root_read(&s->root, rel, out, err)
               : err_set(err, -EXDEV, "it is outside of the project");
}

static bool is_missing(int rc) {
    return rc == -ENOENT || rc == -ENOTDIR;
}

/* --- what is gathered --- */

static bool is_told(const json_t *findings, const char *message) {
    return json_any(findings, finding, json_says(finding, "message", message));
}

void project_flags_complain(json_t *findings, const char *what, const char *why) {
    autofree char *message = xasprintf("%s is not used: %s", what, why);
    struct finding_span none = {0};
    if (json_array_size(findings) < MOST_COMPLAINTS && !is_told(findings, message)) {
        json_array_append_new(findings,
                              finding_new("upskilld", "project_flags", FINDING_WARNING,
                                          message, NULL, &none));
    }
}

static void complain(const struct flags_search *s, const char *what, const char *why) {
    project_flags_complain(s->findings, what, why);
}

static json_t *member(const struct flags_search *s, const char *name,
                      json_t *(*make)(void)) {
    json_t *value = json_object_get(s->flags, name);
    if (!value) {
        value = make();
        json_object_set_new(s->flags, name, value);
    }
    return value;
}

static void add_text(const struct flags_search *s, const char *list, const char *text) {
    json_array_append_new(member(s, list, json_array), json_text(text, strlen(text)));
}

/* Is there room for one more? What is too much is told once. */
static bool has_room(const struct flags_search *s, const char *what, size_t count,
                     size_t most) {
    if (count == most) {
        autofree char *all = xasprintf("each %s after %zu", what, most);
        complain(s, all, "the project names too many");
    }
    return count < most;
}

static void add_folder(const struct flags_search *s, const struct source *from,
                       const char *path, bool later) {
    autofree char *folder = path_resolve(from->folder, path);
    json_t *list = !is_inside(s, folder) ? member(s, "outside", json_array)
                   : later               ? s->later
                                         : member(s, "include_roots", json_array);
    if (strlen(folder) < PATH_MAX &&
        has_room(s, "include folder", json_array_size(list), MOST_FOLDERS / 2)) {
        json_array_append_new(list, json_text(folder, strlen(folder)));
    }
}

/* "NAME=VALUE" and "NAME", which is 1. */
static void add_macro(const struct flags_search *s, const char *text) {
    size_t len = strcspn(text, "=");
    const char *value = text[len] ? text + len + 1 : "1";
    if (!compile_define_is_sound(text, len, value, strlen(value))) {
        autofree char *what = xasprintf("the macro \"%.60s\"", text);
        complain(s, what, "only NAME and NAME=VALUE on one line are taken");
        return;
    }
    json_t *defines = member(s, "defines", json_object);
    if (has_room(s, "macro", json_object_size(defines), MOST_DEFINES)) {
        json_object_setn_new(defines, text, len, json_text(value, strlen(value)));
    }
}

static bool add_std(const struct flags_search *s, const char *std) {
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

static void add_words(const struct flags_search *s, const struct source *from,
                      const json_t *words);

/* A file of more words, as CMake writes them for many include folders. */
static void add_response(const struct flags_search *s, const struct source *from,
                         const char *name) {
    autofree char *path = path_resolve(from->folder, name);
    autobuf text = BUF_INIT(RESPONSE_MAX);
    struct err err = {0};
    int rc = from->depth < RESPONSE_DEPTH
                 ? read_beneath(s, path, &text, &err)
                 : err_set(&err, -ELOOP,
                           "response files in response files are read "
                           "%d deep",
                           RESPONSE_DEPTH);
    autojson *words = rc == 0 ? shell_words(text.data) : NULL;
    if (words) {
        struct source inner = *from;
        inner.depth++;
        add_words(s, &inner, words);
    } else {
        complain(s, path, rc < 0 ? err.msg : "a quote is not closed");
    }
}

/* --- what an option with a value says --- */

typedef void take_value(const struct flags_search *s, const struct source *from,
                        const char *value);

static void take_folder(const struct flags_search *s, const struct source *from,
                        const char *value) {
    add_folder(s, from, value, false);
}

static void take_later_folder(const struct flags_search *s, const struct source *from,
                              const char *value) {
    add_folder(s, from, value, true);
}

static void take_macro(const struct flags_search *s, const struct source *,
                       const char *value) {
    add_macro(s, value);
}

static void take_no_macro(const struct flags_search *s, const struct source *,
                          const char *value) {
    json_object_del(json_object_get(s->flags, "defines"), value);
}

static void take_std(const struct flags_search *s, const struct source *from,
                     const char *value) {
    if (!add_std(s, value)) {
        autofree char *what = xasprintf("%s: the standard \"%.40s\"", from->name, value);
        complain(s, what, "known are c++03, c++11, c++14, c++17 and c++20");
    }
}

static void take_included(const struct flags_search *s, const struct source *from,
                          const char *value) {
    autofree char *what = xasprintf("%s: -include %.200s", from->name, value);
    complain(s, what, "a check includes what the source names; name it there");
}

/* "-Xcompiler -DA=1,-Ifolder": the host's compiler preprocesses device code too. */
static void take_host_options(const struct flags_search *s, const struct source *from,
                              const char *value) {
    autojson *words = json_array();
    for (size_t len; *value; value += len + (value[len] == ',')) {
        len = strcspn(value, ",");
        json_array_append_new(words, json_text(value, len));
    }
    const struct source host = {
        .name = from->name, .folder = from->folder, .depth = from->depth + 1};
    if (from->depth < RESPONSE_DEPTH) {
        add_words(s, &host, words);
    }
}

struct value_option {
    const char *name;
    take_value *read;
};
#include "gpu/project_options_table.h"

/* --- words --- */

/* Is it one that the compiler takes in itself? Says why not. */
static bool option_works(const json_t *words, size_t at, size_t used, struct err *err) {
    struct compile_options options;
    autojson *params = json_pack("{s:[]}", "options");
    for (size_t i = 0; i < used; i++) {
        json_array_append(json_object_get(params, "options"),
                          json_array_get(words, at + i));
    }
    bool works = compile_options_read(&options, NULL, NULL, params, err) == 0;
    if (works) {
        compile_options_finish(&options);
    }
    return works;
}

/* An option that the compiler of device code is asked for too. */
static size_t add_option(const struct flags_search *s, const struct source *from,
                         const json_t *words, size_t at) {
    bool matters = false;
    struct err err = {.msg = "it is not one that a check takes"};
    size_t used = compile_option_words(words, at, &matters);
    bool works = used && (!matters || option_works(words, at, used, &err));
    if (!works && (used || from->is_ours)) {
        autofree char *what = xasprintf("%s: the option \"%.60s\"", from->name,
                                        json_string_value(json_array_get(words, at)));
        complain(s, what, err.msg);
    }
    size_t count = json_array_size(json_object_get(s->flags, "options"));
    if (works && matters && has_room(s, "option", count, MOST_OPTIONS)) {
        for (size_t i = 0; i < used; i++) {
            add_text(s, "options", json_string_value(json_array_get(words, at + i)));
        }
    }
    return used ? used : 1;
}

static size_t add_word(const struct flags_search *s, const struct source *from,
                       const json_t *words, size_t at) {
    const char *word = json_string_value(json_array_get(words, at));
    if (*word == '@') {
        add_response(s, from, word + 1);
        return 1;
    }
    for (const struct value_option *o = with_value; o->name; o++) {
        size_t used;
        const char *value = value_of(words, at, o->name, &used);
        if (value) {
            o->read(s, from, value);
            return used;
        }
    }
    return add_option(s, from, words, at);
}

static void add_words(const struct flags_search *s, const struct source *from,
                      const json_t *words) {
    for (size_t at = 0; at < json_array_size(words);) {
        bool is_word = json_string_value(json_array_get(words, at)) != NULL;
        at += is_word ? add_word(s, from, words, at) : 1;
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

/* False: it says nothing of the file. */
static bool add_command(struct flags_search *s, const char *path) {
    struct compile_command command;
    if (!compile_commands_find(s->places->commands, s->file, includes, s, &command)) {
        return false;
    }
    bool is_own = strcmp(command.file, s->file) == 0;
    autofree char *other =
        is_own ? NULL : xasprintf("%s, by %s", path, path_basename(command.file));
    const struct source from = {.name = path, .folder = command.folder};
    add_text(s, "from", is_own ? path : other);
    if (command.words) {
        add_words(s, &from, command.words);
    } else {
        complain(s, path, "a quote of the file's command is not closed");
    }
    compile_command_finish(&command);
    return true;
}

static void tell_left_out(const struct flags_search *s, const char *path) {
    const struct compile_commands_left *left =
        compile_commands_left_out(s->places->commands);
    autofree char *others =
        left->count > 1 ? xasprintf(" (and %zu more)", left->count - 1) : xstrdup("");
    autofree char *what = xasprintf("%s: entry %zu%s", path, left->first, others);
    if (left->count) {
        complain(s, what, left->why);
    }
}

/* True: a database there says something of the file, and the search ends. */
static bool look_in(struct flags_search *s, const char *folder) {
    static const char *const names[] = {DATABASE, "build/" DATABASE};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct err err = {0};
        autofree char *path = path_join(folder, names[i]);
        if (access(path, F_OK) < 0 && is_missing(-errno)) {
            continue;
        }
        const char *rel = below_root(s, path);
        if (compile_commands_load(s->places->commands, &s->root, rel, &err) < 0) {
            complain(s, path, err.msg);
            continue;
        }
        tell_left_out(s, path);
        if (add_command(s, path)) {
            return true;
        }
    }
    return false;
}

/* --- the keys of upskilld.yaml --- */

static const char *const keys[] = {"include_dirs", "defines", "std", "options"};

/* A list of folders, or of options. */
static const char *take_list(const struct flags_search *s, const struct source *from,
                             const char *key, const json_t *list) {
    if (!json_is_texts(list)) {
        return "a list of texts is expected";
    }
    if (strcmp(key, "options") == 0) {
        add_words(s, from, list);
        return NULL;
    }
    json_each(list, i, folder) {
        autofree char *path = path_resolve(from->folder, json_string_value(folder));
        if (is_inside(s, path) && access(path, F_OK) < 0) {
            complain(s, path, "include_dirs names it, but there is no such folder");
        }
        add_folder(s, from, path, false);
    }
    return NULL;
}

static const char *take_defines(const struct flags_search *s, const struct source *from,
                                const json_t *defines) {
    json_each_member(defines, name, value) {
        const char *text = json_is_integer(value) ? "1" : json_string_value(value);
        if (!text || !compile_define_is_sound(name, strlen(name), text, strlen(text))) {
            autofree char *what = xasprintf("%s: defines: %.60s", from->name, name);
            complain(s, what, "a macro's name and a text or whole number are expected");
        } else {
            json_object_set(member(s, "defines", json_object), name, value);
        }
    }
    return json_is_object(defines) ? NULL : "a map from names to values is expected";
}

static const char *take_key(const struct flags_search *s, const struct source *from,
                            const char *key, const json_t *value) {
    if (strcmp(key, "defines") == 0) {
        return take_defines(s, from, value);
    }
    if (strcmp(key, "std") == 0) {
        const char *std = json_string_value(value);
        return std && add_std(s, std) ? NULL : "a standard such as c++17 is expected";
    }
    return take_list(s, from, key, value);
}

static void take_keys(const struct flags_search *s, const struct source *from,
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

/* A key that is neither a check's nor the configuration's is a slip of the pen. */
static void tell_unknown(const struct flags_search *s, const char *path,
                         const json_t *settings) {
    const json_t *known = s->places->known_keys;
    json_each_member(settings, key, value) {
        struct nearest_name near = {.said = key, .limit = 3};
        bool is_own = !known;
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
            is_own = is_own || strcmp(key, keys[i]) == 0;
            nearest_name_try(&near, keys[i]);
        }
        if (is_own || json_object_get(known, key)) {
            continue;
        }
        json_each_member(known, other, meaning) {
            nearest_name_try(&near, other);
        }
        autofree char *what = xasprintf("%s: %.60s", path, key);
        autofree char *why = near.best ? xasprintf("did you mean %s?", near.best)
                                       : xstrdup("there is no such key");
        complain(s, what, why);
    }
}

static void add_settings_file(const struct flags_search *s, const char *folder) {
    struct err err = {0};
    autobuf text = BUF_INIT(SETTINGS_MAX);
    autofree char *path = path_join(folder, SETTINGS);
    json_t *parsed = NULL;
    int rc = read_beneath(s, path, &text, &err);
    rc = rc < 0 ? rc : yaml_parse(text.data, text.len, YAML_TYPED, &parsed, &err);
    autojson *settings = parsed;
    if (rc < 0 && !is_missing(rc)) {
        complain(s, path, err.msg);
    } else if (settings && !json_is_object(settings) && !json_is_null(settings)) {
        complain(s, path, "keys with values are expected, such as std: c++17");
    }
    const struct source from = {.name = path, .folder = folder, .is_ours = true};
    tell_unknown(s, path, settings);
    take_keys(s, &from, settings);
}

/* --- all of it --- */

/* A root itself, given as a file, lies in a folder that is beneath none. */
static bool open_root(struct flags_search *s, const char *folder) {
    const char *best = NULL;
    for (const char *const *root = s->places->roots; *root; root++) {
        if (path_is_beneath(folder, *root) && (!best || strlen(*root) < strlen(best))) {
            best = *root;
        }
    }
    return best && root_open(&s->root, best, NULL) == 0;
}

static void search_folder(struct flags_search *s, const char *folder, bool has_database) {
    has_database = has_database || look_in(s, folder);
    if (strcmp(folder, s->root.path) != 0) {
        autofree char *above = path_folder(folder);
        search_folder(s, above, has_database);
    }
    add_settings_file(s, folder);
}

json_t *project_flags_read(const struct project_places *places, const char *file,
                           json_t *findings) {
    struct flags_search s = {.file = file, .places = places, .findings = findings};
    autofree char *folder = path_folder(file);
    if (!open_root(&s, folder)) {
        return NULL;
    }
    autojson *flags = s.flags = json_object();
    const struct source editor = {
        .name = "the editor's settings", .folder = s.root.path, .is_ours = true};
    autojson *later = s.later = json_array();
    search_folder(&s, folder, false);
    take_keys(&s, &editor, places->settings);
    if (json_array_size(later)) {
        json_array_extend(member(&s, "include_roots", json_array), later);
    }
    root_close(&s.root);
    return json_object_get(flags, "from") ? json_incref(flags) : NULL;
}

/* --- what it means for a check --- */

static bool tells_missing(const json_t *finding) {
    static const char cannot_open[] = "cannot open source file";
    const char *message = json_get_string(finding, "message", "");
    return strncmp(message, cannot_open, strlen(cannot_open)) == 0 ||
           json_says(finding, "code", "include_not_found");
}

void project_flags_tell_outside(const json_t *flags, json_t *findings) {
    const json_t *outside = json_object_get(flags, "outside");
    bool missing = json_any(findings, finding, tells_missing(finding));
    for (size_t i = 0; missing && i < json_array_size(outside); i++) {
        autofree char *message = xasprintf(
            "%s is outside the workspace and was not searched: add it to include_dirs in "
            "your own configuration (~/.config/upskilld/config.yaml)",
            json_string_value(json_array_get(outside, i)));
        struct finding_span none = {0};
        json_array_append_new(findings, finding_new("upskilld", "project_flags",
                                                    FINDING_INFO, message, NULL, &none));
    }
}
