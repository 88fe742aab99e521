/* Flags that a project has for a file: compile_commands.json, upskilld.yaml and the
 * editor's settings. What is expected is what nvcc's documentation says of its options
 * and LLVM's of the format. */
#include "gpu/check/project_flags.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/shell_words.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_HERE 128

struct room {
    char dir[NAME_MAX_HERE];
    const char *roots[3];
    struct compile_commands *commands;
    json_t *settings, *findings, *flags;
};

static void open_room(struct room *r) {
    *r = (struct room){.dir = "/tmp/project-flags-XXXXXX"};
    cr_assert_not_null(mkdtemp(r->dir));
    r->roots[0] = r->dir;
    r->commands = compile_commands_new();
}

static void forget(struct room *r) {
    json_decref(r->findings);
    json_decref(r->flags);
}

static void close_room(struct room *r) {
    forget(r);
    json_decref(r->settings);
    compile_commands_free(r->commands);
    dir_remove(r->dir, NULL);
}

/* @ stands for the project's folder. */
static char *with_folder(const struct room *r, const char *text) {
    char *out = xstrdup("");
    for (; *text; text++) {
        char *more =
            *text == '@' ? xasprintf("%s%s", out, r->dir) : xasprintf("%s%c", out, *text);
        free(out);
        out = more;
    }
    return out;
}

static void put(const struct room *r, const char *name, const char *text) {
    struct root root;
    autofree char *whole = with_folder(r, text);
    cr_assert_eq(root_open(&root, r->dir, NULL), 0);
    cr_assert_eq(root_write(&root, name, whole, strlen(whole), 0644, NULL), 0);
    root_close(&root);
}

static const json_t *ask(struct room *r, const char *file) {
    forget(r);
    r->findings = json_array();
    autofree char *path = path_join(r->dir, file);
    autojson *known = json_pack("{s:{}, s:{}}", "arch", "include_dirs");
    const struct project_places places = {.roots = r->roots,
                                          .commands = r->commands,
                                          .settings = r->settings,
                                          .known_keys = known};
    r->flags = project_flags_read(&places, path, r->findings);
    return r->flags;
}

/* A member of the flags as JSON; "-" where it is not there. */
static void says(const struct room *r, const char *member, const char *wanted) {
    const json_t *value = json_object_get(r->flags, member);
    autofree char *text =
        value ? json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT)
              : xstrdup("-");
    autofree char *whole = with_folder(r, wanted);
    cr_expect_str_eq(text, whole, "%s: %s, not %s", member, text, whole);
}

static void warns(const struct room *r, size_t count, const char *words) {
    autofree char *all = json_dumps(r->findings, 0);
    cr_expect_eq(json_array_size(r->findings), count, "%s", all);
    cr_expect(!count || strstr(all, words), "%s", all);
}

TestSuite(project_flags, .timeout = 60);

Test(project_flags, of_a_command_what_matters_to_device_code_is_taken) {
    struct room r;
    open_room(&r);
    put(&r, "build/compile_commands.json",
        "[{\"directory\":\"@/build\",\"file\":\"../src/a.cu\",\"command\":\"nvcc "
        "-forward-unknown-to-host-compiler -DBLOCK=128 -D HALF \\\"-DTEXT=a b\\\" "
        "-I../inc -isystem=../third/inc -I/usr/local/elsewhere -O3 -std=gnu++20 "
        "\\\"--generate-code=arch=compute_80,code=[sm_80]\\\" -use_fast_math "
        "-Xcompiler -DHOST -x cu -rdc=true -c ../src/a.cu -o a.o\"}]");
    cr_assert_not_null(ask(&r, "src/a.cu"));
    warns(&r, 0, "");
    says(&r, "from", "[\"@/build/compile_commands.json\"]");
    says(&r, "defines",
         "{\"BLOCK\":\"128\",\"HALF\":\"1\",\"HOST\":\"1\",\"TEXT\":\"a b\"}");
    says(&r, "include_roots", "[\"@/inc\",\"@/third/inc\"]");
    says(&r, "outside", "[\"/usr/local/elsewhere\"]");
    says(&r, "std", "\"c++20\"");
    says(&r, "options", "[\"-use_fast_math\",\"-rdc=true\"]");
    close_room(&r);
}

