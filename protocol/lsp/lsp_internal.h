#pragma once
/* lsp_internal: what the files of the LSP face share; nobody else includes it.
 *
 * lsp.c              lifecycle, dispatch, watching the editor's process
 * lsp_client.c       what the client can do, and telling it something
 * lsp_position.c     bytes <-> positions
 * lsp_text.c         a text that is edited
 * lsp_document.c     one open document: its text, its path, what fits it
 * lsp_documents.c    opening, edits, closing
 * lsp_diagnostics.c  checks, push and pull
 * lsp_findings.c     findings in LSP's terms
 * lsp_actions.c      fixes as code actions
 * lsp_features.c     hover, lenses, symbols …
 * lsp_questions.c    answers from long texts, on another thread
 * lsp_commands.c     operations as commands
 * lsp_progress.c     work-done progress
 *
 * Everything runs on the loop's thread but what lsp_ask says. */
#include "base/lines.h"
#include "protocol/lsp/lsp.h"

#include <sys/queue.h>

enum lsp_code { /* in addition to those of rpc.h */
                LSP_NOT_INITIALIZED = -32002,
                LSP_CONTENT_MODIFIED = -32801,
                LSP_SERVER_CANCELLED = -32802,
};

/* --- positions --- */

enum lsp_encoding { LSP_UTF16, LSP_UTF8, LSP_UTF32 };
const char *lsp_encoding_name(enum lsp_encoding encoding);

/* A text and its line starts; borrowed. */
struct lsp_view {
    const char *text;
    size_t len;
    const struct lines *lines;
};

/* The byte offset of an LSP position; lines and characters past the end are clamped.
 * False if it is not a position. */
bool lsp_read_position(enum lsp_encoding encoding, const struct lsp_view *view,
                       const json_t *position, size_t *ret);
/* The same for a range; the ends are swapped if necessary. */
bool lsp_read_range(enum lsp_encoding encoding, const struct lsp_view *view,
                    const json_t *range, size_t *ret_start, size_t *ret_end);
json_t *lsp_position(enum lsp_encoding encoding, const struct lsp_view *view,
                     size_t offset);
json_t *lsp_range(enum lsp_encoding encoding, const struct lsp_view *view, size_t start,
                  size_t end);

/* --- text --- */

/* A text that is edited in place. Zeroed is not valid: lsp_text_init first. */
struct lsp_text {
    char *text; /* NUL-terminated */
    size_t len, cap;
    struct lines lines;
    size_t lines_cap;
};
void lsp_text_init(struct lsp_text *t, const char *text, size_t len);
void lsp_text_finish(struct lsp_text *t);
/* Replaces the bytes [start, end). Moves the tail and updates only the affected lines. */
void lsp_text_splice(struct lsp_text *t, size_t start, size_t end, const char *text,
                     size_t len);
struct lsp_view lsp_text_view(const struct lsp_text *t);

/* --- the client --- */

struct lsp_client {
    enum lsp_encoding encoding;
    bool related, code_description, data; /* in diagnostics */
    bool tag_unnecessary, tag_deprecated;
    bool pull;
    bool refresh_diagnostics, refresh_lenses, refresh_hints;
    bool document_changes; /* versioned edits */
    bool action_literals, preferred_actions;
    bool symbol_trees;
    bool markdown_hover, markdown_completion;
    bool progress;      /* supports window/workDoneProgress/create */
    bool watches_files; /* supports registration for workspace/didChangeWatchedFiles */
};
void lsp_client_read(struct lsp_client *client, const json_t *capabilities);

/* --- the face --- */

enum lsp_state { LSP_NEW, LSP_RUNNING, LSP_SHUT_DOWN };

struct lsp_document;
struct lsp_progress;
struct lsp_question;

struct lsp {
    const struct face_host *host;
    struct rpc_peer *peer; /* NULL while the face is being freed: then nothing is sent */
    enum lsp_state state;
    struct lsp_client client;
    json_t *folders;  /* the workspace's, as paths */
    json_t *settings; /* the editor's, or NULL */
    bool noticed;     /* the user has seen why documents are not checked */
    LIST_HEAD(, lsp_document) documents;
    size_t document_count;
    LIST_HEAD(, lsp_command) commands;
    LIST_HEAD(, lsp_progress) progress;
    TAILQ_HEAD(, lsp_question) questions; /* waiting */
    struct lsp_question *answering;       /* the one being answered, or NULL */
    unsigned next_token;
    uint64_t last_result_id; /* never reused, even if a document is opened again */
    uv_timer_t timer;        /* for the earliest due event */
    /* Called when the due time of a document or a progress bar changed. */
    void (*due_changed)(struct lsp *l);
    uv_timer_t parent_timer;
    uv_poll_t parent_poll;
    int parent_fd; /* pidfd, -1 = none */
    int parent_pid;
    unsigned open_handles; /* the struct is freed when the last closes */
};

