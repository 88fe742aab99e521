#pragma once
/* repository: a skill in a Git repository, named in the usual forms.
 *
 *   OWNER/REPO[/PATH]@REF              on GitHub
 *   https://HOST/….git[//PATH]@REF     anywhere; http:// too
 *
 * REF is a commit, tag or branch and is never left out. Nothing of a repository is
 * checked out or run: its files are read as Git stores them (no filters, hooks,
 * submodules, links), and Git verifies them against the commit. */
#include "skills/format/skill.h"

#include <uv.h>

struct repository {
    char *url;  /* for Git */
    char *path; /* the skill's folder in it; "" = the only one */
    char *ref;
    char *shown; /* the part of the text before the path and REF */
};

/* Whether the text has one of the forms above, or is another address, such as
 * git@HOST:PATH, which repository_read refuses. A folder of the workspace with such a name
 * needs "./" before it. */
bool repository_is_meant(const char *words);
/* -EINVAL if the text has one of the forms but cannot name a repository. */
int repository_read(struct repository *ret, const char *words, struct err *err);
void repository_finish(struct repository *r);
/* Whether REF is a complete commit id, whose meaning never changes. */
bool repository_is_pinned(const struct repository *r);

/* A copy of the skill's files in a private folder. */
struct repository_copy {
    char *room;      /* private, removed by repository_copy_finish */
    char *folder;    /* of the skill, inside room */
    char commit[65]; /* hexadecimal */
    char *pinned;    /* the text that names this skill at this commit */
};
void repository_copy_finish(struct repository_copy *copy);

struct repository_fetch;
/* The receiver finishes copy; NULL with err (-ECANCELED, -ETIMEDOUT, -ENOENT: no such
 * repository, commit or skill, -EINVAL: not a skill that can be installed, -EFBIG …). */
typedef void repository_fetched(struct repository_copy *copy, const struct err *err,
                                void *data);
/* Runs the user's `git`, with the user's configuration (proxies, credentials). `fetched`
 * is called exactly once, from the loop, unless this returns NULL with err. repository is
 * copied. */
struct repository_fetch *repository_fetch_start(uv_loop_t *loop,
                                                const struct repository *repository,
                                                repository_fetched *fetched, void *data,
                                                struct err *err);
void repository_fetch_cancel(struct repository_fetch *fetch);
