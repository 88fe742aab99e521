#pragma once
/* endpoint_error: what an endpoint said went wrong, and what to do about it.
 *
 * Decided by error type and code first and by status last: some 429 and 402 mean "out of
 * money" and are never retried. Pure. */
#include "base/json.h"

#include <stdbool.h>

/* Of {"error": {"type", "code", "message", "details": {"error_code"}}} and of what else
 * is in use: {"error": "…"}, {"message": …}, {"detail": …}. "" where absent. */
struct endpoint_error {
    char type[80], code[80], detail[80];
    char message[1024]; /* cleaned, cut; may hold what the endpoint echoes: the caller
                           takes the key out */
};
/* False when body names no error. */
bool endpoint_error_read(struct endpoint_error *ret, const json_t *body);
/* For a body that is no JSON. */
void endpoint_error_text(struct endpoint_error *ret, const char *body, size_t len);

enum fault_retry {
    FAULT_FINAL, /* asking again gives the same answer */
    FAULT_SOON,  /* a connection, a server that hiccups */
    FAULT_BUSY,  /* 429, 529: the endpoint asks for fewer requests */
    FAULT_ODD,   /* bytes that make no sense: once more at most */
};
struct fault {
    enum fault_retry retry;
    const char *reason, *hint; /* static; reason is a stable word */
};

/* failure: a negative errno of http.h when no whole answer came, else 0. should_retry:
 * the header x-should-retry, or NULL; it has the last word except over money. */
struct fault fault_judge(long status, int failure, const struct endpoint_error *error,
                         const char *should_retry);
/* The status that an error inside a stream (after HTTP 200) would have had. */
long endpoint_error_status(const struct endpoint_error *error);
/* Its message holds one of the phrases (NULL-terminated), in any case. */
bool endpoint_error_speaks(const struct endpoint_error *error,
                           const char *const *phrases);
/* An endpoint's text, cleaned and cut, into ret. */
void endpoint_word(char *ret, size_t size, const char *s, size_t len);
/* The prompt is longer than the model's context. */
bool endpoint_error_is_context(const struct endpoint_error *error);
