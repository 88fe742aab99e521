#pragma once
/* events: as nodes of graphs, which record them or wait for them. */
#include "gpu/runtime/api.h"
#include "gpu/runtime/order.h"

struct event;

/* The operation of either node. */
cudart_error event_mark_make(struct op **ret, struct event *handle);
struct event *event_of_mark(struct op *op);
/* The mark has been put into the queue under this number, or with clock's end. */
void event_recorded(struct op *mark, uint64_t number, const struct order_clock *clock);
/* What had ended where its event was recorded last. */
struct order_clock event_clock(struct op *mark);
