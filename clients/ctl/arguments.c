#include "clients/ctl/arguments.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STDIN_MAX (4u << 20)
#define PROSE_LENGTH 65536

const json_t *arguments_method(const json_t *discover, const char **words, int count,
                               int *used) {
    size_t i;
    const json_t *method;
    json_array_foreach(json_object_get(discover, "methods"), i, method) {
        const char *name = json_get_string(method, "name", "");
        const char *slash = strchr(name, '/');
        if (count > 0 && strcmp(words[0], name) == 0) {
            *used = 1;
            return method;
        }
        if (slash && count > 1 && strlen(words[0]) == (size_t)(slash - name) &&
            strncmp(words[0], name, (size_t)(slash - name)) == 0 &&
            strcmp(words[1], slash + 1) == 0) {
            *used = 2;
            return method;
        }
    }
    return NULL;
}

/* --- one property --- */

static bool has_type(const json_t *property, const char *type) {
    const json_t *is = json_object_get(json_object_get(property, "schema"), "type");
    size_t i;
    const json_t *one;
    if (json_is_string(is)) {
        return strcmp(json_string_value(is), type) == 0;
    }
    json_array_foreach(is, i, one) {
        if (strcmp(json_string_value(one), type) == 0) {
            return true;
        }
    }
    return false;
}

/* A member's value: JSON where its schema wants more than a string, else text. */
static json_t *member_value(const json_t *property, const char *key, const char *text) {
    const json_t *members =
        json_object_get(json_object_get(property, "schema"), "properties");
    const json_t *member = json_object_get(members, key);
    const char *type = json_string_value(json_object_get(member, "type"));
    json_t *value = member && !(type && strcmp(type, "string") == 0)
                        ? json_loads(text, JSON_DECODE_ANY, NULL)
                        : NULL;
    return value ? value : json_text(text, strlen(text));
}

/* "--define N=4" also names the list "defines". */
static bool is_named(const json_t *property, const char *name, size_t len) {
    const char *is = json_get_string(property, "name", "");
    size_t k = 0;
    while (k < len && is[k] && (is[k] == name[k] || (is[k] == '_' && name[k] == '-'))) {
        k++;
    }
    bool many = has_type(property, "array") || has_type(property, "object");
    return k == len && (!is[k] || (many && strcmp(is + k, "s") == 0));
}

static const json_t *find_exactly(const json_t *method, const char *name, size_t len) {
    size_t i;
    const json_t *property;
    json_array_foreach(json_object_get(method, "params"), i, property) {
        if (is_named(property, name, len)) {
            return property;
        }
    }
    return NULL;
}

/* upskill's names for the same things work where ours has no option of that name. */
static const json_t *find_property(const json_t *method, const char *name, size_t len) {
    static const char *const others[][2] = {{"eval-base-url", "base_url"},
                                            {"model", "students"}};
    const json_t *property = find_exactly(method, name, len);
    for (size_t i = 0; !property && i < ARRAY_LEN(others); i++) {
        if (strlen(others[i][0]) == len && strncmp(others[i][0], name, len) == 0) {
            property = find_exactly(method, others[i][1], strlen(others[i][1]));
        }
    }
    return property;
}

/* Where the first of "tokens=9,minutes=5" ends: at a comma before another known member.
 */