Test(project_flags, arguments_and_response_files_say_the_same) {
    struct room r;
    open_room(&r);
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"@/a.cu\",\"arguments\":[\"nvcc\",\"-c\","
        "\"--options-file\",\"b.rsp\",\"-DN=3\"]}]");
    put(&r, "b.rsp", "-I inc\n-DM='x y'\n");
    ask(&r, "a.cu");
    says(&r, "defines", "{\"M\":\"x y\",\"N\":\"3\"}");
    says(&r, "include_roots", "[\"@/inc\"]");
    warns(&r, 0, "");
    close_room(&r);
}

Test(project_flags, the_nearest_database_is_the_one_and_build_comes_second) {
    struct room r;
    open_room(&r);
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"lib/a.cu\",\"command\":\"nvcc -DFROM=1\"}]");
    put(&r, "lib/build/compile_commands.json",
        "[{\"directory\":\"@/lib\",\"file\":\"a.cu\",\"command\":\"nvcc -DFROM=2\"}]");
    ask(&r, "lib/a.cu");
    says(&r, "defines", "{\"FROM\":\"2\"}");
    put(&r, "lib/compile_commands.json",
        "[{\"directory\":\"@/lib\",\"file\":\"a.cu\",\"command\":\"nvcc -DFROM=3\"}]");
    ask(&r, "lib/a.cu");
    says(&r, "defines", "{\"FROM\":\"3\"}");
    close_room(&r);
}

/* The file's own folder may be one too, as where a person names a file in it. */
Test(project_flags, the_search_goes_up_to_the_outermost_root) {
    struct room r;
    open_room(&r);
    autofree char *inner = path_join(r.dir, "src");
    r.roots[1] = inner;
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"src/a.cu\",\"command\":\"nvcc -DN=1\"}]");
    ask(&r, "src/a.cu");
    says(&r, "defines", "{\"N\":\"1\"}");
    close_room(&r);
}

Test(project_flags, a_header_has_its_includers_flags_and_a_new_file_its_neighbours) {
    struct room r;
    open_room(&r);
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"x/one.cu\",\"command\":\"nvcc -DOF=1\"},"
        "{\"directory\":\"@\",\"file\":\"y/two.cu\",\"command\":\"nvcc -DOF=2\"},"
        "{\"directory\":\"@\",\"file\":\"x/host.cpp\",\"command\":\"g++ -DOF=3\"}]");
    put(&r, "x/one.cu", "#include \"../inc/tile.cuh\"\n");
    put(&r, "y/two.cu", "#include <inc/mma_tile.cuh>\n");
    ask(&r, "inc/tile.cuh");
    says(&r, "defines", "{\"OF\":\"1\"}");
    says(&r, "from", "[\"@/compile_commands.json, by one.cu\"]");
    ask(&r, "inc/mma_tile.cuh");
    says(&r, "defines", "{\"OF\":\"2\"}");
    ask(&r, "y/new.cu");
    says(&r, "defines", "{\"OF\":\"2\"}");
    close_room(&r);
}

Test(project_flags, what_is_nearer_to_the_person_wins) {
    struct room r;
    open_room(&r);
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"s/a.cu\",\"command\":\"nvcc -DA=1 -DB=1 -DC=1 "
        "-DD=1 -std=c++14\"}]");
    put(&r, "upskilld.yaml",
        "arch: sm_90a\ndefines: {B: 2, C: 2, D: 2}\nstd: c++17\n"
        "include_dirs: [inc]\noptions: [-rdc=true]\n");
    put(&r, "s/upskilld.yaml", "defines: {C: 3, D: 3}\n");
    put(&r, "inc/x.h", "");
    r.settings = json_pack("{s:{s:i}, s:s}", "defines", "D", 4, "other", "key");
    ask(&r, "s/a.cu");
    says(&r, "defines", "{\"A\":\"1\",\"B\":2,\"C\":3,\"D\":4}");
    says(&r, "std", "\"c++17\"");
    says(&r, "include_roots", "[\"@/inc\"]");
    says(&r, "options", "[\"-rdc=true\"]");
    says(&r, "from",
         "[\"@/compile_commands.json\",\"@/upskilld.yaml\","
         "\"@/s/upskilld.yaml\",\"the editor's settings\"]");
    warns(&r, 0, "");
    close_room(&r);
}

