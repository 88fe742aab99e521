#pragma once
/* lessons_internal: the parts of lessons_extract, each in a file of its own. */
#include "skills/traces/lessons.h"

struct pattern;
struct words_scan;

/* --- texts (lessons_text.c) --- */

struct lesson_reader {
    const struct redaction *redaction; /* or NULL */
    const char *cwd;                   /* of the trace being read, or NULL */
    struct pattern *error, *weak, *summary, *cue, *intent, *personal;
    struct words_scan *sure; /* of which a line that fits `error` has one */
};
void lesson_reader_init(struct lesson_reader *r, const struct redaction *redaction);
void lesson_reader_finish(struct lesson_reader *r);
/* Redacted, cleaned, paths beneath the working folder relative, other people's homes
 * "~". Never NULL. */
char *lesson_clean(const struct lesson_reader *r, const char *text, size_t len);
/* The text cut to max bytes at a character, blanks trimmed. */
char *lesson_cut(const char *text, size_t len, size_t max);

#define STEP_MAX_ERRORS 3
struct lesson_error {
    char *quote, *normal;
};
/* The lines of an output that say what went wrong, at most STEP_MAX_ERRORS. Only the sure
 * ones unless the command is known to have failed. */
size_t lesson_errors(const struct lesson_reader *r, const char *output, bool failed,
                     struct lesson_error ret[STEP_MAX_ERRORS]);
/* The sentence that best explains something, or NULL. */
char *lesson_cause(const struct lesson_reader *r, const char *text);
/* "I see that …", "we have …": it tells of who works. */
bool lesson_is_personal(const struct lesson_reader *r, const char *text);

/* --- commands (lessons_command.c) --- */

#define COMMAND_MAX_PARTS 8
#define BETWEEN_WORDS "\x1f" /* a cleaned text holds none */
enum command_class {
    COMMAND_PROBE = 1 << 0,  /* only looks or keeps records: ls, cat, git */
    COMMAND_SEARCH = 1 << 1, /* ends non-zero when it finds nothing */
    COMMAND_MASKED = 1 << 2, /* its exit status may hide a failure: a pipe, "|| true" */
    COMMAND_READS = 1 << 3,  /* prints what files say: their errors are not its own */
};
/* A command line without what only looks on: `cd x && make 2>&1 | tail` does "make". */
struct command {
    char *parts[COMMAND_MAX_PARTS]; /* words, BETWEEN_WORDS between them */
    char *keys[COMMAND_MAX_PARTS];  /* "docker build", "nvcc": what each part runs */
    size_t count;
    unsigned classes;
};
void command_read(struct command *ret, const char *text);
void command_finish(struct command *c);
bool command_only_looks(const char *program, size_t len); /* ls, grep, git */
/* The last part of the one that failed, as it stands in the later one, or NULL: word by
 * word; by what it runs alone. */
const char *command_same(const struct command *failed, const struct command *later);
const char *command_like(const struct command *failed, const struct command *later);
/* The part of later that runs the failed part's program by another name or place with the
 * very arguments: python3 for python, `python -m pytest` for pytest. Or NULL. */
const char *command_elsewhere(const struct command *failed, const struct command *later);
/* "source X && export Y=Z && ", of what stands before the line's first command. */
char *command_environment(const char *text);
char *command_part_text(const char *part); /* as it would be typed */
/* A word of it is for people, as the title of an issue, or a program of its own. */
bool command_holds_prose(const struct command *c);
enum command_difference {
    DIFFERENCE_SMALL = 1 << 0,
    DIFFERENCE_OPTION = 1 << 1,
    DIFFERENCE_TARGET = 1 << 2,
};
struct buf;
/* How the later part differs from the failed one; the options of either in gone and
 * added. 0 when it is another thing. */
unsigned command_difference(struct buf *gone, struct buf *added, const char *failed,
                            const char *later, const char *told);
/* `sed -i …`: the file, and lines "-old" and "+new", none where they cannot be told. */
bool command_in_place(const char *text, char **ret_path, char **ret_diff);
/* Without a leading `cd FOLDER &&` of the working folder, heredoc bodies elided. */
char *command_tidy(const char *text);

