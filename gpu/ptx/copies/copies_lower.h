#pragma once
/* copies_lower: the families of asynchronous copies. */
#include "gpu/ptx/lower/lower.h"

lower_family lower_async_copy; /* cp.async */
lower_family lower_bulk_copy;  /* cp.async.bulk and its tensors, st.async, red.async */
lower_family lower_tensor_map; /* tensormap.replace and its fences */
lower_family lower_mbarrier;
