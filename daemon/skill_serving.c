#include "daemon/skill_serving.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "daemon/daemon.h"
#include "daemon/skill_entry.h"
#include "skills/catalog.h"
#include "skills/skills.h"

#include <errno.h>
#include <string.h>
#include <uv.h>

#define PREFIX "skill://"
#define MANIFEST "/SKILL.md"
#define LIST_PAGE 100           /* plain resources */
#define SKILLS_PAGE 50          /* entries of the extension */
#define SKILLS_BYTES (8u << 20) /* a page ends after having read so much */
#define DIRECTORY_PAGE 200
#define NAMES_MAX 101 /* one more than a completion shows */

struct skill_serving {
    struct daemon *daemon;
    struct resource_provider provider;
    struct extension extension;
    json_t *listing; /* what is served, by URI; NULL: to be made anew */
};

/* --- what is served --- */

static struct catalog *catalog_of(const struct skill_serving *s) {
    return skills_catalog(daemon_skills(s->daemon));
}

static int by_uri(const void *a, const void *b) {
    const json_t *const *x = a, *const *y = b;
    return strcmp(json_get_string(*x, "uri", ""), json_get_string(*y, "uri", ""));
}

/* Of the skills with one name the one that counts, in an order that stays. */
static json_t *sorted_listing(const json_t *all) {
    size_t i, count = 0;
    json_t *entry;
    json_t **list = xcalloc(json_array_size(all) + 1, sizeof *list);
    json_array_foreach(all, i, entry) {
        if (!json_object_get(entry, "shadowed_by")) {
            list[count++] = entry;
        }
    }
    qsort(list, count, sizeof *list, by_uri);
    json_t *sorted = json_array();
    for (i = 0; i < count; i++) {
        json_array_append(sorted, list[i]);
    }
    free(list);
    return sorted;
}

/* Borrowed; NULL when the catalog has none to give. */
static const json_t *listing_of(struct skill_serving *s, struct err *err) {
    if (!s->listing) {
        autojson *all = catalog_list(catalog_of(s), NULL, err);
        s->listing = all ? sorted_listing(all) : NULL;
    }
    return s->listing;
}

void skill_serving_changed(struct skill_serving *s) {
    json_decref(take(s->listing));
}

