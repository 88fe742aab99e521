#include "skills/models/model.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "protocol/schema/schema.h"
#include "skills/model.schema.h"
#include "skills/models/model_client.h"

#define MAX_URL 2048

struct provider {
    const char *name;
    enum model_api api;
    const char *url_env, *url, *key_env;
    bool needs_key;
};
static const struct provider providers[] = {
    {"anthropic", MODEL_MESSAGES, "ANTHROPIC_BASE_URL", "https://api.anthropic.com",
     "ANTHROPIC_API_KEY", true},
    {"openai", MODEL_CHAT, "OPENAI_BASE_URL", "https://api.openai.com/v1",
     "OPENAI_API_KEY", true},
    {"generic", MODEL_CHAT, "GENERIC_BASE_URL", NULL, "GENERIC_API_KEY", false},
};

const char *const model_providers[] = {"anthropic", "openai", "generic", NULL};

/* What a name stands for, on the way to a struct model. Borrowed but base_url. */
struct draft {
    const struct provider *provider;
    const char *name, *model;
    const json_t *object; /* an alias, or the request's object; NULL for a plain name */
    const json_t *aliases;
    bool trusted; /* object is an alias */
    char *base_url;
    const char *key_env;
};

static const char *env(const char *name) {
    const char *value = name ? getenv(name) : NULL;
    return value && *value ? value : NULL;
}

static const struct provider *provider_named(const char *name, size_t len) {
    return list_find(one, providers, ARRAY_LEN(providers),
                     strlen(one->name) == len && strncmp(one->name, name, len) == 0);
}

/* --- names --- */

static int unknown_name(const char *name, const json_t *aliases, struct err *err) {
    autobuf known = BUF_INIT(200);
    json_each_member(aliases, key, value) {
        buf_addf(&known, "%s%s", known.len ? ", " : "; aliases: ", key);
    }
    return err_set(err, -EINVAL,
                   "\"%.64s\" is not a model here: set ANTHROPIC_API_KEY, OPENAI_API_KEY or "
                   "GENERIC_BASE_URL, with which a bare name is looked up (`export "
                   "ANTHROPIC_API_KEY=…`); or write anthropic.MODEL, openai.MODEL, "
                   "generic.MODEL, an alias of the configuration's `models`, an object "
                   "{api, base_url, model}%s",
                   name, known.data);
}

static int check_object(const json_t *object, struct err *err) {
    struct schema *schema;
    int rc = schema_new(MODEL_SCHEMA, &schema, err);
    if (rc < 0) {
        return rc;
    }
    rc = schema_check(schema, object, NULL, err);
    schema_free(schema);
    return rc < 0 ? err_wrap(err, "model") : 0;
}

static void use_object(struct draft *d, const json_t *object) {
    const char *api = json_get_string(object, "api", "");
    d->object = object;
    d->provider = provider_named(api, strlen(api));
    d->model = json_get_string(object, "model", "");
    d->name = json_get_string(object, "name", NULL);
}

static int use_name(struct draft *d, const char *name, bool addressed, struct err *err) {
    const json_t *alias = json_object_get(d->aliases, name);
    const char *dot = strchr(name, '.');
    int rc = 0;
    if (alias) {
        rc = check_object(alias, err);
        use_object(d, alias);
        d->trusted = true;
    } else if (dot && dot[1]) {
        d->provider = provider_named(name, (size_t)(dot - name));
        d->model = dot + 1;
    }
    if (!d->provider && addressed && rc == 0) {
        d->provider = provider_named("generic", strlen("generic"));
        d->model = name;
    }
    d->name = name;
    return rc < 0        ? err_wrap(err, "models.%s", name)
           : d->provider ? 0
                         : unknown_name(name, d->aliases, err);
}

static int identify(struct draft *d, const json_t *name_or_object, bool addressed,
                    struct err *err) {
    if (json_is_string(name_or_object)) {
        return use_name(d, json_string_value(name_or_object), addressed, err);
    }
    if (!json_is_object(name_or_object)) {
        return err_set(err, -EINVAL, "a model is a name or an object");
    }
    int rc = check_object(name_or_object, err);
    if (rc == 0) {
        use_object(d, name_or_object);
    }
    return rc;
}

