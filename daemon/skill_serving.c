#include "daemon/skill_serving.h"

#include "base/buf.h"
#include "base/err.h"
#include "daemon/skill_entry.h"
#include "daemon/skill_serving_internal.h"
#include "skills/catalog/catalog.h"
#include "skills/check/danger.h"

#define LIST_PAGE 100 /* plain resources */
#define NAMES_MAX 101 /* one more than a completion shows */

static void when_ready(void *data, void (*ready)(void *arg), void *arg) {
    skill_serving_when_current(data, ready, arg);
}

/* --- plain resources --- */

/* A warning comes before the skill's own description. */
static json_t *resource_of(const json_t *entry) {
    static const char *const told[] = {"source", "agent", "trusted", "misnamed",
                                       "danger"};
    autobuf description = BUF_INIT(64u << 10);
    json_t *meta = json_object();
    danger_warn(&description, json_object_get(entry, "danger"));
    buf_addf(&description, "%s%s", description.len ? " " : "",
             json_get_string(entry, "description", ""));
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        json_t *value = json_object_get(entry, told[i]);
        if (value) {
            autofree char *key = xasprintf("upskilld/%s", told[i]);
            json_object_set(meta, key, value);
        }
    }
    return json_pack("{s:O,s:O,s:o,s:s,s:o}", "uri", json_object_get(entry, "uri"),
                     "name", json_object_get(entry, "name"), "description",
                     json_text(description.data, description.len), "mimeType",
                     "text/markdown", "_meta", meta);
}

static int list_resources(void *data, const char *cursor, json_t **ret, char **next,
                          struct err *err) {
    const json_t *listing = skill_is_cursor(cursor) ? skill_listing(data, err) : NULL;
    if (!listing) {
        return skill_is_cursor(cursor) ? -EIO : err_set(err, -EINVAL, "unknown cursor");
    }
    size_t i = skill_listing_after(listing, cursor), end = i + LIST_PAGE;
    *ret = json_array();
    *next = NULL;
    for (; i < json_array_size(listing) && i < end; i++) {
        json_array_append_new(*ret, resource_of(json_array_get(listing, i)));
    }
    if (i < json_array_size(listing)) {
        *next = xstrdup(json_get_string(json_array_get(listing, i - 1), "uri", ""));
    }
    return 0;
}

static json_t *list_templates(void *) {
    return json_pack(
        "[{s:s,s:s,s:s,s:s,s:s},{s:s,s:s,s:s,s:s}]", "uriTemplate",
        SKILL_PREFIX "{scope}/{name}" SKILL_MANIFEST, "name", "skill", "title", "A skill",
        "description",
        "The instructions of a skill. scope: project, user, bundled or an agent's name.",
        "mimeType", "text/markdown", "uriTemplate", SKILL_PREFIX "{scope}/{name}/{+path}",
        "name", "skill-file", "title", "A file of a skill", "description",
        "A file that a skill's instructions name.");
}

static char *stamp_resource(void *data, const char *uri) {
    struct skill_uri u;
    if (skill_uri_split(&u, uri, NULL) < 0) {
        return NULL;
    }
    autofree char *folder = skill_folder_of(data, u.base);
    char *stamp = folder && *u.rest ? skill_entry_stamp(folder, u.rest) : NULL;
    skill_uri_finish(&u);
    return stamp;
}

static json_t *complete_scope(struct skill_serving *s, const char *value) {
    json_t *found = json_array(), *seen = json_object();
    json_each(skill_listing(s, NULL), i, entry) {
        const char *uri = json_get_string(entry, "uri", "") + strlen(SKILL_PREFIX);
        autofree char *label = xstrndup(uri, strcspn(uri, "/"));
        if (strncmp(label, value, strlen(value)) == 0 && !json_object_get(seen, label)) {
            json_object_set_new(seen, label, json_true());
            json_array_append_new(found, json_string(label));
        }
    }
    json_decref(seen);
    return found;
}

static json_t *complete_variable(void *data, const char *, const char *argument,
                                 const char *value) {
    if (strcmp(argument, "scope") == 0) {
        return complete_scope(data, value);
    }
    return strcmp(argument, "name") == 0
               ? catalog_names(skill_serving_catalog(data), value, NAMES_MAX)
               : NULL;
}

/* --- both together --- */

struct skill_serving *skill_serving_new(const struct call_origin *origin) {
    struct skill_serving *s = xcalloc(1, sizeof *s);
    s->origin = origin;
    s->provider = (struct resource_provider){
        .prefix = SKILL_PREFIX,
        .when_ready = when_ready,
        .changes = true,
        .list = list_resources,
        .templates = list_templates,
        .read_later = skill_read_resource,
        .complete = complete_variable,
        .stamp = stamp_resource,
        .data = s,
    };
    s->extension = (struct extension){
        .name = "io.modelcontextprotocol/skills",
        .settings = "{\"directoryRead\":true}",
        .methods = skill_methods,
        .method_count = skill_method_count,
        .data = s,
    };
    return s;
}

void skill_serving_free(struct skill_serving *s) {
    json_decref(s->listing);
    free(s);
}

const struct resource_provider *skill_serving_resources(const struct skill_serving *s) {
    return &s->provider;
}

const struct extension *skill_serving_extension(const struct skill_serving *s) {
    return &s->extension;
}
