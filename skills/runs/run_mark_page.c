#include "skills/runs/run_mark_page.h"

#include "base/buf.h"
#include "skills/runs/html.h"
#include "skills/runs/run_marks.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>

#define NAME 1000 /* bytes of a name: whole, for it comes back */
#define QUESTION 8000

extern const char script_marks[]; /* marks.js */

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

/* --- a pair --- */

static void add_attribute(struct buf *out, const char *name, const char *value) {
    buf_addf(out, " data-%s=\"", name);
    html_text(out, value, NAME);
    buf_adds(out, "\"");
}

static void add_answer(struct buf *out, const char *letter, const char *words,
                       const json_t *cell) {
    buf_addf(out, "<div><h4>%s%s</h4><pre>", letter, words);
    html_text(out, json_get_string(cell, "output", ""), RUN_MARK_ANSWER);
    buf_adds(out, "</pre></div>\n");
}

static void add_choice(struct buf *out, size_t pair, const char *value,
                       const char *words) {
    buf_addf(out, "<label><input type=\"radio\" name=\"p%zu\" value=\"%s\"> %s</label>\n",
             pair, value, words);
}

static void add_form(struct buf *out, size_t i, const json_t *cell) {
    autofree char *turn = xasprintf("%lld", (long long)json_get_integer(cell, "run", 0));
    buf_adds(out, "<fieldset");
    add_attribute(out, "model", json_get_string(cell, "model", ""));
    add_attribute(out, "test", json_get_string(cell, "test", ""));
    add_attribute(out, "turn", turn);
    buf_adds(out, "><legend>Which is better?</legend>\n");
    add_choice(out, i, "a", "A");
    add_choice(out, i, "same", "the same");
    add_choice(out, i, "b", "B");
    buf_addf(out,
             "<textarea rows=\"1\" maxlength=\"%d\" aria-label=\"note\" "
             "placeholder=\"note\"></textarea></fieldset>\n",
             RUN_MARK_NOTE / 4);
}

static void add_pair(struct buf *out, const json_t *batch, const struct run_pair *pair,
                     size_t i, bool blind) {
    const json_t *questions =
        json_object_get(json_object_get(batch, "meta"), "questions");
    const char *test = json_get_string(pair->skill, "test", "");
    const char *question = json_get_string(questions, test, "");
    bool turned =
        blind && run_pair_is_turned(json_get_string(batch, "run", ""), pair->skill);
    buf_adds(out, "<section class=\"test\"><h3>");
    html_text(out, test, NAME);
    buf_adds(out, " <span class=\"muted\">");
    html_text(out, json_get_string(pair->skill, "model", ""), NAME);
    buf_addf(out, ", run %lld</span></h3>\n",
             (long long)json_get_integer(pair->skill, "run", 0));
    if (*question) {
        buf_adds(out, "<p class=\"question\">");
        html_text(out, question, QUESTION);
        buf_adds(out, "</p>\n");
    }
    buf_adds(out, "<div class=\"arms\">\n");
    add_answer(out, "A", blind ? "" : ": without the skill",
               turned ? pair->skill : pair->baseline);
    add_answer(out, "B", blind ? "" : ": with the skill",
               turned ? pair->baseline : pair->skill);
    buf_adds(out, "</div>\n");
    add_form(out, i, pair->skill);
    buf_adds(out, "</section>\n");
}

/* --- the page --- */

static void add_head(struct buf *out, const json_t *batch, bool blind) {
    char digest[64];
    const json_t *skill = json_object_get(json_object_get(batch, "meta"), "skill");
    const char *name = json_get_string(skill, "name", "skill");
    autofree char *title = xasprintf("%.200s – marks", name);
    script_digest(digest);
    html_page_begin_with_script(out, title, digest);
    buf_adds(out, "<h1>");
    html_text(out, name, NAME);
    buf_adds(out, "</h1>\n<p class=\"lead\">");
    buf_adds(out, blind ? "Which answer is better? One was given with the skill and one "
                          "without; this page does not say which."
                        : "Which answer is better? A was given without the skill, B with "
                          "it.");
    buf_adds(out, "</p>\n");
}

static void add_foot(struct buf *out, const json_t *batch, bool blind) {
    const char *run = json_get_string(batch, "run", "");
    buf_adds(out, "<section id=\"marking\"");
    add_attribute(out, "run", run);
    add_attribute(out, "order", blind ? "blind" : "open");
    buf_adds(
        out,
        "><p><strong id=\"count\"></strong> <a id=\"save\" download=\"marks.json\" "
        "href=\"#out\">Save marks.json</a></p>\n<details><summary>what "
        "then?</summary><p class=\"muted\">In a terminal: <code>upskillctl run marks ");
    html_text(out, run, NAME);
    buf_addf(
        out,
        " marks.json</code>. Where the browser saves nothing, copy this:</p>\n"
        "<textarea id=\"out\" rows=\"6\" readonly aria-label=\"marks as "
        "JSON\"></textarea></details></section>\n<script>%s</script>\n</body></html>\n",
        script_marks);
}

int run_mark_page_write(struct buf *out, const json_t *batch, bool blind) {
    size_t count;
    autofree struct run_pair *pairs = run_pairs(batch, &count);
    if (!count) {
        return -ENODATA;
    }
    add_head(out, batch, blind);
    for (size_t i = 0; i < count && i < RUN_MARK_PAIRS; i++) {
        add_pair(out, batch, &pairs[i], i, blind);
    }
    if (count > RUN_MARK_PAIRS) {
        buf_addf(out,
                 "<p class=\"muted\">… and %zu more pairs, which are not shown</p>\n",
                 count - RUN_MARK_PAIRS);
    }
    add_foot(out, batch, blind);
    return out->full ? -EMSGSIZE : 0;
}