/* A cursor is the last URI of the page before. The index of the first entry after it. */
static size_t index_after(const json_t *listing, const char *cursor) {
    size_t low = 0, high = json_array_size(listing);
    while (cursor && low < high) {
        size_t middle = low + (high - low) / 2;
        const json_t *entry = json_array_get(listing, middle);
        if (strcmp(json_get_string(entry, "uri", ""), cursor) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return cursor ? low : 0;
}

static bool is_cursor(const char *cursor) {
    return !cursor || strncmp(cursor, PREFIX, strlen(PREFIX)) == 0;
}

/* The skill's folder for the skill's part of a URI; NULL when none has exactly it. */
static char *folder_of(const struct skill_serving *s, const char *base) {
    autofree char *uri = xasprintf("%s" MANIFEST, base);
    char *folder = catalog_locate(catalog_of(s), uri);
    autofree char *own = folder ? catalog_uri(catalog_of(s), folder) : NULL;
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

static void on_current(struct catalog *c, int status, void *data) {
    (void)c;
    (void)status; /* without an index the listing says what is wrong */
    struct ready_wait *w = data;
    w->ready(w->arg);
    free(w);
}

void skill_serving_when_current(struct skill_serving *s, void (*ready)(void *arg),
                                void *arg) {
    struct ready_wait *w = xcalloc(1, sizeof *w);
    *w = (struct ready_wait){.ready = ready, .arg = arg};
    catalog_when_current(catalog_of(s), on_current, w);
}

static void when_ready(void *data, void (*ready)(void *arg), void *arg) {
    skill_serving_when_current(data, ready, arg);
}

/* --- plain resources --- */

static json_t *resource_of(const json_t *entry) {
    return json_pack("{s:O,s:O,s:O,s:s}", "uri", json_object_get(entry, "uri"), "name",
                     json_object_get(entry, "name"), "description",
                     json_object_get(entry, "description"), "mimeType", "text/markdown");
}

static int list_resources(void *data, const char *cursor, json_t **ret, char **next,
                          struct err *err) {
    const json_t *listing = is_cursor(cursor) ? listing_of(data, err) : NULL;
    if (!listing) {
        return is_cursor(cursor) ? -EIO : err_set(err, -EINVAL, "unknown cursor");
    }
    size_t i = index_after(listing, cursor), end = i + LIST_PAGE;
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

static json_t *list_templates(void *data) {
    (void)data;
    return json_pack(
        "[{s:s,s:s,s:s,s:s,s:s},{s:s,s:s,s:s,s:s}]", "uriTemplate",
        PREFIX "{scope}/{name}" MANIFEST, "name", "skill", "title", "A skill",
        "description",
        "The instructions of a skill. scope: project, user, bundled or an agent's name.",
        "mimeType", "text/markdown", "uriTemplate", PREFIX "{scope}/{name}/{+path}",
        "name", "skill-file", "title", "A file of a skill", "description",
        "A file that a skill's instructions name.");
}

static char *stamp_resource(void *data, const char *uri) {
    struct skill_uri u;
    if (skill_uri_split(&u, uri, NULL) < 0) {
        return NULL;
    }
    autofree char *folder = folder_of(data, u.base);
    char *stamp = folder && *u.rest ? skill_entry_stamp(folder, u.rest) : NULL;
    skill_uri_finish(&u);
    return stamp;
}

static json_t *complete_scope(struct skill_serving *s, const char *value) {
    json_t *found = json_array(), *seen = json_object(), *entry;
    const json_t *listing = listing_of(s, NULL);
    size_t i;
    json_array_foreach(listing, i, entry) {
        const char *uri = json_get_string(entry, "uri", "") + strlen(PREFIX);
        autofree char *label = xstrndup(uri, strcspn(uri, "/"));
        if (strncmp(label, value, strlen(value)) == 0 && !json_object_get(seen, label)) {
            json_object_set_new(seen, label, json_true());
            json_array_append_new(found, json_string(label));
        }
    }
    json_decref(seen);
    return found;
}

static json_t *complete_variable(void *data, const char *uri, const char *argument,
                                 const char *value) {
    (void)uri;
    if (strcmp(argument, "scope") == 0) {
        return complete_scope(data, value);
    }
    return strcmp(argument, "name") == 0
               ? catalog_names(catalog_of(data), value, NAMES_MAX)
               : NULL;
}

/* --- the extension: entries are read on another thread --- */

struct candidate {
    char *base, *folder;
};

struct asking {
    struct skill_serving *serving;
    struct question *question;
    void (*go)(struct asking *a); /* when the catalog is current */
    uv_work_t work;
    struct candidate *list;
    size_t count;
    bool more;  /* skills come after the list's last */
    char *rest; /* of a directory's URI */
    json_t *found;
    char *last; /* base of the last one that was looked at */
    int status;
    struct err err;
};

static void asking_free(struct asking *a) {
    for (size_t i = 0; i < a->count; i++) {
        free(a->list[i].base);
        free(a->list[i].folder);
    }
    free(a->list);
    free(a->rest);
    free(a->last);
    json_decref(a->found);
    free(a);
}

static void asking_refuse(struct asking *a, int status, const char *message) {
    question_refuse(a->question, status, "%s", message);
    asking_free(a);
}

static void on_asking_ready(void *arg) {
    struct asking *a = arg;
    if (daemon_skills(a->serving->daemon)) {
        a->go(a);
    } else {
        asking_refuse(a, -ECANCELED, "the daemon is ending");
    }
}

static void asking_start(struct skill_serving *s, struct question *q,
                         void (*go)(struct asking *a)) {
    struct asking *a = xcalloc(1, sizeof *a);
    *a = (struct asking){.serving = s, .question = q, .go = go};
    when_ready(s, on_asking_ready, a);
}

static const char *string_param(const struct asking *a, const char *name) {
    return json_string_value(json_object_get(question_params(a->question), name));
}

/* A cursor that is there must be one of ours. */
static bool cursor_is_sound(const struct asking *a) {
    const json_t *cursor = json_object_get(question_params(a->question), "cursor");
    return !cursor || (json_is_string(cursor) && is_cursor(json_string_value(cursor)));
}

/* --- skills/list --- */

static void list_work(uv_work_t *work) {
    struct asking *a = container_of(work, struct asking, work);
    size_t bytes = 0;
    a->found = json_array();
    for (size_t i = 0; i < a->count && bytes < SKILLS_BYTES; i++) {
        json_t *entry = NULL;
        size_t read = 0;
        /* One that cannot be served, or has gone meanwhile, is left out. */
        if (skill_entry_read(a->list[i].base, a->list[i].folder, &entry, &read, NULL) ==
            0) {
            json_array_append_new(a->found, entry);
        }
        bytes += read;
        free(a->last);
        a->last = xstrdup(a->list[i].base);
        a->more = a->more || (i + 1 < a->count && bytes >= SKILLS_BYTES);
    }
}

static void list_done(uv_work_t *work, int status) {
    (void)status;
    struct asking *a = container_of(work, struct asking, work);
    json_t *result = json_pack("{s:O}", "skills", a->found);
    if (a->more) {
        json_object_set_new(result, "nextCursor", json_sprintf("%s" MANIFEST, a->last));
    }
    question_answer(a->question, result);
    asking_free(a);
}

static void list_go(struct asking *a) {
    struct err err = {0};
    const json_t *listing = listing_of(a->serving, &err);
    if (!listing) {
        asking_refuse(a, -EIO, err.msg);
        return;
    }
    size_t first = index_after(listing, string_param(a, "cursor"));
    size_t left = json_array_size(listing) - first;
    a->more = left > SKILLS_PAGE;
    a->count = a->more ? SKILLS_PAGE : left;
    a->list = xcalloc(a->count + 1, sizeof *a->list);
    for (size_t i = 0; i < a->count; i++) {
        const json_t *entry = json_array_get(listing, first + i);
        const char *uri = json_get_string(entry, "uri", "");
        a->list[i].base = xstrndup(uri, strlen(uri) - strlen(MANIFEST));
        a->list[i].folder = xstrdup(json_get_string(entry, "path", ""));
    }
    uv_queue_work(daemon_loop(a->serving->daemon), &a->work, list_work, list_done);
}

static void skills_list(void *data, struct question *q) {
    const struct asking probe = {.question = q};
    if (cursor_is_sound(&probe)) {
        asking_start(data, q, list_go);
    } else {
        question_refuse(q, -EINVAL, "unknown cursor");
    }
}

/* --- skills/get, resources/directory/read: one skill --- */

/* False after refusing. */
static bool find_one(struct asking *a) {
    struct skill_uri u;
    const char *uri = string_param(a, "uri");
    if (skill_uri_split(&u, uri, &a->err) < 0) {
        asking_refuse(a, -EINVAL, a->err.msg);
        return false;
    }
    a->list = xcalloc(1, sizeof *a->list);
    a->count = 1;
    a->list[0] =
        (struct candidate){.base = u.base, .folder = folder_of(a->serving, u.base)};
    a->rest = u.rest;
    if (!a->list[0].folder) {
        asking_refuse(a, -ENOENT, "unknown skill");
        return false;
    }
    return true;
}

static void get_work(uv_work_t *work) {
    struct asking *a = container_of(work, struct asking, work);
    size_t bytes;
    a->status =
        skill_entry_read(a->list[0].base, a->list[0].folder, &a->found, &bytes, &a->err);
}

static void get_done(uv_work_t *work, int status) {
    (void)status;
    struct asking *a = container_of(work, struct asking, work);
    if (a->status < 0) {
        asking_refuse(a, a->status, a->err.msg);
        return;
    }
    question_answer(a->question, json_pack("{s:O}", "skill", a->found));
    asking_free(a);
}

static void get_go(struct asking *a) {
    if (!find_one(a)) {
        return;
    }
    if (strcmp(a->rest, &MANIFEST[1]) != 0) {
        asking_refuse(a, -ENOENT, "unknown skill: the URI of its SKILL.md is needed");
        return;
    }
    uv_queue_work(daemon_loop(a->serving->daemon), &a->work, get_work, get_done);
}

static void directory_work(uv_work_t *work) {
    struct asking *a = container_of(work, struct asking, work);
    a->status = skill_entry_directory(a->list[0].base, a->list[0].folder, a->rest,
                                      &a->found, &a->err);
}

/* The children after the cursor, at most a page of them; NULL for a cursor that is none
 * of theirs. */
static json_t *directory_page(const json_t *children, const char *cursor) {
    json_t *page = json_array(), *child;
    size_t i;
    bool after = !cursor;
    json_array_foreach(children, i, child) {
        const char *uri = json_get_string(child, "uri", "");
        if (after && json_array_size(page) == DIRECTORY_PAGE) {
            const json_t *last = json_array_get(page, DIRECTORY_PAGE - 1);
            return json_pack("{s:o,s:O}", "resources", page, "nextCursor",
                             json_object_get(last, "uri"));
        }
        if (after) {
            json_array_append(page, child);
        }
        after = after || strcmp(uri, cursor) == 0;
    }
    if (!after) {
        json_decref(page);
        return NULL;
    }
    return json_pack("{s:o}", "resources", page);
}

static void directory_done(uv_work_t *work, int status) {
    (void)status;
    struct asking *a = container_of(work, struct asking, work);
    if (a->status < 0) {
        asking_refuse(a, a->status, a->err.msg);
        return;
    }
    json_t *page = directory_page(a->found, string_param(a, "cursor"));
    if (!page) {
        asking_refuse(a, -EINVAL, "unknown cursor");
        return;
    }
    question_answer(a->question, page);
    asking_free(a);
}

static void directory_go(struct asking *a) {
    if (find_one(a)) {
        uv_queue_work(daemon_loop(a->serving->daemon), &a->work, directory_work,
                      directory_done);
    }
}

/* --- resources/read --- */

static void read_work(uv_work_t *work) {
    struct asking *a = container_of(work, struct asking, work);
    a->status = skill_entry_file(string_param(a, "uri"), a->list[0].folder, a->rest,
                                 &a->found, &a->err);
}

static void read_done(uv_work_t *work, int status) {
    (void)status;
    struct asking *a = container_of(work, struct asking, work);
    if (a->status < 0) {
        asking_refuse(a, a->status, a->err.msg);
        return;
    }
    question_answer(a->question, json_incref(a->found));
    asking_free(a);
}

/* The largest file is read, looked through and encoded on another thread. */
static void read_resource(void *data, const char *uri, struct question *q) {
    struct skill_serving *s = data;
    struct skill_uri u;
    struct asking *a = xcalloc(1, sizeof *a);
    *a = (struct asking){.serving = s, .question = q};
    if (skill_uri_split(&u, uri, NULL) < 0) {
        asking_refuse(a, -ENOENT, "no such resource");
        return;
    }
    a->list = xcalloc(1, sizeof *a->list);
    a->count = 1;
    a->list[0] = (struct candidate){.base = u.base, .folder = folder_of(s, u.base)};
    a->rest = u.rest;
    if (!a->list[0].folder || !*a->rest) {
        asking_refuse(a, -ENOENT, "no such resource");
        return;
    }
    uv_queue_work(daemon_loop(s->daemon), &a->work, read_work, read_done);
}

static bool has_uri(struct question *q) {
    const struct asking probe = {.question = q};
    bool sound = json_is_string(json_object_get(question_params(q), "uri"));
    if (!sound || !cursor_is_sound(&probe)) {
        question_refuse(q, -EINVAL, sound ? "unknown cursor" : "uri must be a string");
        return false;
    }
    return true;
}

static void skills_get(void *data, struct question *q) {
    if (has_uri(q)) {
        asking_start(data, q, get_go);
    }
}

static void directory_read(void *data, struct question *q) {
    if (has_uri(q)) {
        asking_start(data, q, directory_go);
    }
}

/* --- both together --- */

struct skill_serving *skill_serving_new(struct daemon *d) {
    static const struct extension_method methods[] = {
        {"skills/list", skills_list},
        {"skills/get", skills_get},
        {"resources/directory/read", directory_read},
    };
    struct skill_serving *s = xcalloc(1, sizeof *s);
    s->daemon = d;
    s->provider = (struct resource_provider){
        .prefix = PREFIX,
        .when_ready = when_ready,
        .changes = true,
        .list = list_resources,
        .templates = list_templates,
        .read_later = read_resource,
        .complete = complete_variable,
        .stamp = stamp_resource,
        .data = s,
    };
    s->extension = (struct extension){
        .name = "io.modelcontextprotocol/skills",
        .settings = "{\"directoryRead\":true}",
        .methods = methods,
        .method_count = ARRAY_LEN(methods),
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
