#pragma once
/* skill: one Agent Skill, a folder with SKILL.md, read leniently and written strictly.
 *
 * Everything in a skill is somebody else's text: bounded, never executed, cleaned before
 * it is shown. Reading never follows a link out of the folder and refuses what is no
 * regular file. https://agentskills.io/specification is the format;
 * docs/architecture/skills.md our reading. */
#include "base/json.h"
#include "base/lines.h"
#include "base/yaml.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct err;

#define SKILL_MAX_FILES 512 /* what clients take of one skill */
#define SKILL_MAX_BYTES (16u << 20)
#define SKILL_MAX_TEXT (1u << 20) /* SKILL.md itself */
#define SKILL_MAX_NAME 64
#define SKILL_MAX_DESCRIPTION 1024 /* code points, likewise below */
#define SKILL_MAX_COMPATIBILITY 500

/* The lines of SKILL.md that something was read from; 1-based, 0 = absent. */
struct skill_field {
    char *name;
    int line, end_line; /* of the whole field, end exclusive */
    int column;         /* of its value, on the line where the value begins */
};

struct skill_text {
    char *text; /* SKILL.md as it is; NUL-terminated, may hold NUL bytes */
    size_t len;
    json_t *frontmatter; /* object, YAML's own types; NULL when there is none that can be
                            read */
    struct skill_field *fields;
    size_t field_count;
    struct yaml_map places; /* every pair of the frontmatter; byte offsets in text */
    struct lines lines;     /* of text */
    size_t yaml, yaml_end;  /* the frontmatter in text; equal when there is none */
    size_t body;            /* offset of the body in text */
    int body_line;          /* its first line */
    const char *name,
        *description; /* borrowed from frontmatter; NULL when not a string */
    /* Why the frontmatter could not be read; line 0 = it could. */
    struct {
        int line, column;
        const char *rule; /* frontmatter_missing, frontmatter_unclosed,
                             frontmatter_not_mapping, frontmatter_too_long, yaml_invalid,
                             yaml_duplicate_key, yaml_unsupported, yaml_too_deep,
                             not_utf8, control_character */
        char message[256];
        size_t at;      /* offset in text */
        int first_line; /* of yaml_duplicate_key: the earlier key */
    } problem;
    /* A value was read as text that YAML refuses unquoted (lenient reading). The YAML's
     * own complaint then stands in repair, and `yaml` is what was read instead. */
    bool repaired;
    struct {
        char *yaml;
        int line, column;
        char message[256];
    } repair;
};

/* Take SKILL.md apart. Never fails; what is wrong stands in `problem`. Texts over
 * SKILL_MAX_TEXT are cut there. */
void skill_text_read(struct skill_text *ret, const char *text, size_t len);
void skill_text_finish(struct skill_text *t);
const struct skill_field *skill_text_field(const struct skill_text *t, const char *name);
/* The pair of the frontmatter's outermost mapping, with exact places; NULL when absent.
 */
const struct yaml_pair *skill_text_pair(const struct skill_text *t, const char *name);
/* 1-based line and byte column of an offset in text. */
int skill_text_line(const struct skill_text *t, size_t offset, int *ret_column);

/* SKILL.md with these fields changed (null removes one) and everything else kept: unknown
 * fields, order, comments where the field is untouched, line endings, the body (replaced
 * when body is not NULL). Values are quoted as YAML needs. A frontmatter that cannot be
 * kept (unreadable, or one {…} on a line) is written anew. Result freed by the caller. */
char *skill_text_write(const struct skill_text *t, const json_t *changes,
                       const char *body);
/* A new one from a frontmatter object and a body. */
char *skill_text_new(const json_t *frontmatter, const char *body);

struct skill_file {
    char *path; /* relative, '/' separated, normalised */
    size_t size;
    mode_t mode;
    char digest[72]; /* "sha256:<64 hex>" of the raw bytes */
};

struct skill {
    char *folder; /* absolute */
    struct skill_text text;
    struct skill_file *files; /* sorted by path; SKILL.md among them */
    size_t file_count, bytes;
    json_t *
        problems; /* findings about files that were refused: links, devices, too many … */
};

/* -ENOENT without a SKILL.md (or skill.md) that may be read, -EINVAL when the path is no
 * folder. Files that may not be read are left out and named in problems (codes file_link,
 * file_special, file_name, file_unreadable, file_changed, too_many_files, too_many_bytes,
 * folder_too_deep, text_too_long). The folder itself may be reached through a link,
 * nothing in it. digests false: sizes only, empty digests (fast). Never blocks on what is
 * no regular file. */
int skill_open(struct skill *ret, const char *folder, bool digests, struct err *err);
void skill_finish(struct skill *s);
const struct skill_file *skill_find_file(const struct skill *s, const char *path);
/* Names that are no part of a skill and left out without a word: version control,
 * caches, what editors and desktops leave (.git .hg .svn node_modules __pycache__
 * .DS_Store Thumbs.db, name~, .name.swp, .#name, #name#). */
bool skill_skips(const char *name);
/* A file beneath a folder, no component of it a link; appended to out. -EINVAL for a path
 * that is not relative and normal, -ELOOP at a link, -EFBIG over out's limit. */
int skill_read_file(const char *folder, const char *path, struct buf *out,
                    struct err *err);
/* The same by the folder's descriptor: opened for reading, or -1 with errno. */
int skill_open_file(int folder, const char *path);
/* The same for a path that needs not be normal; and a regular file so read, appended to
 * out: 0 or -errno, -EINVAL for what is none. */
int skill_open_beneath(int folder, const char *path);
int skill_read_beneath(int folder, const char *path, struct buf *out);
/* The digest of the whole skill: SHA-256 over the sorted (path, is executable, digest);
 * of a skill opened with digests. */
void skill_digest(const struct skill *s, char ret[static 72]);
/* skill_meta.json and what lies beneath evals/: tests hold the answers and records change
 * with each evaluation, so a student sees neither. */
bool skill_holds_tests(const char *path);
/* Takes those off the list of files: the digest is then that of what a student sees. The
 * tests are to be read before. */
void skill_hide_tests(struct skill *s);

/* skill_meta.json and evals/evals.json as upskill and skill-creator write them, in our
 * shape; missing files give {}:
 * {"metadata"?, "tests"?: [{"id", "input", "files"?: {name: text},
 *   "expected": {"contains"?: […], "judge"?: [criteria], "expected_output"?, …}, …}],
 *  "evaluations"?, "provenance"?, "problems"?: [{"file", "message"}]}
 * Other members of a test are kept. New reference. */
json_t *skill_meta_read(const struct skill *s);
/* The tests alone: those of skill_meta.json or, where it has none, those of
 * evals/evals.json: {"tests", "problems"?}. New reference. */
json_t *skill_meta_tests(const struct skill *s);
