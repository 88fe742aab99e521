#pragma once
/* endpoint_error: parses an endpoint's error and decides what to do. Error type and code
 * decide first, then the status: some 429 and 402 mean "out of money" and are never
 * retried. Pure. */
#include "base/json.h"

/* Parses {"error": {"type", "code", "message", "details": {"error_code"}}} and the other
 * forms in use: {"error": "…"}, {"message": …}, {"detail": …}. "" if absent. */
struct endpoint_error {
    char type[80], code[80], detail[80];
    /* cleaned, cut; may contain text that the endpoint echoes: the caller removes the
     * key */
    char message[1024];
};
/* False if body contains no error. */
bool endpoint_error_read(struct endpoint_error *ret, const json_t *body);
/* For a body that is not JSON. */
void endpoint_error_text(struct endpoint_error *ret, const char *body, size_t len);

enum fault_retry {
    FAULT_FINAL, /* repeating the request gives the same answer */
    FAULT_SOON,  /* a connection failure or a temporary server error */
    FAULT_BUSY,  /* 429, 529: the endpoint wants fewer requests */
    FAULT_ODD,   /* invalid data: retried at most once */
};
struct fault {
    enum fault_retry retry;
    const char *reason, *hint; /* static; reason is a fixed word */
};

/* failure: a negative errno of http.h if no complete answer came, else 0. should_retry:
 * the header x-should-retry, or NULL; it takes precedence except for missing credit. */
struct fault fault_judge(long status, int failure, const struct endpoint_error *error,
                         const char *should_retry);
/* The status that corresponds to an error inside a stream (after HTTP 200). */
long endpoint_error_status(const struct endpoint_error *error);
/* Whether its message contains one of the phrases (NULL-terminated), in any case. */
bool endpoint_error_speaks(const struct endpoint_error *error,
                           const char *const *phrases);
/* Copies an endpoint's text, cleaned and cut, to ret. */
void endpoint_word(char *ret, size_t size, const char *s, size_t len);
/* Whether the prompt is longer than the model's context. */
bool endpoint_error_is_context(const struct endpoint_error *error);