static size_t pair_length(const json_t *property, const char *text) {
    const json_t *members =
        json_object_get(json_object_get(property, "schema"), "properties");
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
    if (!*key) {
        return err_set(err, -EINVAL, "--%s %s: NAME=VALUE is needed", name, text);
    }
    if (!object) {
        object = json_object();
        json_object_set_new(params, name, object);
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

/* A number when it is one, else text: for array elements. */
static json_t *guess(const char *text) {
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (value && (json_is_number(value) || json_is_object(value))) {
        return value;
    }
    json_decref(value);
    return json_text(text, strlen(text));
}

/* Lists of plain names take several in one word. Others, compilers' options among them,
 * may hold commas of their own. */
static bool takes_commas(const char *name) {
    static const char *const lists[] = {"agents", "arms", "scopes", "students"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (strcmp(name, lists[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void append_words(json_t *params, const char *name, const char *text) {
    while (takes_commas(name) && strchr(text, ',')) {
        size_t len = strcspn(text, ",");
        autofree char *word = xstrndup(text, len);
        if (len) {
            append(params, name, guess(word));
        }
        text += len + 1;
    }
    if (*text || !takes_commas(name)) {
        append(params, name, guess(text));
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

static int set_property(json_t *params, const json_t *property, const char *text,
                        struct err *err) {
    const char *name = json_get_string(property, "name", "");
    if (*text == '{' || *text == '[') {
        json_error_t error;
        json_t *value = json_loads(text, 0, &error);
        if (json_is_object(value) && !has_type(property, "object")) { /* one of a list */
            append(params, name, value);
            return 0;
        }
        if (value) {
            json_object_set_new(params, name, value);
            return 0;
        }
    }
    if (has_type(property, "string")) { /* or, as JSON above, what else it may be */
        json_object_set_new(params, name, json_text(text, strlen(text)));
        return 0;
    }
    json_t *count = has_type(property, "integer") ? whole_number(text) : NULL;
    if (count) {
        json_object_set_new(params, name, count);
        return 0;
    }
    if (has_type(property, "object")) {
        return set_pair(params, property, text, err);
    }
    if (has_type(property, "array")) {
        append_words(params, name, text);
        return 0;
    }
    json_t *value = NULL;
    if (has_type(property, "integer") || has_type(property, "number")) {
        value = json_loads(text, JSON_DECODE_ANY, NULL);
        if (!json_is_number(value)) {
            json_decref(value);
            return err_set(err, -EINVAL, "--%s %s: a number is needed", name, text);
        }
    }
    json_object_set_new(params, name, value ? value : json_text(text, strlen(text)));
    return 0;
}

/* --- words --- */

/* --from, as upskill has it: a folder is the skill to improve, a file a trace. */
static const json_t *what_it_is_from(const json_t *method, const char *path) {
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    return folder ? find_exactly(method, "skill", 5) : find_exactly(method, "traces", 6);
}

/* An option that may stand alone takes the next word only when that is plainly its value:
 * a number, or an object. */
static bool takes_next(const json_t *property, const char *word) {
    json_t *number = has_type(property, "integer") ? whole_number(word) : NULL;
    bool is_object = has_type(property, "object") && (*word == '{' || strchr(word, '='));
    bool takes = number || is_object;
    json_decref(number);
    return takes;
}

/* Takes one flag and, unless it is boolean, its value; returns how many words, or -errno.
 */
static int read_flag(const json_t *method, const char **words, int count, json_t *params,
                     struct err *err) {
    const char *name = words[0] + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const json_t *property = find_property(method, name, len);
    bool negated = !property && strncmp(name, "no-", 3) == 0;
    if (negated) {
        property = find_property(method, name + 3, len - 3);
    }
    if (!property && len == 4 && strncmp(name, "from", 4) == 0) {
        property = what_it_is_from(method, equals      ? equals + 1
                                           : count > 1 ? words[1]
                                                       : "");
    }
    if (!property) {
        return err_set(err, -EINVAL,
                       "%s: no such option; `upskillctl %s --help` lists them", words[0],
                       json_get_string(method, "name", ""));
    }
    if (has_type(property, "boolean") && !equals &&
        (count < 2 || negated || !takes_next(property, words[1]))) {
        json_object_set_new(params, json_get_string(property, "name", ""),
                            json_boolean(!negated));
        return 1;
    }
    if (!equals && count < 2) {
        return err_set(err, -EINVAL, "%s: a value is needed", words[0]);
    }
    int rc = set_property(params, property, equals ? equals + 1 : words[1], err);
    return rc < 0 ? rc : equals ? 1 : 2;
}

static int read_stdin(const json_t *method, json_t *params, struct err *err) {
    autobuf text = BUF_INIT(STDIN_MAX);
    for (;;) {
        char *to = buf_reserve(&text, 65536);
        if (!to) {
            return err_set(err, -EFBIG, "standard input: over %u MiB", STDIN_MAX >> 20);
        }
        ssize_t n = read(STDIN_FILENO, to, 65536);
        if (n < 0) {
            return err_set(err, -errno, "standard input: %s", strerror(errno));
        }
        if (n == 0) {
            break;
        }
        buf_commit(&text, (size_t)n);
    }
    bool source = find_property(method, "source", strlen("source"));
    json_object_set_new(params, source ? "source" : "text",
                        json_text(text.data, text.len));
    if (source) {
        json_object_set_new(params, "name", json_string("stdin.cu"));
    }
    return 0;
}

/* A text that may be long is said in as many words as it takes. */
static bool is_prose(const json_t *property) {
    const json_t *schema = json_object_get(property, "schema");
    return has_type(property, "string") &&
           json_get_integer(schema, "maxLength", 0) >= PROSE_LENGTH;
}

static void append_word(json_t *params, const char *name, const char *word) {
    autofree char *text = xasprintf("%s %s", json_get_string(params, name, ""), word);
    json_object_set_new(params, name, json_text(text, strlen(text)));
}

static int read_word(const json_t *method, const char *word, json_t *params,
                     struct err *err) {
    const json_t *path = find_property(method, "path", 4);
    if (path && !json_object_get(params, "path")) {
        return strcmp(word, "-") == 0 ? read_stdin(method, params, err)
                                      : set_property(params, path, word, err);
    }
    size_t i;
    const json_t *property;
    json_array_foreach(json_object_get(method, "params"), i, property) {
        const char *name = json_get_string(property, "name", "");
        if (!json_is_true(json_object_get(property, "required"))) {
            continue;
        }
        if (!json_object_get(params, name)) {
            return set_property(params, property, word, err);
        }
        if (is_prose(property)) {
            append_word(params, name, word);
            return 0;
        }
    }
    property = find_exactly(method, "task", 4);
    if (property && json_object_get(params, "task")) {
        append_word(params, "task", word);
        return 0;
    }
    if (property) {
        return set_property(params, property, word, err);
    }
    return err_set(err, -EINVAL,
                   "%s: one word too many; `upskillctl %s --help` shows the usage", word,
                   json_get_string(method, "name", ""));
}

int arguments_read(const json_t *method, const char **words, int count, json_t **params,
                   struct err *err) {
    autojson *object = json_object();
    bool only_words = false;
    for (int i = 0; i < count;) {
        int rc;
        if (!only_words && strcmp(words[i], "--") == 0) {
            only_words = true;
            rc = 1;
        } else if (!only_words && strncmp(words[i], "--", 2) == 0) {
            rc = read_flag(method, words + i, count - i, object, err);
        } else {
            rc = read_word(method, words[i], object, err);
            rc = rc < 0 ? rc : 1;
        }
        if (rc < 0) {
            return rc;
        }
        i += rc;
    }
    *params = take(object);
    return 0;
}

/* --- help --- */

/* "kernel/check" as a person types it: "kernel check". */
static void put_command(const json_t *method) {
    for (const char *c = json_get_string(method, "name", ""); *c; c++) {
        putchar(*c == '/' ? ' ' : *c);
    }
}

static const char *value_word(const json_t *property) {
    return has_type(property, "boolean")                                   ? ""
           : has_type(property, "integer") || has_type(property, "number") ? " N"
           : has_type(property, "object")                                  ? " NAME=VALUE"
                                                                           : " VALUE";
}

void arguments_help(const json_t *method) {
    const json_t *property;
    size_t i;
    printf("usage: upskillctl ");
    put_command(method);
    const char *word = find_exactly(method, "task", 4)    ? " TASK…"
                       : find_exactly(method, "skill", 5) ? " NAME|FOLDER"
                       : find_exactly(method, "path", 4)  ? " FILE"
                                                          : "";
    printf("%s [options]\n\n%s\n\n", word, json_get_string(method, "description", ""));
    json_array_foreach(json_object_get(method, "params"), i, property) {
        autofree char *flag = xasprintf("--%s%s", json_get_string(property, "name", ""),
                                        value_word(property));
        for (char *c = flag; *c; c++) {
            *c = *c == '_' ? '-' : *c;
        }
        printf("  %-26s %s%s\n", flag,
               json_get_string(json_object_get(property, "schema"), "description", ""),
               json_is_true(json_object_get(property, "required")) ? " (required)" : "");
    }
    puts("  --json                     the raw result");
}

void arguments_help_all(const json_t *discover) {
    size_t i;
    const json_t *method;
    puts("usage: upskillctl COMMAND [options]\n\ncommands:");
    json_array_foreach(json_object_get(discover, "methods"), i, method) {
        printf("  ");
        put_command(method);
        int width = 18 - (int)strlen(json_get_string(method, "name", ""));
        printf("%*s  %s\n", width > 0 ? width : 0, "",
               json_get_string(method, "description", ""));
    }
    puts("  status              the daemon: versions, workers, what is missing (daemon "
         "status)\n"
         "  jobs                the newest jobs (job list)\n"
         "  worker pack|check   workers on other machines: make an archive, try one\n"
         "  call METHOD [JSON]  any request by hand; - reads the params from standard "
         "input\n"
         "  shell               a prompt on a live daemon: every message both ways\n"
         "  completion          a completion script for bash\n"
         "\n"
         "options, anywhere: --json (the raw result), --log LEVEL (the daemon's log on "
         "standard\n"
         "error), --help, --version. Exit status: 0 good, 1 the answer is no, 2 it could "
         "not be\n"
         "asked.");
}

void arguments_completion(const json_t *discover) {
    size_t i, k;
    const json_t *method, *property;
    puts("_upskillctl() {\n"
         "    local words=\"${COMP_WORDS[*]:1:2}\" now=\"${COMP_WORDS[COMP_CWORD]}\"\n"
         "    case \"$words\" in");
    json_array_foreach(json_object_get(discover, "methods"), i, method) {
        printf("    '");
        put_command(method);
        printf("'*) COMPREPLY=($(compgen -f -W '--json --help");
        json_array_foreach(json_object_get(method, "params"), k, property) {
            printf(" --");
            for (const char *c = json_get_string(property, "name", ""); *c; c++) {
                putchar(*c == '_' ? '-' : *c);
            }
        }
        puts("' -- \"$now\"));;");
    }
    printf("    *) COMPREPLY=($(compgen -W 'status jobs worker pack worker check call "
           "shell completion");
    json_array_foreach(json_object_get(discover, "methods"), i, method) {
        putchar(' ');
        put_command(method);
    }
    puts("' -- \"$now\"));;\n    esac\n}\ncomplete -o default -F _upskillctl upskillctl");
}
