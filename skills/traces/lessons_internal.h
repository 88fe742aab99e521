#pragma once
/* lessons_internal: the parts of lessons_extract, one file each. */
#include "skills/traces/lessons.h"

struct pattern;
struct words_scan;

/* --- texts (lessons_text.c) --- */

struct lesson_reader {
    const struct redaction *redaction; /* or NULL */
    const char *cwd;                   /* of the trace being read, or NULL */
    struct pattern *error, *weak, *summary, *failures, *silencing, *cue, *intent, *vague, *personal, *idle;
    /* a line that matches `error` is certain if it contains one of these words */
    struct words_scan *sure;
};
void lesson_reader_init(struct lesson_reader *r, const struct redaction *redaction);
void lesson_reader_finish(struct lesson_reader *r);
/* The text redacted and cleaned, with paths beneath the working folder relative and other
 * people's home folders "~". Never NULL. */
char *lesson_clean(const struct lesson_reader *r, const char *text, size_t len);
/* The text cut to max bytes at a character boundary, blanks trimmed. */
char *lesson_cut(const char *text, size_t len, size_t max);

#define STEP_MAX_ERRORS 5
struct lesson_error {
    char *quote, *normal;
};
/* The lines of an output that state an error, at most STEP_MAX_ERRORS. Only the certain
 * ones unless the command is known to have failed. */
size_t lesson_errors(const struct lesson_reader *r, const char *output, bool failed,
                     struct lesson_error ret[STEP_MAX_ERRORS]);
/* Whether a line counts what failed: "Tests: 1 failed, 11 passed". */
bool lesson_counts_failures(const struct lesson_reader *r, const char *output);
/* Whether it says more than that a test failed: not "assert 201 == 400". */
bool lesson_is_telling(const char *quote);
bool lesson_is_test_result(const char *quote); /* "FAILED Api > logout", "✗ it adds" */
/* "FAIL tests/a.spec.ts (15.4 s)". */
bool lesson_is_heading(const char *quote);
/* The sentence that best explains something, or NULL. */
char *lesson_cause(const struct lesson_reader *r, const char *text);
/* Whether it is about the speaker: "I see that …", "we have …", "Let me fix …". */
bool lesson_is_personal(const struct lesson_reader *r, const char *text);

/* --- commands (lessons_command.c) --- */

#define COMMAND_MAX_PARTS 8
#define BETWEEN_WORDS "\x1f" /* does not occur in a cleaned text */
enum command_class {
    COMMAND_PROBE = 1 << 0,  /* only reads or keeps records: ls, cat, git */
    COMMAND_SEARCH = 1 << 1, /* its exit status is not 0 if it finds nothing */
    COMMAND_MASKED = 1 << 2, /* its exit status may hide a failure: a pipe, "|| true" */
    /* prints the contents of files: errors in them are not its own */
    COMMAND_READS = 1 << 3,
    COMMAND_ASKS = 1 << 4, /* a probe that runs what it asks: `nvcc --version`, `docker ps` */
};
/* A command line without its auxiliary parts: `cd x && make 2>&1 | tail` runs "make". */
struct command {
    char *parts[COMMAND_MAX_PARTS]; /* words, BETWEEN_WORDS between them */
    char *keys[COMMAND_MAX_PARTS];  /* the program of each part: "docker build", "nvcc" */
    size_t count;
    unsigned classes;
};
void command_read(struct command *ret, const char *text);
void command_finish(struct command *c);
bool command_only_looks(const char *program, size_t len); /* ls, grep, git */
/* The part of `later` that corresponds to the last part of `failed`, or NULL.
 * command_same compares word by word, command_like only the program. */
const char *command_same(const struct command *failed, const struct command *later);
const char *command_like(const struct command *failed, const struct command *later);
/* The part of `later` that runs the failed program under another name or path with the
 * same arguments: python3 for python, `python -m pytest` for pytest. Or NULL. */
const char *command_elsewhere(const struct command *failed, const struct command *later);
/* The settings before the line's first command: "source X && export Y=Z && ". */
char *command_environment(const char *text);
char *command_part_text(const char *part); /* as a person would type it */
#define MAX_LISTED_WORDS 64
/* The words of a part, which they point into. */
struct word_list {
    const char *words[MAX_LISTED_WORDS];
    size_t lens[MAX_LISTED_WORDS], count;
};
void list_words(struct word_list *ret, const char *part);
/* Whether a word of it is prose, such as an issue's title, or a whole program. */
bool command_holds_prose(const struct command *c);
bool command_part_holds_prose(const char *part);
enum command_difference {
    DIFFERENCE_SMALL = 1 << 0,
    DIFFERENCE_OPTION = 1 << 1,
    DIFFERENCE_TARGET = 1 << 2,
};
/* How the later part differs from the failed one, with the removed and added options in
 * gone and added. 0 if it is a different command. */
