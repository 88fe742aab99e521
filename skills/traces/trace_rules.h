#pragma once
/* trace_rules: rules that say where the JSON of each format has the speaker, the calls
 * and their results (trace_rules.txt), interpreted by one reader.
 *
 * A row has the name of a group, a condition (when), and an action (taken). For a value,
 * the rows of a group are tried in order; the action of each that matches is executed.
 *
 * PATH: "a/b/0" members and indices, "." the value itself, "#" its index in the list that
 * contains it, "^" before it: from the containing value, "^^" from that one's. "a,b": the
 * first that exists. "'word" in place of a name: this word.
 *
 * when: terms separated by blanks, all of which must hold; "" always holds but does not
 * make the value a known one, "*" does both; "-" first: no earlier row matched.
 *   PATH          exists              !TERM           does not hold
 *   PATH=a,b      is one of the texts PATH!=a         is not
 *   PATH^=a       begins with a       PATH*=a PATH~=a ends with, contains a
 *   PATH:text, PATH:true, PATH:object  is of this kind
 *
 * taken:
 *   user PATH, say PATH, think PATH      text, a person's without insertions by programs
 *   call NAME ID INPUT                   a tool's call (trace_tool.h)
 *   command NAME ID COMMAND              the same for a command line
 *   result ID CONTENT                    exit=PATH its exit status, exit-in-text a
 *                                        harness' words there, failed=TERM when it failed
 *   diff ID PATH                         the diff of the edit that the call made
 *   usage PATH IN OUT                    sums of members: "input+cache-cached"
 *   model NAME, cwd NAME                 unless already known
 *   each PATH GROUP, with PATH GROUP     its elements, or itself, by another group
 *   odd NAME                             a function of the format (trace_reader.h)
 *   skip                                 known, without content */
#include "skills/traces/trace_build.h"

struct trace_node {
    const json_t *value;
    const struct trace_node *up; /* the value that contains it, or NULL */
    size_t place;
};
struct trace_odd { /* the list ends with a NULL name */
    const char *name;
    void (*does)(struct trace_build *b, const struct trace_node *node);
};

/* False if no row matched the value. */
bool trace_rules_take(struct trace_build *b, const char *group,
                      const struct trace_node *node);
bool trace_rules_hold(const struct trace_node *node, const char *when);
/* The value at the paths, or NULL; its text, or NULL. */
const json_t *trace_rules_get(const struct trace_node *node, const char *paths);
const char *trace_rules_text(const struct trace_node *node, const char *paths);
