#include "gpu/compile/compile_options.h"

#include "base/err.h"
#include "base/find.h"
#include "base/shell_words.h"
#include "base/strings.h"
#include "base/text.h"
#include "gpu/source/std_names.h"

#define DEFAULT_ARCH "sm_90a"
#define DEFAULT_STD "c++17"
enum {
    MAX_OPTIONS = 512,
    MAX_DEFINES = 256,
    MAX_NAME = 256,
    MAX_VALUE = 4096,
    MAX_REGISTERS = 255,
};

#define ALLOWED                                                                          \
    "allowed are -arch, -gencode, -std, -D, -use_fast_math, -lineinfo, -maxrregcount, "  \
    "-default-device, --expt-relaxed-constexpr and "                                     \
    "-rdc; -O, -g, -c, -o, -x, -t, -m64, -W, -Xptxas, -Xcompiler, -ccbin and "           \
    "--extended-lambda change nothing here and are ignored"

/* What NVRTC 12 and 13 compile for; the loaded one refuses by itself what it has not. */
static const char *const architectures[] = {
    "75",   "80",   "86",  "87",   "88",   "89",  "90",   "90a",  "100",
    "100a", "100f", "101", "101a", "101f", "103", "103a", "103f", "110",
    "110a", "110f", "120", "120a", "120f", "121", "121a", "121f",
};

static int arch_set(struct compile_options *o, const char *value, struct err *err) {
    const char *number = NULL;
    if (!strncmp(value, "sm_", 3)) {
        number = value + 3;
    } else if (!strncmp(value, "compute_", 8)) {
        number = value + 8;
    }
    for (size_t i = 0; number && i < ARRAY_LEN(architectures); i++) {
        if (!strcmp(number, architectures[i])) {
            snprintf(o->arch, sizeof o->arch, "sm_%s", number);
            return 0;
        }
    }
    return err_set(
        err, -EINVAL,
        "unknown architecture \"%.40s\"; known are sm_75, 80, 86, 87, 88, 89, 90, "
        "90a, 100, 101, 103, 110, 120 and 121 (from 100 on also with a or f)",
        value);
}

bool compile_std_is_known(const char *std) {
    static const char *const known[] = {"c++03", "c++11", "c++14", "c++17", "c++20"};
    return any_of(i, 0, ARRAY_LEN(known), !strcmp(std, known[i]));
}

static int std_set(struct compile_options *o, const char *value, struct err *err) {
    if (!compile_std_is_known(value)) {
        return err_set(err, -EINVAL,
                       "unknown language standard \"%.40s\"; known are c++03, c++11, "
                       "c++14, c++17 and c++20",
                       value);
    }
    snprintf(o->std, sizeof o->std, "%s", value);
    o->std_given = true;
    return 0;
}

static int registers_set(struct compile_options *o, const char *value, struct err *err) {
    char *end;
    long n = strtol(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || n < 1 || n > MAX_REGISTERS) {
        return err_set(err, -EINVAL,
                       "-maxrregcount takes a number from 1 to %d, not \"%.40s\"",
                       MAX_REGISTERS, value);
    }
    o->max_registers = (int)n;
    return 0;
}

static int relocatable_set(struct compile_options *o, const char *value,
                           struct err *err) {
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        return err_set(err, -EINVAL, "-rdc takes true or false, not \"%.40s\"", value);
    }
    o->relocatable = value[0] == 't';
    return 0;
}

static bool is_identifier(const char *s, size_t len) {
    if (!len || len > MAX_NAME || isdigit((unsigned char)s[0])) {
        return false;
    }
    return !any_of(i, 0, len,
                   s[i] != '_' && (!isascii(s[i]) || !isalnum((unsigned char)s[i])));
}

static bool is_one_line(const char *s, size_t len) {
    return !any_of(i, 0, len, (unsigned char)s[i] < 0x20 && s[i] != '\t') &&
           len <= MAX_VALUE && text_is_utf8(s, len);
}

