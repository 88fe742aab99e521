/* An archive fetched, looked at and unpacked into a folder of our own. */
#include "skills/install/archive.h"

#include "base/address.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/http.h"
#include "base/link.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/install/archive_files.h"
#include "skills/install/repository_files.h"

#define MAX_REDIRECTS 5u
#define TIMEOUT_MS 120000u
#define LISTING_MAX (32u << 20)
#define BLOBS_MAX (SKILL_MAX_BYTES + SKILL_MAX_FILES * 128u)

struct archive_fetch {
    uv_loop_t *loop;
    struct archive_source source;
    bool anywhere, cancelled;
    repository_fetched *fetched;
    void *data;
    struct http *http;
    struct http_request *request;
    char *url; /* after redirects */
    unsigned redirects;
    struct buf bytes;
    struct repository_copy *copy;
    struct err err;
    struct work *work;
};

static void fetch_free(struct archive_fetch *f) {
    archive_finish(&f->source);
    buf_finish(&f->bytes);
    free(f->url);
    free(f);
}

static void finish(struct archive_fetch *f) {
    if (f->cancelled) {
        repository_copy_finish(take(f->copy));
        err_set(&f->err, -ECANCELED, "stopped; nothing was installed");
    }
    f->fetched(f->copy, &f->err, f->data);
    fetch_free(f);
}

/* --- unpacking (another thread) --- */

static int check_digest(struct archive_fetch *f, char ret[static HASH_HEX_SIZE]) {
    const char *wanted = f->source.sha256;
    hash_bytes_hex(f->bytes.data, f->bytes.len, ret);
    return *wanted && strcmp(wanted, ret) != 0
               ? err_set(&f->err, -EBADMSG,
                         "this is a different archive: its SHA-256 is %s, not %s", ret,
                         wanted)
               : 0;
}

/* The folder of the skill in the archive, or the archive's own name, names it here. */
static char *skill_folder(const struct archive_fetch *f, const char *room,
                          const struct repository_files *files) {
    const char *place = f->source.url ? f->source.url : f->source.file;
    autofree char *name = xstrdup(path_basename(*files->folder ? files->folder : place));
    name[*files->folder ? strlen(name) : strcspn(name, ".?")] = '\0';
    return xasprintf("%s/skill/%s", room, *name ? name : "skill");
}

static struct repository_copy *copy_new(struct archive_fetch *f,
                                        const struct repository_files *files,
                                        const char *digest) {
    const char *folder = files->folder, *place = f->source.url;
    struct repository_copy *copy = xcalloc(1, sizeof *copy);
    copy->room = dir_make_temporary("archive", &f->err);
    copy->folder = copy->room ? skill_folder(f, copy->room, files) : NULL;
    copy->pinned = xasprintf("%s#sha256=%s%s%s", place ? place : f->source.file, digest,
                             *folder ? "&subdirectory=" : "", folder);
    memcpy(copy->commit, digest, sizeof copy->commit);
    return copy;
}

static int unpack(struct archive_fetch *f, struct repository_files *files) {
    char digest[HASH_HEX_SIZE];
    autobuf listing = BUF_INIT(LISTING_MAX), blobs = BUF_INIT(BLOBS_MAX);
    struct err *err = &f->err;
    int rc = check_digest(f, digest);
    rc = rc < 0 ? rc : archive_files_list(f->bytes.data, f->bytes.len, &listing, err);
    rc = rc < 0 ? rc
                : repository_files_find(files, listing.data ? listing.data : "",
                                        listing.len, f->source.path, err);
    rc =
        rc < 0 ? rc : archive_files_read(f->bytes.data, f->bytes.len, files, &blobs, err);
    if (rc < 0) {
        return rc;
    }
    f->copy = copy_new(f, files, digest);
    rc = f->copy->folder ? dir_make(f->copy->folder, 0700, err) : err->code;
    return rc < 0 ? rc : repository_files_write(files, &blobs, f->copy->folder, err);
}

static void unpack_work(void *data) {
    struct archive_fetch *f = data;
    struct repository_files files = {0};
    int rc = f->source.file ? file_read(f->source.file, &f->bytes, &f->err) : 0;
    if (rc == 0 && unpack(f, &files) < 0) {
        repository_copy_finish(take(f->copy));
    }
    repository_files_finish(&files);
}

