#pragma once
/* lessons: what one or more traces teach, with the event that each thing came from.
 *
 * Deterministic, no model. Several traces are consolidated: the same lesson seen twice is
 * one with more evidence, contradicting final states are resolved by the later and better
 * verified trace. All text is redacted already. */
#include "skills/traces/trace.h"

struct redaction;

struct evidence {
    uint16_t trace;  /* index of the trace */
    uint32_t event;  /* its number there */
};
struct evidence_list {
    struct evidence *list;
    size_t count;
};

/* A failure and what made it go away. */
struct lesson_fix {
    char *error;    /* the line that says it, normalised (no paths, addresses, numbers) */
    char *quote;    /* as it was, cut */
    char *context;  /* the command or file that failed */
    char *change;   /* what was changed between: command difference or file diff, cut */
    char *change_path; /* the file, or NULL */
    char *verified_by; /* the command that then succeeded */
    unsigned seen;  /* how often the failure occurred */
    struct evidence_list evidence; /* failure first, then change, then success */
};
struct lesson_dead_end { /* never resolved */
    char *error, *context;
    struct evidence_list evidence;
};
struct lesson_correction { /* a person's word against what the agent did */
    char *text;
    char *about; /* the agent's step before it, in short */
    struct evidence_list evidence;
};
struct lesson_command { /* of the recipe that worked, in order */
    char *command;
    bool verifies; /* a test, build or check that passed at the end */
    struct evidence_list evidence;
};
struct lesson_file { /* as it stood at the end */
    char *path; /* relative to the working folder */
    char *text;
    size_t len;
    bool partial; /* known by diffs only */
    struct evidence_list evidence;
};
struct lesson_link {
    char *url, *why; /* the words around it, or NULL */
    struct evidence_list evidence;
};
struct lesson_limit { /* versions, numbers and facts that tools printed and that mattered */
    char *text;
    struct evidence_list evidence;
};

struct lessons {
    char *task; /* the first real request, and how it was narrowed */
    struct evidence_list task_evidence;
    struct lesson_fix *fixes;
    size_t fix_count;
    struct lesson_dead_end *dead_ends;
    size_t dead_end_count;
    struct lesson_correction *corrections;
    size_t correction_count;
    struct lesson_command *commands;
    size_t command_count;
    struct lesson_file *files;
    size_t file_count;
    struct lesson_link *links;
    size_t link_count;
    struct lesson_limit *limits;
    size_t limit_count;
    bool nothing; /* nothing was learnt: no failure, correction, recipe or file */
};

/* From traces of one subject. */
void lessons_extract(struct lessons *ret, const struct trace *traces, size_t count,
                     const struct redaction *redaction);
void lessons_finish(struct lessons *l);
/* For a teacher, within a budget of tokens (tokens.h): errors and fixes 40 %, corrections
 * 20 %, final files 25 %, the rest 15 %; what one share leaves the others may use. Every
 * line ends in its evidence: "[t1 e17]". Wrapped as data between markers that the text
 * itself cannot contain. New reference: {"text", "tokens", "left_out"}. */
json_t *lessons_digest(const struct lessons *l, size_t tokens);