/* --- addresses --- */

static const char *host_of(const char *url) {
    const char *host = strstr(url, "://");
    return host ? host + 3 : "";
}

static bool is_url(const char *url) {
    bool scheme =
        strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
    const char *host = host_of(url);
    for (const char *s = url; *s; s++) {
        if ((unsigned char)*s <= ' ' || *s == 0x7f || *s == '"' || *s == '\\') {
            return false;
        }
    }
    return scheme && strlen(url) <= MAX_URL && *host && !strchr("/:?#", *host);
}

/* Without trailing slashes; Messages' paths begin with /v1 themselves. */
static int clean_url(const char *url, enum model_api api, char **ret, struct err *err) {
    if (!is_url(url)) {
        return err_set(err, -EINVAL, "base_url: not an http:// or https:// address");
    }
    const char *host = host_of(url);
    if (memchr(host, '@', strcspn(host, "/?#"))) {
        return err_set(err, -EINVAL,
                       "base_url: no user name or password in it; name the variable with "
                       "the key in key_env");
    }
    if (strpbrk(host, "?#")) {
        return err_set(err, -EINVAL, "base_url: no query and no fragment");
    }
    char *clean = xstrdup(url);
    size_t len = strlen(clean);
    while (clean[len - 1] == '/') {
        clean[--len] = '\0';
    }
    if (api == MODEL_MESSAGES && len > 3 && strcmp(clean + len - 3, "/v1") == 0) {
        clean[len - 3] = '\0';
    }
    *ret = clean;
    return 0;
}

static bool is_local(const char *url) {
    static const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]"};
    const char *host = host_of(url);
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        size_t len = strlen(hosts[i]);
        if (strncasecmp(host, hosts[i], len) == 0 &&
            (host[len] == '\0' || strchr(":/", host[len]))) {
            return true;
        }
    }
    return false;
}

static const char *own_address(const struct provider *p) {
    const char *url = env(p->url_env);
    return url ? url : p->url;
}

static int find_address(struct draft *d, const char *asked, struct err *err) {
    const char *own = json_get_string(d->object, "base_url", NULL);
    const char *url = asked ? asked : own ? own : own_address(d->provider);
    if (!url) {
        return err_set(
            err, -EINVAL,
            "%s: a generic model needs an address: set %s (it ends in /v1), or "
            "give `base_url`",
            d->name ? d->name : d->model, d->provider->url_env);
    }
    int rc = clean_url(url, d->provider->api, &d->base_url, err);
    return rc < 0 && !asked && !own ? err_wrap(err, "%s", d->provider->url_env) : rc;
}

static bool is_same_address(const struct draft *d, const char *url) {
    autofree char *clean = NULL;
    return url && clean_url(url, d->provider->api, &clean, NULL) == 0 &&
           strcmp(clean, d->base_url) == 0;
}

/* --- keys --- */

/* The variable that the user sends to this address, whatever a request says. */
static const char *known_key(const struct draft *d) {
    if (is_same_address(d, own_address(d->provider))) {
        return d->provider->key_env;
    }
    json_each_member(d->aliases, key, alias) {
        if (json_object_get(alias, "key_env") &&
            is_same_address(d, json_get_string(alias, "base_url", NULL))) {
            return json_get_string(alias, "key_env", NULL);
        }
    }
    return NULL;
}

static int find_key(struct draft *d, bool address_asked, struct err *err) {
    const char *wanted = json_get_string(d->object, "key_env", NULL);
    const char *known = known_key(d);
    if (d->trusted && !address_asked) {
        d->key_env = wanted ? wanted : known;
        return 0;
    }
    d->key_env = known;
    if (wanted && !d->trusted && (!known || strcmp(wanted, known) != 0)) {
        return err_set(err, -EACCES,
                       "model: a request may not choose where a key is sent; put this "
                       "model with its base_url and key_env into `models` of your "
                       "configuration file and name it here");
    }
    return 0;
}

