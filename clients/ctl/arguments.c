#include "clients/ctl/arguments.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "clients/ctl/method.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#define STDIN_MAX (4u << 20)

/* --- one property --- */

/* What an object's members that it does not list have in common: a table of texts
 * (defines), or of whatever one likes (sizes, expect). */
static bool holds_texts(const json_t *schema) {
    const json_t *others = json_object_get(schema, "additionalProperties");
    return json_is_object(others) && schema_has_type(others, "string");
}

/* A member's value: JSON where it is some and its schema wants more than a string, else
 * text. */
static json_t *member_value(const json_t *property, const char *key, const char *text) {
    const json_t *schema = json_object_get(property, "schema");
    const json_t *member = json_object_get(method_members(property), key);
    const char *type = json_string_value(json_object_get(member, "type"));
    bool is_text = member ? type && strcmp(type, "string") == 0 : holds_texts(schema);
    json_t *value = is_text ? NULL : json_loads(text, JSON_DECODE_ANY, NULL);
    return value ? value : json_text(text, strlen(text));
}

/* Where the first of "tokens=9,minutes=5" ends: at a comma before another known member.
 */
static size_t pair_length(const json_t *property, const char *text) {
    const json_t *members = method_members(property);
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        autofree char *next = xstrndup(comma + 1, strcspn(comma + 1, "="));
        if (json_object_get(members, next)) {
            return (size_t)(comma - text);
        }
    }
    return strlen(text);
}

static int set_pair(json_t *params, const json_t *property, const char *words,
                    struct err *err) {
    const char *name = json_get_string(property, "name", "");
    size_t len = pair_length(property, words);
    autofree char *text = xstrndup(words, len);
    json_t *object = json_object_get(params, name);
    const char *equals = strchr(text, '=');
    autofree char *key = equals ? xstrndup(text, (size_t)(equals - text)) : xstrdup(text);
    bool macro = strcmp(name, "defines") == 0; /* alone it is 1, as with nvcc */
    if (!*key || !(equals || macro)) {
        autofree char *option = method_option_name(property);
        return err_set(err, -EINVAL, "%s %s: NAME=VALUE is needed, or a JSON object",
                       option, text);
    }
    if (!object) {
        object = json_object();
        json_object_set_new(params, name, object);
    }
    if (!macro && json_object_get(object, key)) {
        autofree char *option = method_option_name(property);
        const char *hint = method_has_type(property, "array")
                               ? "; several cases are a list of objects, in JSON"
                               : "";
        return err_set(err, -EINVAL, "%s %s: %s is given twice%s", option, text, key,
                       hint);
    }
    json_object_set_new(object, key,
                        member_value(property, key, equals ? equals + 1 : "1"));
    return words[len] ? set_pair(params, property, words + len + 1, err) : 0;
}

static void append(json_t *params, const char *name, json_t *value) {
    json_t *array = json_object_get(params, name);
    if (!array) {
        array = json_array();
        json_object_set_new(params, name, array);
    }
    json_array_append_new(array, value);
}

/* An element of an array: a number or an object where it is one and the array may hold
 * such, else text. */
static json_t *element(const json_t *property, const char *text) {
    const json_t *items = json_object_get(json_object_get(property, "schema"), "items");
    bool only_text = json_says(items, "type", "string");
    json_t *value = only_text ? NULL : json_loads(text, JSON_DECODE_ANY, NULL);
    if (value && (json_is_number(value) || json_is_object(value))) {
        return value;
    }
    json_decref(value);
    return json_text(text, strlen(text));
}

static void append_words(json_t *params, const json_t *property, const char *text) {
    const char *name = json_get_string(property, "name", "");
    bool several = method_takes_commas(property);
    while (several && strchr(text, ',')) {
        size_t len = strcspn(text, ",");
        autofree char *word = xstrndup(text, len);
        if (len) {
            append(params, name, element(property, word));
        }
        text += len + 1;
    }
    if (*text || !several) {
        append(params, name, element(property, text));
    }
}

/* A whole number, or NULL. */
static json_t *whole_number(const char *text) {
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!json_is_integer(value)) {
        json_decref(value);
        return NULL;
    }
    return value;
}

/* A text that is JSON: an object or a list, or one object of a list. 1 when it is none
 * and may mean itself. */
static int set_json(json_t *params, const json_t *property, const char *text,
                    struct err *err) {
    const char *name = json_get_string(property, "name", "");
    bool object = method_has_type(property, "object");
    json_error_t error;
    if (*text != '{' && *text != '[') {
        return 1;
    }
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!value && object && *text == '{' && !method_has_type(property, "string")) {
        return err_set(err, -EINVAL, "--%s: this is not JSON: %s (column %d)", name,
                       error.text, error.column);
    }
    if (json_is_object(value) && !object) {
        append(params, name, value);
    } else if (value) {
        json_object_set_new(params, name, value);
    }
    return value ? 0 : 1;
}

