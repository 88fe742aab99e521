/* The pieces put together, and what the rules forbid taken out again. */
#include "skills/generation/builtin_skill.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "skills/check/skill_check.h"
#include "skills/format/tokens.h"
#include "skills/generation/markdown_write.h"

#include <limits.h>

#define MAX_TITLE 90u /* bytes */
#define MAX_BODY (1u << 20)
#define BODY_TOKENS 4200u /* of 5000 */
#define BODY_LINES 440u   /* of 500 */
#define MAX_CITED 3u
#define MAX_ROUNDS 24
#define ERRORS_FILE "references/errors.md"

static const char *const titles[SECTIONS] = {
    [SECTION_FIXES] = "Errors and fixes",  [SECTION_RULES] = "Rules",
    [SECTION_CHECKS] = "Checks",           [SECTION_LIMITS] = "Versions",
    [SECTION_FILES] = "Files that worked", [SECTION_EXAMPLES] = "Examples",
    [SECTION_REFERENCES] = "References",
};

struct writing {
    const struct builtin_request *request;
    const char *name, *task;
    char *title; /* where no task was given: the name in words */
    struct units units;
    size_t dropped;
    bool plain;     /* the description speaks of no errors */
    int first_line; /* of the first piece; the head is before it */
    char *text;
};

/* --- one version of the text --- */

static bool stands(const struct unit *u, enum section section) {
    return u->section == section && !u->dropped && !u->aside;
}

static bool is_empty(const struct units *u, enum section section) {
    return !any_of(i, 0, u->count, stands(&u->list[i], section));
}

static bool any_aside(const struct units *u) {
    return list_any(one, u->list, u->count, one->aside && !one->dropped);
}

static void add_section(struct buf *body, const struct units *u, enum section section) {
    bool more = section == SECTION_FIXES && any_aside(u);
    if (is_empty(u, section) && !more) {
        return;
    }
    buf_addf(body, "\n## %s\n\n", titles[section]);
    list_each(i, unit, u->list, u->count) {
        bool block = unit->text[0] != '-' && (unit->text[0] < '0' || unit->text[0] > '9');
        if (stands(unit, section)) {
            size_t len = body->len;
            bool spaced = len > 1 && body->data[len - 2] == '\n';
            buf_addf(body, "%s%s", block && !spaced ? "\n" : "", unit->text);
            buf_adds(body, block ? "\n" : "");
        }
    }
    if (more) {
        buf_adds(body, "\nMore of them: [errors.md](" ERRORS_FILE ")\n");
    }
}

/* No two blank lines in a row outside of fences, none at the end. */
static char *tidy(const char *text) {
    struct buf out = BUF_INIT(MAX_BODY);
    bool blank = false;
    size_t fence = 0; /* backticks of the one that is open */
    for (const char *line = text; *line; line = text_next_line(line)) {
        size_t len = strcspn(line, "\n"), ticks = strspn(line, "`");
        if (ticks >= 3 && (!fence || (ticks >= fence && ticks == len))) {
            fence = fence ? 0 : ticks;
        }
        if (len || fence || !blank) {
            buf_add(&out, line, len);
            buf_adds(&out, "\n");
        }
        blank = len == 0;
    }
    while (out.len > 1 && out.data[out.len - 2] == '\n') {
        out.data[--out.len] = '\0';
    }
    return buf_detach(&out);
}

/* The end of the section that begins at `heading`: the next heading of its level or
 * above. */
static size_t section_end(const char *text, size_t heading) {
    size_t at = heading + strcspn(text + heading, "\n");
    bool fenced = false;
    while (text[at]) {
        const char *line = text + ++at;
        fenced ^= strncmp(line, "```", 3) == 0;
        if (!fenced && (strncmp(line, "## ", 3) == 0 || strncmp(line, "# ", 2) == 0)) {
            return at;
        }
        at += strcspn(line, "\n");
    }
    return at;
}

/* An improved skill that has such a section gets the new pieces at its end. */
static void merge_section(struct buf *body, const struct units *u, enum section section) {
    autobuf added = BUF_INIT(MAX_BODY);
    autofree char *heading = xasprintf("\n## %s\n", titles[section]);
    const char *found = strstr(body->data, heading);
    add_section(&added, u, section);
    if (!added.len) {
        return;
    }
    if (!found) {
        while (body->len > 1 && body->data[body->len - 2] == '\n') { /* one blank line */
            body->data[--body->len] = '\0';
        }
        buf_adds(body, added.data);
        return;
    }
    size_t at = section_end(body->data, (size_t)(found - body->data) + 1);
    autofree char *rest = xstrdup(body->data + at);
    body->len = at;
    while (body->len && body->data[body->len - 1] == '\n') {
        body->len--;
    }
    body->data[body->len] = '\0';
    buf_addf(body, "\n%s\n%s", added.data + strlen(heading), rest);
}

