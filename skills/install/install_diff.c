/* The differences that a refusal shows: what would be lost. */
#include "skills/install/install_diff.h"

#include "base/buf.h"
#include "base/line_diff.h"
#include "base/text.h"
#include "skills/install/install_tree.h"

#define TEXT_MAX (256u << 10) /* of one file */
#define LINE_PAIRS (16u << 20) /* that are compared */
#define CONTEXT 3
#define RAW_MAX (1u << 20) /* bytes of all differences; the rest is not even counted */
#define FILES_SHOWN 20
#define LINES_SHOWN 100
#define LINE_SHOWN 400 /* bytes */
#define NOTE_ROOM 128  /* for the last line */

/* --- hunks --- */

static void add_line(struct buf *out, char mark, const struct line_diff *d, size_t i) {
    size_t len;
    const char *line = line_diff_line(d, mark == '+', i, &len);
    buf_addc(out, mark);
    buf_add(out, line, len);
    if (line[len - 1] != '\n') {
        buf_adds(out, "\n\\ No newline at end of file\n");
    }
}

/* Past the changes and up to `CONTEXT` equal lines that begin at (*i, *j); more equal
 * lines between two changes end the hunk unless they are within twice the context. */
static void hunk_end(const struct line_diff *d, size_t *i, size_t *j) {
    size_t equal = 0;
    for (char mark; equal <= 2 * CONTEXT && (mark = line_diff_next(d, i, j));) {
        equal = mark == ' ' ? equal + 1 : 0;
    }
    size_t back = equal > CONTEXT ? equal - CONTEXT : 0;
    *i -= back;
    *j -= back;
}

struct counts {
    size_t gone, added;
};

static void add_hunk(struct buf *out, const struct line_diff *d, size_t i, size_t j,
                     size_t end_i, size_t end_j, struct counts *counts) {
    buf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", i + (end_i > i), end_i - i,
             j + (end_j > j), end_j - j);
    while (i < end_i || j < end_j) {
        size_t old = i, new = j;
        char mark = line_diff_next(d, &i, &j);
        counts->gone += mark == '-';
        counts->added += mark == '+';
        add_line(out, mark, d, mark == '+' ? new : old);
    }
}

static struct counts add_hunks(struct buf *out, const struct line_diff *d) {
    struct counts counts = {0};
    size_t i = 0, j = 0, end_i = 0, end_j = 0;
    for (char mark; (mark = line_diff_next(d, &end_i, &end_j)); i = end_i, j = end_j) {
        if (mark != ' ') {
            size_t before = i < j ? i : j;
            before = before < CONTEXT ? before : CONTEXT;
            hunk_end(d, &end_i, &end_j);
            add_hunk(out, d, i - before, j - before, end_i, end_j, &counts);
        }
    }
    return counts;
}

/* --- what is shown of it --- */

/* A line over LINE_SHOWN is cut, so that minified code leaves room for the others. */
static void add_shown(struct buf *out, const char *line, size_t len) {
    size_t shown = len <= LINE_SHOWN ? len : text_cut(line, len, LINE_SHOWN);
    (void)text_clean(out, line, shown);
    if (shown < len) {
        buf_adds(out, " …\n");
    }
}

static size_t count_lines(const char *s, const char *end) {
    size_t count = 0;
    for (; s < end && (s = memchr(s, '\n', (size_t)(end - s))); s++) {
        count++;
    }
    return count;
}

/* The first lines of raw, cleaned, and how many more there are; appended to out. */
static void add_bounded(struct buf *out, const struct buf *raw) {
    const char *at = raw->data, *end = at + raw->len, *feed;
    for (size_t shown = 0;
         shown < LINES_SHOWN && at < end && (feed = memchr(at, '\n', (size_t)(end - at)));
         shown++) {
        autobuf line = BUF_INIT(4 * LINE_SHOWN);
        add_shown(&line, at, (size_t)(feed + 1 - at));
        if (out->len + line.len > INSTALL_DIFF_MAX - NOTE_ROOM) {
            break;
        }
        buf_add(out, line.data, line.len);
        at = feed + 1;
    }
    if (at < end) {
        size_t more = count_lines(at, end);
        buf_addf(out,
                 "(%s%zu more line%s not shown; diff -r of the two folders has all)\n",
                 raw->full ? "over " : "", more, more == 1 ? "" : "s");
    }
}

/* --- files --- */

/* The files that differ, each with a line, and their texts. */
struct diff {
    struct buf summary, text;
    size_t files;
};

static void summarise(struct diff *d, const char *path, const char *what, size_t gone,
                      size_t added) {
    if (d->files++ >= FILES_SHOWN) {
        return;
    }
    autobuf clean = BUF_INIT(4096);
    (void)text_clean(&clean, path, strlen(path));
    buf_addf(&d->summary, "%s: %s", clean.data, what);
    if (gone + added) {
        buf_addf(&d->summary, " (-%zu +%zu line%s)", gone, added,
                 text_plural((double)(gone + added)));
    }
    buf_addc(&d->summary, '\n');
}

static bool is_text(const struct buf *b) {
    return !memchr(b->data, '\0', b->len) && text_is_utf8(b->data, b->len);
}

