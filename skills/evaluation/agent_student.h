#pragma once
/* agent_student: a coding agent's command line as a student.
 *
 * Each question gets a fresh home, configuration folder and working directory (the test's
 * context files; in the skill arms also the skill, installed by install.h where that
 * agent looks for skills), an environment reduced to what the program needs (its own key,
 * nothing else), a time limit, and a limit on its output. The program is killed with its
 * process group, and the folders are removed. Known programs are configured to write only
 * in the working directory. Activation (whether the agent opened the skill) is read from
 * its events, because a skill that an agent never opens cannot help it. */
#include "base/json.h"

#include <uv.h>

struct agent_run;
struct skill;
struct test_case;

enum agent_format { AGENT_CLAUDE, AGENT_CODEX, AGENT_OPENCODE, AGENT_TEXT };

struct agent_student {
    char *name;  /* its name in results */
    char *agent; /* a row of agents.h: determines where the skill is installed */
    enum agent_format format;
    char **argv; /* NULL-terminated; the question is sent to standard input */
    char **env;  /* names of variables to pass on; NULL-terminated */
    char **sets; /* "NAME=value", set for it; NULL-terminated */
    char *model; /* or NULL */
    unsigned timeout_ms;
};

#define AGENT_TIMEOUT_MS 600000u
#define AGENT_MAX_OUTPUT (32u << 20)
#define AGENT_MAX_TEXT (4u << 20)

/* {"cli": "claude-code|codex|opencode", "model"?, "timeout_s"?}; in the user's own
 * configuration (trusted) also {"cli": "custom", "agent", "format", …} and "argv", "env".
 * -EINVAL says what is wrong; -EACCES if argv comes from elsewhere. */
int agent_student_read(struct agent_student *ret, const json_t *value, bool trusted,
                       struct err *err);
void agent_student_finish(struct agent_student *a);
bool agent_student_is(const char *cli); /* a known program */

/* Installs the skill where that agent (a row of agents.h) looks beneath root; *ret (freed
 * by the caller) is the path. err holds only the reason. Blocking. */
int agent_install(const struct skill *skill, const char *agent, const char *root,
                  char **ret, struct err *err);

struct agent_answer {
    int failure;            /* 0, or a negative errno, explained in why */
    const char *text;       /* the final answer; NUL-terminated */
    uint64_t input, output; /* tokens; 0 if reported is false */
    bool reported;
    double cost;              /* negative: unknown */
    const char *served_model; /* or "" */
    bool activated;
    const json_t *files; /* from agent_files_read, or NULL */
    double ms;
    const char *why; /* a sentence that includes the program's last output */
};
typedef void agent_done(struct agent_run *run, const struct agent_answer *answer,
                        void *data);

/* skill NULL: the baseline. All arguments are borrowed until done is called, exactly
 * once, from the loop. */
struct agent_run *agent_run_start(uv_loop_t *loop, const struct agent_student *student,
                                  const struct skill *skill, const struct test_case *test,
                                  const char *question, agent_done *done, void *data);
void agent_run_cancel(struct agent_run *run); /* done follows with -ECANCELED */

/* --- the events of the programs, line by line; agent_student_events.c --- */

struct agent_events;
struct agent_events *agent_events_new(enum agent_format format);
void agent_events_free(struct agent_events *e);
void agent_events_add(struct agent_events *e, const char *bytes, size_t len);
/* After the end: text, usage, cost and activation; and failure with why if the program
 * reported a failure or produced nothing usable. Borrowed from e. */
void agent_events_end(struct agent_events *e, struct agent_answer *ret);
