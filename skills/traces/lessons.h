#pragma once
/* lessons: the lessons of one or more traces, each with the event that it comes from.
 *
 * Deterministic, without a model. Several traces are consolidated: a lesson that occurs
 * twice is one lesson with more evidence, and of a file that several traces wrote the
 * later contents count. All text is redacted, cleaned (text_clean) and bounded; paths
 * beneath the working folder are relative. Its contents are still untrusted. */
#include "skills/traces/trace.h"

struct buf;
struct redaction;

enum evidence_role {
    EVIDENCE_SAID, /* the text or the file itself */
    EVIDENCE_ERROR,
    EVIDENCE_CHANGE,
    EVIDENCE_PROOF, /* the run that no longer failed */
};
const char *evidence_role_name(enum evidence_role role); /* "said", "error" … */
struct evidence {
    uint16_t trace; /* index of the trace */
    uint32_t event; /* the event's number in it */
    enum evidence_role role;
};
struct evidence_list {
    struct evidence *list;
    size_t count;
};

#define LESSON_MAX_LINE 400u    /* bytes of an error, a cause, a correction's piece */
#define LESSON_MAX_CHANGE 1600u /* bytes of one change */
#define LESSON_MAX_CHANGES 4u   /* per fix */

enum lesson_change_kind {
    CHANGE_COMMAND, /* the failed command in a changed form */
    CHANGE_RUN,     /* another command between failure and success */
    CHANGE_EDIT,    /* a file */
};
struct lesson_change {
    enum lesson_change_kind kind;
    char *path; /* EDIT */
    char *from; /* COMMAND: the one that failed */
    char *to; /* COMMAND, RUN: the command that was run; EDIT: lines "-old" and "+new" */
    bool created; /* EDIT: the file did not exist before */
};

/* One lesson of any kind; members that its kind does not use are NULL or 0. */
struct lesson {
    char *key; /* its subject: see the lists below */
    /* fixes */
    char *quote;   /* the error as printed, cut */
    char *context; /* the command that failed */
    unsigned seen; /* how often the failure occurred */
    char *cause;       /* the agent's sentence that explains it, or NULL */
    char *verified_by; /* the command that then succeeded */
    struct lesson_change *changes;
    size_t change_count;
    /* corrections; context: the command that the person corrected, or NULL */
    char *heeded;  /* the word in it that the agent used only from then on */
    char *instead; /* the word that it told the agent not to use, or NULL */
    /* files */
    char *text;
    size_t len;
    bool partial; /* known only from diffs: text is lines "-old" and "+new" */
    bool unsure;  /* something may have changed it in a way that nobody saw */
    bool proven;  /* it is sure, and a run passed since its last change */
    /* links */
    char *why; /* the surrounding words, or NULL */

    struct evidence_list evidence; /* of a fix: failure, then changes, then success */
};
struct lesson_list {
    struct lesson *list;
    size_t count;
};

/* What happened at one step: words, a command and how it ended, an edit. */
struct history_step {
    uint16_t trace;
    uint32_t event, result_event;
    uint8_t weight; /* how much it tells: enum step_weight */
    char *text;     /* in brief */
    char *whole;    /* the same with more of each piece, or NULL: there is no more */
};
struct session_history {
    struct history_step *list;
    size_t count, capacity;
};

struct lessons {
    char *task; /* the first real request, and later restrictions of it; NULL unknown */
    struct evidence_list task_evidence;
    /* A failure and the change that ended it; key: the error line, normalised (no
     * folders, addresses, numbers). Sorted by frequency, then by first occurrence. */
    struct lesson_list fixes;
    /* A person's message that changed what the agent did; key: the message. */
    struct lesson_list corrections;
    /* A check that showed an error, and passed once that was corrected; key: the
     * command. */
    struct lesson_list commands;
    /* A file's final contents; key: its path, relative to the working folder. */
    struct lesson_list files;
    /* A page that was read or named; key: its URL. */
    struct lesson_list links;
    /* A version that a tool printed; key: the line. */
    struct lesson_list limits;
    /* All of it in order, for a teacher that can judge what is a lesson. */
    struct session_history history;
    bool nothing; /* there is no fix and no correction */
};

/* Extracts the lessons of traces about one subject. redaction NULL: the texts are already
 * redacted. Blocking: linear in the kept text, except that each failure is compared with
 * at most LESSONS_REACH later steps. Ends soon if work_is_stopped; the lessons are then
 * incomplete. */
#define LESSONS_REACH 400u
void lessons_extract(struct lessons *ret, const struct trace *traces, size_t count,
                     const struct redaction *redaction);
void lessons_finish(struct lessons *l);

/* "t1 e17" for evidence: 1-based trace. */
#define EVIDENCE_NAME_SIZE 24
void evidence_name(char ret[static EVIDENCE_NAME_SIZE], struct evidence e);
/* Reads that back, the trace 1-based as well; returns its length, 0: no name stands there. */
size_t evidence_read(const char *text, unsigned *trace, unsigned *event);

/* Whether the text has a name of at least four letters that this event of the history, or its result, says. */
bool lessons_history_says(const struct lessons *l, unsigned trace, unsigned event,
                          const char *text);

/* The tokens (tokens.h) that hold all of the history that tells much, with the rest of the
 * digest; from least to most. */
size_t lessons_digest_tokens(const struct lessons *l, size_t least, size_t most);
/* Texts for a teacher, within a budget of tokens: final files 12 %, versions 5 %, all the rest
 * for the history of the sessions, in which what tells least is left out first. Each line has
 * its evidence: "t1 e17". Each of so many parts is wrapped as data between markers that the
 * text itself cannot contain. For a thread: it may take a second. New reference: {"parts":
 * [text], "tokens", "left_out"}. */
json_t *lessons_digest(const struct lessons *l, size_t tokens, size_t parts);
/* For who proves a draft: each event that it cites, whole, with what came right before and
 * after it, and the last events that say what it quotes between backticks; at most so many
 * tokens, in parts of at most part_tokens (0: in one), wrapped as above. For a thread. New
 * reference: an array of texts, empty if the draft cites no event. */
json_t *lessons_review(const struct lessons *l, const char *draft, size_t tokens, size_t part_tokens);
