#pragma once
/* skill_save: writes a generated skill to the disk, as a whole or not at all.
 *
 * It is written into a stage beside its place, where it can be checked under its own
 * name, and exchanged for the previous folder by one rename. A stage left by a crash is
 * removed by the next stage or install in that folder. Blocking. */
#include "skills/generation/builtin_skill.h"

struct skill_stage {
    char *parent; /* folder that will hold the skill */
    char *name;
    char *stage;                       /* name of the stage in parent */
    char *folder;                      /* of the staged skill, absolute */
    const struct redaction *redaction; /* borrowed, like the next */
    const struct skill *base;          /* or NULL */
    /* descriptor that prevents its removal by others; valid while stage is set */
    int hold;
};
/* base: the skill whose other files are kept, opened with digests; or NULL. redaction:
 * recognises secrets. Both must outlive the stage. */
int skill_stage_open(struct skill_stage *ret, const char *parent, const char *name,
                     const struct skill *base, const struct redaction *redaction,
                     struct err *err);
/* Writes SKILL.md and the draft's files over those staged before. -EKEYREJECTED, with
 * file and line, if one of them contains a secret that the same file of base does not. */
int skill_stage_write(const struct skill_stage *s, const struct skill_draft *d,
                      struct err *err);
int skill_stage_write_file(const struct skill_stage *s, const char *path,
                           const char *text, struct err *err);
/* Whether a text may be written as this file of a skill: -EKEYREJECTED as above. */
int skill_refuse_secret(const struct redaction *r, const struct skill *base,
                        const char *path, const char *text, size_t len, struct err *err);
/* Whether what is at parent/name may be replaced: nothing, `base`, or a generated skill
 * whose files and tests are unchanged since (else -EEXIST) and whose sources are all
 * among `sources` (else -ENOTUNIQ; {"traces": [{name, digest}…], "documents": […]}; of a
 * skill without any, whose task is `task`; NULL: any). */
int skill_may_replace(const char *parent, const char *name, const struct skill *base,
                      const json_t *sources, const char *task, struct err *err);
/* The value for the tests in provenance ("tests": "sha256:…", or "none"): the user may
 * edit them, and edited ones are not overwritten. */
void skill_tests_digest(const json_t *tests, char ret[static 72]);
int skill_stage_commit(struct skill_stage *s, struct err *err);
void skill_stage_discard(struct skill_stage *s); /* also after a commit; frees */