unsigned command_difference(struct buf *gone, struct buf *added, const char *failed,
                            const char *later, const char *told);
/* `sed -i …`: the file. */
bool command_in_place(const char *text, char **ret_path);
/* Without a leading `cd FOLDER &&` of the working folder, and with heredoc bodies
 * elided. */
char *command_tidy(const char *text);

/* --- steps (lessons_steps.c) --- */

enum step_kind { STEP_RUN, STEP_EDIT, STEP_SAY, STEP_USER, STEP_OTHER };
struct lesson_step {
    enum step_kind kind;
    uint32_t event, result_event;
    /* RUN: the command; EDIT: contents, diff, or NULL: deleted; otherwise the words */
    char *text;
    char *path;   /* EDIT */
    char *output; /* RUN, OTHER; or NULL */
    char *options; /* RUN: how it was to be run; or NULL */
    bool is_diff, done, failed, refused;
    bool stated; /* RUN: the recording states how it ended, and nothing masks it */
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
/* Whether it is a command that does more than read, and that ran to its end. */
bool step_is_run(const struct lesson_step *s);
/* The same, or one that asks a program: what fails for both says why. */
bool step_may_fail(const struct lesson_step *s);

/* Whether the command runs a script that the session wrote earlier. */
bool lesson_runs_own_script(const struct steps *s, const struct lesson_step *run);

/* --- lessons made from steps: each function appends to l --- */

void lessons_add_evidence(struct evidence_list *list, uint16_t trace, uint32_t event,
                          enum evidence_role role);
/* Appends a zeroed lesson. */
struct lesson *lesson_list_add(struct lesson_list *lessons);
/* The first with this key, or NULL. */
struct lesson *lesson_list_find(const struct lesson_list *lessons, const char *key);
/* Removes the lessons for which `goes` returns true; during the call the list holds the
 * earlier ones that are kept. */
void lesson_list_drop(struct lesson_list *lessons, struct lessons *all,
                      bool (*goes)(struct lessons *all, struct lesson *lesson));
void lesson_finish(struct lesson *lesson);

void lessons_find_fixes(struct lessons *l, const struct steps *s,
                        const struct lesson_reader *r); /* lessons_fixes.c */

#define LESSONS_MAX_FIXES 60u
/* The same letters again: lessons_again.c. */
void lessons_find_again(struct lessons *l, const struct steps *s, size_t at);
bool lesson_is_path(const char *word, size_t len);
/* Another command in the place of a failed one that nothing else explains: lessons_usage.c. */
void lessons_find_usage(struct lessons *l, const struct steps *s, size_t at);
/* A part of the line goes on in the background: "&", but neither "&&" nor "2>&1". */
bool lesson_goes_on(const char *text);
/* No filter chooses among the lines of its output but the end or the beginning. */
bool lesson_shows_all(const struct lesson_step *run);
/* Its end, the line gone, cannot be hidden where its beginning was not. */
bool lesson_shows_end(const struct lesson_step *failed, const struct lesson_step *later);

/* What ties a change to an error. */
enum lesson_link {
    LINK_NONE,
    LINK_PLACE, /* the error, or what is near it, names the file; the output the command */
    LINK_NAME,  /* the error says what the change brings or takes away */
};

/* A failure and its end, as indices of steps in s. */
struct failure {
    const struct steps *s;
    const struct lesson_reader *r;
    const struct lesson_error *error;
    size_t first;   /* the run that showed this error */
    size_t last;    /* the last one */
    size_t gone;    /* the first run without it; 0 = none */
    size_t success; /* 0 = none */
    enum lesson_link least; /* what must tie a change to the error */
    unsigned seen;
};
/* A command line's first line, as it was typed and cut: no more than is needed to know it. To be freed. */
char *lesson_shown_command(const char *text);
/* Whether it is a run of the failed command: the same, or one that differs in options and
 * in words that the failure's output names. */
bool lesson_is_rerun(const struct lesson_step *failed, const struct lesson_step *later);
const char *lesson_failed_part(const struct lesson_step *s);
/* The failed program run from another path, if the error was that it was not found. */
const char *lesson_elsewhere(const struct lesson_step *failed,
                             const struct lesson_step *later);
/* The failed command in the later line, or the nearest part of that line. */
const char *lesson_rerun_part(const struct lesson_step *failed,
                              const struct lesson_step *later);
bool lesson_has_error(const struct lesson_step *run, const char *normal);
/* The same, or its output has the very line although nobody took it for an error. */
bool lesson_shows(const struct lesson_step *run, const struct lesson_error *error);
/* Whether it is an edit that succeeded and whose contents are known. */
bool lesson_is_edit(const struct lesson_step *s);
bool lesson_creates(const struct steps *s, const struct lesson_step *edit);
/* The lines changed by the edit of this step, "-old" and "+new" without context; "" if
 * unknown. */
char *lesson_changed_lines(const struct steps *s, size_t step);
/* Whether one of the lines that begin with `mark` is, or is part of, a line of the other
 * text that begins with `other_mark`. Lines under four letters are no sign. */
bool lesson_shares_line(const char *diff, char mark, const char *other, char other_mark);
/* Whether a word of `text`, of at least four letters, occurs in `told` and not in
 * `known`; for "-lcublas" the beginning of a word is enough. "--skip-checks" is not named
 * by "check". */
bool lesson_names(const char *told, const char *text, const char *known);
/* The same, where one name may begin with the other: "zlib1g" and "ZLIB". */
bool lesson_names_any(const char *told, const char *text, const char *known);
/* Whether the text has it between other marks. */
bool lesson_has_word(const char *text, const char *word);
bool lesson_has_name(const char *text); /* a letter, digit or "_" */
/* The names that stand more often among the lines that go, or among those that come. */
char *lesson_differing(const char *diff);
/* told: what is known of the error, its quote first (lessons_links.c). */
enum lesson_link lesson_link(const struct lesson_step *failed, const struct lesson_error *error,
                             const char *told, const char *path, const char *diff);
struct lesson_change *lesson_add_change(struct lesson *fix, enum lesson_change_kind kind);
/* The changes between the failure and its end that are tied to the error. False when there
 * is too much to explain anything. */
bool lesson_add_edits(struct lesson *fix, const struct failure *f);
bool lesson_add_runs(struct lesson *fix, const struct failure *f, const char *told);
/* The one command in between, if it brings or starts something, or the error names it. */
bool lesson_add_only_run(struct lesson *fix, const struct failure *f, const char *told);
/* The part brings something: `pip install httpx`. */
bool lesson_brings(const struct lesson_step *run);
/* Its program brings something and is the failed one, or the error speaks of it. */
bool lesson_suits(const struct failure *f, const char *command);
/* Finds what resolved the failure: changes and cause of fix. False if nothing or too much
 * could have (lessons_causes.c). */
bool lesson_explain(struct lesson *fix, const struct failure *f);
/* Whether its end proves it: what is told is all that was done (lessons_proof.c). */
bool lesson_is_proven(const struct lesson *fix, const struct failure *f);
/* What stands in quotes, a line each (lessons_names.c). */
char *lesson_quoted(const char *text);
/* A line that comes hides an error, or what reports it: it is still there. */
bool lesson_silences(const struct lesson_reader *r, const struct lesson *fix);
bool lesson_is_prose(const char *path); /* a file for people */
bool lesson_is_test(const char *path); /* it states what is demanded */
/* The agent's reason in its last turns before the step, or NULL. */
char *lesson_reason(const struct failure *f, size_t before);
/* The error without words that tie nothing and without the files of its place. */
char *lesson_told(const struct lesson_error *error);
void lessons_find_files(struct lessons *l, const struct steps *s); /* lessons_files.c */
void lessons_find_words(struct lessons *l, const struct steps *s,
                        const struct lesson_reader *r); /* lessons_words.c */
void lessons_find_history(struct lessons *l, const struct steps *s,
                         const struct lesson_reader *r); /* lessons_history.c */
/* How much a step tells. */
enum step_weight { UNTOLD, LOOK, ROUTINE, ASIDE, ATTEMPT, TELLING, ESSENTIAL };
/* Appends as much of the history as `tokens` hold. Returns how many steps are left out. */
size_t lessons_write_history(struct buf *out, const struct session_history *h, size_t tokens);
/* So many parts of the text, each between markers that it cannot contain. New reference. */
json_t *lessons_wrap(const struct buf *text, size_t parts);
/* Appends the text, lines behind the first set in: it cannot look like a step or a title. */
void lessons_add_set_in(struct buf *out, const char *text);
/* The tokens of all steps that tell much. */
size_t lessons_history_needs(const struct session_history *h);
/* Whether the event is one of those that tell most: an edit until a failure ends. */
bool lessons_history_tells(const struct lessons *l, struct evidence e);
void lessons_find_facts(struct lessons *l, const struct steps *s); /* lessons_facts.c */
/* Sorts and joins the lessons of several traces. */
void lessons_consolidate(struct lessons *l); /* lessons_merge.c */
