#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "daemon/config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[64], project[PATH_MAX];

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
}

static void enter(void) {
    strcpy(home, "/tmp/config-test-XXXXXX");
    cr_assert_not_null(mkdtemp(home));
    snprintf(project, sizeof project, "%s/project", home);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/conf/upskilld", home);
    cr_assert_eq(dir_make(path, 0755, NULL), 0);
    cr_assert_eq(dir_make(project, 0755, NULL), 0);
    cr_assert_eq(chdir(project), 0);
    snprintf(path, sizeof path, "%s/conf", home);
    setenv("XDG_CONFIG_HOME", path, 1);
    setenv("HOME", home, 1);
    unsetenv("UPSKILLD_CONFIG");
    unsetenv("UPSKILLD_LOG");
}

static void leave(void) {
    cr_assert_eq(chdir("/"), 0);
    dir_remove(home, NULL);
}

TestSuite(config, .init = enter, .fini = leave);

static void write_own(const char *text) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/conf/upskilld/config.yaml", home);
    write_file(path, text);
}

static int load(struct config *c, struct err *err, char *flag, char *value) {
    char *argv[] = {(char[]){"upskilld"}, flag, value, NULL};
    enum config_action action;
    return config_load(c, flag ? 3 : 1, argv, &action, err);
}

Test(config, without_files_the_defaults_hold_and_the_working_directory_is_a_root) {
    struct config c;
    struct err err = {0};
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s", err.msg);
    cr_assert_str_eq(c.arch, "sm_90a");
    cr_assert_eq(c.compile_timeout_s, 120);
    cr_assert_str_eq(c.roots[0], project);
    cr_assert_null(c.roots[1]);
    config_finish(&c);
}

Test(config, the_later_source_wins_and_relative_folders_belong_to_their_file) {
    struct config c;
    struct err err = {0};
    write_own(
        "arch: sm_80\nlog_level: info\nroots: [~/kernels]\ninclude_dirs: [lib]\n"
        "compile_timeout_s: 5\nworkers:\n  - command: [ssh, -T, gpu1, upskilld-worker]\n"
        "    parallel: 2\n");
    write_file("upskilld.yaml", "arch: sm_90\ncompile_timeout_s: 7\n");
    setenv("UPSKILLD_LOG", "debug", 1);
    cr_assert_eq(load(&c, &err, (char[]){"--arch"}, (char[]){"sm_89"}), 0, "%s", err.msg);
    cr_assert_str_eq(c.arch, "sm_89");
    cr_assert_eq(c.log_level, LOG_DEBUG);
    cr_assert_eq(c.compile_timeout_s, 7);
    char want[PATH_MAX];
    snprintf(want, sizeof want, "%s/kernels", home);
    cr_assert_str_eq(c.roots[0], project);
    cr_assert_str_eq(c.roots[1], want);
    snprintf(want, sizeof want, "%s/conf/upskilld/lib", home);
    cr_assert_str_eq(c.include_dirs[0], want);
    cr_assert_eq(json_array_size(c.warnings), 1); /* it is not there */
    cr_assert_eq(c.pool.count, 1);
    cr_assert_str_eq(c.pool.workers[0].argv[3], "upskilld-worker");
    cr_assert_eq(c.pool.workers[0].parallel, 2);
    cr_assert_eq(json_array_size(c.files), 2);
    config_finish(&c);
}

/* Workers elsewhere: what they are called, how many jobs they take, what they have. */
Test(config, workers_are_named_and_tell_what_they_offer) {
    struct config c;
    struct err err = {0};
    write_own("workers:\n"
              "  - argv: [srun, --gres=gpu:h100:1, upskilld-worker]\n"
              "    name: h100\n"
              "    parallel: 3\n"
              "    start_timeout_s: 600\n"
              "    offers: {gpu: true, compile: false}\n"
              "  - argv: [nice, upskilld-worker]\n"
              "    local: true\n");
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s", err.msg);
    cr_assert_eq(c.pool.count, 2);
    cr_assert(c.pool.add_local);
    const struct pool_worker_config *w = c.pool.workers;
    cr_assert_str_eq(w[0].name, "h100");
    cr_assert_str_eq(w[0].argv[1], "--gres=gpu:h100:1");
    cr_assert_null(w[0].argv[3]);
    cr_assert_eq(w[0].parallel, 3);
    cr_assert_eq(w[0].hello_ms, 600000);
    cr_assert_eq(w[0].gpu, POOL_YES);
    cr_assert_eq(w[0].compile, POOL_NO);
    cr_assert_eq(w[0].local, POOL_UNTOLD);
    cr_assert_null(w[1].name);
    cr_assert_eq(w[1].local, POOL_YES);
    cr_assert_eq(w[1].gpu, POOL_UNTOLD);
    config_finish(&c);
    write_own("local_worker: false\nworkers: [{argv: [ssh, a, upskilld-worker]}]\n");
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s", err.msg);
    cr_assert_not(c.pool.add_local);
    config_finish(&c);
}