/* The task's sentence, or its first part where it is long; "" when that is long too. */
static char *title_of(const char *task) {
    autofree char *sentence = builtin_task_sentence(task, 4 * MAX_TITLE);
    size_t len = strlen(sentence);
    for (size_t end = len; len > MAX_TITLE && end > 0; end--) {
        bool ends = strchr(",;:(", sentence[end - 1]) != NULL;
        if (ends && end <= MAX_TITLE) {
            return xstrndup(sentence, end - 1);
        }
    }
    return len > MAX_TITLE ? xstrdup("") : take(sentence);
}

static char *make_body(const struct writing *w) {
    autobuf body = BUF_INIT(MAX_BODY);
    const struct skill_text *base = w->request->base;
    if (base) {
        buf_add(&body, base->text + base->body, base->len - base->body);
        buf_adds(&body, "\n");
    } else {
        autofree char *title = title_of(w->task);
        buf_addf(&body, "# %s\n", *title ? title : w->title);
    }
    for (enum section s = SECTION_FIXES; s < SECTIONS; s++) {
        if (base) {
            merge_section(&body, &w->units, s);
        } else {
            add_section(&body, &w->units, s);
        }
    }
    while (base && body.len > 1 && strcmp(body.data + body.len - 2, "\n\n") == 0) {
        body.data[--body.len] = '\0';
    }
    return base ? xstrndup(body.data, body.len) : tidy(body.data);
}

static void render(struct writing *w) {
    const struct builtin_request *q = w->request;
    autofree char *body = make_body(w);
    free(w->text);
    if (q->base && q->base->frontmatter) {
        autofree char *wider =
            q->base->description && !is_empty(&w->units, SECTION_FIXES)
                ? builtin_wider_description(q->base->description, q->lessons)
                : NULL;
        autojson *changes =
            json_pack("{s:o*}", "description", wider ? json_clean_z(wider) : NULL);
        w->text = skill_text_write(q->base, changes, body);
        return;
    }
    const struct lessons none = {0};
    autofree char *description =
        builtin_description(w->name, w->task, w->plain ? &none : q->lessons);
    autojson *front =
        json_pack("{s:s,s:o}", "name", w->name, "description", json_clean_z(description));
    autofree char *spaced = xasprintf("\n%s", body);
    w->text = skill_text_new(front, spaced);
}

/* --- places --- */

static int line_of(const char *text, const char *at) {
    return 1 + (int)text_count(text, (size_t)(at - text), '\n');
}

/* The current line of every unit. tidy() only removes blank lines, so the first line of a
 * unit is found unchanged; the search continues after it. */
static void find_places(struct writing *w) {
    w->first_line = INT_MAX;
    for (enum section s = SECTION_FIXES; s < SECTIONS; s++) {
        autofree char *heading = xasprintf("\n## %s\n", titles[s]);
        const char *at = strstr(w->text, heading);
        for (const char *next = at; next; next = strstr(next + 1, heading)) {
            at = next; /* an improved skill may have one of this name */
        }
        for (size_t i = 0; i < w->units.count && at; i++) {
            struct unit *u = &w->units.list[i];
            u->line = u->section == s ? 0 : u->line;
            if (!stands(u, s)) {
                continue;
            }
            autofree char *first = xstrndup(u->text, strcspn(u->text, "\n") + 1);
            const char *found = strstr(at, first);
            if (!found) {
                continue;
            }
            u->line = line_of(w->text, found);
            w->first_line = u->line < w->first_line ? u->line : w->first_line;
            u->end_line = u->line + (int)text_count(u->text, strlen(u->text), '\n');
            at = found + strlen(first);
        }
    }
}

/* --- budgets --- */

static void fit_budget(struct writing *w) {
    for (size_t i = w->units.count; i > 0; i--) {
        autofree char *body = make_body(w);
        size_t lines = (size_t)line_of(body, body + strlen(body));
        if (tokens_estimate(body, strlen(body)) <= BODY_TOKENS && lines <= BODY_LINES) {
            return;
        }
        struct unit *u = &w->units.list[i - 1];
        if (u->section == SECTION_FIXES) {
            u->aside = true;
        }
    }
}

static void write_errors_file(struct writing *w) {
    autobuf text = BUF_INIT(MAX_BODY);
    list_each(i, u, w->units.list, w->units.count) {
        if (u->aside && !u->dropped) {
            buf_addf(&text, "%s%s", text.len ? "\n" : "# More errors and fixes\n\n",
                     u->text);
        }
    }
    json_object_del(w->units.files, ERRORS_FILE);
    if (text.len) {
        json_object_set_new(w->units.files, ERRORS_FILE, json_clean(text.data, text.len));
    }
}

/* --- what an improved skill says already --- */