Test(project_flags, one_wrong_key_leaves_the_rest) {
    static const char *const wrong[][2] = {
        {"defines: [A]\nstd: c++17\n", "upskilld.yaml: defines is not used"},
        {"defines: {A: [1]}\nstd: c++17\n", "upskilld.yaml: defines: A is not used"},
        {"incldue_dirs: [a]\nstd: c++17\n",
         "upskilld.yaml: incldue_dirs is not used: did you mean include_dirs?"},
        {"std: c++17\nacrh: sm_90a\n", "acrh is not used: did you mean arch?"},
        {"arch: sm_90a\nzzzz: 1\nstd: c++17\n", "zzzz is not used: there is no such key"},
        {"options: -O3\nstd: c++17\n", "upskilld.yaml: options is not used"},
        {"options: [--frobnicate]\nstd: c++17\n", "--frobnicate"},
        {"include_dirs: [3]\nstd: c++17\n", "upskilld.yaml: include_dirs is not used"},
    };
    struct room r;
    open_room(&r);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        put(&r, "upskilld.yaml", wrong[i][0]);
        ask(&r, "a.cu");
        warns(&r, 1, wrong[i][1]);
        says(&r, "std", "\"c++17\"");
    }
    put(&r, "upskilld.yaml", "- std: c++17\n");
    ask(&r, "a.cu");
    warns(&r, 1, "upskilld.yaml is not used: keys with values are expected");
    put(&r, "upskilld.yaml", "std: c++99\ndefines: {A: 1}\n");
    ask(&r, "a.cu");
    warns(&r, 1, "upskilld.yaml: std is not used");
    says(&r, "defines", "{\"A\":1}");
    put(&r, "upskilld.yaml", "defines: {A: 1, 2B: 2, C: 3}\n");
    ask(&r, "a.cu");
    warns(&r, 1, "upskilld.yaml: defines: 2B is not used");
    says(&r, "defines", "{\"A\":1,\"C\":3}");
    close_room(&r);
}

/* What stands in the place of the second of three. */
Test(project_flags, one_bad_entry_leaves_the_others) {
    static const char *const bad[][2] = {
        {"{\"fil\":\"x.cu\"}", "compile_commands.json: entry 2 is not used: it is not"},
        {"{\"file\":\"x.cu\",\"command\":7}", "entry 2 is not used: it is not"},
        {"{\"file\" \"}{x.cu\"}", "entry 2 is not used: byte"},
        {"{\"file\":\"x.cu\",}", "entry 2 is not used: byte"},
        {"{\"file\":\"x.cu\\\"}\", \"q\":{},}", "entry 2 is not used: byte"},
        {"{'a'}, {}", "entry 2 (and 1 more) is not used: byte"},
        {"{\"file\":\"x.cu\",\"command\":\"c\"} {\"file\":\"y.cu\",\"command\":\"c\"}",
         "entry 2 is not used: a comma or ] is expected after it"},
    };
    struct room r;
    open_room(&r);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        autofree char *text =
            xasprintf("[{\"file\":\"a.cu\",\"command\":\"nvcc -DA=1\"},\n%s,\n"
                      "{\"file\":\"b.cu\",\"command\":\"nvcc -DB=2\"}]",
                      bad[i][0]);
        put(&r, "compile_commands.json", text);
        ask(&r, "a.cu");
        warns(&r, 1, bad[i][1]);
        says(&r, "defines", "{\"A\":\"1\"}");
        ask(&r, "b.cu");
        warns(&r, 1, bad[i][1]);
        says(&r, "defines", "{\"B\":\"2\"}");
    }
    close_room(&r);
}

