#include "skills/install/archive_files.h"

#include "base/err.h"
#include "base/file.h"
#include "base/work.h"
#include "skills/install/archive.h"
#include "skills/install/repository_files.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>

#define BLOCK (64u << 10)
/* libarchive's own numbers, of its ABI 13. */
#define OK 0
#define END 1
#define WARNING (-20)

/* --- libarchive --- */

struct archive;
struct archive_entry;

/* Its functions, by their names without "archive_"; the types are its manual's. */
static struct {
    struct archive *(*read_new)(void);
    int (*read_support_format_zip_seekable)(struct archive *);
    int (*read_support_format_tar)(struct archive *);
    int (*read_support_filter_gzip)(struct archive *);
    int (*read_open_memory)(struct archive *, const void *, size_t);
    int (*read_next_header)(struct archive *, struct archive_entry **);
    ssize_t (*read_data)(struct archive *, void *, size_t);
    int (*read_free)(struct archive *);
    const char *(*error_string)(struct archive *);
    const char *(*entry_pathname_utf8)(struct archive_entry *);
    const char *(*entry_pathname)(struct archive_entry *);
    const char *(*entry_hardlink)(struct archive_entry *);
    mode_t (*entry_mode)(struct archive_entry *);
    int64_t (*entry_size)(struct archive_entry *);
} lib;

static const struct {
    const char *name;
    void *function; /* in lib */
} symbols[] = {
    {"archive_read_new", &lib.read_new},
    {"archive_read_support_format_zip_seekable", &lib.read_support_format_zip_seekable},
    {"archive_read_support_format_tar", &lib.read_support_format_tar},
    {"archive_read_support_filter_gzip", &lib.read_support_filter_gzip},
    {"archive_read_open_memory", &lib.read_open_memory},
    {"archive_read_next_header", &lib.read_next_header},
    {"archive_read_data", &lib.read_data},
    {"archive_read_free", &lib.read_free},
    {"archive_error_string", &lib.error_string},
    {"archive_entry_pathname_utf8", &lib.entry_pathname_utf8},
    {"archive_entry_pathname", &lib.entry_pathname},
    {"archive_entry_hardlink", &lib.entry_hardlink},
    {"archive_entry_mode", &lib.entry_mode},
    {"archive_entry_size", &lib.entry_size},
};

static int load_symbols(struct err *err) {
    void *library = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = ARRAY_LEN(symbols); i-- > 0;) { /* read_new comes last */
        void *function = library ? dlsym(library, symbols[i].name) : NULL;
        if (!function) {
            return err_set(err, -ENOSYS,
                           "archives need libarchive.so.13 (Debian: libarchive13): "
                           "install it, or unpack the archive and name its folder");
        }
        memcpy(symbols[i].function, &function, sizeof function);
    }
    return 0;
}

static int load(struct err *err) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one);
    int rc = lib.read_new ? 0 : load_symbols(err);
    pthread_mutex_unlock(&one);
    return rc;
}

/* --- one walk over an archive --- */

struct archive_walk {
    struct archive *archive;
    struct archive_entry *entry;
    struct err *err;
    size_t count;
    uint64_t size; /* of the entries so far */
};

/* Of bytes in which nothing was found. */
static int no_archive(const char *bytes, size_t len, struct err *err) {
    bool zip = len > 4 && memcmp(bytes, "PK\3\4", 4) == 0;
    return err_set(err, -EBADMSG,
                   zip ? "the ZIP archive cannot be read: it was cut off before its end, "
                         "where its directory should be"
                       : "this is not a ZIP or tar archive, or it is empty");
}

/* A ZIP archive's directory at its end decides what is in it. Without one it was cut off;
 * libarchive would read it front to back and not say so. */
static int begin(struct archive_walk *w, const char *bytes, size_t len, struct err *err) {
    *w = (struct archive_walk){.err = err};
    int rc = load(err);
    if (rc < 0) {
        return rc;
    }
    w->archive = lib.read_new();
    if (!w->archive || lib.read_support_format_zip_seekable(w->archive) != OK ||
        lib.read_support_format_tar(w->archive) != OK ||
        lib.read_support_filter_gzip(w->archive) < WARNING ||
        lib.read_open_memory(w->archive, bytes, len) != OK) {
        return no_archive(bytes, len, err);
    }
    return 0;
}

static void finish(struct archive_walk *w) {
    if (w->archive) {
        lib.read_free(w->archive);
    }
}

/* Returns 1 with an entry, 0 at the end, or a negative number with err. Skipped contents
 * count towards the limit too, because they are decompressed. */
