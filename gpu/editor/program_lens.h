#pragma once
/* program_lens: running a whole program from an editor: a lens over main in a .cu file.
 *
 * The lens starts kernel/run on the text as it is; its answer becomes findings at their
 * lines and a few words for the lens. */
#include "protocol/document.h"

/* Append the lens of a file that has a main. */
void program_lens_add(const struct document *d, json_t *lenses);

/* document_kind's functions, NULL or nothing for other operations: */
json_t *program_lens_params(const struct document *d, const char *operation,
                            const json_t *params);
void program_lens_outcome(const struct document *d, const char *operation,
                          const json_t *answer, json_t **ret_findings,
                          json_t **ret_outcome);
