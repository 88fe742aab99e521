#include "clients/ctl/agent_daemon.h"

#include "base/err.h"
#include "clients/ctl/agent_config.h"
#include "clients/ctl/connection.h"

#include <unistd.h>

const char *agent_daemon_unfit(const char *program) {
    return *program != '/' || access(program, X_OK) < 0
               ? "upskilld was not found beside upskillctl, on PATH or where UPSKILLD "
                 "says"
           : strstr(program, "/archive-v") /* of uvx */
               ? "this upskilld is in uv's cache, which is emptied now and then: uv tool "
                 "install keeps one for agents"
               : NULL;
}

static const char kernel[] = "__global__ void k(float *x) { x[threadIdx.x] *= 2.f; }";

/* A new reference, or NULL after the error was shown. */
static json_t *ask(const struct terminal *t, struct connection *c, const char *method,
                   json_t *params) {
    struct err err = {0};
    json_t *result = NULL;
    autojson *error = NULL;
    int rc = connection_call(c, method, params, &result, &error, &err);
    if (rc != 0) {
        terminal_error(t, "%s: %s", method,
                       rc < 0 ? err.msg : json_get_string(error, "message", "?"));
    }
    return result;
}

static void show_check(const struct terminal *t, const json_t *answer) {
    const json_t *content = json_array_get(json_object_get(answer, "content"), 0);
    const char *text = json_get_string(content, "text", "");
    if (!json_get_bool(answer, "isError", false)) {
        puts("kernel_check compiled a kernel.");
        return;
    }
    printf("kernel_check: %.*s\n", (int)strcspn(text, "\n"), text);
    terminal_hint(t, "upskillctl status shows what is missing and how to get it; agents "
                     "have skills without it");
}

static bool converse(const struct terminal *t, struct connection *c) {
    autojson *hello = ask(t, c, "initialize",
                          json_pack("{s:s,s:{},s:{s:s,s:s}}", "protocolVersion",
                                    "2025-11-25", "capabilities", "clientInfo", "name",
                                    "upskillctl setup", "version", UPSKILLD_VERSION));
    autojson *list = hello ? ask(t, c, "tools/list", json_object()) : NULL;
    if (!list) {
        return false;
    }
    printf("An agent gets %zu tools. ", json_array_size(json_object_get(list, "tools")));
    autojson *answer = ask(t, c, "tools/call",
                           json_pack("{s:s,s:{s:s}}", "name", "kernel_check", "arguments",
                                     "source", kernel));
    if (answer) {
        show_check(t, answer);
    }
    return answer != NULL;
}

#define ENVIRONMENT_MAX 16

/* What an agent that passes nothing on starts it with: what the entry says. Each is freed
 * by the caller. */
static void fill_environment(char **env) {
    const char *home = getenv("HOME");
    int n = 0;
    env[n++] = xasprintf("HOME=%s", home ? home : "/");
    env[n++] = xstrdup("PATH=/usr/local/bin:/usr/bin:/bin");
    for (const char *const *name = agent_config_variables;
         *name && n < ENVIRONMENT_MAX - 1; name++) {
        const char *value = getenv(*name);
        if (value && *value) {
            env[n++] = xasprintf("%s=%s", *name, value);
        }
    }
    env[n] = NULL;
}

bool agent_daemon_verify(const struct terminal *terminal, const char *program) {
    char *env[ENVIRONMENT_MAX];
    fill_environment(env);
    struct connection_options options = {.env = (const char *const *)env};
    struct connection *c = NULL;
    struct err err = {0};
    printf("Starting %s … ", program);
    fflush(stdout);
    bool good = connection_open(&options, &c, &err) == 0;
    if (good) {
        good = converse(terminal, c);
        connection_close(c);
    } else {
        puts("");
        terminal_error(terminal, "%s", err.msg);
    }
    for (char **one = env; *one; one++) {
        free(*one);
    }
    return good;
}