static int next(struct archive_walk *w) {
    int rc = work_is_stopped() ? END : lib.read_next_header(w->archive, &w->entry);
    if (rc == END) {
        return 0;
    }
    if (rc < WARNING) {
        const char *why = lib.error_string(w->archive);
        return err_set(w->err, -EBADMSG, "the archive cannot be read: %.200s",
                       why ? why : "it is broken");
    }
    int64_t size = lib.entry_size(w->entry);
    w->size += size > 0 ? (uint64_t)size : 0;
    if (++w->count > ARCHIVE_MAX_ENTRIES || w->size > ARCHIVE_MAX_UNPACKED) {
        return err_set(w->err, -EFBIG, "the archive contains more than %u MiB or %u "
                                       "files",
                       ARCHIVE_MAX_UNPACKED >> 20, ARCHIVE_MAX_ENTRIES);
    }
    return 1;
}

/* --- the listing --- */

static const char *name_of(const struct archive_walk *w) {
    const char *name = lib.entry_pathname_utf8(w->entry);
    name = name ? name : lib.entry_pathname(w->entry);
    return name ? name : "";
}

/* As Git says it: a file, one that is run, a link; anything else is "000000". */
static const char *mode_of(const struct archive_walk *w) {
    mode_t mode = lib.entry_mode(w->entry);
    return S_ISLNK(mode) || lib.entry_hardlink(w->entry) ? "120000"
           : !S_ISREG(mode)                              ? "000000"
           : mode & 0111                                 ? "100755"
                                                         : "100644";
}

static int list_entry(const struct archive_walk *w, json_t *seen, struct buf *listing) {
    const char *name = name_of(w);
    autofree char *path = path_normalize(name);
    if (S_ISDIR(lib.entry_mode(w->entry)) && !lib.entry_hardlink(w->entry)) {
        return 0;
    }
    if (!*name || path_leads_out(name) || strcmp(path, ".") == 0) {
        return err_set(w->err, -EINVAL,
                       "%.200s leads out of the archive: nothing of it is installed",
                       *name ? name : "an entry without a name");
    }
    if (json_object_get(seen, path)) {
        return err_set(w->err, -EINVAL, "%.200s is in the archive twice", path);
    }
    json_object_set_new(seen, path, json_true());
    buf_addf(listing, "%s blob %040zx\t%s", mode_of(w), w->count, path);
    return buf_addc(listing, '\0') < 0
               ? err_set(w->err, -EFBIG, "the archive's names are too long")
               : 0;
}

int archive_files_list(const char *bytes, size_t len, struct buf *listing,
                       struct err *err) {
    struct archive_walk w;
    autojson *seen = json_object();
    int rc = begin(&w, bytes, len, err);
    while (rc == 0 && (rc = next(&w)) == 1) {
        rc = list_entry(&w, seen, listing);
        if (rc < 0) {
            break;
        }
    }
    finish(&w);
    return rc < 0 || w.count ? rc : no_archive(bytes, len, err);
}

/* --- the files --- */

/* "ID blob SIZE\n", the bytes, "\n". */
static int read_entry(const struct archive_walk *w, const char *id, struct buf *blobs) {
    autobuf text = BUF_INIT(SKILL_MAX_BYTES);
    autofree char *block = xmalloc(BLOCK);
    ssize_t n;
    while ((n = lib.read_data(w->archive, block, BLOCK)) > 0) {
        if (buf_add(&text, block, (size_t)n) < 0) {
            break;
        }
    }
    if (n < 0) {
        const char *why = lib.error_string(w->archive);
        return err_set(w->err, -EBADMSG, "%.200s cannot be read: %.200s", name_of(w),
                       why ? why : "it is broken");
    }
    buf_addf(blobs, "%s blob %zu\n", id, text.len);
    buf_add(blobs, text.data ? text.data : "", text.len);
    return n > 0 || buf_addc(blobs, '\n') < 0
               ? err_set(w->err, -EFBIG, "the skill is larger than %u MiB",
                         SKILL_MAX_BYTES >> 20)
               : 0;
}

int archive_files_read(const char *bytes, size_t len,
                       const struct repository_files *files, struct buf *blobs,
                       struct err *err) {
    struct archive_walk w;
    size_t found = 0;
    int rc = begin(&w, bytes, len, err);
    while (rc == 0 && found < files->count && (rc = next(&w)) == 1) {
        char id[41];
        snprintf(id, sizeof id, "%040zx", w.count);
        rc = 0;
        if (strcmp(id, files->list[found].oid) == 0) {
            rc = read_entry(&w, id, blobs);
            found++;
        }
    }
    finish(&w);
    return rc < 0 ? rc
           : found == files->count
               ? 0
               : err_set(err, -ECANCELED, "stopped; nothing was installed");
}