static int set_number(json_t *params, const json_t *property, const char *text,
                      struct err *err) {
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!json_is_number(value)) {
        autofree char *option = method_option_name(property);
        json_decref(value);
        return err_set(err, -EINVAL, "%s %s: a number is needed", option, text);
    }
    json_object_set_new(params, json_get_string(property, "name", ""), value);
    return 0;
}

/* The form that works: --suppress '{"code": "…", "reason": "…"}'. */
static int object_needed(const char *name, const char *text, const json_t *items,
                         struct err *err) {
    autobuf form = BUF_INIT(4096);
    json_each(json_object_get(items, "required"), i, member) {
        buf_addf(&form, "%s\"%s\": \"…\"", i ? ", " : "", json_string_value(member));
    }
    return err_set(err, -EINVAL, "--%s %s: JSON is needed: --%s '{%s}'", name, text, name,
                   form.len ? form.data : "");
}

/* Of several types that a parameter may have, the first that the text can be. */
static int set_property(json_t *params, const json_t *property, const char *text,
                        struct err *err) {
    const char *name = json_get_string(property, "name", "");
    bool whole = method_has_type(property, "integer");
    int rc = set_json(params, property, text, err);
    if (rc <= 0) {
        return rc;
    }
    if (method_has_type(property, "string")) {
        json_object_set_new(params, name, json_text(text, strlen(text)));
        return 0;
    }
    json_t *count = whole ? whole_number(text) : NULL;
    if (count) {
        json_object_set_new(params, name, count);
        return 0;
    }
    if (method_has_type(property, "object")) {
        return set_pair(params, property, text, err);
    }
    const json_t *items = json_object_get(json_object_get(property, "schema"), "items");
    if (json_says(items, "type", "object")) {
        return object_needed(name, text, items, err);
    }
    if (method_has_type(property, "array")) {
        append_words(params, property, text);
        return 0;
    }
    if (whole || method_has_type(property, "number")) {
        return set_number(params, property, text, err);
    }
    json_object_set_new(params, name, json_text(text, strlen(text)));
    return 0;
}

/* --- words --- */

/* --from, as upskill has it: a folder is the skill to improve, a file a trace. */
static const json_t *what_it_is_from(const json_t *method, const char *path) {
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    return folder ? method_parameter(method, "skill", 5)
                  : method_parameter(method, "traces", 6);
}

/* An option that may stand alone takes the next word only when that is plainly its value:
 * a number, or an object. */
static bool takes_next(const json_t *property, const char *word) {
    json_t *number = method_has_type(property, "integer") ? whole_number(word) : NULL;
    bool is_object =
        method_has_type(property, "object") && (*word == '{' || strchr(word, '='));
    bool takes = number || is_object;
    json_decref(number);
    return takes;
}

/* The option that a misspelt one may be; NULL: none is like it. Freed by the caller. */
static char *option_meant(const json_t *method, const char *name, size_t len) {
    autofree char *said = xasprintf("--%.*s", (int)len, name);
    struct nearest_name near = {.said = said, .limit = 3};
    autojson *options = json_array();
    json_each(json_object_get(method, "params"), i, one) {
        autofree char *option = method_option_name(one);
        json_array_append_new(options, json_string(option));
    }
    json_each(options, i, one) {
        nearest_name_try(&near, json_string_value(one));
    }
    return near.best ? xstrdup(near.best) : NULL;
}

