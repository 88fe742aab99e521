/* Resources: those of the domains' providers, page by page. */
#include "base/find.h"
#include "protocol/mcp/mcp_internal.h"

#include "base/err.h"

static const struct resource_provider *provider_at(const struct mcp *m, size_t i) {
    const struct resource_provider *const *list = m->host->tables->resources;
    return list ? list[i] : NULL;
}

static size_t provider_count(const struct mcp *m) {
    size_t n = 0;
    while (provider_at(m, n)) {
        n++;
    }
    return n;
}

bool mcp_has_resources(const struct mcp *m) {
    return provider_count(m) > 0;
}

const struct resource_provider *mcp_changing_provider(const struct mcp *m) {
    size_t at = first_of(i, 0, provider_count(m), provider_at(m, i)->changes);
    return at < provider_count(m) ? provider_at(m, at) : NULL;
}

/* The one with the longest prefix. */
const struct resource_provider *mcp_provider_find(const struct mcp *m, const char *uri) {
    const struct resource_provider *best = NULL;
    if (strlen(uri) > MCP_MAX_URI) {
        return NULL;
    }
    for (size_t i = 0; i < provider_count(m); i++) {
        const struct resource_provider *p = provider_at(m, i);
        size_t len = strlen(p->prefix);
        if (strncmp(uri, p->prefix, len) == 0 && (!best || len > strlen(best->prefix))) {
            best = p;
        }
    }
    return best;
}

json_t *mcp_resource_stamp(const struct mcp *m, const char *uri) {
    const struct resource_provider *p = mcp_provider_find(m, uri);
    autofree char *stamp = p && p->stamp ? p->stamp(p->data, uri) : NULL;
    return stamp ? json_text(stamp, strlen(stamp)) : json_null();
}

/* --- resources/list: the providers' pages, one after another --- */

/* A cursor is "<provider>:<the provider's own>"; nothing after the colon is its first
 * page. Returns false for one that we did not make. */
static bool cursor_read(const struct mcp *m, const char *cursor, size_t *index,
                        const char **inner) {
    char *end;
    errno = 0;
    unsigned long n = strtoul(cursor, &end, 10);
    if (errno || end == cursor || *end != ':' || *cursor < '0' || *cursor > '9' ||
        n >= provider_count(m)) {
        return false;
    }
    *index = n;
    *inner = end[1] ? end + 1 : NULL;
    return true;
}

/* The provider and its cursor that a request asks for; false for a cursor that we did not
 * make. */
static bool page_asked(const struct mcp_message *msg, size_t *index, const char **inner) {
    const json_t *cursor = json_object_get(msg->params, "cursor");
    *index = 0;
    *inner = NULL;
    return !cursor || (json_is_string(cursor) &&
                       cursor_read(msg->mcp, json_string_value(cursor), index, inner));
}

static void list_ready(const struct mcp_message *msg) {
    const struct mcp *m = msg->mcp;
    size_t index;
    const char *inner;
    struct err err = {0};
    autofree char *further = NULL, *next = NULL;
    json_t *resources = NULL;
    page_asked(msg, &index, &inner);
    const struct resource_provider *p = provider_at(m, index);
    int rc = p ? p->list(p->data, inner, &resources, &further, &err) : 0;
    if (rc < 0) {
        mcp_refuse_status(msg, rc, rc == -EINVAL ? "unknown cursor" : err.msg);
        return;
    }
    if (further || index + 1 < provider_count(m)) {
        next = xasprintf("%zu:%s", further ? index : index + 1, further ? further : "");
    }
    mcp_reply(msg,
              json_pack("{s:o,s:s*}", "resources", resources ? resources : json_array(),
                        "nextCursor", next),
              MCP_VOLATILE);
}

void mcp_resources_list(const struct mcp_message *msg) {
    size_t index;
    const char *inner;
    if (!page_asked(msg, &index, &inner)) {
        mcp_refuse(msg, "unknown cursor");
        return;
    }
    const struct resource_provider *p = provider_at(msg->mcp, index);
    mcp_when_ready(msg, p ? p->when_ready : NULL, p ? p->data : NULL, list_ready);
}

/* All on one page: there are few. */
void mcp_resources_templates(const struct mcp_message *msg) {
    const struct mcp *m = msg->mcp;
    if (json_object_get(msg->params, "cursor")) {
        mcp_refuse(msg, "unknown cursor: the list of templates has one page");
        return;
    }
    json_t *all = json_array();
    for (size_t i = 0; i < provider_count(m); i++) {
        const struct resource_provider *p = provider_at(m, i);
        autojson *some = p->templates ? p->templates(p->data) : NULL;
        if (some) {
            json_array_extend(all, some);
        }
    }
    mcp_reply(msg, json_pack("{s:o}", "resourceTemplates", all), MCP_STATIC);
}

/* --- resources/read --- */

static void read_ready(const struct mcp_message *msg) {
    const char *uri = json_get_string(msg->params, "uri", "");
    const struct resource_provider *p = mcp_provider_find(msg->mcp, uri);
    struct err err = {0};
    json_t *result = NULL;
    if (p && p->read_later) {
        p->read_later(p->data, uri, mcp_question_new(msg, true));
        return;
    }
    int rc = p ? p->read(p->data, uri, &result, &err) : -ENOENT;
    if (rc == 0) {
        mcp_reply(msg, result, MCP_VOLATILE);
    } else if (rc == -ENOENT) {
        mcp_refuse_uri(msg->call, msg->era, uri);
    } else {
        mcp_refuse_status(msg, rc, err.msg);
    }
}

void mcp_resources_read(const struct mcp_message *msg) {
    const char *uri = mcp_string_param(msg, "uri");
    if (!uri) {
        return;
    }
    const struct resource_provider *p = mcp_provider_find(msg->mcp, uri);
    mcp_when_ready(msg, p ? p->when_ready : NULL, p ? p->data : NULL, read_ready);
}
