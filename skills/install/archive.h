#pragma once
/* archive: a skill in an archive, which is a local file or has a URL.
 *
 *   https://HOST/….zip|.skill|.tar|.tar.gz|.tgz[#sha256=HEX][&subdirectory=PATH]
 *   FILE with such an extension [#subdirectory=PATH]
 *
 * (the fragment is that of Python's direct references). From a
 * URL, only an archive with the given digest is installed; a file is the caller's own.
 * The archive is read in memory: its names become a listing like Git's, so that the same
 * files are chosen, refused and limited (repository_files.h). An archive with a name that
 * leads out of it, or that occurs twice, is refused. */
#include "skills/install/repository.h"

struct archive_source {
    char *url;       /* without its fragment; NULL: a file */
    char *file;      /* its path; NULL: a URL */
    char *path;      /* the skill's folder in it; "" = the only one */
    char sha256[65]; /* "" = not given */
};

#define ARCHIVE_MAX_BYTES (32u << 20)     /* of the archive itself */
#define ARCHIVE_MAX_UNPACKED (256u << 20) /* of all its contents */
#define ARCHIVE_MAX_ENTRIES 100000u

/* Whether the text has one of the forms above. */
bool archive_is_meant(const char *words);
/* -EINVAL if it has one of the forms but is invalid. ret->file is as written. */
int archive_read(struct archive_source *ret, const char *words, struct err *err);
void archive_finish(struct archive_source *a);

struct archive_fetch;
/* fetched: as in repository.h; the copy's commit is the archive's SHA-256, and its
 * `pinned` contains it. Without `anywhere` it connects only to addresses of the public
 * internet; it follows up to five redirects, none from https to http. */
struct archive_fetch *archive_fetch_start(uv_loop_t *loop,
                                          const struct archive_source *source,
                                          bool anywhere, repository_fetched *fetched,
                                          void *data, struct err *err);
void archive_fetch_cancel(struct archive_fetch *fetch);
