/* A hostile configuration file, as the user's own and as a project's: it is refused with
 * a sentence, or what it gives is within bounds; a project never names a program to run.
 */
#include "base/err.h"
#include "base/yaml.h"
#include "daemon/config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static void write_file(const char *name, const uint8_t *data, size_t size) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static char folder[] = "/tmp/fuzz-config-XXXXXX";

static void remove_folder(void) {
    rmdir(folder); /* what was in it is gone */
}

/* libFuzzer reads its corpus relative to the folder it was started in: *ret_back. */
static void enter_folder(int *ret_back) {
    static bool made;
    if (!made) {
        made = true;
        check(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
        setenv("XDG_CONFIG_HOME", folder, 1);
        unsetenv("UPSKILLD_CONFIG");
        log_shown = LOG_ERROR;
    }
    *ret_back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check(*ret_back >= 0 && chdir(folder) == 0);
}

static void leave_folder(int back) {
    check(unlink("upskilld.yaml") == 0 && fchdir(back) == 0);
    close(back);
}

static bool load(char *flag, char *value, struct config *config) {
    char program[] = "upskilld";
    char *argv[] = {program, flag, value, NULL};
    enum config_action action;
    struct err err = {0};
    int rc = config_load(config, flag ? 3 : 1, argv, &action, &err);
    check(rc == 0 || (rc < 0 && err.msg[0]));
    return rc == 0;
}

static void check_bounds(const struct config *c) {
    check(c->compile_timeout_s >= 1 && c->compile_timeout_s <= 3600);
    check(c->debounce_ms <= 10000 && c->pool.count <= 32 && c->arch && c->roots[0]);
    for (size_t i = 0; i < c->pool.count; i++) {
        check(c->pool.workers[i].argv[0] && c->pool.workers[i].argv[0][0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config config;
    json_t *value = NULL;
    if (yaml_parse((const char *)data, size, YAML_STRINGS, &value, NULL) == 0) {
        json_decref(value);
    }
    int back;
    enter_folder(&back);
    char flag[] = "--config", own[] = "own.yaml";
    write_file(own, data, size);
    if (load(flag, own, &config)) {
        check_bounds(&config);
        config_finish(&config);
    }
    write_file("upskilld.yaml", data, size);
    if (load(NULL, NULL, &config)) {
        check_bounds(&config);
        check(config.pool.count == 0);
        config_finish(&config);
    }
    leave_folder(back);
    return 0;
}
