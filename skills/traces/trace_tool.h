#pragma once
/* trace_tool: turns a tool's call into events by the names of its arguments, which are
 * similar in all agents: a command line, a file written, edited or patched, or anything
 * else. */
#include "skills/traces/trace_build.h"

/* Adds a CALL, and an EDIT for every file that its input writes or changes. `input` may
 * be an object, a string of JSON, or a plain string (a patch). NULL over the limits; if
 * the call's id is already known, returns the old event and adds nothing. */
struct trace_event *build_call(struct trace_build *b, const char *tool, const char *call,
                               const json_t *input);
/* The same for a command line. */
struct trace_event *build_command(struct trace_build *b, const char *tool,
                                  const char *call, const char *command);
