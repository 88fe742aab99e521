#pragma once
/* document: kinds of documents that an editor shows and a domain can check.
 *
 * gpu/ and skills/ register kinds; the LSP face turns them into features. The interface
 * is independent of LSP: UTF-8 byte offsets into the text, findings, and Markdown. */
#include "base/json.h"

struct call_origin;
struct document_check;

/* A snapshot; immutable and reference-counted. */
struct document {
    char *uri;
    char *path;     /* absolute file path, or NULL when the URI is not file: */
    char *language; /* the editor's language id */
    int64_t version;
    char *text; /* UTF-8, NUL-terminated */
    size_t len;
    json_t *settings; /* the editor's for this server, or NULL */
    json_t *outcome;  /* of the last operation that a lens of this text started, see
                         operation_outcome; NULL: none since the last edit */
    unsigned refs;
};
struct document *document_ref(struct document *d);
void document_unref(struct document *d);

enum document_depth {
    DOCUMENT_QUICK, /* while typing: the cheapest correct answer */
    DOCUMENT_FULL,  /* on open and save: everything, including facts */
};

/* One check of a document. The kind must answer exactly once, with document_check_done,
 * later and from the loop; also after a cancel. Only the kind interprets the result,
 * which it gets back in hover() and so on. */
struct document_check {
    struct document *document; /* a reference for the check's life */
    enum document_depth depth;
    const struct call_origin *origin;
    json_t *unsaved; /* {absolute path: text} of other open documents that differ from
                        their files; NULL: none */
    void *kind_data; /* the kind's own */
    /* The kind may set it before the answer; it must stay valid until then. Says why no
     * such document can be checked; the editor shows it once per session. */
    const char *notice;
    void (*cancel)(struct document_check *check); /* set by the kind if it can stop */
    void (*done)(struct document_check *check, json_t *findings, json_t *result);
    void *data; /* the face's */
};
/* findings: an array of findings; those about the document itself have document->path or
 * its base name as `file`. Their severity may also be "hint". Both stolen; result may be
 * NULL. NULL findings mean no answer (cancelled): published ones stay. */
void document_check_done(struct document_check *check, json_t *findings, json_t *result);

/* hover, lenses, hints, symbols and completions may run on any thread, several at once;
 * document and result do not change meanwhile. The others run on the loop's thread. */
struct document_kind {
    const char *name;             /* "cuda" */
    const char *const *patterns;  /* base name globs, NULL-terminated: "*.cu" */
    const char *const *languages; /* editor language ids, NULL-terminated */
    void (*check)(struct document_check *check);
    /* Markdown for the place at `offset`, or NULL; [*start, *end) is the described range.
     * result is that of the latest full check, may be NULL or older than the document. */
    char *(*hover)(const struct document *d, const json_t *result, size_t offset,
                   size_t *start, size_t *end);
    /* Array of {"start", "end", "title", "operation"?, "params"?}: byte offsets, a short
     * text, and the operation that a click starts. New reference. */
    json_t *(*lenses)(const struct document *d, const json_t *result);
    /* May be NULL. The params of a lens's operation, completed from the text at the time
     * of the click: a new reference, or NULL to use the lens's own. */
    json_t *(*operation_params)(const struct document *d, const char *operation,
                                const json_t *params);
    /* May be NULL. Called with the operation's answer. Returns findings to show with the
     * check's until the next edit or click, and d->outcome for the lenses: new
     * references, or NULL for none. */
    void (*operation_outcome)(const struct document *d, const char *operation,
                              const json_t *answer, json_t **ret_findings,
                              json_t **ret_outcome);
    /* Array of {"offset", "label", "tooltip"}. */
    json_t *(*hints)(const struct document *d, const json_t *result);
    /* Array of {"name", "detail", "symbol": "function|…", "start", "end", "name_start"?,
     * "name_end"?} in the order of the text: the whole range and the range of the name
     * within it (default: the whole). Ranges within other ranges are their children. */
    json_t *(*symbols)(const struct document *d);
    /* Array of {"label", "detail", "documentation", "text", "start", "end"}. */
    json_t *(*completions)(const struct document *d, size_t offset);
};

struct document_kinds {
    const struct document_kind *const *list; /* NULL-terminated */
};
/* The kind for a path's base name or a language id; NULL when none. */
const struct document_kind *document_kind_find(const struct document_kinds *kinds,
                                               const char *path, const char *language);
