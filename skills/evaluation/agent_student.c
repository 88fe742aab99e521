#include "skills/evaluation/agent_student.h"

#include "base/find.h"
#include "skills/evaluation/agent_files.h"

#include "base/buf.h"
#include "base/child.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/grading/suite.h"
#include "skills/install/agents.h"
#include "skills/install/install.h"

#define LEAST_KEY 8 /* bytes; shorter values are words */
/* Bytes of standard error that an error quotes, and that are kept until then. More are
 * kept, so that a key is removed whole before the text is cut. */
#define LAST_WORDS 200u
#define KEPT_WORDS 2048u
#define LIST_MAX 64            /* items of a list in the configuration */
#define ENV_MAX (2 * LIST_MAX) /* those, and the variables that every program gets */

/* --- which program --- */

/* The programs that we know, by their `cli`: argv, where "{model}" stands for the model
 * and its flag goes with it; env, what they need beside PATH, LANG, TZ and the
 * certificates; sets, "NAME=value" of their environment.
 *
 * What an agent does here comes from a test and a skill, which are others' texts, and its
 * working folder may hold configuration of theirs. So each is held by limits of its own
 * that such files cannot lift: it writes in its working folder alone, and commands run in
 * a sandbox or not at all. Hooks and commands that a skill has run before any model sees
 * it are commands too. */
#include "skills/agent_programs.h"

static bool is_word_list(const json_t *list, size_t least) {
    return !json_any(list, one,
                     !json_is_string(one) || strlen(json_string_value(one)) == 0) &&
           json_is_array(list) && json_array_size(list) >= least &&
           json_array_size(list) <= LIST_MAX;
}

/* Puts the model in its place, or takes its flag away when there is none. */
static void set_model(char **argv, const char *model) {
    size_t at = 0, count = 0;
    for (; argv[count]; count++) {
        at = strcmp(argv[count], "{model}") == 0 ? count : at;
    }
    if (!at) {
        return;
    }
    free(argv[at]);
    if (model) {
        argv[at] = xstrdup(model);
    } else {
        free(argv[at - 1]);
        memmove(&argv[at - 1], &argv[at + 1], (count - at) * sizeof *argv);
    }
}

