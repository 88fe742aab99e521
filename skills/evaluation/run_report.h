#pragma once
/* run_report: the results of run/list and run/show in words, with bars of 20 cells. */
#include "base/json.h"

struct buf;

void run_list_describe(const json_t *result, struct buf *out);
void run_show_describe(const json_t *result, struct buf *out);
