/* Bare names of models, by the lists of the endpoints. */
#include "skills/models/model_names.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/http.h"
#include "base/text.h"
#include "skills/models/model.h"

#define TIMEOUT_MS 10000
#define LIST_MAX (4u << 20)
#define NAMED 5 /* models that an error names */

bool model_name_is_bare(const char *name, const json_t *aliases) {
    const char *dot = strchr(name, '.');
    for (const char *const *p = model_providers; *p; p++) {
        if (dot && strlen(*p) == (size_t)(dot - name) &&
            strncmp(name, *p, strlen(*p)) == 0) {
            return false;
        }
    }
    return !json_object_get(aliases, name);
}

/* --- asking --- */

struct model_names {
    model_names_listed *listed;
    void *data;
    json_t *lists;
    unsigned waiting;
};

struct one_list {
    struct model_names *names;
    json_t *list; /* borrowed from names->lists */
};

static void one_done(struct model_names *n) {
    if (--n->waiting == 0) {
        n->listed(n->lists, n->data);
        json_decref(n->lists);
        free(n);
    }
}

static void on_list(struct http_request *, const struct http_response *response,
                    void *data) {
    struct one_list *one = data;
    autobuf body = BUF_INIT(LIST_MAX);
    buf_add(&body, response->body, response->body_len);
    autojson *answer = json_parse(body.data, body.len, NULL);
    json_t *models = json_object_get(answer, "data");
    if (response->status == 200 && json_is_array(models)) {
        json_object_set(one->list, "models", models);
    } else {
        autofree char *why =
            response->status
                ? xasprintf("its list of models ends with status %ld", response->status)
                : xasprintf("its list of models: %.100s", response->why);
        json_object_set_new(one->list, "problem", json_clean_z(why));
    }
    one_done(one->names);
    free(one);
}

static int ask_one(struct model_names *n, struct http *http, const char *provider,
                   const struct model *model) {
    bool messages = model->api == MODEL_MESSAGES;
    const char *secret = model->key_env ? getenv(model->key_env) : NULL;
    autofree char *key =
        secret ? xasprintf("%s%s", messages ? "x-api-key: " : "Authorization: Bearer ",
                           secret)
               : NULL;
    autofree char *url = xasprintf("%s%s", model->base_url,
                                   messages ? "/v1/models?limit=1000" : "/models");
    const char *headers[] = {"anthropic-version: 2023-06-01", key, NULL};
    struct one_list *one = xcalloc(1, sizeof *one);
    *one =
        (struct one_list){.names = n, .list = json_pack("{s:s}", "provider", provider)};
    struct http_options options = {.method = "GET",
                                   .url = url,
                                   .headers = messages ? headers : headers + 1,
                                   .timeout_ms = TIMEOUT_MS,
                                   .max_body = LIST_MAX,
                                   .end = on_list,
                                   .data = one};
    struct http_request *request;
    int rc = http_start(http, &options, &request, NULL);
    if (rc < 0) {
        json_decref(one->list);
        free(one);
        return rc;
    }
    json_array_append_new(n->lists, one->list);
    n->waiting++;
    return 0;
}

int model_names_list(struct http *http, model_names_listed *listed, void *data,
                     struct err *err) {
    struct model_names *n = xcalloc(1, sizeof *n);
    *n = (struct model_names){.listed = listed, .data = data, .lists = json_array()};
    for (const char *const *p = model_providers; *p; p++) {
        autofree char *name = xasprintf("%s.x", *p);
        autojson *any = json_string(name);
        struct model model = {0};
        if (model_resolve(&model, any, NULL, NULL, NULL) == 0) {
            (void)ask_one(n, http, *p, &model);
            model_finish(&model);
        }
    }
    if (!n->waiting) {
        json_decref(n->lists);
        free(n);
        return err_set(err, -ENOENT, "no endpoint can be asked for its models");
    }
    return 0;
}

/* --- choosing --- */

/* Whether the name stands in the id with no letter or digit beside it. */
static bool holds(const char *id, const char *name) {
    size_t len = strlen(name);
    for (const char *at = strstr(id, name); at && len; at = strstr(at + 1, name)) {
        if ((at == id || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[len])) {
            return true;
        }
    }
    return false;
}

/* ISO 8601 of Anthropic's lists, seconds of OpenAI's: within one list they compare. */
static bool is_newer(const json_t *model, const json_t *than) {
    const char *iso = json_get_string(model, "created_at", ""),
               *other = json_get_string(than, "created_at", "");
    json_int_t seconds = json_get_integer(model, "created", 0),
               others = json_get_integer(than, "created", 0);
    return strcmp(iso, other) != 0 ? strcmp(iso, other) > 0 : seconds > others;
}

static const json_t *best_of(const json_t *models, const char *name) {
    const json_t *best = NULL;
    json_each(models, i, model) {
        const char *id = json_get_string(model, "id", "");
        if (strcmp(id, name) == 0) {
            return model;
        }
        if (holds(id, name) && (!best || is_newer(model, best))) {
            best = model;
        }
    }
    return best;
}

static void tell_list(const json_t *list, struct buf *told) {
    const json_t *models = json_object_get(list, "models");
    size_t count = json_array_size(models);
    buf_addf(told, "; %s: %s", json_get_string(list, "provider", ""),
             json_get_string(list, "problem", count ? "" : "it lists none"));
    json_each(models, i, model) {
        const char *id = json_get_string(model, "id", "");
        if (i < NAMED) {
            buf_adds(told, i ? ", " : "");
            text_clean(told, id, text_cut(id, strlen(id), 60));
        }
    }
    buf_addf(told, count > NAMED ? " and %zu more" : "", count - NAMED);
}

static int nothing_found(const json_t *lists, const char *name, struct err *err) {
    autobuf told = BUF_INIT(360);
    json_each(lists, i, list) {
        tell_list(list, &told);
    }
    return err_set(err, -ENOENT, "no endpoint has a model \"%.64s\"%s", name, told.data);
}

json_t *model_names_choose(const json_t *lists, const char *name, struct err *err) {
    const char *provider = NULL;
    const json_t *chosen = NULL;
    json_each(lists, i, list) {
        const json_t *model = best_of(json_object_get(list, "models"), name);
        const char *owner = json_get_string(list, "provider", "");
        if (model && chosen) {
            err_set(err, -ENOTUNIQ,
                    "%.64s may be %.100s of %s or %.100s of %s: write "
                    "PROVIDER.MODEL",
                    name, json_get_string(chosen, "id", ""), provider,
                    json_get_string(model, "id", ""), owner);
            return NULL;
        }
        provider = model ? owner : provider;
        chosen = model ? model : chosen;
    }
    if (!chosen) {
        nothing_found(lists, name, err);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:s}", "api", provider, "model",
                     json_get_string(chosen, "id", ""), "name", name);
}