static int no_such_option(const json_t *method, const char *word, const char *name,
                          size_t len, struct err *err) {
    const char *instead = method_instead(name, len);
    if (instead) {
        return err_set(err, -EINVAL, "%s: no such option: %s", word, instead);
    }
    if (word[1] != '-') {
        return err_set(err, -EINVAL,
                       "%s: no such option; put -- before a word that begins with -",
                       word);
    }
    autofree char *meant = option_meant(method, name, len);
    return err_set(err, -EINVAL, "%s: no such option%s%s%s", word,
                   meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
}

/* "--name" or, as upskill has them, "-n". */
static bool is_flag(const char *word) {
    return strncmp(word, "--", 2) == 0 ||
           (*word == '-' && isalpha((unsigned char)word[1]) && !word[2]);
}

static bool is_file(const char *word) {
    struct stat st;
    return stat(word, &st) == 0 && S_ISREG(st.st_mode);
}

/* `--trace *.jsonl`, as a shell passes it on: behind a file of a list, files are of that list too, where
 * none stands for itself. */
static bool goes_on(const json_t *method, const json_t *property, const char *before, const char *word) {
    return !method_parameter(method, "path", 4) && method_has_type(property, "array") && is_file(before) &&
           is_file(word);
}

/* Takes one flag and, unless it is boolean, its value, or the files of a list; returns how
 * many words, or -errno. */
static int read_flag(const json_t *method, const char **words, int count, json_t *params,
                     struct err *err) {
    const char *name = words[0] + 1 + (words[0][1] == '-'), *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const json_t *property = method_option(method, name, len);
    bool negated = !property && strncmp(name, "no-", 3) == 0;
    if (negated) {
        property = method_option(method, name + 3, len - 3);
    }
    bool from = (len == 4 && strncmp(name, "from", 4) == 0) || (len == 1 && *name == 'f');
    if (!property && from) {
        property = what_it_is_from(method, equals      ? equals + 1
                                           : count > 1 ? words[1]
                                                       : "");
    }
    if (!property) {
        return no_such_option(method, words[0], name, len, err);
    }
    if (method_has_type(property, "boolean") && !equals &&
        (count < 2 || negated || !takes_next(property, words[1]))) {
        json_object_set_new(params, json_get_string(property, "name", ""),
                            json_boolean(!negated));
        return 1;
    }
    if (!equals && count < 2) {
        return err_set(err, -EINVAL, "%s: a value is needed", words[0]);
    }
    int rc = set_property(params, property, equals ? equals + 1 : words[1], err), used = equals ? 1 : 2;
    while (rc == 0 && used < count && goes_on(method, property, words[used - 1], words[used])) {
        rc = set_property(params, property, words[used++], err);
    }
    return rc < 0 ? rc : used;
}

/* "--extended-lambda": neither the method's own nor like one. */
static bool is_foreign(const json_t *method, const char *name) {
    size_t len = strcspn(name, "=");
    bool own = method_option(method, name, len) || method_instead(name, len) ||
               (!strncmp(name, "no-", 3) && method_option(method, name + 3, len - 3));
    autofree char *meant = own ? NULL : option_meant(method, name, len);
    return !own && !meant;
}

/* "-O3", "-DN=4", "-I": nvcc's, where the method takes such; no name of its own has one
 * dash and several letters. */
static bool is_compiler_option(const json_t *method, const char *word) {
    return word[0] == '-' && word[1] && method_parameter(method, "options", 7) &&
           (word[1] == '-' ? is_foreign(method, word + 2)
                           : !(is_flag(word) && method_option(method, word + 1, 1)));
}

/* nvcc lets values stand alone; what is a file there is the next kernel, but behind -I.
 */
static bool takes_value(const char *option, const char *next) {
    bool folder = strcmp(option, "-I") == 0 || strcmp(option, "-isystem") == 0;
    bool joined = strchr(option, '=') || (strchr("DUO", option[1]) && option[2]) ||
                  (option[1] == 'I' && option[2]);
    return next && !joined && *next != '-' && option[1] != '-' &&
           (folder || access(next, F_OK) < 0);
}

/* The compiler passes over it without a word. */
static void look_for_folder(const char *option, const char *value) {
    struct stat st;
    bool folder = strncmp(option, "-I", 2) == 0 || strcmp(option, "-isystem") == 0;
    if (folder && *value && (stat(value, &st) < 0 || !S_ISDIR(st.st_mode))) {
        autobuf clean = BUF_INIT(8192);
        text_clean(&clean, value, strlen(value));
        fprintf(stderr, "warning: %.*s: there is no folder %s\n",
                option[1] == 'I' ? 2 : 8, option, clean.data);
    }
}

static int read_compiler_option(const char **words, int count, json_t *params,
                                struct err *err) {
    int used = takes_value(words[0], count > 1 ? words[1] : NULL) ? 2 : 1;
    if (used == 1 && (!strcmp(words[0], "-I") || !strcmp(words[0], "-isystem"))) {
        return err_set(err, -EINVAL, "%s: a folder is needed", words[0]);
    }
    look_for_folder(words[0], used == 2 ? words[1] : words[0] + 2);
    for (int i = 0; i < used; i++) {
        append(params, "options", json_text(words[i], strlen(words[i])));
    }
    return used;
}

static int read_stdin(const json_t *method, json_t *params, struct err *err) {
    autobuf text = BUF_INIT(STDIN_MAX);
    int rc = file_read_stream(STDIN_FILENO, "standard input", &text, err);
    if (rc < 0) {
        return rc;
    }
    bool source = method_option(method, "source", strlen("source"));
    json_object_set_new(params, source ? "source" : "text",
                        json_text(text.data, text.len));
    if (source) {
        json_object_set_new(params, "name", json_string("stdin.cu"));
    }
    return 0;
}

/* What the program reads: our own input if that is a file from which nobody has read, as
 * a script's loop would. A pipe may have no end, and is read where "-" asks for it. */
static int read_program_input(const json_t *method, json_t *params, struct err *err) {
    struct stat st;
    bool wanted = json_object_get(params, "stdin")
                      ? json_says(params, "stdin", "-")
                      : fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) &&
                            lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
    if (!wanted || !method_parameter(method, "stdin", strlen("stdin")) ||
        json_object_get(params, "source")) {
        return 0;
    }
    autobuf text = BUF_INIT(STDIN_MAX);
    int rc = file_read_stream(STDIN_FILENO, "standard input", &text, err);
    json_object_set_new(params, "stdin", json_text(text.data, text.len));
    return rc;
}

