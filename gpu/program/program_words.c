#include "gpu/program/program_words.h"

#include "base/err.h"
#include "base/find.h"
#include "base/shell_words.h"
#include "base/strings.h"
#include "gpu/compile/compile_options.h"

#include <ctype.h>

enum { MAX_WORDS = 512 };

struct argument_words {
    json_t *all; /* what was asked, a word each */
    size_t at;
    json_t *words, *left;
    bool optimises;
};

static const char *word_at(const struct argument_words *w, size_t i) {
    const char *text = json_string_value(json_array_get(w->all, i));
    return text ? text : "";
}

/* The value of `name`, in the same word or the next one; NULL: it is another option. */
static const char *value_of(struct argument_words *w, const char *name) {
    const char *word = word_at(w, w->at);
    size_t len = strlen(name);
    if (strncmp(word, name, len) != 0 || (word[len] && word[len] != '=')) {
        return NULL;
    }
    w->at += word[len] ? 0 : 1;
    return word[len] ? word + len + 1 : word_at(w, w->at);
}

static void add(json_t *words, const char *word) {
    json_array_append_new(words, json_text(word, strlen(word)));
}

/* --- the host's compiler --- */

/* One of its options: of code and warnings, none that names files or programs. */
static bool is_host_option(const char *word, size_t len) {
    static const char *const starts[] = {"-f",       "-m", "-O",     "-W",
                                         "-pthread", "-g", "-std=c", "-pipe"};
    static const char *const never[] = {"plugin", "-fdump", "=/", "profile"};
    static const char *const passed_on[] = {"-Wl", "-Wa", "-Wp", NULL};
    autofree char *text = xstrndup(word, len);
    bool good =
        any_of(i, 0, ARRAY_LEN(starts), !strncmp(text, starts[i], strlen(starts[i]))) &&
        !any_of(i, 0, ARRAY_LEN(never), strstr(text, never[i])) &&
        !strings_have(passed_on, text);
    for (const char *c = text; *c; c++) {
        good &= isalnum((unsigned char)*c) || strchr("-_=+.", *c) != NULL;
    }
    return good;
}

static int add_host_options(struct argument_words *w, const char *value,
                            struct err *err) {
    for (const char *at = value; *at;) {
        size_t len = strcspn(at, ", ");
        if (len && !is_host_option(at, len)) {
            return err_set(err, -EINVAL, "-Xcompiler: the option \"%.*s\" is not allowed",
                           (int)(len < 60 ? len : 60), at);
        }
        if (len) {
            autofree char *one = xstrndup(at, len);
            add(w->words, "-Xcompiler");
            add(w->words, one);
        }
        at += len + (at[len] != '\0');
    }
    return 0;
}

/* --- libraries --- */

/* NVIDIA's are not there: their functions are told by name as missing. */
static int add_library(struct argument_words *w, const char *name, struct err *err) {
    static const char *const known[] = {"m",    "pthread",  "rt",    "dl",
                                        "gomp", "stdc++fs", "stdc++"};
    static const char *const theirs[] = {"cu", "nv", "npp", "nccl"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!strcmp(name, known[i])) {
            autofree char *word = xasprintf("-l%s", name);
            add(w->words, word);
            return 0;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(theirs); i++) {
        if (!strncmp(name, theirs[i], strlen(theirs[i]))) {
            return 0;
        }
    }
    return err_set(err, -EINVAL,
                   "-l%.40s: only the C and C++ libraries' own (m, pthread, rt, dl, "
                   "gomp) can be linked",
                   name);
}

/* --- one option --- */

/* Kept as they are; what makes no difference here goes with its value. */
static bool take_plain(struct argument_words *w) {
    static const char *const kept[] = {
        "--extended-lambda",          "-extended-lambda",
        "--expt-extended-lambda",     "-expt-extended-lambda",
        "--expt-relaxed-constexpr",   "-expt-relaxed-constexpr",
        "-allow-unsupported-compiler"};
    static const char *const dropped[] = {"-w", "-v", "-G", "--device-debug",
                                          "-Wno-deprecated-gpu-targets"};
    const char *word = word_at(w, w->at);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        if (!strcmp(word, kept[i])) {
            add(w->words, word);
            return true;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++) {
        if (!strcmp(word, dropped[i])) {
            return true;
        }
    }
    if (!strncmp(word, "-O", 2) && strlen(word) == 3 && strchr("0123", word[2])) {
        w->optimises = true;
        add(w->words, word);
        return true;
    }
    return false;
}

