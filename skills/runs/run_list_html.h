#pragma once
/* run_list_html: all evaluations on one page: skills and models in a matrix, and each
 * pair's results over time. */
#include "base/json.h"

/* list as run_list gives it. Appended; -EMSGSIZE at out's limit. */
int run_list_html_write(struct buf *out, const json_t *list);
