/* The skills that are served, and where each lies. */
#include "daemon/skill_serving_internal.h"
#include "skills/catalog/catalog.h"
#include "skills/skills.h"

/* --- the served skills --- */

struct catalog *skill_serving_catalog(const struct skill_serving *s) {
    return skills_catalog(skills_of(s->origin));
}

static int by_uri(const void *a, const void *b) {
    const json_t *const *x = a, *const *y = b;
    return strcmp(json_get_string(*x, "uri", ""), json_get_string(*y, "uri", ""));
}

/* Of the skills with one name the one that counts, in an order that stays. */
static json_t *sorted_listing(const json_t *all) {
    size_t count = 0;
    autofree json_t **list = xcalloc(json_array_size(all) + 1, sizeof *list);
    json_each(all, i, entry) {
        if (!json_object_get(entry, "shadowed_by")) {
            list[count++] = entry;
        }
    }
    qsort(list, count, sizeof *list, by_uri);
    json_t *sorted = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append(sorted, list[i]);
    }
    return sorted;
}

const json_t *skill_listing(struct skill_serving *s, struct err *err) {
    if (!s->listing) {
        autojson *all = catalog_list(skill_serving_catalog(s), NULL, err);
        s->listing = all ? sorted_listing(all) : NULL;
    }
    return s->listing;
}

void skill_serving_changed(struct skill_serving *s) {
    json_decref(take(s->listing));
}

size_t skill_listing_after(const json_t *listing, const char *cursor) {
    json_each(listing, i, entry) {
        if (!cursor || strcmp(json_get_string(entry, "uri", ""), cursor) > 0) {
            return i;
        }
    }
    return json_array_size(listing);
}

bool skill_is_cursor(const char *cursor) {
    return !cursor || strncmp(cursor, SKILL_PREFIX, strlen(SKILL_PREFIX)) == 0;
}

char *skill_folder_of(const struct skill_serving *s, const char *base) {
    autofree char *uri = xasprintf("%s" SKILL_MANIFEST, base);
    char *folder = catalog_locate(skill_serving_catalog(s), uri);
    autofree char *own = folder ? catalog_uri(skill_serving_catalog(s), folder) : NULL;
    if (folder && (!own || strcmp(own, uri) != 0)) {
        free(folder);
        return NULL;
    }
    return folder;
}

/* --- waiting for the catalog --- */

struct ready_wait {
    void (*ready)(void *arg);
    void *arg;
};

static void on_current(struct catalog *, int status, void *data) {
    (void)status; /* without an index the listing has the error */
    struct ready_wait *w = data;
    w->ready(w->arg);
    free(w);
}

void skill_serving_when_current(struct skill_serving *s, void (*ready)(void *arg),
                                void *arg) {
    struct ready_wait *w = xcalloc(1, sizeof *w);
    *w = (struct ready_wait){.ready = ready, .arg = arg};
    catalog_when_current(skill_serving_catalog(s), on_current, w);
}
