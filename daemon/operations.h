#pragma once
/* operations: those about jobs, the schemas as resources, and the tables put together. */
#include "protocol/face.h"

struct err;
struct skill_serving;

/* Fills the tables with everything this program serves; status: daemon/status. Owned by
 * the caller; free with tables_finish. */
int tables_init(struct face_tables *tables, const struct skill_serving *serving,
                const struct operation *status, const json_t *tools, struct err *err);
void tables_finish(struct face_tables *tables);
