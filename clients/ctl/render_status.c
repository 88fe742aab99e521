/* daemon/status on a terminal. */
#include "base/buf.h"
#include "clients/ctl/render.h"

#define LABEL_COLUMN 15

static const struct facts facts = {STYLE_BOLD, 0, LABEL_COLUMN};

/* A line for each text; its label stands on the first. */
static void put_texts(const struct terminal *t, const char *label, const json_t *texts,
                      enum style style, const char *none) {
    json_each(texts, i, text) {
        terminal_fact(t, &facts, i ? "" : label, style, "%s", json_string_value(text));
    }
    if (!json_array_size(texts) && none) {
        terminal_fact(t, &facts, label, STYLE_DIM, "%s", none);
    }
}

static void put_compilers(const struct terminal *t, const json_t *kernels) {
    const json_t *toolkits = json_object_get(kernels, "toolkits");
    const json_t *cache = json_object_get(kernels, "cache");
    json_each(toolkits, i, one) {
        terminal_fact(t, &facts, i ? "" : "compiler", STYLE_PLAIN, "CUDA %d in %s",
                      (int)json_get_integer(one, "major", 0),
                      json_get_string(one, "root", "?"));
    }
    if (!json_array_size(toolkits)) {
        terminal_fact(t, &facts, "compiler", STYLE_YELLOW, "none");
    }
    if (json_get_integer(cache, "entries", 0)) {
        terminal_fact(t, &facts, "", STYLE_PLAIN,
                      "%d checks, %.1f MB; %d of %d requests answered from it",
                      (int)json_get_integer(cache, "entries", 0),
                      (double)json_get_integer(cache, "bytes", 0) / 1e6,
                      (int)json_get_integer(cache, "hits", 0),
                      (int)(json_get_integer(cache, "hits", 0) +
                            json_get_integer(cache, "misses", 0)));
    }
}

static void add_agents(struct buf *out, const json_t *agents) {
    json_each(agents, i, agent) {
        buf_addf(out, "%s%s", i ? ", " : "", json_get_string(agent, "name", "?"));
    }
}

static void put_skills(const struct terminal *t, const json_t *skills) {
    const json_t *catalog = json_object_get(skills, "catalog");
    const char *bundled = json_get_string(skills, "bundled", NULL);
    const char *problem = json_get_string(skills, "problem", NULL);
    const char *index = json_get_string(catalog, "problem", NULL);
    autobuf agents = BUF_INIT(4096);
    int known = (int)json_get_integer(catalog, "skills", 0);
    autofree char *text = known ? xasprintf("%d known", known)
                                : xstrdup("found at the first request");
    terminal_fact(t, &facts, "skills", known ? STYLE_PLAIN : STYLE_DIM, "%s", text);
    if (bundled) {
        terminal_fact(t, &facts, "", STYLE_PLAIN, "bundled in %s", bundled);
    }
    if (problem) {
        terminal_fact(t, &facts, "", STYLE_YELLOW, "%s", problem);
    }
    if (index) {
        terminal_fact(t, &facts, "", STYLE_YELLOW, "their index: %s", index);
    }
    add_agents(&agents, json_object_get(skills, "agents"));
    terminal_fact(t, &facts, "agents", agents.len ? STYLE_PLAIN : STYLE_DIM, "%s",
                  agents.len ? agents.data : "none on this machine");
}

static void put_endpoint(const struct terminal *t, const char *label, const json_t *one) {
    autofree char *text = json_dumps(one, JSON_COMPACT);
    terminal_fact(t, &facts, label, STYLE_PLAIN, "%s",
                  json_get_string(one, "base_url", json_get_string(one, "url", text)));
}

static void put_models(const struct terminal *t, const json_t *models) {
    const json_t *endpoints = json_object_get(models, "endpoints");
    const char *problem = json_get_string(models, "answers", NULL);
    json_each(endpoints, i, one) {
        put_endpoint(t, i ? "" : "models", one);
    }
    if (problem) {
        terminal_fact(t, &facts, "answers", STYLE_YELLOW, "%s", problem);
    }
}

static void put_missing(const struct terminal *t, const json_t *missing) {
    json_each(missing, i, one) {
        terminal_put(t, STYLE_YELLOW, "missing: ");
        terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(one, "what", ""), 9, 9);
        fputs("  ", stdout);
        terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(one, "hint", ""), 2, 2);
    }
}

void render_status(const struct terminal *t, const json_t *result) {
    const json_t *kernels = json_object_get(result, "kernels");
    const json_t *configuration = json_object_get(result, "configuration");
    terminal_putf(t, STYLE_BOLD, "upskilld %s", json_get_string(result, "version", "?"));
    puts("\n");
    put_texts(t, "workspace", json_object_get(result, "roots"), STYLE_PLAIN, "none");
    put_texts(t, "configuration", json_object_get(configuration, "files"), STYLE_PLAIN,
              "no file, all defaults");
    put_texts(t, "", json_object_get(configuration, "warnings"), STYLE_YELLOW, NULL);
    put_compilers(t, kernels);
    put_skills(t, json_object_get(result, "skills"));
    put_models(t, json_object_get(result, "models"));
    render_workers(t, json_object_get(kernels, "workers"));
    put_missing(t, json_object_get(result, "missing"));
}
