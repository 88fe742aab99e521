#pragma once
/* spec_draft: drafts a check spec from a kernel and the host code around it.
 *
 * Grid, block, shared memory, sizes, and the buffers' extents and initial contents are
 * taken from the text (host_program.h). If the text does not give a member, it is null,
 * which kernel/validate refuses, or an example, and `unknown` names it. Host code never
 * states the expected outputs clearly: "expect" is always null, so that no run can pass
 * before a person fills it in. */
#include "base/json.h"
#include "gpu/host/host_program.h"

/* A check spec for the kernel; NULL if its parameters cannot be parsed. named: include
 * the kernel's name. *unknown: [{"member", "why"}], new. */
json_t *spec_draft(struct host_program *p, const struct declaration *kernel, bool named,
                   json_t **unknown);
/* The same as text with one member per line, ending in a newline (malloc'ed). */
char *spec_draft_text(const json_t *draft);

/* For all drafts, whatever their source. Adds "member" and "why" to unknown. */
void draft_note(json_t *unknown, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Turns integers without a value into sizes with their arguments' names and the value
 * null, also where `unknown` mentions them. */
void draft_free_sizes(json_t *spec, json_t *unknown);
/* Consumes spec. kernel: its name, or NULL if there is only one. */
json_t *draft_close(json_t *spec, const char *kernel, json_t *unknown);
