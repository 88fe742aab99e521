#pragma once
/* build_toml: checks the project file of Hugging Face's kernel-builder, for every edition
 * that it reads.
 *
 * Unknown keys, wrong types, names that its pattern refuses: each is a finding at its
 * place, with the right form as a fix if that is certain. */
#include "base/toml.h"

/* first_line: for a block inside Markdown. */
void build_toml_check(const char *file, const char *text, size_t len, int first_line,
                      json_t *findings);
/* Whether none of its top-level keys is or resembles kernel-builder's: one finding,
 * build_toml_foreign. */
bool build_toml_is_foreign(const struct toml_document *doc);
/* Removes that finding, just added, if nothing says that the file is kernel-builder's. */
void build_toml_drop_foreign(json_t *findings);

/* A kernel-builder project's folder: build.toml, sources listed and present, names that
 * agree with torch-ext/<name>. The contents of the sources are left to kernel-builder. */
void kernel_project_check(const char *folder, json_t *findings);

/* For editors: keys allowed at an offset, and what a key means. New references /
 * malloc'ed. */
json_t *build_toml_completions(const char *text, size_t len, size_t offset);
char *build_toml_hover(const char *text, size_t len, size_t offset, size_t *start,
                       size_t *end);