/* type: 1 error, 2 warning, 3 info. */
void lsp_log(struct lsp *l, int type, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Shows the user why documents are not checked, in a kind's sentence; only once. */
void lsp_notice(struct lsp *l, const char *sentence);
/* Sends a request whose answer is ignored (`workspace/codeLens/refresh`). Steals params;
 * NULL: none. */
void lsp_tell(struct lsp *l, const char *method, json_t *params);

/* --- the workspace --- */

/* Reads the folders and initializationOptions from initialize's params. */
void lsp_workspace_read(struct lsp *l, const json_t *params);
/* Asks the client to report files that others change. */
void lsp_workspace_watch(struct lsp *l);
void lsp_did_change_workspace_folders(struct lsp *l, const json_t *params);
void lsp_did_change_configuration(struct lsp *l, const json_t *params);
void lsp_did_change_watched_files(struct lsp *l, const json_t *params);

/* --- documents --- */

struct lsp_check;

struct lsp_document {
    LIST_ENTRY(lsp_document) link; /* lsp::documents */
    struct lsp *lsp;
    const struct document_kind *kind;
    char *uri, *path, *language; /* path may be NULL */
    int64_t version;
    bool versioned; /* the client sent a version */
    bool unsaved;   /* its text differs from the file on disk */
    bool lost;      /* over a size limit: its text was dropped */
    struct lsp_text text;
    uint64_t revision; /* counts changes; a check's answer must have the same one */
    struct document *snapshot; /* of this revision, created when needed */

    struct lsp_check *check; /* running, for this revision */
    uint64_t due_ms;         /* a quick check starts at this clock_ms(); 0 = none */
    TAILQ_HEAD(, lsp_waiter) waiters;

    json_t *checked;  /* the last check's findings, NULL before the first answer */
    json_t *answered; /* those of an operation that a lens started, or NULL */
    json_t *outcome;  /* struct document's */
    json_t *findings; /* both lists, for judged_revision; NULL before the first answer */
    json_t *diagnostics; /* the same as LSP diagnostics */
    uint64_t judged_revision;
    uint64_t result_id; /* changes with the diagnostics */
    json_t *result;     /* the latest full check's */
};

struct lsp_document *lsp_document_find(struct lsp *l, const char *uri);
struct lsp_document *lsp_document_find_path(struct lsp *l, const char *path);
struct document *lsp_document_snapshot(struct lsp_document *d); /* borrowed */
void lsp_snapshot_drop(struct lsp_document *d);     /* call it before its text changes */
const char *lsp_document_uri(const json_t *params); /* NULL if there is none */
struct lsp_view lsp_document_view(const struct lsp_document *d);
/* Sets the outcome of a lens's operation on this text, for the lenses (stolen; NULL:
 * none). */
void lsp_document_set_outcome(struct lsp_document *d, json_t *outcome);
/* Whether the findings are those of the current text. */
bool lsp_document_judged(const struct lsp_document *d);
/* The document of a request. NULL: the request has been answered (bad params, or not one
 * of our documents). */
struct lsp_document *lsp_request_document(struct lsp *l, struct rpc_call *call);

void lsp_did_open(struct lsp *l, const json_t *params);
void lsp_did_change(struct lsp *l, const json_t *params);
void lsp_did_save(struct lsp *l, const json_t *params);
void lsp_did_close(struct lsp *l, const json_t *params);
/* Frees all documents. drop: waiting requests get no answer. */
void lsp_documents_free(struct lsp *l, bool drop);

/* --- checks and diagnostics --- */

void lsp_check_start(struct lsp_document *d, enum document_depth depth);
/* Checks the other open documents that may include the changed one. */
void lsp_check_dependents(const struct lsp_document *changed);
/* Stops a running or due check; its answer is dropped. */
void lsp_check_stop(struct lsp_document *d);
/* The text changed: stops the check, refuses waiting requests, schedules a new check. */
void lsp_document_changed(struct lsp_document *d);
/* The findings and outcome of a lens's operation on the current text; both stolen, NULL:
 * none. */
void lsp_document_answered(struct lsp_document *d, json_t *findings, json_t *outcome);
/* Its text was dropped; the user sees `why` instead of findings. */
void lsp_document_lost(struct lsp_document *d, const char *why);
uint64_t lsp_documents_due(const struct lsp *l); /* clock_ms(); 0 = nothing */
void lsp_documents_tick(struct lsp *l, uint64_t now);
void lsp_publish(struct lsp_document *d, json_t *diagnostics);
void lsp_pull(struct lsp *l, struct rpc_call *call);

/* Holds a request until the running or due check has ended; then `answer` answers it. If
 * an edit comes first, it is refused with -32801 (a pull: -32802); if the client cancels
 * it, with -32800. */
typedef void lsp_answer(struct lsp_document *d, struct rpc_call *call);
void lsp_wait(struct lsp_document *d, struct rpc_call *call, lsp_answer *answer);
/* drop: without an answer (the connection is ending). */
void lsp_waiters_end(struct lsp_document *d, bool drop);

/* --- findings --- */

/* Whether the document refers to the file, or a finding is in it. */
bool lsp_document_refers(const struct lsp_document *d, const char *path);
bool lsp_finding_is_own(const struct lsp_document *d, const json_t *finding);

/* The bytes of a finding in the document; the first line if it is in another file. */
void lsp_finding_span(const struct lsp_document *d, const json_t *finding,
                      size_t *ret_start, size_t *ret_end);
json_t *lsp_diagnostics(struct lsp_document *d, const json_t *findings);
/* A WorkspaceEdit from the edits of fixes (an array of arrays of edits), or NULL if one
 * is in a file that cannot be read. */
json_t *lsp_workspace_edit(struct lsp_document *d, const json_t *edit_lists);
/* The bytes that an edit replaces in the document itself. */
void lsp_edit_span(const struct lsp_view *view, const json_t *edit, size_t *ret_start,
                   size_t *ret_end);

/* --- questions --- */

/* The input of an answer, unchanged while it is computed. */
struct lsp_subject {
    const struct lsp_client *client;
    const struct document_kind *kind;
    struct document *document;
    struct lsp_view view; /* of its text */
    json_t *result;       /* the latest full check's, or NULL */
    size_t start, end; /* the range of the question; for a position both are its offset */
};
/* Returns a new reference; NULL: null. Runs on any thread, and so do a kind's hover,
 * lenses, hints, symbols and completions. */
typedef json_t *lsp_make(const struct lsp_subject *s);
/* Ends the request with make's result for the current document. For a long text, make
 * runs on one of libuv's threads, one question at a time. If an edit comes first, a
 * waiting question is refused with -32801; one that is being answered still gets its
 * answer. If cancelled, both answer -32800 at once. */
void lsp_ask(struct lsp_document *d, struct rpc_call *call, size_t start, size_t end,
             lsp_make *make);
/* Refuses the waiting questions. drop: without an answer (the connection is ending). */
void lsp_questions_end(struct lsp_document *d, bool drop);
/* Call it after all documents are freed. The loop stays alive until the thread is
 * done. */
void lsp_questions_free(struct lsp *l);

/* --- features --- */

/* Hovers, lenses, symbols, completions and hints of a kind of documents. False: another
 * request. */
bool lsp_feature(struct lsp *l, struct rpc_call *call);
/* Adds their members to initialize's answer. */
void lsp_add_features(const struct lsp *l, json_t *capabilities);
void lsp_code_action(struct lsp *l, struct rpc_call *call);

void lsp_execute_command(struct lsp *l, struct rpc_call *call);
json_t *lsp_command_names(const struct lsp *l);
/* The command of a kind's lens as LSP's Command; NULL if the client cannot run it. */
json_t *lsp_lens_command(const struct lsp_subject *s, const json_t *lens);
/* The document is being freed: results of its running commands are dropped. */
void lsp_commands_forget(struct lsp *l, const struct lsp_document *d);
/* Stops all commands, except those that became jobs. drop: without an answer. */
void lsp_commands_stop(struct lsp *l, bool drop);

/* --- progress --- */

/* Shows progress under the client's token, or, if there is none and the client supports
 * it, under one of ours after delay_ms. Returns NULL if the client cannot show any.
 * `cancel` (may be NULL) is called when the user stops it; the progress must still be
 * ended. */
struct lsp_progress_options {
    const json_t *token; /* the client's, or NULL */
    unsigned delay_ms;
    const char *title; /* copied */
    bool percent;      /* percentages will be reported */
    void (*cancel)(void *data);
    void *data;
};
struct lsp_progress *lsp_progress_start(struct lsp *l,
                                        const struct lsp_progress_options *options);
void lsp_progress_report(struct lsp_progress *p, double done, double total,
                         const char *message);
void lsp_progress_end(struct lsp_progress *p); /* frees; NULL is a no-op */
void lsp_progress_cancelled(struct lsp *l, const json_t *token);
uint64_t lsp_progress_due(const struct lsp *l);
void lsp_progress_tick(struct lsp *l, uint64_t now);
void lsp_progress_free(struct lsp *l); /* frees all without sending anything */