static bool take_dropped_value(struct argument_words *w) {
    static const char *const dropped[] = {
        "-cudart",  "--cudart",         "-L",    "--library-path",
        "-Xlinker", "--linker-options", "-rpath"};
    if (!strncmp(word_at(w, w->at), "-L", 2) && word_at(w, w->at)[2]) {
        return true;
    }
    return any_of(i, 0, ARRAY_LEN(dropped), value_of(w, dropped[i]));
}

static bool take_default_stream(struct argument_words *w) {
    const char *value = value_of(w, "--default-stream");
    value = value ? value : value_of(w, "-default-stream");
    if (value && !strcmp(value, "per-thread")) {
        add(w->words, "--default-stream=per-thread");
    }
    return value != NULL;
}

static int take_option(struct argument_words *w, struct err *err) {
    const char *word = word_at(w, w->at), *value = value_of(w, "-Xcompiler");
    value = value ? value : value_of(w, "--compiler-options");
    if (value) {
        return add_host_options(w, value, err);
    }
    if (!strncmp(word, "-l", 2) && strncmp(word, "-lineinfo", 9) != 0) {
        value = value_of(w, "-l");
        return add_library(w, value ? value : word + 2, err);
    }
    if (!strncmp(word, "-fopenmp", 8) || !strcmp(word, "-pthread")) {
        return add_host_options(w, word, err);
    }
    if (!take_plain(w) && !take_dropped_value(w) && !take_default_stream(w)) {
        add(w->left, word);
    }
    return 0;
}

/* A macro with its value, or a folder: "-DB=x y", "-I/a b", "/a b" behind "-I". */
static bool is_one_word(const char *text, const char *before) {
    bool folder = !strcmp(before, "-I") || !strcmp(before, "-isystem") ||
                  (!strncmp(text, "-I", 2) && text[2] != ' ' && !strstr(text, " -"));
    return folder || !strncmp(text, "-D", 2);
}

/* "-O3 -I inc" in one text are three words. */
static json_t *split(const json_t *options, struct err *err) {
    json_t *all = json_array();
    const char *before = "";
    json_each(options, i, option) {
        const char *text = json_string_value(option);
        autojson *words = text && !is_one_word(text, before) ? shell_words(text)
                                                             : json_pack("[O]", option);
        before = text ? text : "";
        if (!words || json_array_size(all) > MAX_WORDS) {
            err_set(err, -EINVAL,
                    "options: a quote in \"%.60s\" is not closed, or they are too many",
                    text ? text : "");
            json_decref(all);
            return NULL;
        }
        json_array_extend(all, words);
    }
    return all;
}

int program_words_read(const json_t *options, json_t **ret_words, json_t **ret_left,
                       struct err *err) {
    autojson *all = split(options, err);
    struct argument_words w = {.all = all, .words = json_array(), .left = json_array()};
    int r = all ? 0 : -EINVAL;
    for (; r == 0 && w.at < json_array_size(all); w.at++) {
        r = take_option(&w, err);
    }
    if (!w.optimises) {
        add(w.words, "-O2");
    }
    if (r < 0) {
        json_decref(w.words);
        json_decref(w.left);
        return r;
    }
    *ret_words = w.words;
    *ret_left = w.left;
    return 0;
}

void program_words_add(json_t *words, const struct compile_options *o) {
    if (o->std_given) {
        json_array_append_new(words, json_sprintf("-std=%s", o->std));
    }
    if (o->fast_math) {
        add(words, "-use_fast_math");
    }
    if (o->relocatable) {
        add(words, "-rdc=true");
    }
    if (o->max_registers) {
        json_array_append_new(words, json_sprintf("-maxrregcount=%d", o->max_registers));
    }
    json_each_member(o->defines, name, value) {
        json_array_append_new(words,
                              json_sprintf("-D%s=%s", name, json_string_value(value)));
    }
}
