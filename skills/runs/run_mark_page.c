/* What mark_page.html tells: the pairs of a batch. */
#include "skills/runs/run_mark_page.h"

#include "skills/runs/run_marks.h"
#include "skills/runs/run_page.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>

extern const char html_mark_page[];

/* "sha256-…" of the script, as a policy names it. */
static void script_digest(char ret[static 64]) {
    uint8_t raw[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, strlen(script_marks), (const uint8_t *)script_marks);
    sha256_digest(&sha, sizeof raw, raw);
    memcpy(ret, "sha256-", 7);
    base64_encode_raw(ret + 7, sizeof raw, raw);
    ret[7 + BASE64_ENCODE_RAW_LENGTH(sizeof raw)] = '\0';
}

static json_t *pair_of(const json_t *batch, const struct run_pair *pair, bool blind) {
    const json_t *questions =
        json_object_get(json_object_get(batch, "meta"), "questions");
    const char *test = json_get_string(pair->skill, "test", "");
    bool turned =
        blind && run_pair_is_turned(json_get_string(batch, "run", ""), pair->skill);
    return json_pack(
        "{s:s,s:s,s:I,s:O*,s:O*,s:O*}", "test", test, "model",
        json_get_string(pair->skill, "model", ""), "run",
        json_get_integer(pair->skill, "run", 0), "question",
        json_object_get(questions, test), "a",
        json_object_get(turned ? pair->skill : pair->baseline, "output"), "b",
        json_object_get(turned ? pair->baseline : pair->skill, "output"));
}

static bool same_text(const json_t *a, const json_t *b, const char *key) {
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* Nothing to choose: the two answers are the same, or an earlier pair of the test has
 * both. */
static bool is_needless(const struct run_pair *pairs, size_t i) {
    const json_t *skill = pairs[i].skill;
    bool needless = same_text(skill, pairs[i].baseline, "output");
    for (size_t k = i; k-- > 0 && !needless && same_text(skill, pairs[k].skill, "model") &&
                       same_text(skill, pairs[k].skill, "test");) {
        needless = same_text(skill, pairs[k].skill, "output") &&
                   same_text(pairs[i].baseline, pairs[k].baseline, "output");
    }
    return needless;
}

int run_mark_page_write(struct buf *out, const json_t *batch, bool blind) {
    size_t count;
    char digest[64];
    autofree struct run_pair *pairs = run_pairs(batch, &count);
    const json_t *skill = json_object_get(json_object_get(batch, "meta"), "skill");
    json_t *told = json_array();
    size_t needless = 0, more = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_needless(pairs, i)) {
            needless++;
        } else if (json_array_size(told) < RUN_MARK_PAIRS) {
            json_array_append_new(told, pair_of(batch, &pairs[i], blind));
        } else {
            more++;
        }
    }
    if (!json_array_size(told)) {
        json_decref(told);
        return count ? -EALREADY : -ENODATA;
    }
    script_digest(digest);
    autojson *page =
        json_pack("{s:s,s:s,s:s,s:s,s:b,s:i,s:o,s:o*,s:o*}", "kind", "marks", "name",
                  json_get_string(skill, "name", "skill"), "script", digest, "run",
                  json_get_string(batch, "run", ""), "blind", blind, "note_max",
                  RUN_MARK_NOTE / 4, "pairs", told, "more",
                  more ? json_integer((json_int_t)more) : NULL, "needless",
                  needless ? json_integer((json_int_t)needless) : NULL);
    return run_page_write(out, html_mark_page, page);
}
