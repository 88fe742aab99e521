#pragma once
/* skill: one Agent Skill, a folder with SKILL.md, read leniently and written strictly.
 *
 * Everything in a skill is somebody else's text: bounded, never executed, cleaned before
 * it is shown. Reading never follows a link out of the folder and refuses everything that
 * is not a regular file. https://agentskills.io/specification defines the format;
 * docs/architecture/skills.md says how we read it. */
#include "base/lines.h"
#include "base/yaml.h"

#include <sys/types.h>

#define SKILL_MAX_FILES 512 /* as many as clients accept */
#define SKILL_MAX_BYTES (16u << 20)
#define SKILL_MAX_TEXT (1u << 20) /* SKILL.md itself */
#define SKILL_MAX_NAME 64
#define SKILL_MAX_DESCRIPTION 1024 /* code points, likewise below */
#define SKILL_MAX_COMPATIBILITY 500

/* The lines of a field in SKILL.md; 1-based, 0 = absent. */
struct skill_field {
    char *name;
    int line, end_line; /* of the whole field, end exclusive */
    int column;         /* of its value, on the line where the value begins */
};

struct skill_text {
    char *text; /* SKILL.md unchanged; NUL-terminated, may contain NUL bytes */
    size_t len;
    json_t *frontmatter; /* object with YAML's types; NULL if it is missing or cannot be
                            parsed */
    struct skill_field *fields;
    size_t field_count;
    struct yaml_map places; /* every pair of the frontmatter; byte offsets in text */
    struct lines lines;     /* of text */
    size_t yaml, yaml_end;  /* the frontmatter in text; equal if there is none */
    size_t body;            /* offset of the body in text */
    int body_line;          /* its first line */
    const char *name, *description; /* borrowed from frontmatter; NULL if not a string */
    /* Why the frontmatter could not be parsed; line 0 = it could. */
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
    /* Lenient reading: an unquoted value that YAML refuses was read as text. `repair` has
     * the YAML parser's error, and `yaml` is the repaired text that was parsed. */
    bool repaired;
    struct {
        char *yaml;
        int line;
        char message[256];
    } repair;
};

/* Parses SKILL.md. Never fails; `problem` says what is wrong. Texts over
 * SKILL_MAX_TEXT are cut there. */
void skill_text_read(struct skill_text *ret, const char *text, size_t len);
void skill_text_finish(struct skill_text *t);
const struct skill_field *skill_text_field(const struct skill_text *t, const char *name);
/* A pair of the frontmatter's outermost mapping, with exact places; NULL if absent. */
const struct yaml_pair *skill_text_pair(const struct skill_text *t, const char *name);
/* 1-based line and byte column of an offset in text. */
int skill_text_line(const struct skill_text *t, size_t offset, int *ret_column);

/* SKILL.md with these fields changed (null removes one) and everything else kept: unknown
 * fields, order, comments of unchanged fields, line endings, and the body unless body is
 * not NULL. Values are quoted as YAML requires. A frontmatter that cannot be kept
 * (unreadable, or one {…} on a line) is rewritten. The caller frees the result. */
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

/* -ENOENT without a readable SKILL.md (or skill.md), -EINVAL if the path is no
 * folder. Files that cannot be read are left out and reported in problems (codes
 * file_link, file_special, file_name, file_unreadable, file_changed, too_many_files,
 * too_many_bytes, folder_too_deep, text_too_long). The path of the folder may contain
 * links, the contents may not. digests false: sizes only, empty digests (fast). Never
 * blocks on special files. */
int skill_open(struct skill *ret, const char *folder, bool digests, struct err *err);
void skill_finish(struct skill *s);
const struct skill_file *skill_find_file(const struct skill *s, const char *path);
/* Whether a name is silently left out of skills: version control, caches, leftovers of
 * editors and desktops (.git .hg .svn node_modules __pycache__
 * .DS_Store Thumbs.db, name~, .name.swp, .#name, #name#). */
bool skill_skips(const char *name);
/* Appends the contents of a file beneath a folder to out. -EINVAL if the path is not
 * relative and normalised, -ELOOP if a component is a link, -EFBIG over out's limit. */
int skill_read_file(const char *folder, const char *path, struct buf *out,
                    struct err *err);
/* The same by the folder's descriptor: a descriptor open for reading, or -1 with errno.
 */
int skill_open_file(int folder, const char *path);
/* The same for a path that need not be normalised; and such a regular file's contents,
 * appended to out: 0 or -errno, -EINVAL if it is no regular file. */
int skill_open_beneath(int folder, const char *path);
int skill_read_beneath(int folder, const char *path, struct buf *out);
/* The digest of a skill that was opened with digests: SHA-256 over the sorted (path,
 * is executable, digest). */
void skill_digest(const struct skill *s, char ret[static 72]);
/* Whether the path is skill_meta.json or beneath evals/. Tests contain the answers and
 * records change with each evaluation, so students see neither. */
bool skill_holds_tests(const char *path);
/* Removes those from the list of files, so the digest covers what a student sees. Read
 * the tests first. */
void skill_hide_tests(struct skill *s);

/* skill_meta.json and evals/evals.json of upskill and skill-creator, converted to our
 * format; missing files give {}:
 * {"metadata"?, "tests"?: [{"id", "input", "files"?: {name: text},
 *   "expected": {"contains"?: […], "judge"?: [criteria], "expected_output"?, …}, …}],
 *  "evaluations"?, "provenance"?, "problems"?: [{"file", "message"}]}
 * Other members of a test are kept. New reference. */
json_t *skill_meta_read(const struct skill *s);
/* Only the tests, of skill_meta.json or, if it has none, of evals/evals.json: {"tests",
 * "problems"?}. New reference. */
json_t *skill_meta_tests(const struct skill *s);
