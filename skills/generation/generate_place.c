/* The skill's place: whose it is, and the draft in a stage beside it. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "skills/generation/draft_text.h"
#include "skills/traces/redaction.h"

#define MAX_NAMESAKES 99 /* skills of one name with other sources */

const char *generate_asked_name(const struct generating *g) {
    return g->request.folder_name ? g->request.folder_name : g->request.name;
}

const char *generate_kept_task(const struct generating *g) {
    const char *task = material_task(&g->material);
    return task && builtin_is_safe(task) ? task : NULL;
}

char *generate_redacted(const struct generating *g, const char *text) {
    struct buf out = BUF_INIT(SKILL_MAX_TEXT);
    redaction_apply(g->material.redaction, &out, text, strlen(text));
    return buf_detach(&out);
}

/* A name that is asked for again may be for a task in other words. */
static int may_replace(struct generating *g, const char *name) {
    const char *task = generate_kept_task(g);
    return skill_may_replace(g->request.parent, name,
                             g->material.has_base ? &g->material.base : NULL,
                             g->material.provenance,
                             generate_asked_name(g) ? NULL
                             : task                 ? task
                                                    : "",
                             &g->err);
}

int generate_may_replace(struct generating *g) {
    return may_replace(g, g->stage.name);
}

int generate_may_ask(struct generating *g) {
    const char *name = generate_asked_name(g);
    return name ? may_replace(g, name) : 0;
}

static int open_stage(struct generating *g) {
    const struct skill *base = g->material.has_base ? &g->material.base : NULL;
    g->err = (struct err){0};
    skill_stage_discard(&g->stage);
    int rc = skill_stage_open(&g->stage, g->request.parent, g->draft.name, base,
                              g->material.redaction, &g->err);
    return rc < 0 ? rc : generate_may_replace(g);
}

static bool is_taken(int rc) {
    return rc == -ENOTUNIQ || rc == -EEXIST;
}

/* What a teacher was asked to write is not lost to a name: that was free when it was
 * asked. */
static bool may_rename(const struct generating *g) {
    return !g->material.has_base &&
           (!generate_asked_name(g) || g->request.teacher != TEACHER_BUILTIN);
}

bool generate_lost_place(const struct generating *g) {
    return !g->result && !g->cancelled && is_taken(g->err.code) && may_rename(g);
}

void generate_stage_draft(struct generating *g) {
    autofree char *first = xstrdup(g->draft.name);
    int rc = open_stage(g);
    for (int n = 2; is_taken(rc) && may_rename(g) && n <= MAX_NAMESAKES; n++) {
        autofree char *name = xasprintf("%.60s-%d", first, n);
        draft_rename(&g->draft, name);
        rc = open_stage(g);
    }
    if (rc == 0) {
        (void)skill_stage_write(&g->stage, &g->draft, &g->err);
    }
}