static void drop_known(struct writing *w) {
    const struct skill_text *base = w->request->base;
    for (size_t i = 0; i < w->units.count && base; i++) {
        struct unit *u = &w->units.list[i];
        size_t first = strcspn(u->text, "\n");
        const char *s = u->text + strspn(u->text, "-#0123456789. ");
        size_t skipped = (size_t)(s - u->text);
        if (skipped < first) {
            autofree char *line = xstrndup(s, first - skipped);
            u->dropped = strncmp(line, "```", 3) == 0
                             ? strstr(base->text, u->text) != NULL
                             : strstr(base->text, line) != NULL;
        }
    }
}

/* --- rules --- */

static bool drop_at(struct writing *w, int line) {
    list_each(i, u, w->units.list, w->units.count) {
        if (u->line && u->line <= line && line <= u->end_line && !u->dropped) {
            u->dropped = true;
            w->dropped++;
            return true;
        }
    }
    return false;
}

/* The head is made of the task and of errors: first the one goes, then the other. */
static bool drop_head(struct writing *w) {
    if (w->request->base || w->plain) {
        return false;
    }
    w->plain = *w->task == '\0';
    w->task = "";
    w->dropped++;
    return true;
}

/* False when nothing had to go. */
static bool drop_forbidden(struct writing *w) {
    autojson *findings = builtin_findings(w->text);
    bool any = false, head = false;
    hardware_facts_check("SKILL.md", w->text, strlen(w->text), 1, findings);
    json_each(findings, i, finding) {
        int line = (int)json_get_integer(finding, "line", 0);
        if (builtin_must_go(finding) && drop_at(w, line)) {
            any = true;
        } else if (builtin_must_go(finding)) {
            head |= line < w->first_line;
        }
    }
    return (head && drop_head(w)) || any;
}

/* The rules of SKILL.md do not see the text in errors.md. */
static void drop_unsafe_asides(struct writing *w) {
    list_each(i, u, w->units.list, w->units.count) {
        if (u->aside && !u->dropped && !builtin_is_safe(u->text)) {
            u->dropped = true;
            w->dropped++;
        }
    }
}

/* --- the result --- */

static void cite(json_t *evidence, const struct unit *u) {
    int line = u->line;
    for (const char *s = u->text; *s; s = text_next_line(s), line++) {
        for (size_t i = 0; *s != '\n' && i < u->evidence->count && i < MAX_CITED; i++) {
            char name[EVIDENCE_NAME_SIZE];
            enum evidence_role role = u->evidence->list[i].role;
            evidence_name(name, u->evidence->list[i]);
            json_array_append_new(evidence,
                                  json_pack("{s:i,s:s,s:s}", "line", line, "event", name,
                                            "shows", evidence_role_name(role)));
        }
    }
}

static json_t *collect_evidence(const struct writing *w) {
    json_t *evidence = json_array();
    list_each(i, u, w->units.list, w->units.count) {
        if (u->evidence && u->line && !u->dropped && !u->aside) {
            cite(evidence, u);
        }
    }
    return evidence;
}

static json_t *count_units(const struct writing *w) {
    static const char *const kinds[] = {"fixes", "corrections", "commands", "files",
                                        "limits"};
    json_t *counts = json_object();
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        size_t n = 0;
        list_each(i, u, w->units.list, w->units.count) {
            n += u->kind && !u->dropped && strcmp(u->kind, kinds[k]) == 0;
        }
        json_object_set_new(counts, kinds[k], json_integer((json_int_t)n));
    }
    json_object_set_new(counts, "dropped", json_integer((json_int_t)w->dropped));
    return counts;
}

static const char *name_of_base(const struct skill_text *base) {
    return base && base->name ? base->name : NULL;
}

static char *words_of_name(const char *name) {
    char *words = xstrdup(name);
    for (char *s = words; *s; s++) {
        *s = *s == '-' ? ' ' : *s;
    }
    return words;
}

void builtin_write(struct skill_draft *ret, const struct builtin_request *q) {
    struct writing w = {.request = q, .task = q->task};
    bool unsafe = w.task && !builtin_is_safe(w.task);
    w.task = w.task && !unsafe ? w.task : "";
    const char *given = q->name ? q->name : name_of_base(q->base);
    autofree char *name = given ? xstrdup(given) : builtin_name(w.task, q->lessons);
    w.name = name;
    w.title = words_of_name(name);
    builtin_units(&w.units, q);
    w.dropped = w.units.dropped + unsafe;
    drop_known(&w);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        fit_budget(&w);
        render(&w);
        find_places(&w);
        if (!drop_forbidden(&w)) {
            break;
        }
    }
    drop_unsafe_asides(&w);
    write_errors_file(&w);
    *ret = (struct skill_draft){
        .name = take(name),
        .text = w.text,
        .files = json_incref(w.units.files),
        .evidence = collect_evidence(&w),
        .counts = count_units(&w),
    };
    builtin_units_finish(&w.units);
    free(w.title);
}

void skill_draft_finish(struct skill_draft *d) {
    free(d->name);
    free(d->text);
    json_decref(d->files);
    json_decref(d->evidence);
    json_decref(d->counts);
    *d = (struct skill_draft){0};
}
