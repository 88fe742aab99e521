#pragma once
/* lessons: what one or more traces teach, with the event that each thing came from.
 *
 * Deterministic, no model. Several traces are consolidated: the same lesson seen twice is
 * one with more evidence, and of a file that several traces left behind the later state
 * counts. All text is redacted, cleaned (text_clean) and bounded; paths beneath the
 * working folder are relative. What stands in it is still somebody else's words. */
#include "skills/traces/trace.h"

struct redaction;

enum evidence_role {
    EVIDENCE_SAID, /* the words or the file themselves */
    EVIDENCE_ERROR,
    EVIDENCE_CHANGE,
    EVIDENCE_PROOF, /* the run that no longer failed */
};
const char *evidence_role_name(enum evidence_role role); /* "said", "error" … */
struct evidence {
    uint16_t trace; /* index of the trace */
    uint32_t event; /* its number there */
    enum evidence_role role;
};
struct evidence_list {
    struct evidence *list;
    size_t count;
};

#define LESSON_MAX_LINE 400u    /* bytes of an error, a cause, a correction's piece */
#define LESSON_MAX_CHANGE 1600u /* bytes of one change */
#define LESSON_MAX_CHANGES 4u   /* of a fix */

enum lesson_change_kind {
    CHANGE_COMMAND, /* the command that failed, written otherwise */
    CHANGE_RUN,     /* another command that was run in between */
    CHANGE_EDIT,    /* a file */
};
struct lesson_change {
    enum lesson_change_kind kind;
    char *path;   /* EDIT */
    char *from;   /* COMMAND: what failed */
    char *to;     /* COMMAND, RUN: what was run; EDIT: lines "-old" and "+new" */
    bool created; /* EDIT: the file was not there before */
};

/* One lesson of any kind; what its kind does not have is NULL or 0. */
struct lesson {
    char *key; /* what it is about: see the lists below */
    /* fixes and dead ends */
    char *quote;   /* the error as it was, cut */
    char *context; /* the command that failed */
    unsigned seen; /* how often the failure occurred */
    /* fixes */
    char *cause;       /* the agent's sentence about it, or NULL */
    char *verified_by; /* the command that then succeeded */
    struct lesson_change *changes;
    size_t change_count;
    /* corrections */
    char *heeded;  /* its word that the agent used from then on, and not before */
    char *instead; /* what it says not to use, or NULL */
    /* files */
    char *text;
    size_t len;
    bool partial; /* known by diffs only: text is lines "-old" and "+new" */
    /* links */
    char *why; /* the words around it, or NULL */

    struct evidence_list evidence; /* of a fix: failure, then changes, then success */
};
struct lesson_list {
    struct lesson *list;
    size_t count;
};

struct lessons {
    char *task; /* the first real request, and how it was narrowed; NULL unknown */
    struct evidence_list task_evidence;
    /* A failure and what made it go away; key: the line that says it, normalised (no
     * folders, addresses, numbers). Most often seen first, then as they came. */
    struct lesson_list fixes;
    /* A failure that was tried at least twice and never resolved; key: as of a fix. For
     * a teacher who can judge it: most are tests that failed before and after. */
    struct lesson_list dead_ends;
    /* A person's words that changed what the agent did; key: the words. */
    struct lesson_list corrections;
    /* A check that showed an error, and passed once that was mended; key: the command. */
    struct lesson_list commands;
    /* A file as it stood at the end; key: its path, relative to the working folder. */
    struct lesson_list files;
    /* A page that was read or named; key: its URL. */
    struct lesson_list links;
    /* A version that a tool printed; key: the line. */
    struct lesson_list limits;
    bool nothing; /* nothing was learnt: no fix and no correction */
};

/* From traces of one subject. redaction NULL: the texts are redacted already. Blocking:
 * linear in the kept text but for the pairing of failures, which looks at most
 * LESSONS_REACH steps ahead. Soon over when work_is_stopped; what was found by then is
 * not whole. */
#define LESSONS_REACH 400u
void lessons_extract(struct lessons *ret, const struct trace *traces, size_t count,
                     const struct redaction *redaction);
void lessons_finish(struct lessons *l);

/* "t1 e17" for evidence: 1-based trace. */
#define EVIDENCE_NAME_SIZE 24
void evidence_name(char ret[static EVIDENCE_NAME_SIZE], struct evidence e);

/* For a teacher, within a budget of tokens (tokens.h): errors and fixes 40 %, corrections
 * 20 %, final files 25 %, the rest 15 %; what one share leaves the others may use. Every
 * line ends in its evidence: "[t1 e17]". Wrapped as data between markers that the text
 * itself cannot contain. New reference: {"text", "tokens", "left_out"}. */
json_t *lessons_digest(const struct lessons *l, size_t tokens);
