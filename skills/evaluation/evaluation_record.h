#pragma once
/* evaluation_record: cells in the words of run_record.h. */
#include "base/json.h"

struct agent_answer;
struct cell;
struct evaluation_options;
struct model_answer;

/* What an answer leaves beside its cell: output, tokens, served model, …; new
 * references. */
json_t *evaluation_answer_record(const struct model_answer *answer);
json_t *evaluation_agent_record(const struct agent_answer *answer);
/* A whole cell; answer may be NULL. New reference. */
json_t *evaluation_cell_record(const struct evaluation_options *o, const struct cell *c,
                               const json_t *answer);