static int define_set(struct compile_options *o, const char *name, size_t name_len,
                      const char *value, size_t value_len, struct err *err) {
    if (!is_identifier(name, name_len)) {
        return err_set(err, -EINVAL, "\"%.*s\" is not a name for a macro",
                       (int)text_cut(name, name_len, 40), name);
    }
    if (!is_one_line(value, value_len)) {
        return err_set(
            err, -EINVAL,
            "the value of macro %.*s has more than %d bytes or more than one line",
            (int)text_cut(name, name_len, 40), name, MAX_VALUE);
    }
    autofree char *key = xstrndup(name, name_len);
    json_object_set_new(o->defines, key, json_text(value, value_len));
    if (json_object_size(o->defines) > MAX_DEFINES) {
        return err_set(err, -EINVAL, "more than %d macros are defined", MAX_DEFINES);
    }
    return 0;
}

/* NAME or NAME=VALUE, as on a command line. */
bool compile_define_is_sound(const char *name, size_t name_len, const char *value,
                             size_t value_len) {
    return is_identifier(name, name_len) && is_one_line(value, value_len);
}

static int define_parse(struct compile_options *o, const char *text, struct err *err) {
    size_t name = strcspn(text, "=");
    const char *value = text[name] ? text + name + 1 : "1";
    return define_set(o, text, name, value, strlen(value), err);
}

static int define_read(struct compile_options *o, const char *name, const json_t *value,
                       struct err *err) {
    char number[32];
    switch (json_typeof(value)) {
    case JSON_STRING:
        return define_set(o, name, strlen(name), json_string_value(value),
                          json_string_length(value), err);
    case JSON_INTEGER:
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(value));
        return define_set(o, name, strlen(name), number, strlen(number), err);
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return define_set(o, name, strlen(name), json_is_false(value) ? "0" : "1", 1,
                          err);
    default:
        return err_set(err, -EINVAL, "the value of macro %.40s must be a string", name);
    }
}

/* code=sm_90a wins over arch=compute_90a; several codes: the last. */
static int gencode_set(struct compile_options *o, const char *value, struct err *err) {
    const char *wanted = strstr(value, "code=");
    wanted = wanted ? wanted + 5 : strstr(value, "arch=");
    if (!wanted) {
        return err_set(err, -EINVAL, "-gencode takes arch=…,code=…, not \"%.40s\"",
                       value);
    }
    wanted += strncmp(wanted, "arch=", 5) ? 0 : 5;
    wanted += strspn(wanted, "[\"'");
    autofree char *arch = xstrndup(wanted, strcspn(wanted, ",]\"'"));
    return arch_set(o, arch, err);
}

enum option_form {
    FORM_FLAG,   /* -c */
    FORM_VALUE,  /* -std=c++17 or -std c++17 */
    FORM_JOINED, /* -DNAME or -D NAME */
    FORM_PREFIX, /* anything that starts so */
};
struct option_rule {
    const char *name;
    enum option_form form;
    int (*set)(struct compile_options *o, const char *value,
               struct err *err); /* NULL: it sets the flag, or is dropped */
    size_t flag;                 /* a bool's offset; 0: none */
};

#define FLAG(member) offsetof(struct compile_options, member)
#include "gpu/options_table.h"

/* Does `option` have the rule's form? *value is what it carries itself, or NULL. */
static bool rule_matches(const struct option_rule *rule, const char *option,
                         const char **value) {
    size_t len = strlen(rule->name);
    *value = NULL;
    if (strncmp(option, rule->name, len) != 0) {
        return false;
    }
    if (rule->form == FORM_PREFIX) {
        return true;
    }
    if (option[len] == '=') {
        *value = option + len + 1;
    } else if (option[len] && rule->form == FORM_JOINED) {
        *value = option + len;
    }
    return *value || !option[len];
}

