#pragma once
/* trace: what an agent did, as one list of events, whatever program wrote it down.
 *
 * Formats are told apart by their first lines and read leniently: unknown records are
 * counted and skipped, broken lines too, encodings repaired. A trace is read as a stream:
 * memory is bounded by the limits below however long the file is. Everything in a trace
 * is somebody else's text: data, never instructions, and full of secrets until redacted
 * (redaction.h). docs/architecture/traces.md lists the formats and what is taken of each.
 */
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum trace_event_kind {
    EVENT_USER, /* a person's turn */
    EVENT_SAY,  /* the agent's words */
    EVENT_THINK,
    EVENT_CALL,   /* tool, input; command and argv words when it ran one */
    EVENT_RESULT, /* of the call with the same call id */
    EVENT_EDIT,   /* a file written or changed */
    EVENT_USAGE,
};

/* Texts are clean (text.h): UTF-8, LF, no escapes, no control characters, so that they
 * hold no NUL and are C strings. They are not redacted. Strings are NULL where unknown.
 */
struct trace_event {
    enum trace_event_kind kind;
    uint32_t number; /* 1-based place in the trace; what evidence cites: "e17" */
    char *call;      /* CALL, RESULT, EDIT: the call's id */
    char *tool;      /* CALL, EDIT: "Bash", "shell", "Edit" …, as the agent named it */
    char *command;   /* CALL: the shell command that ran, unwrapped of bash -lc */
    char *path;      /* CALL, EDIT: the file that is read or changed, as it was written */
    char *text;      /* USER, SAY, THINK: words; RESULT: output (head and tail when cut);
                        CALL without a command or edits: the input as compact JSON;
                        EDIT: the new contents or a diff (is_diff); NULL: deleted */
    size_t text_len, text_full; /* kept; and about as it was */
    bool is_diff; /* lines that begin with '-', '+' or ' ' in hunks that begin with "@@",
                     with line numbers behind it only where the format had them */
    bool has_exit, is_error; /* EDIT: is_error when the agent was told that it failed */
    int exit;
    uint64_t input_tokens, output_tokens; /* USAGE; input without what a cache gave where
                                             the format tells them apart */
};

struct trace {
    const char *format; /* "claude-code", "codex-rollout" … */
    char *name;         /* the file's base name */
    char *model, *cwd;  /* where known, or NULL */
    struct trace_event *events;
    size_t count;
    uint64_t bytes;
    uint64_t unknown; /* records of kinds not known */
    uint64_t broken;  /* lines that could not be read */
    uint64_t dropped; /* events over the limits */
    bool truncated;   /* the last line was incomplete: a live session */
    char digest[72];  /* "sha256:…" of the file */
};

#define TRACE_MAX_FILE (4ull << 30)
#define TRACE_MAX_RECORD (8u << 20) /* of one record, its strings cut to some 640 KiB */
#define TRACE_MAX_LINE (1u << 20)   /* of a text that is not JSON; the rest is cut */
/* Kept of one event, head and tail; of the contents of an EDIT. Less in a huge trace. */
#define TRACE_MAX_TEXT (64u << 10)
#define TRACE_MAX_FILE_TEXT (512u << 10)
#define TRACE_MAX_EVENTS 200000u   /* the first and the latest ones */
#define TRACE_MAX_KEPT (96u << 20) /* bytes of all events */

/* -EINVAL for what is no text and no trace, with what to do ("this is opencode's
 * database: run `opencode export`"), -EFBIG, or the file's error; -ECANCELED when
 * work_is_stopped. Blocking: call from a thread of the pool. */
int trace_read(struct trace *ret, const char *path, struct err *err);
/* The same of a text in memory (name: what it is called). */
int trace_read_text(struct trace *ret, const char *name, const char *text, size_t len,
                    struct err *err);
void trace_finish(struct trace *t);
/* The names of all formats but text, "atif, swe-agent, …". Freed by the caller. */
char *trace_formats(void);
/* Whether the path, which realpath gave, is beneath a folder where an agent keeps its
 * sessions (trace_sniff.txt). */
bool trace_is_session_folder(const char *path);
