/* What the catalog answers: matches for a task, lists, names, places. */
#include "base/buf.h"
#include "base/text.h"
#include "skills/catalog/catalog_loop_internal.h"

#include <math.h>

#define FIND_LIMIT_MAX 50u
#define NEAREST_MAX 3
#define SURE_OF_SOME 0.5 /* the greatest chance of none at which some are offered */
#define SURE_OF_ONE 0.7  /* of firsts with less, half are right; of others nine of ten */
#define RIVAL 0.005      /* the least chance at which a skill stands behind those that fit */
#define NEAR_TEXT 600u /* bytes of a description that it is taken of */

/* --- places --- */

static bool in_scopes(const struct catalog *c, const struct snapshot_place *p,
                      const json_t *scopes) {
    if (!json_array_size(scopes)) {
        return true;
    }
    json_each(scopes, i, scope) {
        const char *name = json_string_value(scope);
        if (name && strcmp(name, place_folder(c, p)->scope) == 0) {
            return true;
        }
    }
    return false;
}

/* Agents whose folder it is: the same folder may stand for several. */
static void add_agents(const struct catalog *c, const struct snapshot_place *p,
                       json_t *list) {
    const char *path = place_folder(c, p)->path;
    for (size_t i = p->folder; i < c->folders.count; i++) {
        const struct catalog_folder *f = &c->folders.list[i];
        bool had = !f->agent || strcmp(f->path, path) != 0;
        for (size_t k = 0; !had && k < json_array_size(list); k++) {
            had = strcmp(json_string_value(json_array_get(list, k)), f->agent) == 0;
        }
        if (!had) {
            json_array_append_new(list, json_clean_z(f->agent));
        }
    }
}

/* The next place of the same name and text, or NULL. */
static const struct snapshot_place *next_place(const struct snapshot *s,
                                               const struct snapshot_place *p) {
    return p->next == UINT32_MAX ? NULL : &s->places[p->next];
}

/* Other places of the same text, and the agents of them all. */
static void add_places(const struct catalog *c, const struct snapshot_place *p,
                       json_t *result) {
    const struct snapshot *s = c->snapshot;
    autojson *agents = json_array(), *duplicates = json_array();
    add_agents(c, p, agents);
    while ((p = next_place(s, p))) {
        add_agents(c, p, agents);
        json_array_append_new(duplicates, json_clean_z(p->path));
    }
    json_object_set(result, "installed_for", agents);
    if (json_array_size(duplicates)) {
        json_object_set(result, "duplicates", duplicates);
    }
}

static json_t *describe(const struct catalog *c, const struct snapshot_place *p) {
    const struct snapshot *s = c->snapshot;
    autofree char *uri = place_uri(c, p);
    json_t *one = json_pack(
        "{s:o, s:o, s:o, s:o, s:s}", "name", json_clean_z(p->name), "description",
        json_clean_z(s->documents[p->document].description), "uri", json_clean_z(uri),
        "path", json_clean_z(p->path), "scope", place_folder(c, p)->scope);
    place_add_trust(c, p, one);
    place_add_hidden(c, p, one);
    return one;
}

/* --- finding --- */

/* The first place of the document within the scopes; NULL when it is hidden or elsewhere.
 */
static const struct snapshot_place *shown_place(const struct catalog *c,
                                                uint32_t document, const json_t *scopes) {
    const struct snapshot *s = c->snapshot;
    if (s->shown[document] == UINT32_MAX) {
        return NULL;
    }
    const struct snapshot_place *p = &s->places[s->shown[document]];
    for (const struct snapshot_place *at = p; at; at = next_place(s, at)) {
        if (in_scopes(c, at, scopes)) {
            return p;
        }
    }
    return NULL;
}

/* The first place whose records count, from p on. A project brings its own: of what also
 * stands outside of projects those there alone count, and a copy lends it nothing. */
static const struct snapshot_place *
measured_place(const struct catalog *c, const struct snapshot_place *p, bool foreign) {
    while (p && place_is_foreign(c, p) != foreign) {
        p = next_place(c->snapshot, p);
    }
    return p;
}

static bool is_foreign_everywhere(const struct catalog *c,
                                  const struct snapshot_place *p) {
    return !measured_place(c, &c->snapshot->places[p->first], false);
}

/* The best measured among the places of a document. */
static double lift_of(const struct catalog *c, const struct snapshot_place *p) {
    double lift = NAN;
    bool foreign = is_foreign_everywhere(c, p);
    while ((p = measured_place(c, p, foreign))) {
        lift = fmax(lift, (double)p->lift);
        p = next_place(c->snapshot, p);
    }
    return lift;
}