static int check_key(const struct draft *d, struct err *err) {
    bool needed = d->provider->needs_key || json_object_get(d->object, "key_env");
    if (!d->key_env || env(d->key_env) || !needed || is_local(d->base_url)) {
        return 0;
    }
    return err_set(err, -ENOKEY, "%s: no key: set the environment variable %s",
                   d->name ? d->name : d->model, d->key_env);
}

/* --- the model --- */

static double price_of(const json_t *object, const char *key) {
    return json_get_number(json_object_get(object, "price"), key, -1);
}

static char *copy_of(const char *s) {
    return s ? xstrdup(s) : NULL;
}

static void fill(struct model *m, struct draft *d) {
    const json_t *o = d->object;
    *m = (struct model){
        .name =
            d->name ? xstrdup(d->name) : xasprintf("%s.%s", d->provider->name, d->model),
        .api = d->provider->api,
        .base_url = take(d->base_url),
        .model = xstrdup(d->model),
        .key_env = copy_of(d->key_env),
        .bearer = json_says(o, "auth", "bearer"),
        .version = copy_of(json_get_string(o, "version", NULL)),
        .price = {price_of(o, "input"), price_of(o, "output"), price_of(o, "cache_read"),
                  price_of(o, "cache_write")},
        .effort = copy_of(json_get_string(o, "effort", NULL)),
        .max_tokens = (unsigned)json_get_integer(o, "max_tokens", 0),
    };
}

const char *model_shared_url(const json_t *name_or_object, const char *url) {
    const char *name = json_string_value(name_or_object);
    return name && strncmp(name, "generic.", 8) == 0 ? url : NULL;
}

int model_resolve(struct model *ret, const json_t *name_or_object, const json_t *aliases,
                  const char *base_url, struct err *err) {
    struct draft d = {.aliases = aliases};
    base_url = base_url && *base_url ? base_url : NULL;
    int rc = identify(&d, name_or_object, base_url != NULL, err);
    rc = rc < 0 ? rc : find_address(&d, base_url, err);
    rc = rc < 0 ? rc : find_key(&d, base_url != NULL, err);
    rc = rc < 0 ? rc : check_key(&d, err);
    if (rc == 0) {
        fill(ret, &d);
    }
    free(d.base_url);
    return rc;
}

void model_finish(struct model *m) {
    free(m->name);
    free(m->base_url);
    free(m->model);
    free(m->key_env);
    free(m->version);
    free(m->effort);
    *m = (struct model){0};
}

void model_copy(struct model *ret, const struct model *m) {
    struct model copy = *m;
    copy.name = copy_of(m->name);
    copy.base_url = copy_of(m->base_url);
    copy.model = copy_of(m->model);
    copy.key_env = copy_of(m->key_env);
    copy.version = copy_of(m->version);
    copy.effort = copy_of(m->effort);
    *ret = copy;
}

json_t *model_to_json(const struct model *m) {
    return json_pack("{s:o, s:s, s:o, s:o}", "name", json_clean_z(m->name), "api",
                     m->api == MODEL_MESSAGES ? "anthropic" : "openai", "base_url",
                     json_clean_z(m->base_url), "model", json_clean_z(m->model));
}

double model_cost(const struct model *m, const struct model_usage *u) {
    uint64_t cached = u->cache_read + u->cache_write;
    const struct {
        uint64_t tokens;
        double price;
    } parts[] = {{u->input > cached ? u->input - cached : 0, m->price.input},
                 {u->output, m->price.output},
                 {u->cache_read, m->price.cache_read},
                 {u->cache_write, m->price.cache_write}};
    bool known = m->price.input >= 0 && m->price.output >= 0;
    double sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        known = known && (parts[i].tokens == 0 || parts[i].price >= 0);
        sum += (double)parts[i].tokens * parts[i].price / 1e6;
    }
    return known ? sum : -1;
}

bool model_budget_is_spent(const struct model_budget *b) {
    return b && ((b->max_tokens && b->tokens >= b->max_tokens) ||
                 (b->max_cost > 0 && b->cost >= b->max_cost));
}
