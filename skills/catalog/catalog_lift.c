/* What evaluations noted in a skill's skill_meta.json say of its lift, by model. Read on
 * the indexer's thread, kept as text in the index, looked up on the loop's. */
#include "base/buf.h"
#include "base/file.h"
#include "skills/catalog/catalog_internal.h"

#include <math.h>

#define META_MAX (8u << 20)
#define MODELS_MAX 32u
#define MODEL_NAME_MAX 200u

/* --- from the file --- */

static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    double n = json_is_number(value) ? json_number_value(value) : NAN;
    return n >= -1 && n <= 1 ? n : NAN;
}

static const char *text(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : "";
}

/* By their dates where both have one; otherwise the later entry is the newer one. */
static bool is_older(const char *ended, const json_t *kept) {
    const char *before = text(kept, "ended");
    return *ended && *before && strcmp(ended, before) < 0;
}

/* entry: one model's result, {"model", "verdict", "lift": {"estimate", "low", "high"}}.
 */
static void keep_entry(json_t *models, const json_t *entry, const char *ended) {
    const json_t *lift = json_object_get(entry, "lift");
    double estimate = number(lift, "estimate"), low = number(lift, "low"),
           high = number(lift, "high");
    char nameless[32];
    const char *model = text(entry, "model");
    if (!*model) { /* counts for the mean alone */
        snprintf(nameless, sizeof nameless, "?%zu", json_object_size(models));
        model = nameless;
    }
    const json_t *kept = json_object_get(models, model);
    bool full = !kept && json_object_size(models) >= MODELS_MAX;
    if (isnan(estimate) || strlen(model) > MODEL_NAME_MAX || full ||
        (kept && is_older(ended, kept))) {
        return;
    }
    json_t *fresh = json_pack("{s:s, s:s, s:f}", "verdict", text(entry, "verdict"),
                              "ended", strlen(ended) < 64 ? ended : "", "lift", estimate);
    if (!isnan(low) && !isnan(high)) {
        json_object_set_new(fresh, "low", json_real(low));
        json_object_set_new(fresh, "high", json_real(high));
    }
    json_object_del(models, model);
    json_object_set_new(models, model, fresh);
}

/* An evaluation is one model's, or holds several as "students". */
static json_t *read_models(const json_t *meta) {
    json_t *models = json_object();
    json_each(json_object_get(meta, "evaluations"), i, evaluation) {
        const char *ended = text(evaluation, "ended");
        keep_entry(models, evaluation, ended);
        json_each(json_object_get(evaluation, "students"), k, student) {
            keep_entry(models, student, ended);
        }
    }
    return models;
}

static double mean_of(json_t *models) {
    double sum = 0;
    json_each_member(models, name, entry) {
        sum += json_number_value(json_object_get(entry, "lift"));
    }
    size_t count = json_object_size(models);
    return count ? sum / (double)count : NAN;
}

double lifts_read(const char *folder, char **ret_text) {
    autobuf meta_text = BUF_INIT(META_MAX);
    struct root root;
    *ret_text = NULL;
    if (root_open(&root, folder, NULL) < 0) {
        return NAN;
    }
    int rc = root_read(&root, "skill_meta.json", &meta_text, NULL);
    root_close(&root);
    autojson *meta = rc < 0 ? NULL : json_parse(meta_text.data, meta_text.len, NULL);
    autojson *models = read_models(meta);
    double mean = mean_of(models);
    if (!isnan(mean)) {
        *ret_text = json_dumps(models, JSON_COMPACT);
    }
    return mean;
}

/* --- by model --- */

/* "anthropic/claude-x" and "claude-x" are one model asked for in two ways. */
static const json_t *find_model(json_t *models, const char *model) {
    json_t *near = NULL;
    json_each_member(models, name, entry) {
        if (*name == '?') {
            continue;
        }
        if (strcasecmp(name, model) == 0) {
            return entry;
        }
        bool bare = !strchr(name, '/') || !strchr(model, '/');
        if (bare && *path_basename(name) &&
            strcasecmp(path_basename(name), path_basename(model)) == 0) {
            near = entry;
        }
    }
    return near;
}

/* A verdict counts as proven by its word, and without one by an interval beside zero. */
static enum lift_proof proof_of(const json_t *entry, const struct model_lift *m) {
    const char *verdict = text(entry, "verdict");
    if (strcmp(verdict, "helps") == 0) {
        return m->lift > 0 ? LIFT_HELPS : LIFT_UNPROVEN;
    }
    if (strcmp(verdict, "hurts") == 0) {
        return m->lift < 0 ? LIFT_HURTS : LIFT_UNPROVEN;
    }
    if (*verdict || isnan(m->low)) {
        return LIFT_UNPROVEN;
    }
    return m->low > 0 ? LIFT_HELPS : m->high < 0 ? LIFT_HURTS : LIFT_UNPROVEN;
}

bool lifts_of_model(const char *lifts, const char *model, struct model_lift *ret) {
    if (!lifts || !model || !*model) {
        return false;
    }
    autojson *models = json_loads(lifts, 0, NULL);
    const json_t *entry = find_model(models, model);
    if (!entry) {
        return false;
    }
    ret->lift = number(entry, "lift");
    ret->low = number(entry, "low");
    ret->high = number(entry, "high");
    ret->proof = proof_of(entry, ret);
    return !isnan(ret->lift);
}

double lifts_order(double fit, const struct model_lift *m) {
    switch (m->proof) {
    case LIFT_HELPS:
        return fit + 0.1 + 0.3 * m->lift;
    case LIFT_HURTS:
        return fit - 1;
    default:
        return fit;
    }
}

void lifts_explain(struct buf *out, const struct model_lift *m, const char *model) {
    static const char *const words[] = {"no proof either way", "helps", "hurts"};
    buf_addf(out, "%smeasured for %.60s: %s (%+.2f", out->len ? "; " : "", model,
             words[m->proof], m->lift);
    if (!isnan(m->low) && !isnan(m->high)) {
        buf_addf(out, ", %+.2f to %+.2f", m->low, m->high);
    }
    buf_addc(out, ')');
}