Test(project_flags, a_broken_database_is_told_and_the_rest_works) {
    static const char *const broken[] = {
        "",
        "{",
        "{}",
        "[{\"directory\":\"/\"}]",
        "[1]",
        "[{}",
        "[,]",
        "[{\"file\":\"a.cu\"} {\"file\":\"b.cu\"}]",
        "null",
        "[\"a.cu\"]",
        "[{\"file\":3}]",
    };
    struct room r;
    open_room(&r);
    put(&r, "upskilld.yaml", "std: c++17\n");
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        put(&r, "compile_commands.json", broken[i]);
        ask(&r, "a.cu");
        warns(&r, 1, "compile_commands.json");
        says(&r, "std", "\"c++17\"");
        says(&r, "defines", "-");
    }
    close_room(&r);
}

Test(project_flags, a_database_of_100_MB_is_refused_at_once) {
    struct room r;
    open_room(&r);
    put(&r, "compile_commands.json", "[]");
    autofree char *path = path_join(r.dir, "compile_commands.json");
    cr_assert_eq(truncate(path, 100 << 20), 0);
    ask(&r, "a.cu");
    warns(&r, 1, "compile_commands.json is not used");
    cr_expect_null(r.flags);
    close_room(&r);
}

Test(project_flags, it_is_read_anew_when_it_changed) {
    struct room r;
    open_room(&r);
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"a.cu\",\"command\":\"nvcc -DN=1\"}]");
    ask(&r, "a.cu");
    says(&r, "defines", "{\"N\":\"1\"}");
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"a.cu\",\"command\":\"nvcc -DN=2\"}]");
    ask(&r, "a.cu");
    says(&r, "defines", "{\"N\":\"2\"}");
    autofree char *path = path_join(r.dir, "compile_commands.json");
    cr_assert_eq(unlink(path), 0);
    cr_expect_null(ask(&r, "a.cu"));
    close_room(&r);
}

Test(project_flags, nothing_outside_is_read) {
    struct room r;
    char outside[] = "/tmp/project-outside-XXXXXX";
    open_room(&r);
    cr_assert_not_null(mkdtemp(outside));
    autofree char *secret = path_join(outside, "secret.rsp");
    autofree char *link = path_join(r.dir, "upskilld.yaml");
    FILE *f = fopen(secret, "we");
    cr_assert_not_null(f);
    cr_assert(fputs("-DSECRET=1\n", f) > 0);
    cr_assert_eq(fclose(f), 0);
    autofree char *text = xasprintf("[{\"directory\":\"@\",\"file\":\"a.cu\",\"command\":"
                                    "\"nvcc --options-file %s --options-file ../x\"}]",
                                    secret);
    put(&r, "compile_commands.json", text);
    cr_assert_eq(symlink(secret, link), 0);
    ask(&r, "a.cu");
    says(&r, "defines", "-");
    warns(&r, 3, "outside");
    close_room(&r);
    dir_remove(outside, NULL);
}

Test(project_flags, a_root_is_in_no_folder_that_is_searched) {
    struct room r;
    open_room(&r);
    put(&r, "upskilld.yaml", "defines: {N: 1}\n");
    autofree char *root = xstrdup(r.dir);
    *strrchr(r.dir, '/') = '\0'; /* so that its name is that of a file in /tmp */
    r.roots[0] = root;
    cr_expect_null(ask(&r, strrchr(root, '/') + 1));
    strcpy(r.dir, root);
    close_room(&r);
}

Test(project_flags, response_files_that_name_each_other_end) {
    struct room r;
    open_room(&r);
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"a.cu\",\"command\":\"nvcc --options-file "
        "a\"}]");
    put(&r, "a", "-DA --options-file a");
    ask(&r, "a.cu");
    says(&r, "defines", "{\"A\":\"1\"}");
    warns(&r, 1, "response files in response files are read 4 deep");
    close_room(&r);
}

/* One command for a.cu, and what it gives. */
static void command_is(struct room *r, const char *words) {
    autofree char *text = xasprintf(
        "[{\"directory\":\"@\",\"file\":\"a.cu\",\"command\":\"nvcc %s\"}]", words);
    put(r, "compile_commands.json", text);
    ask(r, "a.cu");
}

