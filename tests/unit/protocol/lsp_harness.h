#pragma once
/* lsp_harness: an editor in memory, a kind of documents whose checks the test controls,
 * and operations that take as long as the test says.
 *
 * The fake kind ("*.fake", language "fake") finds every "BAD" in a text; what it finds
 * can be told otherwise with `findings`. Messages are framed and read here by hand, so
 * that the bytes on the wire are looked at by other code than the one under test. */
#include "protocol/lsp/lsp.h"

#define URI "file:///desk/a.fake"

struct harness {
    uv_loop_t loop;
    struct rpc_peer *peer;
    struct lsp *lsp;
    struct face_host host;
    struct face_settings settings;
    struct face_tables tables;
    struct call_origin origin;
    struct operation_table *operations;
    json_t *sent;    /* every message of the server, in order */
    size_t answered; /* of sent */
    int next_id;
    int quits, quit_code;
    json_t *roots;   /* told by set_roots */
    char client[64]; /* "name version" by set_client */
    bool refuse_progress;
    bool mute; /* answers nothing until it is false again */
    /* after every publishDiagnostics */
    void (*published)(struct harness *h, const json_t *params);
    void *data;
};

/* What the fake kind does, and what it saw. */
struct fake {
    unsigned delay_ms;  /* until a check answers; MANUAL = the test answers */
    bool stubborn;      /* a cancelled check answers with findings all the same */
    bool uncancellable; /* sets no cancel function */
    json_t *findings;   /* said instead of the BADs, or NULL */
    json_t *result;     /* of full checks, or NULL for {"length": n} */
    json_t *symbols;    /* said instead of the whole text, or NULL */
    int quick, full, cancelled, running;
    struct document *seen; /* by the latest hover; a reference */
    size_t offset;
    int operations;             /* running */
    struct call *asking;        /* the latest that asked for input; a reference */
    uv_sem_t *gate;             /* symbols wait for it, once each; NULL: they do not */
    uv_thread_t symbols_thread; /* of the latest symbols */
};
#define MANUAL 0xFFFFFFu
extern struct fake fake;
extern const struct document_kind fake_kind;
/* Answer the oldest running check now. */
void fake_answer(void);

/* JSON written with ' for ", printf-formatted. */
json_t *J(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void harness_start(struct harness *h);
/* Frees everything; the loop must close. */
void harness_end(struct harness *h);
/* initialize with these capabilities (stolen; NULL = {}); returns the result, borrowed.
 */
json_t *harness_initialize(struct harness *h, json_t *capabilities);

/* params are stolen. */
int harness_send(struct harness *h, const char *method, json_t *params); /* its id */
void harness_notify(struct harness *h, const char *method, json_t *params);
/* The response's message, borrowed; runs the loop until it is there (NULL after 5 s). */
json_t *harness_response(struct harness *h, int id);
json_t *harness_request(struct harness *h, const char *method, json_t *params);
json_t *harness_result(struct harness *h, const char *method, json_t *params);
int harness_error_code(const json_t *response); /* 0 = no error */
/* The nth (from 0) request or notification of that name; waits for it. */
json_t *harness_message(struct harness *h, const char *method, size_t n);
size_t harness_count(const struct harness *h, const char *method);
size_t harness_responses(const struct harness *h, int id);
void harness_run(struct harness *h, unsigned ms);

void harness_open(struct harness *h, const char *uri, int version, const char *text);
/* One change: lines and characters, and the new text. */
void harness_edit(struct harness *h, const char *uri, int version, int line,
                  int character, int end_line, int end_character, const char *text);
json_t *harness_document(const char *uri); /* {"textDocument": {"uri"}} */

/* Criterion compares plain char pointers. */
char *string_of(const json_t *obj, const char *key, const char *fallback);
/* That a value is what J() makes of the other arguments. */
#define expect_json(actual, ...)                                                         \
    do {                                                                                 \
        json_t *want_ = J(__VA_ARGS__);                                                  \
        char *said_ = json_dumps(actual, JSON_COMPACT | JSON_ENCODE_ANY);                \
        cr_expect(eq(int, json_equal(actual, want_), 1), "got %s", said_);               \
        free(said_);                                                                     \
        json_decref(want_);                                                              \
    } while (0)
