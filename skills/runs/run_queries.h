#pragma once
/* run_queries: the part of a report that shows for which queries a skill was loaded. */
#include "base/json.h"

#define RUN_QUERIES_MAX 200

/* student: one of skill/trigger's result. Appended; nothing if it has no queries. */
void run_queries_write(struct buf *out, const json_t *student);