static struct counts add_texts(struct buf *out, const char *now, const char *then) {
    struct line_diff d;
    line_diff_init(&d, now, then, true, LINE_PAIRS);
    struct counts counts = add_hunks(out, &d);
    line_diff_finish(&d);
    return counts;
}

/* now or shall is NULL when the file is on one side only. */
static void add_file(struct diff *d, int now_dir, const struct skill_file *now,
                     int shall_dir, const struct skill_file *shall) {
    autobuf old_text = BUF_INIT(TEXT_MAX);
    autobuf new_text = BUF_INIT(TEXT_MAX);
    struct buf *out = &d->text;
    struct counts counts = {0};
    const char *path = now ? now->path : shall->path;
    int rc = now ? skill_read_beneath(now_dir, path, &old_text) : 0;
    rc = rc == 0 && shall ? skill_read_beneath(shall_dir, path, &new_text) : rc;
    buf_addf(out, "--- %s%s\n+++ %s%s\n", now ? "installed/" : "/dev/null",
             now ? path : "", shall ? "new/" : "/dev/null", shall ? path : "");
    if (now && shall && now->mode != shall->mode) {
        buf_addf(out, "(mode %o, new %o)\n", now->mode, shall->mode);
    }
    if (rc == -EFBIG) {
        buf_adds(out, "(too long to compare)\n");
    } else if (rc < 0) {
        buf_adds(out, "(cannot be read)\n");
    } else if (!is_text(&old_text) || !is_text(&new_text)) {
        buf_adds(out, "(binary)\n");
    } else {
        counts = add_texts(out, old_text.data, new_text.data);
    }
    summarise(d, path,
              !now     ? "new"
              : !shall ? "would be removed"
                       : "would change",
              counts.gone, counts.added);
}

static bool same_file(const struct skill_file *a, const struct skill_file *b) {
    return a->mode == b->mode && strcmp(a->digest, b->digest) == 0;
}

/* SKILL.md decides what the skill does: it comes first. */
static void add_pair(struct diff *d, int now, const struct install_tree *is, int source,
                     const struct install_tree *shall, const char *path) {
    const struct skill_file *a = install_tree_find(is, path);
    const struct skill_file *b = install_tree_find(shall, path);
    if (!d->text.full && (a || b) && !(a && b && same_file(a, b))) {
        add_file(d, now, a, source, b);
    }
}

static char *diff_end(struct diff *d) {
    autobuf out = BUF_INIT(INSTALL_DIFF_MAX);
    buf_add(&out, d->summary.data, d->summary.len);
    if (d->files > FILES_SHOWN) {
        buf_addf(&out, "(%zu more files)\n", d->files - FILES_SHOWN);
    }
    if (d->summary.len) {
        buf_addc(&out, '\n');
    }
    add_bounded(&out, &d->text);
    buf_finish(&d->summary);
    buf_finish(&d->text);
    return buf_detach(&out);
}

char *install_diff(int now, const struct install_tree *is, int source,
                   const struct install_tree *shall) {
    static const char first[] = "SKILL.md";
    struct diff d = {.summary = BUF_INIT(INSTALL_DIFF_MAX / 2),
                     .text = BUF_INIT(RAW_MAX)};
    add_pair(&d, now, is, source, shall, first);
    size_t i = 0, k = 0;
    while (i < is->count || k < shall->count) {
        int order = i == is->count      ? 1
                    : k == shall->count ? -1
                                        : strcmp(is->files[i].path, shall->files[k].path);
        const char *path = order <= 0 ? is->files[i].path : shall->files[k].path;
        if (strcmp(path, first) != 0) {
            add_pair(&d, now, is, source, shall, path);
        }
        i += order <= 0;
        k += order >= 0;
    }
    return diff_end(&d);
}

char *install_text_diff(const char *path, const char *was, const char *now) {
    struct diff d = {.summary = BUF_INIT(0), .text = BUF_INIT(RAW_MAX)};
    if (strcmp(was, now) == 0) {
        return NULL;
    }
    buf_addf(&d.text, "--- %s\n+++ %s\n", path, path);
    (void)add_texts(&d.text, was, now);
    return diff_end(&d);
}

char *install_changes(const struct install_tree *is, const json_t *entry) {
    struct diff d = {.summary = BUF_INIT(0), .text = BUF_INIT(RAW_MAX)};
    json_t *files = json_object_get(entry, "files");
    for (size_t i = 0; i < is->count; i++) {
        const char *was = json_get_string(files, is->files[i].path, NULL);
        if (!was) {
            buf_addf(&d.text, "added: %s\n", is->files[i].path);
        } else if (strcmp(was, is->files[i].digest) != 0) {
            buf_addf(&d.text, "changed: %s\n", is->files[i].path);
        }
    }
    json_each_member(files, path, digest) {
        if (!install_tree_find(is, path)) {
            buf_addf(&d.text, "missing: %s\n", path);
        }
    }
    if (!d.text.len) {
        buf_adds(&d.text, "changed: which files are executable\n");
    }
    return diff_end(&d);
}
