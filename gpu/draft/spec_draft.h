#pragma once
/* spec_draft: a check spec to begin with, from a kernel and the host code around it.
 *
 * Grid, block, shared memory, sizes, the buffers' extents and first contents are what the
 * text says (host_program.h). Where it says nothing a member is null, which
 * kernel/validate refuses, or an example, and `unknown` tells which. What the outputs
 * should be no host code says plainly: "expect" is always null, so that no run can pass
 * before a person filled it in. */
#include "base/json.h"
#include "gpu/host/host_program.h"

/* A check spec for the kernel; NULL when its parameters cannot be read. named: say which
 * kernel is meant. *unknown: [{"member", "why"}], new. */
json_t *spec_draft(struct host_program *p, const struct declaration *kernel, bool named,
                   json_t **unknown);
/* The same as text, a member a line, ending in a newline (malloc'ed). */
char *spec_draft_text(const json_t *draft);

/* What every draft has, whatever it is made from. unknown: "member" and "why" are added.
 */
void draft_note(json_t *unknown, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Integers without a value become sizes of their arguments' own names, null, also where
 * `unknown` speaks of them. */
void draft_free_sizes(json_t *spec, json_t *unknown);
/* Consumes spec. kernel: its name, or NULL where there is no other. */
json_t *draft_close(json_t *spec, const char *kernel, json_t *unknown);