Test(project_flags, options_mean_what_nvcc_means) {
    struct room r;
    open_room(&r);
    command_is(&r, "-DA -DB=2 -UA");
    says(&r, "defines", "{\"B\":\"2\"}");
    command_is(&r, "-Xcompiler -DA=1,-fPIC --compiler-options=-DB");
    says(&r, "defines", "{\"A\":\"1\",\"B\":\"1\"}");
    command_is(&r, "-isystem sys -Iuser -idirafter last -iquote q");
    says(&r, "include_roots", "[\"@/user\",\"@/q\",\"@/sys\",\"@/last\"]");
    warns(&r, 0, "");
    close_room(&r);
}

Test(project_flags, what_cannot_be_taken_is_told_and_the_rest_works) {
    static const char *const words[][2] = {
        {"-include cfg.h", "-include cfg.h is not used"},
        {"-maxrregcount=9999", "-maxrregcount=9999"},
        {"-std=gnu++2b", "gnu++2b"},
        {"'-DF(x)=x+1'", "F(x)"},
    };
    struct room r;
    open_room(&r);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        autofree char *text = xasprintf("-DA %s -DB -rdc=true", words[i][0]);
        command_is(&r, text);
        warns(&r, 1, words[i][1]);
        says(&r, "defines", "{\"A\":\"1\",\"B\":\"1\"}");
        says(&r, "options", "[\"-rdc=true\"]");
    }
    command_is(&r, "-DA '-DB");
    warns(&r, 1, "a quote");
    put(&r, "compile_commands.json", "[]");
    put(&r, "upskilld.yaml", "options: [-maxrregcount=9999, '-rdc=true']\n");
    ask(&r, "a.cu");
    warns(&r, 1, "1 to 255");
    says(&r, "options", "[\"-rdc=true\"]");
    close_room(&r);
}

Test(project_flags, there_is_an_end_to_how_many_are_taken) {
    struct room r;
    open_room(&r);
    char text[16384] = "";
    for (int i = 0; i < 300; i++) {
        char one[32];
        snprintf(one, sizeof one, " -Ii%d -DM%d", i, i);
        strcat(text, one);
    }
    command_is(&r, text);
    warns(&r, 2, "too many");
    cr_expect_leq(json_array_size(json_object_get(r.flags, "include_roots")), 200);
    cr_expect_leq(json_object_size(json_object_get(r.flags, "defines")), 256);
    close_room(&r);
}

Test(project_flags, a_database_that_says_nothing_hides_no_other) {
    static const char *const nothing[] = {"[]", "{"};
    struct room r;
    open_room(&r);
    put(&r, "compile_commands.json",
        "[{\"directory\":\"@\",\"file\":\"s/a.cu\",\"command\":\"nvcc -DA\"}]");
    for (size_t i = 0; i < ARRAY_LEN(nothing); i++) {
        put(&r, "s/compile_commands.json", nothing[i]);
        ask(&r, "s/a.cu");
        says(&r, "defines", "{\"A\":\"1\"}");
    }
    close_room(&r);
}

Test(project_flags, words_are_a_shells) {
    static const char *const texts[][2] = {
        {"a  b\tc\n", "[\"a\",\"b\",\"c\"]"},
        {"'a b' \"c d\" e\\ f", "[\"a b\",\"c d\",\"e f\"]"},
        {"-DX=\\\"y\\\"", "[\"-DX=\\\"y\\\"\"]"},
        {"'a\\b' \"a\\b\" \"\\\"\"", "[\"a\\\\b\",\"a\\\\b\",\"\\\"\"]"},
        {"a''b \"\"", "[\"ab\",\"\"]"},
        {"", "[]"},
        {"'open", NULL},
        {"\"open", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        autojson *words = shell_words(texts[i][0]);
        autofree char *text = words ? json_dumps(words, JSON_COMPACT) : NULL;
        cr_expect_eq(!text, !texts[i][1], "%s", texts[i][0]);
        cr_expect(!text || strcmp(text, texts[i][1]) == 0, "%s: %s", texts[i][0], text);
    }
}