/* --- steps (lessons_steps.c) --- */

enum step_kind { STEP_RUN, STEP_EDIT, STEP_SAY, STEP_USER, STEP_OTHER };
struct lesson_step {
    enum step_kind kind;
    uint32_t event, result_event;
    char *text; /* RUN: the command; EDIT: contents, diff, or NULL: deleted; else words */
    char *path; /* EDIT */
    char *output; /* RUN, OTHER; or NULL */
    bool is_diff, done, failed, refused;
    struct command command; /* RUN */
    struct lesson_error errors[STEP_MAX_ERRORS];
    size_t error_count;
};
struct steps {
    struct lesson_step *list;
    size_t count, capacity;
    uint16_t trace;
};
void steps_read(struct steps *ret, const struct trace *trace, uint16_t index,
                struct lesson_reader *r);
void steps_finish(struct steps *s);
/* A command that did more than look, and that was let run to its end. */
bool step_is_run(const struct lesson_step *s);

/* --- what is made of them: each appends to l --- */

void lessons_add_evidence(struct evidence_list *list, uint16_t trace, uint32_t event,
                          enum evidence_role role);
/* A new zeroed one at the end. */
struct lesson *lesson_list_add(struct lesson_list *lessons);
/* The first with this key, or NULL. */
struct lesson *lesson_list_find(const struct lesson_list *lessons, const char *key);
/* Takes out those that must go; the list then holds those before it that stay. */
void lesson_list_drop(struct lesson_list *lessons, struct lessons *all,
                      bool (*goes)(struct lessons *all, struct lesson *lesson));
void lesson_finish(struct lesson *lesson);

void lessons_find_fixes(struct lessons *l, const struct steps *s,
                        const struct lesson_reader *r); /* lessons_fixes.c */

/* A failure and where it ended, as places in s. */
struct failure {
    const struct steps *s;
    const struct lesson_error *error;
    size_t last;    /* the last run with this error */
    size_t gone;    /* the first run without it; 0 = none */
    size_t success; /* 0 = none */
    unsigned seen;
};
/* A run of the failed command: the same, or one that differs in options and in words that
 * the failure's output names. */
bool lesson_is_rerun(const struct lesson_step *failed, const struct lesson_step *later);
const char *lesson_failed_part(const struct lesson_step *s);
/* The failed program, run from elsewhere, where the error was that it is not there. */
const char *lesson_elsewhere(const struct lesson_step *failed,
                             const struct lesson_step *later);
/* The failed command as it stands in the later line, or what comes nearest there. */
const char *lesson_rerun_part(const struct lesson_step *failed,
                              const struct lesson_step *later);
/* The command runs a script that the session wrote before. */
bool lesson_runs_own_script(const struct steps *s, const struct lesson_step *run);
bool lesson_has_error(const struct lesson_step *run, const char *normal);
/* An edit that was done, with what is known of it. */
bool lesson_is_edit(const struct lesson_step *s);
/* What the edit at this step changed, lines "-old" and "+new" without context; "" where
 * nobody can tell. */
char *lesson_changed_lines(const struct steps *s, size_t step);
/* A word of `text`, of four letters at least, stands in `told` and not in `known`; of
 * "-lcublas" the beginning of one. "--skip-checks" is not named by "check". */
bool lesson_names(const char *told, const char *text, const char *known);
/* What explains that it is gone: changes and cause of fix. False, when
 * nothing does or too much may (lessons_causes.c). */
bool lesson_explain(struct lesson *fix, const struct failure *f,
                    const struct lesson_reader *r);
void lessons_find_files(struct lessons *l, const struct steps *s); /* lessons_files.c */
/* The lines "-old" and "+new" between two texts (old NULL: a new file), cut. */
char *lesson_diff(const char *old, const char *now, size_t max);
void lessons_find_words(struct lessons *l, const struct steps *s); /* lessons_words.c */
void lessons_find_facts(struct lessons *l, const struct steps *s); /* lessons_facts.c */
/* Sort and join what several traces gave. */
void lessons_consolidate(struct lessons *l); /* lessons_merge.c */
