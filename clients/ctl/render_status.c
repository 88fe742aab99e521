/* daemon/status on a terminal. */
#include "clients/ctl/render.h"

#define LABEL_COLUMN 15

/* A label stands on the first of its lines. */
#define LABEL(words) "[{!@=0}|" BOLD words END "]\t"

static const char top_words[] = BOLD
    "upskilld {version|?}\n\n"
    "{roots:" LABEL(
        "workspace") "{.}\n}"
                     "[{!roots}" BOLD "workspace" END "\t" DIM "none\n]"
                     "{configuration.files:" LABEL(
                         "configuration") "{.}\n}"
                                          "[{!configuration.files}" BOLD
                                          "configuration" END "\t" DIM
                                          "no file, all defaults\n]"
                                          "{configuration.warnings:\t" YELLOW "{.}\n}"
                                          "{kernels.toolkits:" LABEL(
                                              "compiler") "CUDA {major|0} in {root|?}\n}"
                                                          "[{!kernels.toolkits}" BOLD
                                                          "compiler" END "\t" YELLOW
                                                          "none\n]";

static const char skills_words[] =
    BOLD "skills" END "\t[{?skills.catalog.skills}{skills.catalog.skills} known"
         "|" DIM "found at the first request]\n"
         "[\tbundled in {skills.bundled}\n]"
         "[\t" YELLOW "{skills.problem}\n]"
         "[\t" YELLOW "their index: {skills.catalog.problem}\n]" BOLD "agents" END
         "\t[{skills.agents/, /:{name|?}}|" DIM "none on this machine]\n";

static void put_cache(const json_t *cache) {
    if (json_get_integer(cache, "entries", 0)) {
        printf("%*s%lld checks, %.1f MB; %lld of %lld requests answered from it\n",
               LABEL_COLUMN, "", count_of(cache, "entries"),
               (double)count_of(cache, "bytes") / 1e6, count_of(cache, "hits"),
               count_of(cache, "hits") + count_of(cache, "misses"));
    }
}

static void put_models(const struct terminal *t, const json_t *models) {
    static const struct facts facts = {STYLE_BOLD, 0, LABEL_COLUMN};
    json_each(json_object_get(models, "endpoints"), i, one) {
        autofree char *text = json_dumps(one, JSON_COMPACT);
        terminal_fact(
            t, &facts, i ? "" : "models", STYLE_PLAIN, "%s",
            json_get_string(one, "base_url", json_get_string(one, "url", text)));
    }
    terminal_words(t, LABEL_COLUMN, "[" BOLD "answers" END "\t" YELLOW "{answers}\n]",
                   models);
}

void render_status(const struct terminal *t, const json_t *result) {
    const json_t *kernels = json_object_get(result, "kernels");
    terminal_words(t, LABEL_COLUMN, top_words, result);
    put_cache(json_object_get(kernels, "cache"));
    terminal_words(t, LABEL_COLUMN, skills_words, result);
    put_models(t, json_object_get(result, "models"));
    render_workers(t, json_object_get(kernels, "workers"));
    terminal_words(t, 0, "{missing:" YELLOW "missing: " END "\t{what}\n  \t{hint}\n}",
                   result);
}