static int format_of(const char *word) {
    static const char *const names[] = {"claude-code", "codex", "opencode", "text"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(word, names[i]) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Of the programs that we know: new, NULL for another. */
static json_t *find_program(const char *cli) {
    autojson *all = json_loads(programs, 0, NULL);
    return json_incref(json_object_get(all, cli));
}

bool agent_student_is(const char *cli) {
    autojson *program = find_program(cli);
    return program;
}

static int check(const json_t *value, bool trusted, struct err *err) {
    const json_t *argv = json_object_get(value, "argv"),
                 *env = json_object_get(value, "env");
    const char *cli = json_get_string(value, "cli", "");
    if ((argv || env || strcmp(cli, "custom") == 0) && !trusted) {
        return err_set(
            err, -EACCES,
            "a request may not say which program is run: put argv and env under "
            "students in your configuration and name it");
    }
    if (!agent_student_is(cli) && strcmp(cli, "custom") != 0) {
        return err_set(err, -EINVAL, "\"cli\" is claude-code, codex, opencode or custom");
    }
    if ((argv && !is_word_list(argv, 1)) || (env && !is_word_list(env, 0))) {
        return err_set(err, -EINVAL, "\"argv\" and \"env\" are lists of texts");
    }
    if (strcmp(cli, "custom") == 0 &&
        (!argv || format_of(json_get_string(value, "format", "text")) < 0)) {
        return err_set(err, -EINVAL,
                       "a custom agent needs \"argv\", and \"format\" is claude-code, "
                       "codex, opencode or text");
    }
    return 0;
}

int agent_student_read(struct agent_student *ret, const json_t *value, bool trusted,
                       struct err *err) {
    int rc = check(value, trusted, err);
    if (rc < 0) {
        return rc;
    }
    const char *cli = json_get_string(value, "cli", "");
    const char *model = json_get_string(value, "model", NULL);
    const char *format = json_get_string(value, "format", "text");
    autojson *p = find_program(cli);
    const json_t *argv = json_object_get(value, "argv"),
                 *env = json_object_get(value, "env");
    json_int_t seconds = json_get_integer(value, "timeout_s", AGENT_TIMEOUT_MS / 1000);
    *ret = (struct agent_student){
        .name = model ? xasprintf("%s:%s", cli, model) : xstrdup(cli),
        .agent = xstrdup(json_get_string(value, "agent", p ? cli : "universal")),
        .format = (enum agent_format)format_of(p ? cli : format),
        .argv = strings_from(argv ? argv : json_object_get(p, "argv")),
        .env = strings_from(env ? env : json_object_get(p, "env")),
        .sets = strings_from(json_object_get(p, "sets")),
        .model = model ? xstrdup(model) : NULL,
        .timeout_ms =
            seconds > 0 && seconds <= 7200 ? (unsigned)seconds * 1000 : AGENT_TIMEOUT_MS,
    };
    set_model(ret->argv, model);
    return 0;
}

void agent_student_finish(struct agent_student *a) {
    strings_free(a->argv);
    strings_free(a->env);
    strings_free(a->sets);
    free(a->name);
    free(a->agent);
    free(a->model);
    *a = (struct agent_student){0};
}

/* --- one run --- */

struct agent_run {
    uv_loop_t *loop;
    const struct agent_student *student;
    const struct skill *skill;
    const struct test_case *test;
    char *question;
    agent_done *done;
    void *data;
    char *folder; /* holds home/, work/ and tmp/ */
    struct child *child;
    struct agent_events *events;
    char *skill_path; /* where the skill was installed, or NULL */
    json_t *files;    /* that it left */
    struct buf last;  /* of standard error */
    struct child_end child_end;
    bool cancelled, ran;
    int rc;
    struct err err;
};

/* --- its folders (another thread) --- */

int agent_install(const struct skill *skill, const char *agent, const char *root,
                  char **ret, struct err *err) {
    const char *const names[] = {agent, NULL};
    struct agents agents;
    agents_builtin(&agents);
    struct install_request request = {.skill = skill,
                                      .agents = names,
                                      .scope = "project",
                                      .root = root,
                                      .source = "evaluation",
                                      .force = true};
    bool known = agents_find(&agents, agent) != NULL;
    autojson *results = known ? install_skill(&agents, &request) : NULL;
    agents_finish(&agents);
    const json_t *one = json_array_get(results, 0);
    if (!json_says(one, "outcome", "installed")) {
        return err_set(err, -EIO, "%.200s",
                       json_get_string(one, "reason", "no such agent"));
    }
    *ret = xstrdup(json_get_string(one, "path", ""));
    return 0;
}

static int make_folders(struct agent_run *run, struct err *err) {
    static const char *const parts[] = {"home", "work", "tmp"};
    run->folder = dir_make_temporary("agent", err);
    int rc = run->folder ? 0 : err->code;
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(parts); i++) {
        autofree char *path = path_join(run->folder, parts[i]);
        rc = dir_make(path, 0700, err);
    }
    if (rc < 0) {
        return rc;
    }
    autofree char *work = path_join(run->folder, "work");
    struct root root = {.fd = -1};
    rc = root_open(&root, work, err);
    rc = rc < 0 ? rc : test_case_write(run->test, &root, err);
    root_close(&root);
    if (rc < 0 || !run->skill) {
        return rc;
    }
    rc = agent_install(run->skill, run->student->agent, work, &run->skill_path, err);
    return rc < 0 ? err_wrap(err, "the skill cannot be installed for %.64s",
                             run->student->agent)
                  : 0;
}

static void prepare_work(void *data) {
    struct agent_run *run = data;
    run->rc = make_folders(run, &run->err);
}

static void clean_work(void *data) {
    struct agent_run *run = data;
    if (run->folder) {
        autofree char *work = path_join(run->folder, "work");
        run->files = run->ran ? agent_files_read(work, run->skill_path) : NULL;
        dir_remove(run->folder, NULL);
    }
}

/* --- the end --- */

/* Keys that the program was given and prints: its answers go into records. */
static char *without_keys(const struct agent_run *run, const char *text) {
    char *copy = xstrdup(text);
    for (char **name = run->student->env; *name; name++) {
        const char *key = getenv(*name);
        size_t len = key ? strlen(key) : 0, end = strlen(*name);
        if (len < LEAST_KEY || (end > 4 && strcmp(*name + end - 4, "_URL") == 0)) {
            continue;
        }
        for (char *at = copy; (at = strstr(at, key)); at += len) {
            memset(at, '*', len);
        }
    }
    return copy;
}

static void say_end(const struct agent_run *run, struct agent_answer *a,
                    struct buf *why) {
    const struct child_end *end = &run->child_end;
    buf_addf(why, "%s ", run->student->name);
    if (end->failure == -ETIMEDOUT) {
        buf_addf(why, "took longer than %u s", run->student->timeout_ms / 1000);
    } else if (end->failure == -EMSGSIZE) {
        buf_addf(why, "printed more than %u MiB", AGENT_MAX_OUTPUT >> 20);
    } else if (end->term_signal) {
        buf_addf(why, "was ended by signal %d", end->term_signal);
    } else if (end->exit_status != 0) {
        buf_addf(why, "ended with status %d", end->exit_status);
    } else {
        buf_addf(why, "failed");
    }
    buf_addf(why, ": %s", a->why);
    if (run->last.len) {
        autofree char *said = without_keys(run, run->last.data);
        size_t len = strlen(said), from = len > LAST_WORDS ? len - LAST_WORDS : 0;
        buf_adds(why, "; it said: ");
        text_clean(why, said + from, len - from);
    }
}

static void tell(struct agent_run *run) {
    struct agent_answer a;
    autobuf why = BUF_INIT(2048);
    agent_events_end(run->events, &a);
    autofree char *text = without_keys(run, a.text);
    a.text = text;
    a.files = run->files;
    a.ms = (double)run->child_end.wall_us / 1000;
    if (run->cancelled) {
        a.failure = -ECANCELED;
    } else if (!run->ran) {
        a.failure = run->rc;
        a.why = run->err.msg;
    } else if (run->child_end.failure || run->child_end.term_signal ||
               run->child_end.exit_status != 0 || a.failure) {
        a.failure = run->child_end.failure ? run->child_end.failure : -EIO;
        say_end(run, &a, &why);
        a.why = why.data;
    }
    autofree char *said = without_keys(run, a.why);
    a.why = said;
    run->done(run, &a, run->data);
}

static void clean_done(void *data) {
    struct agent_run *run = data;
    tell(run);
    agent_events_free(run->events);
    buf_finish(&run->last);
    free(run->question);
    json_decref(run->files);
    free(run->skill_path);
    free(run->folder);
    free(run);
}

static void finish(struct agent_run *run) {
    work_start(run->loop, clean_work, clean_done, run);
}

/* --- the program --- */

static void on_out(struct child *, const char *bytes, size_t len, void *data) {
    struct agent_run *run = data;
    agent_events_add(run->events, bytes, len);
}

static void on_error(struct child *, const char *bytes, size_t len, void *data) {
    struct agent_run *run = data;
    if (len > KEPT_WORDS) {
        bytes += len - KEPT_WORDS;
        len = KEPT_WORDS;
    }
    if (run->last.len + len > KEPT_WORDS) {
        buf_consume(&run->last, run->last.len + len - KEPT_WORDS);
    }
    buf_add(&run->last, bytes, len);
}

static void on_end(struct child *, const struct child_end *end, void *data) {
    struct agent_run *run = data;
    run->child = NULL;
    run->child_end = *end;
    finish(run);
}

/* Everything that a program keeps for a user leads into the fresh home. */
static char **make_env(const struct agent_run *run) {
    autojson *ours = json_loads(environment, 0, NULL);
    json_t *homes = json_object_get(ours, "homes");
    autoptr(strings_free) char **own = strings_from(json_object_get(ours, "own"));
    char *const *const kept[] = {own, run->student->env};
    size_t count = 0;
    char **env = xcalloc(ENV_MAX + 1, sizeof *env);
    json_each_member(homes, name, place) {
        env[count++] = xasprintf("%s=%s/%s", name, run->folder, json_string_value(place));
    }
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        for (char *const *name = kept[i]; *name; name++) {
            const char *value = getenv(*name);
            if (value) {
                env[count++] = xasprintf("%s=%s", *name, value);
            }
        }
    }
    for (char **entry = run->student->sets; *entry; entry++) {
        env[count++] = xstrdup(*entry);
    }
    return env;
}

