#pragma once
/* structured: JSON out of models.
 *
 * The ladder: the endpoint's own structured output, a forced tool, words in the system
 * prompt. Whatever comes is found in the answer (fences and prose around it are skipped)
 * and checked against the schema; what does not fit is asked for once more, with the
 * complaint. Pure. */
#include "skills/models/api.h"

/* The plainest form that the quirks leave; a tool needs a schema of an object. */
enum answer_form structured_form(const json_t *schema, unsigned quirks);
/* The same for a tool that the model may call or leave. */
enum answer_form structured_offer(unsigned quirks);
/* OpenAI's rules for strict: every object closed, every property required, in all places.
 */
bool structured_is_strict(const json_t *schema);
/* [A-Za-z0-9_-]{1,64} of any name; freed by the caller. */
char *structured_name(const char *name);
/* The system prompt with the request for JSON in words; freed by the caller. */
char *structured_system(const char *system, const json_t *schema);
/* With a tool that is called by an answer of JSON alone; freed by the caller. */
char *structured_offer_system(const char *system, const char *tool, const json_t *schema);
/* The JSON value in a text that may hold more (fences, thoughts, sentences), or NULL: new
 * reference, not yet checked. */
json_t *structured_find(const char *text, size_t len, const json_t *schema);
/* json_parse of a copy. */
json_t *structured_parse(const char *text, size_t len, struct err *err);
/* What to say to a model whose answer did not fit; freed by the caller. */
char *structured_complaint(const char *problem, const json_t *schema);
