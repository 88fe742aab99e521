#pragma once
/* skill_save: a generated skill on the disk, whole or not at all.
 *
 * It is written into a stage beside its place, where it can be checked under its own
 * name, and exchanged for what was there by one rename. A stage that a crash left is
 * swept by the next stage or install in that folder. Blocking. */
#include "skills/generation/builtin_skill.h"

struct err;
struct redaction;

struct skill_stage {
    char *parent; /* folder that will hold the skill */
    char *name;
    char *stage;                       /* name of the stage in parent */
    char *folder;                      /* of the staged skill, absolute */
    const struct redaction *redaction; /* borrowed, like the next */
    const struct skill *base;          /* or NULL */
    int hold; /* descriptor that keeps others from sweeping it; while stage is there */
};
/* base: the skill whose other files are kept, opened with digests; or NULL. redaction:
 * what tells secrets. Both stay there as long as the stage. */
int skill_stage_open(struct skill_stage *ret, const char *parent, const char *name,
                     const struct skill *base, const struct redaction *redaction,
                     struct err *err);
/* SKILL.md and the draft's files, over what was staged before. -EKEYREJECTED, with file
 * and line, when one of them holds a secret that the same file of base does not. */
int skill_stage_write(const struct skill_stage *s, const struct skill_draft *d,
                      struct err *err);
int skill_stage_write_file(const struct skill_stage *s, const char *path,
                           const char *text, struct err *err);
/* Whether a text that is to become this file of a skill may be written: -EKEYREJECTED as
 * above. */
int skill_refuse_secret(const struct redaction *r, const struct skill *base,
                        const char *path, const char *text, size_t len, struct err *err);
/* -EEXIST when another skill stands there that is neither `base` nor one that was
 * generated and neither changed nor given other tests since. */
int skill_stage_may_replace(const struct skill_stage *s, const struct skill *base,
                            struct err *err);
/* What stands for the tests in provenance ("tests": "sha256:…", or "none"): they are the
 * user's to edit, and edited ones are not written over. */
void skill_tests_digest(const json_t *tests, char ret[static 72]);
int skill_stage_commit(struct skill_stage *s, struct err *err);
void skill_stage_discard(struct skill_stage *s); /* also after a commit; frees */