static int start_program(struct agent_run *run) {
    autoptr(strings_free) char **env = make_env(run);
    autofree char *cwd = path_join(run->folder, "work"),
                  *codex = path_join(run->folder, "home/.codex");
    dir_make(codex, 0700, NULL); /* codex does not start without it */
    struct child_options options = {
        .argv = (const char *const *)run->student->argv,
        .env = (const char *const *)env,
        .cwd = cwd,
        .timeout_ms = run->student->timeout_ms,
        .max_output = AGENT_MAX_OUTPUT,
        .want_stdin = true,
        .out = on_out,
        .error = on_error,
        .end = on_end,
        .data = run,
    };
    int rc = child_start(run->loop, &options, &run->child, &run->err);
    if (rc == 0) {
        run->ran = true;
        child_write(run->child, run->question, strlen(run->question));
        child_close_stdin(run->child);
    } else {
        err_set(&run->err, rc, "%.100s cannot be started: %s", run->student->argv[0],
                strerror(-rc));
    }
    return rc;
}

static void prepare_done(void *data) {
    struct agent_run *run = data;
    if (run->rc == 0 && !run->cancelled) {
        run->rc = start_program(run);
    }
    if (!run->child) {
        finish(run);
    }
}

struct agent_run *agent_run_start(uv_loop_t *loop, const struct agent_student *student,
                                  const struct skill *skill, const struct test_case *test,
                                  const char *question, agent_done *done, void *data) {
    struct agent_run *run = xcalloc(1, sizeof *run);
    *run = (struct agent_run){.loop = loop,
                              .student = student,
                              .skill = skill,
                              .test = test,
                              .question = xstrdup(question),
                              .done = done,
                              .data = data,
                              .events = agent_events_new(student->format),
                              .last = BUF_INIT(2 * KEPT_WORDS)};
    work_start(loop, prepare_work, prepare_done, run);
    return run;
}

void agent_run_cancel(struct agent_run *run) {
    run->cancelled = true;
    if (run->child) {
        child_cancel(run->child); /* no grace: its group is killed */
    }
}
