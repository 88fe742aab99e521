#include "base/err.h"
#include "base/mem.h"
#include "skills/models/model_client.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const variables[] = {
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY",   "GENERIC_API_KEY", "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",   "GENERIC_BASE_URL", "GW_KEY"};

static const char aliases_text[] =
    "{\"gw\": {\"api\": \"openai\", \"base_url\": \"https://gw.example/v1/\", \"model\": "
    "\"big\", \"key_env\": \"GW_KEY\", \"price\": {\"input\": 2, \"output\": 8}, "
    "\"effort\": \"low\", \"max_tokens\": 900},"
    "\"local\": {\"api\": \"anthropic\", \"base_url\": \"http://127.0.0.1:8080/v1\", "
    "\"model\": \"tiny\", \"key_env\": \"GW_KEY\", \"auth\": \"bearer\"},"
    "\"bare\": {\"api\": \"openai\", \"model\": \"m\"},"
    "\"odd\": {\"api\": \"openai\"}}";

/* env: "NAME=value" pairs set for the case. */
static const struct {
    const char *name, *base_url, *env[3];
    int rc;
    const char *url, *model, *key, *says;
} cases[] = {
    {"\"anthropic.claude-x-1.5\"",
     NULL,
     {"ANTHROPIC_API_KEY=k"},
     0,
     "https://api.anthropic.com",
     "claude-x-1.5",
     "ANTHROPIC_API_KEY",
     NULL},
    {"\"anthropic.c\"", NULL, {NULL}, -ENOKEY, NULL, NULL, NULL, "ANTHROPIC_API_KEY"},
    {"\"openai.gpt\"",
     NULL,
     {"OPENAI_API_KEY=k"},
     0,
     "https://api.openai.com/v1",
     "gpt",
     "OPENAI_API_KEY",
     NULL},
    {"\"openai.gpt\"",
     NULL,
     {"OPENAI_BASE_URL=http://localhost:9/v1/"},
     0,
     "http://localhost:9/v1",
     "gpt",
     "OPENAI_API_KEY",
     NULL},
    {"\"openai.gpt\"",
     NULL,
     {"OPENAI_BASE_URL=http://gpu1:9/v1"},
     -ENOKEY,
     NULL,
     NULL,
     NULL,
     "OPENAI_API_KEY"},
    {"\"generic.Qwen/Q-3:novita\"",
     NULL,
     {"GENERIC_BASE_URL=http://gpu1:8000/v1"},
     0,
     "http://gpu1:8000/v1",
     "Qwen/Q-3:novita",
     "GENERIC_API_KEY",
     NULL},
    {"\"generic.m\"", NULL, {NULL}, -EINVAL, NULL, NULL, NULL, "GENERIC_BASE_URL"},
    {"\"anthropic.c\"",
     NULL,
     {"ANTHROPIC_BASE_URL=http://[::1]:80/v1/"},
     0,
     "http://[::1]:80",
     "c",
     "ANTHROPIC_API_KEY",
     NULL},
    {"\"gw\"", NULL, {"GW_KEY=k"}, 0, "https://gw.example/v1", "big", "GW_KEY", NULL},
    {"\"gw\"", NULL, {NULL}, -ENOKEY, NULL, NULL, NULL, "GW_KEY"},
    {"\"local\"", NULL, {NULL}, 0, "http://127.0.0.1:8080", "tiny", "GW_KEY", NULL},
    {"\"bare\"",
     NULL,
     {"OPENAI_API_KEY=k"},
     0,
     "https://api.openai.com/v1",
     "m",
     "OPENAI_API_KEY",
     NULL},
    {"\"odd\"", NULL, {NULL}, -EINVAL, NULL, NULL, NULL, "models.odd"},
    /* An address that only the request names gets no key, whoever's it is. */
    {"\"openai.gpt\"",
     "http://evil.example/v1",
     {"OPENAI_API_KEY=k"},
     0,
     "http://evil.example/v1",
     "gpt",
     NULL,
     NULL},
    {"\"gw\"",
     "http://evil.example/v1",
     {"GW_KEY=k"},
     0,
     "http://evil.example/v1",
     "big",
     NULL,
     NULL},
    {"\"openai.gpt\"",
     "https://gw.example/v1",
     {"GW_KEY=k"},
     0,
     "https://gw.example/v1",
     "gpt",
     "GW_KEY",
     NULL},
    {"{\"api\":\"openai\",\"base_url\":\"http://evil.example/v1\",\"model\":\"m\"}",
     NULL,
     {"OPENAI_API_KEY=k"},
     0,
     "http://evil.example/v1",
     "m",
     NULL,
     NULL},
    {"{\"api\":\"openai\",\"base_url\":\"http://evil.example/v1\",\"model\":\"m\","
     "\"key_env\":\"OPENAI_API_KEY\"}",
     NULL,
     {"OPENAI_API_KEY=k"},
     -EACCES,
     NULL,
     NULL,
     NULL,
     "configuration"},
    {"{\"api\":\"openai\",\"model\":\"m\",\"key_env\":\"AWS_SECRET_ACCESS_KEY\"}",
     NULL,
     {"OPENAI_API_KEY=k"},
     -EACCES,
     NULL,
     NULL,
     NULL,
     "configuration"},
    {"{\"api\":\"openai\",\"base_url\":\"https://gw.example/v1\",\"model\":\"m\","
     "\"key_env\":\"GW_KEY\"}",
     NULL,
     {"GW_KEY=k"},
     0,
     "https://gw.example/v1",
     "m",
     "GW_KEY",
     NULL},
    {"\"sonnet\"", NULL, {NULL}, -EINVAL, NULL, NULL, NULL, "anthropic.MODEL"},
    {"\"sonnet\"", NULL, {NULL}, -EINVAL, NULL, NULL, NULL, "aliases: gw, local"},
    {"\"openai.\"", NULL, {NULL}, -EINVAL, NULL, NULL, NULL, "is not a model"},
    {"\"claude.x\"", NULL, {NULL}, -EINVAL, NULL, NULL, NULL, "is not a model"},
    {"\"\"", NULL, {NULL}, -EINVAL, NULL, NULL, NULL, "is not a model"},
    {"7", NULL, {NULL}, -EINVAL, NULL, NULL, NULL, "a name or an object"},
    {"{\"api\":\"gemini\",\"model\":\"m\"}",
     NULL,
     {NULL},
     -EINVAL,
     NULL,
     NULL,
     NULL,
     "api"},
    {"{\"api\":\"openai\",\"model\":\"m\",\"key\":\"sk\"}",
     NULL,
     {NULL},
     -EINVAL,
     NULL,
     NULL,
     NULL,
     "key"},
    {"\"generic.m\"", "ftp://x/v1", {NULL}, -EINVAL, NULL, NULL, NULL, "http"},
    {"\"generic.m\"", "http://", {NULL}, -EINVAL, NULL, NULL, NULL, "http"},
    {"\"generic.m\"", "http://u:p@h/v1", {NULL}, -EINVAL, NULL, NULL, NULL, "password"},
    {"\"generic.m\"", "http://h/v1?key=1", {NULL}, -EINVAL, NULL, NULL, NULL, "query"},
    {"\"generic.m\"", "http://h/\r\nX: y", {NULL}, -EINVAL, NULL, NULL, NULL, "http"},
};