/* The rule of the option at *at, which moves behind it and its value; NULL: none. */
static const struct option_rule *rule_find(const json_t *options, size_t *at,
                                           const char **value) {
    const char *option = json_string_value(json_array_get(options, (*at)++));
    for (const struct option_rule *rule = rules; option && rule->name; rule++) {
        if (rule_matches(rule, option, value)) {
            bool wants = rule->form == FORM_VALUE || rule->form == FORM_JOINED;
            if (wants && !*value) {
                *value = json_string_value(json_array_get(options, (*at)++));
            }
            return rule;
        }
    }
    return NULL;
}

static int option_read(struct compile_options *o, const json_t *options, size_t *at,
                       struct err *err) {
    const char *option = json_string_value(json_array_get(options, *at)), *value = NULL;
    const struct option_rule *rule = rule_find(options, at, &value);
    if (!option) {
        return err_set(err, -EINVAL, "options must be strings");
    }
    if (!rule) {
        return err_set(err, -EINVAL, "the option \"%.60s\" is not allowed; " ALLOWED,
                       option);
    }
    if (!value && (rule->form == FORM_VALUE || rule->form == FORM_JOINED)) {
        return err_set(err, -EINVAL, "option %s needs a value", option);
    }
    if (rule->flag) {
        *(bool *)((char *)o + rule->flag) = !value || strcmp(value, "false") != 0;
    }
    return rule->set ? rule->set(o, value ? value : "", err) : 0;
}

size_t compile_option_words(const json_t *words, size_t at, bool *ret_matters) {
    size_t end = at;
    const char *value = NULL;
    const struct option_rule *rule = rule_find(words, &end, &value);
    *ret_matters = rule && (rule->set || rule->flag) && rule->set != arch_set &&
                   rule->set != gencode_set;
    return rule ? end - at : 0;
}

/* "-arch sm_90a" in one string is two: split at the first space of an option that is no
 * macro (whose value may hold spaces). */
static json_t *options_split(const json_t *options) {
    json_t *list = json_array();
    json_each(options, i, item) {
        const char *s = json_string_value(item);
        size_t head = s ? strcspn(s, " ") : 0;
        if (!s || s[0] != '-' || !s[head] || (s[1] == 'D' && head > 2)) {
            json_array_append(list, item);
            continue;
        }
        const char *rest = s + head + strspn(s + head, " ");
        json_array_append_new(list, json_text(s, head));
        if (*rest) {
            json_array_append_new(list, json_text(rest, strlen(rest)));
        }
    }
    return list;
}

/* All options in one text, "-O3 -DN=3". A macro alone, "-DB=x y", may hold blanks. */
static json_t *options_of_text(const char *text) {
    const char *more = strpbrk(text, " \t\r\n");
    while (more && more[strspn(more, " \t\r\n")] != '-') {
        more = strpbrk(more + strspn(more, " \t\r\n"), " \t\r\n");
    }
    if (!*text || (!more && strncmp(text, "-D", 2) == 0)) {
        return json_pack("[s]", text);
    }
    return shell_words(text);
}

