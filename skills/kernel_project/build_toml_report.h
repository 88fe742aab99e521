#pragma once
/* build_toml_report: findings about a project file, and their fixes. */
#include "base/toml.h"
#include "protocol/finding.h"
#include "skills/kernel_project/build_toml_keys.h"

struct build_toml_report {
    const char *file, *text;
    size_t len;
    int first_line; /* of the text, in the file that the findings name */
    const struct toml_document *doc;
    unsigned edition; /* BUILD_TOML_… for which the keys are checked */
    json_t *findings;
    size_t count, left_out;
};

/* Bytes of the text: those of a node's key, or of its value if it has no key; and those
 * of its value. */
struct toml_range {
    size_t start, end;
};
struct toml_range toml_key_range(const struct toml_node *node);
struct toml_range toml_value_range(const struct toml_node *node);
/* Append a finding about them; borrowed, never NULL (a scratch object once there are too
 * many). */
json_t *build_toml_add(struct build_toml_report *r, const char *code,
                       enum finding_severity severity, struct toml_range at,
                       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Fixes: replace bytes; insert a line `key = value` below a [header] (nothing is added
 * for tables that have none). */
void build_toml_fix_replace(const struct build_toml_report *r, json_t *finding,
                            const char *title, size_t start, size_t end,
                            const char *text);
void build_toml_fix_insert(const struct build_toml_report *r, json_t *finding,
                           const char *title, const struct toml_node *table,
                           const char *line);
/* Delete a pair's lines. */
void build_toml_fix_remove(const struct build_toml_report *r, json_t *finding,
                           const char *title, const struct toml_node *pair);
/* The word that was probably meant: at most 2 edits away (1 for short words), NULL if
 * there is none. words: NULL-terminated. */
const char *build_toml_nearest(const char *word, const char *const *words);

/* Checks one value of a known type. section: of the key, for kernel-depends and
 * backends. */
void build_toml_check_value(struct build_toml_report *r, const struct build_toml_key *key,
                            const struct toml_node *node);

/* Contents of the file: a table of either form; the table at a JSON Pointer, or NULL; the
 * backend of a [kernel.…] (one of BACKEND_…), 0 if it names no known one. */
bool build_toml_is_table(const struct toml_node *node);
const struct toml_node *build_toml_table_at(const struct build_toml_report *r,
                                            const char *pointer);
unsigned build_toml_backend_of(const struct build_toml_report *r,
                               const struct toml_node *kernel);
