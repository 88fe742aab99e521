#pragma once
/* trace: an agent's session as one list of events, whichever program recorded it.
 *
 * Formats are recognised by their first lines and read leniently: unknown records and
 * broken lines are counted and skipped, encodings repaired. A trace is read as a stream:
 * the limits below bound the memory for files of any length. Everything in a trace is
 * untrusted text: data, never instructions, and full of secrets until redacted
 * (redaction.h). docs/architecture/traces.md lists the formats and what is read from
 * each. */
#include "base/json.h"

enum trace_event_kind {
    EVENT_USER, /* a person's turn */
    EVENT_SAY,  /* the agent's words */
    EVENT_THINK,
    EVENT_CALL,   /* tool, input; command and argv words if it ran one */
    EVENT_RESULT, /* of the call with the same call id */
    EVENT_EDIT,   /* a file written or changed */
    EVENT_USAGE,
};

/* Texts are clean (text.h): UTF-8, LF, no escapes, no control characters, so that they
 * contain no NUL and are C strings. They are not redacted. Strings are NULL if
 * unknown. */
struct trace_event {
    enum trace_event_kind kind;
    uint32_t number; /* 1-based index in the trace; evidence cites it: "e17" */
    char *call;      /* CALL, RESULT, EDIT: the call's id */
    char *tool;      /* CALL, EDIT: "Bash", "shell", "Edit" …, as the agent named it */
    char *command;   /* CALL: the shell command, without a wrapping bash -lc */
    /* CALL, EDIT: the file that is read or changed, as written in the trace */
    char *path;
    /* USER, SAY, THINK: words; RESULT: output (head and tail if cut); CALL of a command:
     * how it was to be run, "sandbox_permissions=require_escalated"; without a command or
     * edits: the input as compact JSON; EDIT: the new contents or a diff
     * (is_diff); NULL: deleted */
    char *text;
    size_t text_len, text_full; /* bytes kept; and about the original size */
    /* lines that begin with '-', '+' or ' ' in hunks that begin with "@@", followed by
     * line numbers only if the format had them */
    bool is_diff;
    bool has_exit, is_error; /* EDIT: is_error if the agent was told that it failed */
    int exit;
    /* USAGE; input without cached tokens if the format separates them */
    uint64_t input_tokens, output_tokens;
};

struct trace {
    const char *format; /* "claude-code", "codex-rollout" … */
    char *name;         /* the file's base name */
    char *model, *cwd;  /* NULL if unknown */
    struct trace_event *events;
    size_t count;
    uint64_t bytes;
    uint64_t unknown; /* records of unknown kinds */
    /* of these, how many are of another format, which is left out: a session of its own */
    uint64_t others;
    const char *other; /* its name, or NULL */
    uint64_t broken;  /* lines that could not be read */
    uint64_t dropped; /* events over the limits */
    bool truncated;   /* the last line was incomplete: the session is still running */
    char digest[72];  /* "sha256:…" of the file */
};

#define TRACE_MAX_FILE (4ull << 30)
/* The bytes of one record, after its strings were cut to about 640 KiB. */
#define TRACE_MAX_RECORD (8u << 20)
#define TRACE_MAX_LINE (1u << 20) /* of a text that is not JSON; the rest is cut */
/* Bytes kept of one event, head and tail; of the contents of an EDIT. Less in a huge
 * trace. */
#define TRACE_MAX_TEXT (64u << 10)
#define TRACE_MAX_FILE_TEXT (512u << 10)
#define TRACE_MAX_EVENTS 200000u   /* the first and the latest are kept */
#define TRACE_MAX_KEPT (96u << 20) /* bytes of all events */

/* -EINVAL if it is not a text or not a trace, with the next step ("this is opencode's
 * database: run `opencode export`"), -EFBIG, or the file's error; -ECANCELED if
 * work_is_stopped. Blocking: call it from a thread of the pool. */
int trace_read(struct trace *ret, const char *path, struct err *err);
/* The same for a text in memory; name: its name in the trace. */
int trace_read_text(struct trace *ret, const char *name, const char *text, size_t len,
                    struct err *err);
void trace_finish(struct trace *t);
/* The names of all formats except text, "atif, swe-agent, …". Freed by the caller. */
char *trace_formats(void);
/* Whether the path (from realpath) is beneath a folder in which an agent keeps its
 * sessions (trace_sniff.txt). */
bool trace_is_session_folder(const char *path);
