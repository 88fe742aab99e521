/* Where a skill comes from, whether it is trusted, and which others it hides. */
#include "base/find.h"
#include "skills/catalog/catalog_loop_internal.h"

#include "base/file.h"
#include "skills/format/skill_name.h"

#define HIDDEN_MAX 8 /* others of one name that are told */

/* "source", and "agent" where it is one's own folder. */
static void place_add_source(const struct catalog *c, const struct snapshot_place *p,
                             json_t *ret) {
    const struct catalog_folder *f = place_folder(c, p);
    json_object_set_new(ret, "source", json_string(f->scope));
    if (f->agent && strcmp(f->scope, "agent") == 0) {
        json_object_set_new(ret, "agent", json_clean_z(f->agent));
    }
}

/* What is wrong with a name, or which skill that is not a project's a project's looks
 * like; NULL when nothing. Malloc'ed. */
static char *name_problem(const struct catalog *c, const char *name, bool foreign) {
    const struct snapshot *s = c->snapshot;
    char *problem = skill_name_problem(name);
    for (size_t i = 0; s && foreign && !problem && i < s->place_count; i++) {
        if (skill_name_looks_like(name, s->places[i].name) &&
            !place_is_foreign(c, &s->places[i])) {
            problem = xasprintf("its name only looks like that of another skill, %s",
                                s->places[i].name);
        }
    }
    return problem;
}

void place_add_trust(const struct catalog *c, const struct snapshot_place *p,
                     json_t *ret) {
    json_t *danger = p->danger ? json_loads(p->danger, 0, NULL) : NULL;
    autofree char *misnamed = name_problem(c, p->name, place_is_foreign(c, p));
    place_add_source(c, p, ret);
    json_object_set_new(ret, "trusted",
                        json_boolean(!p->danger && !place_is_foreign(c, p) && !misnamed));
    if (misnamed) {
        json_object_set_new(ret, "misnamed", json_clean_z(misnamed));
    }
    json_object_set_new(ret, "danger", danger ? danger : json_array());
}

/* Told of the one that counts only: those of one name may be thousands. */
void place_add_hidden(const struct catalog *c, const struct snapshot_place *p,
                      json_t *ret) {
    const struct snapshot *s = c->snapshot;
    autojson *hidden = json_array();
    size_t first = (size_t)(p - s->places);
    for (size_t i = first + 1;
         i < s->place_count && p->winner == first && s->places[i].winner == first &&
         json_array_size(hidden) < HIDDEN_MAX;
         i++) {
        const struct snapshot_place *other = &s->places[i];
        bool elsewhere =
            strcmp(place_folder(c, other)->scope, place_folder(c, p)->scope) != 0;
        if (elsewhere && other->document != p->document && other->first == i) {
            autofree char *uri = place_uri(c, other);
            json_t *one = json_pack("{s:o}", "uri", json_clean_z(uri));
            place_add_source(c, other, one);
            json_array_append_new(hidden, one);
        }
    }
    if (json_array_size(hidden)) {
        json_object_set(ret, "hides", hidden);
    }
}

static const struct snapshot_place *place_at(const struct catalog *c, const char *path) {
    const struct snapshot *s = c->snapshot;
    return s ? list_find(one, s->places, s->place_count, strcmp(one->path, path) == 0)
             : NULL;
}

/* What is not known lies beneath the workspace's folders, or it could not be named. */
json_t *catalog_source(const struct catalog *c, const char *path) {
    const struct snapshot_place *p = place_at(c, path);
    json_t *source = json_object();
    if (p) {
        place_add_source(c, p, source);
        place_add_hidden(c, p, source);
    } else {
        json_object_set_new(source, "source", json_string("project"));
    }
    autofree char *misnamed =
        name_problem(c, p ? p->name : path_basename(path), !p || place_is_foreign(c, p));
    if (misnamed) {
        json_object_set_new(source, "misnamed", json_clean_z(misnamed));
    }
    return source;
}

static bool is_target(const json_t *targets, const char *path) {
    return json_any(targets, one, json_says(one, "path", path));
}

json_t *catalog_namesakes(const struct catalog *c, const char *name,
                          const json_t *targets) {
    const struct snapshot *s = c->snapshot;
    json_t *about = json_object(), *others = json_array();
    autofree char *misnamed = name_problem(c, name, true);
    for (size_t i = s ? snapshot_find_name(s, name) : 0;
         s && i < s->place_count && strcmp(s->places[i].name, name) == 0 &&
         json_array_size(others) < HIDDEN_MAX;
         i++) {
        const struct snapshot_place *p = &s->places[i];
        if (p->first == i && !is_target(targets, p->path)) {
            autofree char *uri = place_uri(c, p);
            json_t *one = json_pack("{s:o}", "uri", json_clean_z(uri));
            place_add_source(c, p, one);
            json_array_append_new(others, one);
        }
    }
    json_object_set_new(about, "hides", others);
    if (misnamed) {
        json_object_set_new(about, "misnamed", json_clean_z(misnamed));
    }
    if (!json_array_size(others)) {
        json_object_del(about, "hides");
    }
    return about;
}

char *catalog_uri(struct catalog *c, const char *path) {
    const struct snapshot_place *p = place_at(c, path);
    return p ? place_uri(c, p) : NULL;
}

char *catalog_locate_own(const struct catalog *c, const char *name_or_uri, size_t nth,
                         bool *foreign) {
    const struct snapshot *s = c->snapshot;
    const struct snapshot_place *p = place_of_words(c, name_or_uri, true);
    *foreign = !p && place_of_words(c, name_or_uri, false);
    while (p && nth > 0) {
        p++;
        bool same = p < s->places + s->place_count && strcmp(p->name, name_or_uri) == 0;
        nth -= same && !place_is_foreign(c, p);
        p = same ? p : NULL;
    }
    return p ? xstrdup(p->path) : NULL;
}
