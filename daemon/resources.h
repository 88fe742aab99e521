#pragma once
/* resources: what the daemon itself offers to read over MCP.
 *
 * upskilld://schema/<operation> is the full JSON Schema of an operation's params and
 * result; the tools' own schemas are kept short for models. upskilld://schema/check-spec
 * is that of a check spec, whole. */
#include "protocol/operation.h"
#include "protocol/provider.h"

/* This and the skills, NULL-terminated; both must outlive it. Free with resources_free.
 */
const struct resource_provider *const *
resources_new(const struct operation_table *table,
              const struct resource_provider *skills);
void resources_free(const struct resource_provider *const *list);
