/* Questions about skills whose answers are read from the disk: on another thread, once
 * the catalog is current. */
#include "base/err.h"
#include "base/work.h"
#include "daemon/skill_entry.h"
#include "daemon/skill_serving_internal.h"
#include "skills/skills.h"

#define SKILLS_PAGE 50          /* entries of the extension */
#define SKILLS_BYTES (8u << 20) /* a page ends after having read so much */
#define DIRECTORY_PAGE 200

struct candidate {
    char *base, *folder;
};

struct skill_asking {
    struct skill_serving *serving;
    struct question *question;
    void (*go)(struct skill_asking *a); /* when the catalog is current */
    /* among the candidates; NULL: a bad cursor */
    json_t *(*answer)(struct skill_asking *a);
    struct candidate *list;
    size_t count;
    bool more;  /* skills come after the list's last */
    char *rest; /* of a directory's URI */
    json_t *found;
    char *last; /* base of the last one that was looked at */
    int status;
    struct err err;
};

static void asking_free(struct skill_asking *a) {
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

static void asking_refuse(struct skill_asking *a, int status, const char *message) {
    question_refuse(a->question, status, "%s", message);
    asking_free(a);
}

static void on_asking_ready(void *arg) {
    struct skill_asking *a = arg;
    if (skills_of(a->serving->origin)) {
        a->go(a);
    } else {
        asking_refuse(a, -ECANCELED, "the daemon is ending");
    }
}

static void asking_start(struct skill_serving *s, struct question *q,
                         void (*go)(struct skill_asking *a)) {
    struct skill_asking *a = xcalloc(1, sizeof *a);
    *a = (struct skill_asking){.serving = s, .question = q, .go = go};
    skill_serving_when_current(s, on_asking_ready, a);
}

static const char *string_param(const struct skill_asking *a, const char *name) {
    return json_string_value(json_object_get(question_params(a->question), name));
}

static void on_worked(void *data) {
    struct skill_asking *a = data;
    json_t *result = a->status < 0 ? NULL : a->answer(a);
    if (result) {
        question_answer(a->question, result);
        asking_free(a);
    } else if (a->status < 0) {
        asking_refuse(a, a->status, a->err.msg);
    } else {
        asking_refuse(a, -EINVAL, "unknown cursor");
    }
}

/* Read on another thread, then answer. */
static void asking_work(struct skill_asking *a, work_step *work,
                        json_t *(*answer)(struct skill_asking *a)) {
    a->answer = answer;
    work_start(a->serving->origin->loop, work, on_worked, a);
}

/* A cursor that is there must be one of ours. */
static bool cursor_is_sound(const struct question *q) {
    const json_t *cursor = json_object_get(question_params(q), "cursor");
    return !cursor ||
           (json_is_string(cursor) && skill_is_cursor(json_string_value(cursor)));
}

/* --- skills/list --- */

static void list_work(void *data) {
    struct skill_asking *a = data;
    size_t bytes = 0;
    a->found = json_array();
    for (size_t i = 0; i < a->count && bytes < SKILLS_BYTES; i++) {
        json_t *entry = NULL;
        size_t read = 0;
        /* One that cannot be served, or has gone meanwhile, is left out; of a dangerous
         * one that is known. */
        if (a->list[i].folder && skill_entry_read(a->list[i].base, a->list[i].folder,
                                                  &entry, &read, NULL) == 0) {
            json_array_append_new(a->found, entry);
        }
        bytes += read;
        free(a->last);
        a->last = xstrdup(a->list[i].base);
        a->more = a->more || (i + 1 < a->count && bytes >= SKILLS_BYTES);
    }
}

static json_t *list_answer(struct skill_asking *a) {
    json_t *next = a->more ? json_sprintf("%s" SKILL_MANIFEST, a->last) : NULL;
    return json_pack("{s:O,s:o*}", "skills", a->found, "nextCursor", next);
}

static void list_go(struct skill_asking *a) {
    struct err err = {0};
    const json_t *listing = skill_listing(a->serving, &err);
    if (!listing) {
        asking_refuse(a, -EIO, err.msg);
        return;
    }
    size_t first = skill_listing_after(listing, string_param(a, "cursor"));
    size_t left = json_array_size(listing) - first;
    a->more = left > SKILLS_PAGE;
    a->count = a->more ? SKILLS_PAGE : left;
    a->list = xcalloc(a->count + 1, sizeof *a->list);
    for (size_t i = 0; i < a->count; i++) {
        const json_t *entry = json_array_get(listing, first + i);
        const char *uri = json_get_string(entry, "uri", "");
        bool dangerous = json_array_size(json_object_get(entry, "danger")) > 0;
        a->list[i].base = xstrndup(uri, strlen(uri) - strlen(SKILL_MANIFEST));
        a->list[i].folder =
            dangerous ? NULL : xstrdup(json_get_string(entry, "path", ""));
    }
    asking_work(a, list_work, list_answer);
}

static void skills_list(void *data, struct question *q) {
    if (cursor_is_sound(q)) {
        asking_start(data, q, list_go);
    } else {
        question_refuse(q, -EINVAL, "unknown cursor");
    }
}

/* --- skills/get, resources/directory/read: one skill --- */

/* Finds the skill of a URI; false: there is none, and a->err says so. */
static bool locate(struct skill_asking *a, const char *uri) {
    struct skill_uri u;
    if (skill_uri_split(&u, uri, &a->err) < 0) {
        return false;
    }
    a->list = xcalloc(1, sizeof *a->list);
    a->count = 1;
    a->list[0] =
        (struct candidate){.base = u.base, .folder = skill_folder_of(a->serving, u.base)};
    a->rest = u.rest;
    return a->list[0].folder;
}

/* False after refusing. */
static bool find_one(struct skill_asking *a) {
    bool found = locate(a, string_param(a, "uri"));
    if (!found && a->err.code) {
        asking_refuse(a, -EINVAL, a->err.msg);
    } else if (!found) {
        asking_refuse(a, -ENOENT, "unknown skill");
    }
    return found;
}

static void get_work(void *data) {
    struct skill_asking *a = data;
    size_t bytes;
    a->status =
        skill_entry_read(a->list[0].base, a->list[0].folder, &a->found, &bytes, &a->err);
}

static json_t *get_answer(struct skill_asking *a) {
    return json_pack("{s:O}", "skill", a->found);
}

static void get_go(struct skill_asking *a) {
    if (!find_one(a)) {
        return;
    }
    if (strcmp(a->rest, &SKILL_MANIFEST[1]) != 0) {
        asking_refuse(a, -ENOENT, "unknown skill: the URI of its SKILL.md is needed");
        return;
    }
    asking_work(a, get_work, get_answer);
}

static void directory_work(void *data) {
    struct skill_asking *a = data;
    a->status = skill_entry_directory(a->list[0].base, a->list[0].folder, a->rest,
                                      &a->found, &a->err);
}

/* The children after the cursor, at most one page; NULL if the cursor is not one of
 * them. */
static json_t *directory_page(const json_t *children, const char *cursor) {
    json_t *page = json_array();
    bool after = !cursor;
    json_each(children, i, child) {
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

static json_t *directory_answer(struct skill_asking *a) {
    return directory_page(a->found, string_param(a, "cursor"));
}

static void directory_go(struct skill_asking *a) {
    if (find_one(a)) {
        asking_work(a, directory_work, directory_answer);
    }
}

/* --- resources/read --- */

static void read_work(void *data) {
    struct skill_asking *a = data;
    a->status = skill_entry_file(string_param(a, "uri"), a->list[0].folder, a->rest,
                                 &a->found, &a->err);
}

static json_t *read_answer(struct skill_asking *a) {
    return json_incref(a->found);
}

void skill_read_resource(void *data, const char *uri, struct question *q) {
    struct skill_asking *a = xcalloc(1, sizeof *a);
    *a = (struct skill_asking){.serving = data, .question = q};
    if (locate(a, uri) && *a->rest) {
        asking_work(a, read_work, read_answer);
    } else {
        asking_refuse(a, -ENOENT, "no such resource");
    }
}

static bool has_uri(struct question *q) {
    const json_t *uri = json_object_get(question_params(q), "uri");
    bool sound =
        json_is_string(uri) && strlen(json_string_value(uri)) == json_string_length(uri);
    if (!sound || !cursor_is_sound(q)) {
        question_refuse(q, -EINVAL,
                        sound ? "unknown cursor" : "uri must be a string without U+0000");
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

const struct extension_method skill_methods[] = {
    {"skills/list", skills_list},
    {"skills/get", skills_get},
    {"resources/directory/read", directory_read},
};
const size_t skill_method_count = ARRAY_LEN(skill_methods);
