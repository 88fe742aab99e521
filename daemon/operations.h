#pragma once
/* operations: the daemon's own operations, and the three tables put together. */
#include "protocol/face.h"

struct daemon;
struct err;

/* Fills the tables with everything this program serves; d may still be starting. Owned by
 * the caller; free with tables_finish. */
int tables_init(struct face_tables *tables, struct daemon *d, const json_t *tools,
                struct err *err);
void tables_finish(struct face_tables *tables);