/* What was measured for the model that asks, at any place of the document. */
static bool model_lift_of(const struct catalog *c, const struct ranked *m,
                          const char *model, struct model_lift *ret) {
    const struct snapshot *s = c->snapshot;
    const struct snapshot_place *p = &s->places[s->shown[m->document]];
    bool foreign = is_foreign_everywhere(c, p);
    while ((p = measured_place(c, p, foreign))) {
        if (lifts_of_model(p->lifts, model, ret)) {
            return true;
        }
        p = next_place(s, p);
    }
    return false;
}

/* Among those that fit, the model's own measurements come before fine differences of
 * the words. */
static void rank_for_model(const struct catalog *c, struct ranking *r,
                           const char *model) {
    autofree double *order = xcalloc(r->count + 1, sizeof *order);
    for (size_t i = 0; model && i < r->count; i++) {
        const struct ranked moved = r->list[i];
        struct model_lift lift;
        double own = moved.fit;
        if (own >= RANK_THRESHOLD && model_lift_of(c, &moved, model, &lift)) {
            own = lifts_order(own, &lift);
        }
        size_t k = i;
        for (; moved.fit >= RANK_THRESHOLD && k > 0 && order[k - 1] < own; k--) {
            order[k] = order[k - 1];
            r->list[k] = r->list[k - 1];
        }
        order[k] = own;
        r->list[k] = moved;
    }
}

/* What fits closer than what they can tell apart are ranked by what was measured. */
static void rank_ties(const struct catalog *c, struct ranking *r) {
    const struct snapshot *s = c->snapshot;
    for (size_t i = 1; i < r->count; i++) {
        for (size_t k = i; k > 0 && r->list[k - 1].fit - r->list[k].fit < 0.02; k--) {
            const struct ranked moved = r->list[k];
            double low = lift_of(c, &s->places[s->shown[r->list[k - 1].document]]);
            double high = lift_of(c, &s->places[s->shown[moved.document]]);
            if ((isnan(high) ? 0 : high) <= (isnan(low) ? 0 : low)) {
                break;
            }
            r->list[k] = r->list[k - 1];
            r->list[k - 1] = moved;
        }
    }
}

static json_t *match(const struct catalog *c, const struct ranking *r,
                     const struct ranked *m, const char *model, bool fits) {
    const struct snapshot *s = c->snapshot;
    const struct snapshot_place *p = &s->places[s->shown[m->document]];
    double lift = lift_of(c, p);
    struct model_lift own;
    autofree char *words = fits ? ranking_why(r, m) : ranking_why_not(r, m);
    autobuf explained = BUF_INIT(8192);
    buf_adds(&explained, words);
    if (model && model_lift_of(c, m, model, &own)) {
        lift = own.lift;
        lifts_explain(&explained, &own, model);
    }
    const char *why = explained.len ? explained.data : "";
    json_t *result = describe(c, p);
    json_object_set_new(result, "score", json_real(round(m->score * 1000) / 1000));
    json_object_set_new(result, "why", json_clean_z(why));
    add_places(c, p, result);
    json_object_set_new(result, "lift", isnan(lift) ? json_null() : json_real(lift));
    return result;
}

/* What the safety rules hold something against, and what may look like another by letters
 * outside ASCII in its name. */
static bool is_suspect(const struct snapshot_place *p) {
    const char *name = p->name;
    while (*name && !((unsigned char)*name & 0x80)) {
        name++;
    }
    return p->danger || *name;
}

/* Those that may be asked about: the suspect ones or the others. Malloc'ed; NULL when
 * there are none. */
static bool *allowed_documents(const struct catalog *c, const json_t *scopes,
                               bool suspect) {
    const struct snapshot *s = c->snapshot;
    bool *allowed = xcalloc(s->document_count + 1, sizeof *allowed), any = !suspect;
    for (uint32_t i = 0; i < s->document_count; i++) {
        uint32_t shown = s->shown[i];
        allowed[i] = shown != UINT32_MAX && is_suspect(&s->places[shown]) == suspect &&
                     (!json_array_size(scopes) || shown_place(c, i, scopes));
        any |= allowed[i];
    }
    if (!any) {
        free(allowed);
        return NULL;
    }
    return allowed;
}

struct finding {
    const char *task, *model;
    const json_t *near; /* of catalog_find_near */
    const json_t *scopes;
    unsigned limit;
    json_t *matches, *nearest;
    double best; /* the highest score among the matches */
};

/* Several that fit a little say together that one of them is meant. */
static void add_matches(const struct catalog *c, struct finding *f,
                        const struct ranking *r) {
    bool some = r->none <= SURE_OF_SOME;
    for (size_t i = 0; i < r->count; i++) {
        bool fits = some && r->list[i].fit >= RANK_THRESHOLD;
        bool rival = some && r->list[i].score >= RIVAL;
        json_t *list = fits || rival ? f->matches : f->nearest;
        if (json_array_size(list) < (fits || rival ? f->limit : NEAREST_MAX)) {
            json_array_append_new(list, match(c, r, &r->list[i], f->model, fits));
            f->best = fmax(f->best, fits || rival ? r->list[i].score : 0);
        }
    }
}

