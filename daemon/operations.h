#pragma once
/* operations: the operations on jobs, the schemas as resources, and the complete
 * tables. */
#include "protocol/face.h"

struct skill_serving;

/* Fills the tables with everything that this program offers; status: daemon/status. Owned
 * by the caller; free with tables_finish. */
int tables_init(struct face_tables *tables, const struct skill_serving *serving,
                const struct operation *status, const json_t *tools, struct err *err);
void tables_finish(struct face_tables *tables);