static void append_word(json_t *params, const char *name, const char *word) {
    autofree char *text = xasprintf("%s %s", json_get_string(params, name, ""), word);
    json_object_set_new(params, name, json_text(text, strlen(text)));
}

static int read_word(const json_t *method, const char *word, json_t *params,
                     json_t *paths, struct err *err) {
    const json_t *path = method_option(method, "path", 4);
    if (path && json_object_get(params, "path") && method_parameter(method, "paths", 5)) {
        append(params, "paths", json_text(word, strlen(word)));
        return access(word, F_OK) == 0
                   ? 0
                   : err_set(err, -ENOENT,
                             "%s: there is no such file; put the program's own arguments "
                             "after --",
                             word);
    }
    if (path && json_object_get(params, "path") && method_has_flag(method, "read-only")) {
        json_array_append_new(paths, json_text(word, strlen(word)));
        return 0;
    }
    if (path && !json_object_get(params, "path")) {
        return strcmp(word, "-") == 0 ? read_stdin(method, params, err)
                                      : set_property(params, path, word, err);
    }
    json_each(json_object_get(method, "params"), i, property) {
        const char *name = json_get_string(property, "name", "");
        if (!json_is_true(json_object_get(property, "required"))) {
            continue;
        }
        if (!json_object_get(params, name)) {
            return set_property(params, property, word, err);
        }
        if (method_is_prose(property)) {
            append_word(params, name, word);
            return 0;
        }
    }
    const json_t *property = method_parameter(method, "task", 4);
    if (property && json_object_get(params, "task")) {
        append_word(params, "task", word);
        return 0;
    }
    if (property) {
        return set_property(params, property, word, err);
    }
    bool spec = method_parameter(method, "expect", 6) &&
                fnmatch("*.check.json", word, 0) == 0;
    return err_set(err, -EINVAL, "%s: unexpected argument%s", word,
                   spec ? ": name a check spec in place of the kernel, which its "
                          "\"path\" names"
                        : "");
}

/* `skill generate a.jsonl b.jsonl`: a task of nothing but files is none, they are the traces. */
static void take_traces(const json_t *method, json_t *params) {
    autofree char *task = xstrdup(json_get_string(params, "task", ""));
    autojson *files = json_array();
    char *rest = task;
    for (char *word; method_parameter(method, "traces", 6) && (word = strsep(&rest, " "));) {
        if (!is_file(word)) {
            return;
        }
        json_array_append_new(files, json_text(word, strlen(word)));
    }
    json_each(files, i, file) {
        append(params, "traces", json_incref(file));
        json_object_del(params, "task");
    }
}

int arguments_read(const json_t *method, const char **words, int count, json_t **params,
                   json_t **paths, struct err *err) {
    autojson *object = json_object(), *more = json_array();
    bool only_words = false;
    for (int i = 0; i < count;) {
        int rc;
        if (!only_words && strcmp(words[i], "--") == 0) {
            only_words = true;
            rc = 1;
        } else if (only_words && method_takes_words(method)) {
            append(object, "args", json_text(words[i], strlen(words[i])));
            rc = 1;
        } else if (!only_words && is_compiler_option(method, words[i])) {
            rc = read_compiler_option(words + i, count - i, object, err);
        } else if (!only_words && is_flag(words[i])) {
            rc = read_flag(method, words + i, count - i, object, err);
        } else {
            rc = read_word(method, words[i], object, more, err);
            rc = rc < 0 ? rc : 1;
        }
        if (rc < 0) {
            return rc;
        }
        i += rc;
    }
    take_traces(method, object);
    int rc = read_program_input(method, object, err);
    if (rc < 0) {
        return rc;
    }
    *params = json_incref(object);
    *paths = json_incref(more);
    return 0;
}
