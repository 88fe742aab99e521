#pragma once
/* trace_tool: a tool's call as events, by the names of its arguments, which are alike in
 * all agents: a command line, a file written, edited or patched, or anything else. */
#include "skills/traces/trace_build.h"

/* CALL, and an EDIT for every file that its input writes or changes. `input` may be an
 * object, a string of JSON, or a plain string (a patch). NULL when over the limits; the
 * call's id is known already: nothing is added and the old event returned. */
struct trace_event *build_call(struct trace_build *b, const char *tool, const char *call,
                               const json_t *input);
/* The same of a command line. */
struct trace_event *build_command(struct trace_build *b, const char *tool,
                                  const char *call, const char *command);