static void unpack_done(void *data) {
    struct archive_fetch *f = data;
    f->work = NULL;
    finish(f);
}

static void start_unpacking(struct archive_fetch *f) {
    f->work = work_start(f->loop, unpack_work, unpack_done, f);
}

/* --- fetching --- */

static void on_closed(void *data) {
    struct archive_fetch *f = data;
    f->http = NULL;
    if (f->cancelled || f->err.code) {
        finish(f);
    } else {
        start_unpacking(f);
    }
}

static void on_answer(struct http_request *request, const struct http_response *r,
                      void *data);

static int ask(struct archive_fetch *f, struct err *err) {
    struct http_options options = {
        .method = "GET",
        .url = f->url,
        .timeout_ms = TIMEOUT_MS,
        .max_body = ARCHIVE_MAX_BYTES,
        .allow_address = f->anywhere ? NULL : address_is_public,
        .end = on_answer,
        .data = f,
    };
    return http_start(f->http, &options, &f->request, err);
}

/* true: on its way to the next address. */
static bool redirect(struct archive_fetch *f, const char *location) {
    char *next = location && f->redirects++ < MAX_REDIRECTS
                     ? link_resolve(f->url, location, &f->err)
                     : NULL;
    if (!next) {
        if (!f->err.code) {
            err_set(&f->err, -EIO, "%.200s redirects %s", f->source.url,
                    location ? "too often" : "nowhere");
        }
        return false;
    }
    free(f->url);
    f->url = next;
    return ask(f, &f->err) == 0;
}

static void refuse(struct archive_fetch *f, const struct http_response *r) {
    autobuf why = BUF_INIT(400);
    text_clean(&why, r->why, strlen(r->why));
    if (r->failure == -EACCES) {
        err_set(&f->err, -EACCES,
                "%.200s is not on the public internet; `links: any` in your own "
                "configuration allows that",
                f->url);
    } else if (r->failure == -EMSGSIZE) {
        err_set(&f->err, -EFBIG, "%.200s has more than %u MiB", f->url,
                ARCHIVE_MAX_BYTES >> 20);
    } else if (r->failure) {
        err_set(&f->err, -EIO, "%.200s: %.200s", f->url,
                why.len ? why.data : "no answer");
    } else {
        err_set(&f->err, -ENOENT, "%.200s: the server answers %ld", f->url, r->status);
    }
}

static void on_answer(struct http_request *, const struct http_response *r, void *data) {
    struct archive_fetch *f = data;
    bool moved = !r->failure && r->status >= 301 && r->status <= 308 && r->status != 304;
    f->request = NULL;
    if (!f->cancelled && moved && redirect(f, r->header(r, "Location"))) {
        return;
    }
    if (!f->cancelled && !moved && (r->failure || r->status != 200)) {
        refuse(f, r);
    } else if (!f->cancelled && !moved) {
        buf_add(&f->bytes, r->body, r->body_len);
    }
    http_close(f->http, on_closed, f);
}

struct archive_fetch *archive_fetch_start(uv_loop_t *loop,
                                          const struct archive_source *source,
                                          bool anywhere, repository_fetched *fetched,
                                          void *data, struct err *err) {
    struct archive_fetch *f = xcalloc(1, sizeof *f);
    *f = (struct archive_fetch){
        .loop = loop,
        .source = {.url = source->url ? xstrdup(source->url) : NULL,
                   .file = source->file ? xstrdup(source->file) : NULL,
                   .path = xstrdup(source->path)},
        .anywhere = anywhere,
        .fetched = fetched,
        .data = data,
        .bytes = BUF_INIT(ARCHIVE_MAX_BYTES),
    };
    memcpy(f->source.sha256, source->sha256, sizeof f->source.sha256);
    if (!source->url) {
        start_unpacking(f);
        return f;
    }
    f->url = xstrdup(source->url);
    f->http = http_new(loop);
    if (ask(f, err) < 0) {
        http_close(f->http, NULL, NULL);
        fetch_free(f);
        return NULL;
    }
    return f;
}

void archive_fetch_cancel(struct archive_fetch *f) {
    f->cancelled = true;
    if (f->request) {
        http_cancel(f->request);
    } else {
        work_cancel(f->work);
    }
}
