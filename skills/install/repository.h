#pragma once
/* repository: a skill that lies in a Git repository, named as people write it.
 *
 *   OWNER/REPO[/PATH]@REF              on GitHub
 *   https://HOST/….git[//PATH]@REF     anywhere; http:// too
 *
 * REF is a commit, tag or branch and is never left out. Nothing of a repository is
 * checked out or run: its files are read as Git keeps them (no filters, hooks,
 * submodules, links), and Git verifies them against the commit. */
#include "skills/format/skill.h"

#include <stdbool.h>
#include <uv.h>

struct err;

struct repository {
    char *url;  /* what Git is asked for */
    char *path; /* the skill's folder in it; "" = the only one that it holds */
    char *ref;
    char *shown; /* the words before the path and REF */
};

/* Whether these words have one of the forms above. A folder of the workspace whose name
 * has it is meant by "./" before it. */
bool repository_is_meant(const char *words);
/* -EINVAL when the words have a form but name nothing that Git could have. */
int repository_read(struct repository *ret, const char *words, struct err *err);
void repository_finish(struct repository *r);
/* Whether REF is a whole commit's id, which never means another thing tomorrow. */
bool repository_is_pinned(const struct repository *r);

/* A copy of the skill's files in a folder of our own. */
struct repository_copy {
    char *room;      /* private, removed by repository_copy_finish */
    char *folder;    /* of the skill, in it */
    char commit[65]; /* hexadecimal */
    char *pinned;    /* the words that name this skill at this commit */
};
void repository_copy_finish(struct repository_copy *copy);

struct repository_fetch;
/* copy is the receiver's to finish; NULL with err (-ECANCELED, -ETIMEDOUT, -ENOENT: no
 * such repository, commit or skill, -EINVAL: not a skill that can be installed, -EFBIG
 * …). */
typedef void repository_fetched(struct repository_copy *copy, const struct err *err,
                                void *data);
/* Runs the user's `git`, with the user's configuration (proxies, credentials). `fetched`
 * comes exactly once, from the loop, unless this returns NULL with err. repository is
 * copied. */
struct repository_fetch *repository_fetch_start(uv_loop_t *loop,
                                                const struct repository *repository,
                                                repository_fetched *fetched, void *data,
                                                struct err *err);
void repository_fetch_cancel(struct repository_fetch *fetch);