/* A cloned repository must not start programs or open folders outside itself. */
Test(config, a_project_file_cannot_name_programs_or_foreign_folders) {
    struct config c;
    struct err err = {0};
    write_file("upskilld.yaml", "arch: sm_80\nworkers: [{command: [touch, /tmp/owned]}]\n"
                                "roots: [/]\ninclude_dirs: [include, ../../etc]\n");
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s", err.msg);
    cr_assert_eq(c.pool.count, 0);
    cr_assert_str_eq(c.roots[0], project);
    cr_assert_null(c.include_dirs[0]);
    cr_assert_str_eq(c.arch, "sm_80");
    cr_assert_eq(json_array_size(c.warnings), 3);
    config_finish(&c);
}

Test(config, a_link_out_of_the_project_is_a_foreign_folder) {
    struct config c;
    struct err err = {0};
    char link[PATH_MAX + 16];
    snprintf(link, sizeof link, "%s/include", project);
    cr_assert_eq(symlink("/etc", link), 0);
    write_file("upskilld.yaml", "include_dirs: [include]\n");
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s", err.msg);
    cr_assert_null(c.include_dirs[0]);
    cr_assert_eq(json_array_size(c.warnings), 1);
    config_finish(&c);
}

/* Whatever stands there, the daemon starts, with what is right in it. */
Test(config, a_project_file_cannot_keep_the_daemon_from_starting) {
    static const struct {
        const char *text;
        size_t warnings;
        const char *arch;
    } files[] = {
        {"arch: sm_80\nfrom_a_newer_version: 1\ndebounce_ms: soon\n", 2, "sm_80"},
        {"arch: [sm_80\n", 1, "sm_90a"},
        {"just words\n", 1, "sm_90a"},
        {"[arch, sm_80]\n", 1, "sm_90a"},
        {"arch: x86\n", 1, "sm_90a"},
        {"include_dirs: 7\nroots: 1\n", 2, "sm_90a"},
        {"# nothing\n", 0, "sm_90a"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct config c;
        struct err err = {0};
        write_file("upskilld.yaml", files[i].text);
        cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s: %s", files[i].text, err.msg);
        cr_assert_eq(json_array_size(c.warnings), files[i].warnings, "%s", files[i].text);
        cr_assert_str_eq(c.arch, files[i].arch);
        config_finish(&c);
    }
    unlink("upskilld.yaml");
    FILE *f = fopen("upskilld.yaml", "w");
    for (int i = 0; i < 5000; i++) {
        fprintf(f, "a%d: 1\n", i);
    }
    fclose(f);
    struct config c;
    struct err err = {0};
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s", err.msg);
    cr_assert(json_array_size(c.warnings) <= 20);
    config_finish(&c);
}

static void expect_one_warning(const char *what) {
    struct config c;
    struct err err = {0};
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s: %s", what, err.msg);
    cr_assert_eq(json_array_size(c.warnings), 1, "%s", what);
    const char *said = json_string_value(json_array_get(c.warnings, 0));
    cr_assert_not(strstr(said, "secret"), "%s: %s", what, said);
    cr_assert_str_eq(c.arch, "sm_90a");
    config_finish(&c);
    remove("upskilld.yaml");
}

Test(config, a_project_file_is_a_regular_file_of_the_project, .timeout = 10) {
    cr_assert_eq(mkfifo("upskilld.yaml", 0600), 0);
    expect_one_warning("a FIFO");
    cr_assert_eq(mkdir("upskilld.yaml", 0700), 0);
    expect_one_warning("a folder");
    write_file("../token", "secret-of-the-user\narch: sm_80\n");
    cr_assert_eq(symlink("../token", "upskilld.yaml"), 0);
    expect_one_warning("a link out");
    char outside[PATH_MAX];
    snprintf(outside, sizeof outside, "%s/token", home);
    cr_assert_eq(symlink(outside, "upskilld.yaml"), 0);
    expect_one_warning("an absolute link");
    cr_assert_eq(symlink("upskilld.yaml", "upskilld.yaml"), 0);
    expect_one_warning("a link to itself");
}

/* A message that is too long ends between two characters. */
Test(config, a_long_message_is_whole_characters) {
    static const char *const shapes[][2] = {
        {"", ": 1\n"}, {"arch: '", "'\n"}, {"arch: [", "\n"}, {"roots: {", ": 1}\n"}};
    char key[1300] = "", text[1400];
    for (int i = 0; i < 250; i++) {
        strcat(key, "€ä");
    }
    for (size_t i = 0; i < 12; i++) { /* each, and shifted by one and two bytes */
        struct config c;
        struct err err = {0};
        snprintf(text, sizeof text, "%s%s%s%s", shapes[i % 4][0], &"aa"[i / 4], key,
                 shapes[i % 4][1]);
        write_own(text);
        cr_assert_neq(load(&c, &err, NULL, NULL), 0);
        cr_assert(text_is_utf8(err.msg, strlen(err.msg)), "%s", err.msg);
        config_finish(&c);
    }
}

/* Language clients append these; --clientProcessId also with its value behind it. */
Test(config, what_language_clients_append_is_taken) {
    struct config c;
    struct err err = {0};
    cr_assert_eq(load(&c, &err, (char[]){"--stdio"}, (char[]){"--clientProcessId=7"}), 0,
                 "%s", err.msg);
    config_finish(&c);
    cr_assert_eq(load(&c, &err, (char[]){"--clientProcessId"}, (char[]){"7"}), 0, "%s",
                 err.msg);
    config_finish(&c);
}

static const char models_yaml[] =
    "models:\n  small:\n    api: openai\n    base_url: http://gpu1:8000/v1\n"
    "    model: Qwen/Q-3\n    key_env: VLLM_KEY\n    price: {input: 0.1, output: 0.4}\n"
    "    effort: low\n    max_tokens: 900\n"
    "teacher: anthropic.x\njudge: small\nembeddings: small\ndefault_students: [small, "
    "openai.y]\n";

/* A cloned repository must not say where keys go, nor whom the user pays. */
Test(config, models_are_the_users_own) {
    struct config c;
    struct err err = {0};
    write_own(models_yaml);
    write_file("upskilld.yaml",
               "models: {small: {api: openai, model: m, base_url: "
               "'http://evil.example/v1', key_env: AWS_SECRET}}\n"
               "teacher: z\njudge: z\nembeddings: z\nembeddings_query_prefix: "
               "z\nembeddings_text_prefix: z\nnamer: z\ndefault_students: [z]\n");
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s", err.msg);
    cr_assert_str_eq(json_get_string(c.settings, "teacher", ""), "anthropic.x");
    cr_assert_str_eq(json_get_string(c.settings, "judge", ""), "small");
    cr_assert_eq(json_array_size(json_object_get(c.settings, "default_students")), 2);
    const json_t *small = json_object_get(json_object_get(c.settings, "models"), "small");
    cr_assert_str_eq(json_get_string(small, "base_url", ""), "http://gpu1:8000/v1");
    cr_assert_str_eq(json_get_string(small, "key_env", ""), "VLLM_KEY");
    cr_assert_eq(json_array_size(c.warnings), 8);
    cr_assert_str_eq(json_get_string(c.settings, "embeddings", ""), "small");
    config_finish(&c);
}

Test(config, the_user_alone_says_where_records_of_evaluations_lie) {
    struct config c;
    struct err err = {0};
    char expected[PATH_MAX];
    write_own("runs_dir: ~/records/../runs\n");
    write_file("upskilld.yaml", "runs_dir: /etc\n");
    cr_assert_eq(load(&c, &err, NULL, NULL), 0, "%s", err.msg);
    snprintf(expected, sizeof expected, "%s/runs", home);
    cr_assert_str_eq(c.runs_dir, expected);
    cr_assert_eq(json_array_size(c.warnings), 1);
    config_finish(&c);
}

Test(config, an_option_is_checked_like_its_key) {
    struct config c;
    struct err err = {0};
    cr_assert_neq(load(&c, &err, (char[]){"--arch"}, (char[]){"--help"}), 0);
    cr_assert_not_null(strstr(err.msg, "arch"));
}

Test(config, mistakes_stop_the_start_and_name_their_place) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"ach: sm_90\n", "ach"},
        {"arch: 90\n", "arch"},
        {"arch: '--help'\n", "arch"},
        {"log_level: loud\n", "log_level"},
        {"compile_timeout_s: 0\n", "compile_timeout_s"},
        {"workers: [{parallel: 2}]\n", "command"},
        {"workers: [{argv: [a], command: [a]}]\n", "workers[0]"},
        {"workers: [{argv: []}]\n", "argv"},
        {"workers: [{argv: [a], name: x}, {argv: [b], name: x}]\n", "workers[1]"},
        {"workers: [{argv: [a], name: ../x}]\n", "name"},
        {"workers: [{argv: [a], offers: {gpus: 2}}]\n", "offers"},
        {"roots: /tmp\n", "roots"},
        {"models: {a: {api: openai}}\n", "model"},
        {"models: {a: {api: gemini, model: m}}\n", "models.a.api"},
        {"models: {a: {api: openai, model: m, key: sk-1}}\n", "key"},
        {"models: {openai.a: {api: openai, model: m}}\n", "models"},
        {"default_students: a\n", "default_students"},
        {"a: b: c\n", "line 1"},
        {"- a\n", "object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config c;
        struct err err = {0};
        write_own(cases[i].text);
        cr_assert_eq(load(&c, &err, NULL, NULL) < 0, 1, "%s", cases[i].text);
        cr_assert_not_null(strstr(err.msg, "config.yaml"), "%s", err.msg);
        cr_assert_not_null(strstr(err.msg, cases[i].says), "%s: %s", cases[i].text,
                           err.msg);
    }
}

Test(config, a_named_file_must_exist_and_flags_must_be_known) {
    struct config c;
    struct err err = {0};
    cr_assert_eq(load(&c, &err, (char[]){"--config"}, (char[]){"none.yaml"}), -ENOENT);
    cr_assert_eq(load(&c, &err, (char[]){"--rot"}, (char[]){"x"}), -EINVAL);
    cr_assert_not_null(strstr(err.msg, "--help"), "%s", err.msg);
    cr_assert_eq(load(&c, &err, (char[]){"stray"}, (char[]){"x"}), -EINVAL);
}