static int find_among(struct catalog *c, struct finding *f, bool suspect,
                      struct err *err) {
    struct ranking r;
    autofree bool *allowed = allowed_documents(c, f->scopes, suspect);
    if (!allowed) {
        return 0;
    }
    int rc = ranker_rank(c->ranker, c->snapshot, f->task, allowed, f->limit + NEAREST_MAX,
                         f->near, &r, err);
    if (rc < 0) {
        return rc;
    }
    rank_ties(c, &r);
    rank_for_model(c, &r, f->model);
    add_matches(c, f, &r);
    ranking_finish(&r);
    return 0;
}

static bool is_ready(const struct catalog *c, struct err *err) {
    if (!c->snapshot || !c->ranker) {
        err_set(err, -EAGAIN, "the index of skills is not ready: %s",
                c->problem[0] ? c->problem : "it is being built");
    }
    return c->snapshot && c->ranker;
}

json_t *catalog_texts(const struct catalog *c, const char *prefix, const json_t *known) {
    json_t *texts = json_array();
    for (size_t i = 0; c->snapshot && i < c->snapshot->document_count; i++) {
        const struct snapshot_document *d = &c->snapshot->documents[i];
        if (json_object_get(known, d->digest)) {
            continue;
        }
        int len = (int)text_cut(d->description, strlen(d->description), NEAR_TEXT);
        autofree char *text =
            xasprintf("%s%s: %.*s", prefix, d->name, len, d->description);
        json_array_append_new(
            texts, json_pack("{s:s,s:o}", "key", d->digest, "text", json_clean_z(text)));
    }
    return texts;
}

json_t *catalog_find(struct catalog *c, const char *task, unsigned limit,
                     const json_t *scopes, const char *model, struct err *err) {
    return catalog_find_near(c, task, limit, scopes, model, NULL, err);
}

/* What is suspect never stands before what is not: it is ranked by itself, behind. */
json_t *catalog_find_near(struct catalog *c, const char *task, unsigned limit,
                          const json_t *scopes, const char *model, const json_t *near,
                          struct err *err) {
    struct finding f = {
        .task = task,
        .model = model,
        .near = near,
        .scopes = scopes,
        .limit = limit == 0               ? 5
                 : limit > FIND_LIMIT_MAX ? FIND_LIMIT_MAX
                                          : limit,
    };
    if (!is_ready(c, err)) {
        return NULL;
    }
    f.matches = json_array();
    f.nearest = json_array();
    int rc = find_among(c, &f, false, err);
    if (rc == 0 && json_array_size(f.matches) < f.limit) {
        rc = find_among(c, &f, true, err);
    }
    if (json_array_size(f.matches)) {
        json_array_clear(f.nearest);
    }
    json_t *result = json_pack("{s:o, s:o, s:b}", "matches", f.matches, "nearest",
                               f.nearest, "unsure", f.best < SURE_OF_ONE);
    if (rc < 0) {
        c->damaged |= rc == -EBADMSG;
        json_decref(take(result));
    }
    return result;
}

/* --- listing --- */

json_t *catalog_list(struct catalog *c, const json_t *scopes, struct err *err) {
    const struct snapshot *s = c->snapshot;
    if (!s) {
        err_set(err, -EAGAIN, "the index of skills is not ready: %s",
                c->problem[0] ? c->problem : "it is being built");
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < s->place_count; i++) {
        const struct snapshot_place *p = &s->places[i];
        if (p->first != i || !in_scopes(c, p, scopes)) {
            continue;
        }
        json_t *entry = describe(c, p);
        const char *agent = place_folder(c, p)->agent;
        if (agent && !json_object_get(entry, "agent")) {
            json_object_set_new(entry, "agent", json_clean_z(agent));
        }
        if (s->places[p->winner].document != p->document) {
            json_object_set_new(entry, "shadowed_by",
                                json_clean_z(s->places[p->winner].path));
        }
        add_places(c, p, entry);
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *catalog_names(struct catalog *c, const char *prefix, unsigned limit) {
    const struct snapshot *s = c->snapshot;
    json_t *names = json_array();
    size_t len = strlen(prefix);
    for (size_t i = s ? snapshot_find_name(s, prefix) : 0;
         s && i < s->place_count && json_array_size(names) < limit; i++) {
        const struct snapshot_place *p = &s->places[i];
        if (strncmp(p->name, prefix, len) != 0) {
            break;
        }
        if (p->winner == i) {
            json_array_append_new(names, json_clean_z(p->name));
        }
    }
    return names;
}

bool catalog_is_filled(const struct catalog *c) {
    return c->snapshot != NULL;
}