static int options_read(struct compile_options *o, const json_t *options,
                        struct err *err) {
    if (json_array_size(options) > MAX_OPTIONS) {
        return err_set(err, -EINVAL, "more than %d options", MAX_OPTIONS);
    }
    const char *only = json_array_size(options) == 1
                           ? json_string_value(json_array_get(options, 0))
                           : NULL;
    autojson *list = only ? options_of_text(only) : options_split(options);
    if (!list) {
        return err_set(err, -EINVAL, "a quote in \"%.60s\" is not closed", only);
    }
    for (size_t at = 0; at < json_array_size(list);) {
        int r = option_read(o, list, &at, err);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int defines_read(struct compile_options *o, json_t *defines, struct err *err) {
    json_each_member(defines, name, value) {
        int r = define_read(o, name, value, err);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* Command-line options first, so that a named parameter wins over them. */
static int params_read(struct compile_options *o, const json_t *params, struct err *err) {
    int r = options_read(o, json_object_get(params, "options"), err);
    const char *arch = json_get_string(params, "arch", NULL);
    const char *std = json_get_string(params, "std", NULL);
    if (!r && arch) {
        r = arch_set(o, arch, err);
    }
    if (!r && std) {
        r = std_set(o, std, err);
    }
    if (!r) {
        r = defines_read(o, json_object_get(params, "defines"), err);
    }
    o->fast_math = json_get_bool(params, "fast_math", o->fast_math);
    o->line_info = json_get_bool(params, "line_info", o->line_info);
    o->quick = json_get_bool(params, "quick", o->quick);
    return r;
}

static void options_init(struct compile_options *o) {
    *o = (struct compile_options){
        .arch = DEFAULT_ARCH, .std = DEFAULT_STD, .defines = json_object()};
}

int compile_options_read(struct compile_options *ret, const char *default_arch,
                         const json_t *project, const json_t *params, struct err *err) {
    struct compile_options o;
    options_init(&o);
    int r = default_arch ? arch_set(&o, default_arch, err) : 0;
    r = r || !project ? r : params_read(&o, project, err);
    r = r ? r : params_read(&o, params, err);
    if (r < 0) {
        compile_options_finish(&o);
        return r;
    }
    *ret = o;
    return 0;
}

void compile_options_finish(struct compile_options *o) {
    json_decref(o->defines);
    *o = (struct compile_options){0};
}

json_t *compile_options_to_json(const struct compile_options *o) {
    return json_pack("{s:s, s:s, s:O, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:i, s:i}",
                     "arch", o->arch, "std", o->std, "defines", o->defines, "fast_math",
                     o->fast_math, "line_info", o->line_info, "quick", o->quick,
                     "relocatable", o->relocatable, "default_device", o->default_device,
                     "want_ptx", o->want_ptx, "want_cubin", o->want_cubin,
                     "max_registers", o->max_registers, "shims", (int)o->shims);
}

int compile_options_from_json(struct compile_options *ret, const json_t *json,
                              struct err *err) {
    struct compile_options o;
    options_init(&o);
    json_int_t registers = json_get_integer(json, "max_registers", 0);
    int r = params_read(&o, json, err);
    o.relocatable = json_get_bool(json, "relocatable", o.relocatable);
    o.default_device = json_get_bool(json, "default_device", o.default_device);
    o.want_ptx = json_get_bool(json, "want_ptx", 0);
    o.want_cubin = json_get_bool(json, "want_cubin", 0);
    if (!r && (registers < 0 || registers > MAX_REGISTERS)) {
        r = err_set(err, -EINVAL, "max_registers is out of range");
    }
    if (r < 0) {
        compile_options_finish(&o);
        return r;
    }
    o.max_registers = registers ? (int)registers : o.max_registers;
    o.shims = (unsigned)json_get_integer(json, "shims", 0);
    *ret = o;
    return 0;
}

char **compile_options_argv(const struct compile_options *o) {
    autojson *argv = json_array();
    json_array_append_new(argv, json_sprintf("--gpu-architecture=%s", o->arch));
    json_array_append_new(argv, json_sprintf("--std=%s", o->std));
    json_each_member(o->defines, name, value) {
        json_array_append_new(argv,
                              json_sprintf("-D%s=%s", name, json_string_value(value)));
    }
    const struct {
        bool wanted;
        const char *option;
    } flags[] = {
        {o->fast_math, "--use_fast_math"},
        {o->line_info, "-lineinfo"},
        {o->relocatable, "-rdc=true"},
        {o->relocatable || o->default_device, "-default-device"},
        {o->quick, "--Ofast-compile=max"},
    };
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (flags[i].wanted) {
            json_array_append_new(argv, json_string(flags[i].option));
        }
    }
    if (o->max_registers) {
        json_array_append_new(argv, json_sprintf("--maxrregcount=%d", o->max_registers));
    }
    for (unsigned i = 0; std_names_shim(i); i++) {
        if (o->shims & 1u << i) {
            json_array_append_new(argv,
                                  json_sprintf("--pre-include=%s", std_names_shim(i)));
        }
    }
    return strings_from(argv);
}