static void set_environment(size_t i) {
    for (size_t k = 0; k < ARRAY_LEN(variables); k++) {
        unsetenv(variables[k]);
    }
    for (size_t k = 0; k < 3 && cases[i].env[k]; k++) {
        putenv((char *)cases[i].env[k]);
    }
}

Test(model, names_addresses_and_keys_are_found_and_guarded) {
    autojson *aliases = json_loads(aliases_text, 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model m = {0};
        struct err err = {0};
        autojson *name = json_loads(cases[i].name, JSON_DECODE_ANY, NULL);
        set_environment(i);
        int rc = model_resolve(&m, name, aliases, cases[i].base_url, &err);
        cr_assert(eq(int, rc, cases[i].rc), "case %zu %s: %s", i, cases[i].name, err.msg);
        if (rc < 0) {
            cr_assert(strstr(err.msg, cases[i].says) != NULL, "case %zu: %s", i, err.msg);
            cr_assert(m.base_url == NULL);
            continue;
        }
        cr_assert(eq(str, m.base_url, (char *)cases[i].url), "case %zu", i);
        cr_assert(eq(str, m.model, (char *)cases[i].model), "case %zu", i);
        bool same = cases[i].key ? m.key_env && strcmp(m.key_env, cases[i].key) == 0
                                 : m.key_env == NULL;
        cr_assert(same, "case %zu: key %s", i, m.key_env);
        model_finish(&m);
    }
}

Test(model, an_alias_carries_price_effort_and_length_and_survives_copying) {
    struct model m, copy;
    struct err err = {0};
    autojson *aliases = json_loads(aliases_text, 0, NULL);
    autojson *name = json_string("gw");
    setenv("GW_KEY", "k", 1);
    cr_assert(zero(int, model_resolve(&m, name, aliases, NULL, &err)), "%s", err.msg);
    model_copy(&copy, &m);
    model_finish(&m);
    cr_assert(eq(str, copy.name, "gw"));
    cr_assert(eq(str, copy.effort, "low"));
    cr_assert(eq(uint, copy.max_tokens, 900));
    autojson *json = model_to_json(&copy);
    autofree char *text = json_dumps(json, JSON_COMPACT);
    cr_assert(eq(str, text,
                 "{\"name\":\"gw\",\"api\":\"openai\",\"base_url\":\"https://gw.example/"
                 "v1\",\"model\":\"big\"}"));
    /* 1000 in at 2 and 500 out at 8 per million. */
    struct model_usage usage = {.input = 1000, .output = 500};
    cr_assert(ieee_ulp_eq(dbl, model_cost(&copy, &usage), 0.006, 4));
    usage.cache_read = 400; /* its price is not known */
    cr_assert(model_cost(&copy, &usage) < 0);
    copy.price.cache_read = 0.2; /* 600 * 2 + 400 * 0.2 + 500 * 8 = 5280 */
    cr_assert(ieee_ulp_eq(dbl, model_cost(&copy, &usage), 0.00528, 4));
    model_finish(&copy);
}
