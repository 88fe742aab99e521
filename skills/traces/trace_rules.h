#pragma once
/* trace_rules: where the JSON of each format says who spoke, what was called, what came
 * of it (trace_rules.txt), read by one reader.
 *
 * A row has the name of a group, when it counts, and what is taken then. A value goes
 * through the rows of a group in order; each that counts is carried out.
 *
 * PATH: "a/b/0" members and places, "." the value itself, "#" its place in the list that
 * it is of, "^" before it: from what it is part of, "^^" once more. "a,b": the first that
 * is there. "'word" where a name is wanted: this word.
 *
 * when: terms parted by blanks, all of which must hold; "" always does and does not make
 * the value a known one, "*" does both; "-" first: no row before it did.
 *   PATH          is there            !TERM           does not hold
 *   PATH=a,b      is one of the texts PATH!=a         is not
 *   PATH^=a       begins so           PATH*=a PATH~=a ends so, holds it
 *   PATH:text, PATH:true, PATH:object  is of this kind
 *
 * taken:
 *   user PATH, say PATH, think PATH      words, a person's without what programs put in
 *   call NAME ID INPUT                   a tool's call (trace_tool.h)
 *   command NAME ID COMMAND              the same of a command line
 *   result ID CONTENT                    exit=PATH its exit status, exit-in-text a
 *                                        harness' words there, failed=TERM when it failed
 *   diff ID PATH                         the diff of the edit that the call made
 *   usage PATH IN OUT                    sums of members: "input+cache-cached"
 *   model NAME, cwd NAME                 unless told before
 *   each PATH GROUP, with PATH GROUP     its elements, or it, through another group
 *   odd NAME                             a function of the format's own (trace_reader.h)
 *   skip                                 known, and says nothing */
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
