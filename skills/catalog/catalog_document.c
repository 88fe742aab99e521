/* SKILL.md as the index holds it. */
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "skills/catalog/catalog_internal.h"
#include "skills/check/danger.h"
#include "skills/check/safety_text.h"
#include "skills/format/markdown.h"
#include "skills/format/skill.h"

#define OPENING 600u /* bytes of a description that tell what it is about */
#define MEANING_HEADINGS 12

static int read_beneath(const char *folder, const char *file, struct buf *out) {
    struct root root;
    int rc = root_open(&root, folder, NULL);
    if (rc < 0) {
        return rc;
    }
    rc = root_read(&root, file, out, NULL);
    root_close(&root);
    return rc;
}

/* Outside text on one line, fit to be shown. */
static char *shown(const char *s, size_t max) {
    autobuf out = BUF_INIT(CATALOG_DESCRIPTION_MAX * 4);
    size_t len = s ? strlen(s) : 0;
    text_clean(&out, s ? s : "", text_cut(s ? s : "", len, CATALOG_DESCRIPTION_MAX));
    out.len = text_cut(out.data, out.len, max);
    while (out.len && strchr(" \t\n", out.data[out.len - 1])) {
        out.len--;
    }
    char *result = xstrndup(out.data, out.len);
    for (char *c = result; (c = strpbrk(c, "\t\n"));) {
        *c = ' ';
    }
    return result;
}

static void set_field(struct index_document *d, size_t field, struct buf *words) {
    for (size_t i = 0; i < words->len; i++) {
        d->lengths[field] += words->data[i] == ' ';
    }
    d->fields[field] = buf_detach(words);
}

static void set_body(struct index_document *d, const struct skill_text *t,
                     struct buf *about) {
    struct markdown m;
    autobuf headings = BUF_INIT(8u << 10), body = BUF_INIT(CATALOG_BODY_MAX);
    markdown_read(&m, t->text + t->body, t->len - t->body, t->body_line);
    for (size_t i = 0; i < m.heading_count; i++) {
        if (i < MEANING_HEADINGS) {
            buf_addf(about, "%s\n", m.headings[i].text);
        }
        words_index(&headings, m.headings[i].text, strlen(m.headings[i].text));
    }
    if (m.plain) {
        words_index(&body, m.plain, strnlen(m.plain, CATALOG_BODY_MAX * 2));
    }
    set_field(d, 2, &headings);
    set_field(d, 3, &body);
    markdown_finish(&m);
}

static void set_words(struct index_document *d, size_t field, const char *text) {
    autobuf words = BUF_INIT(CATALOG_DESCRIPTION_MAX * 2);
    words_index(&words, text, strlen(text));
    set_field(d, field, &words);
}

/* The description's first sentences say what a skill is for, the rest when not. Headings
 * give words, no direction: half of them are "Overview" and "Troubleshooting". */
static void set_meaning(struct index_document *d, struct stemmer *stemmer,
                        const char *name, const char *headings) {
    autofree char *opening = xstrndup(
        d->description, text_cut(d->description, strlen(d->description), OPENING));
    const char *const texts[] = {name, opening, headings};
    autobuf bytes = BUF_INIT(MEANING_SIZE_MAX);
    meaning_write(stemmer, texts, ARRAY_LEN(texts), 2, &bytes);
    if (bytes.len) {
        memcpy(d->meaning, bytes.data, bytes.len);
    }
    d->meaning_size = bytes.len;
}

/* The digest of all files, or, where some of them were not read, one that no other place
 * has. */
static void set_digest(struct index_document *d, const struct skill *s, bool complete,
                       const char *folder) {
    if (complete) {
        skill_digest(s, d->digest);
        return;
    }
    struct hash hash;
    hash_init(&hash);
    hash_add_field(&hash, s->text.text, s->text.len);
    hash_add_field(&hash, folder, strlen(folder));
    memcpy(d->digest, "sha256:", 7);
    hash_hex(&hash, d->digest + 7);
}

/* SKILL.md is all there is. */
static void digest_alone(struct index_document *d, const struct skill_text *t) {
    struct skill_file file = {.path = (char *)(uintptr_t) "SKILL.md"};
    struct skill s = {.files = &file, .file_count = 1};
    memcpy(file.digest, "sha256:", 7);
    hash_bytes_hex(t->text, t->len, file.digest + 7);
    skill_digest(&s, d->digest);
}

/* One skill takes no more of what all may cost than it would alone. */
static json_t *look_through(const struct index_document *d, const struct skill *s,
                            struct reading_left *left) {
    size_t own = left->searched < SAFETY_SEARCHED ? left->searched : SAFETY_SEARCHED;
    size_t before = own;
    json_t *danger = d->listed ? danger_look(s, &own) : NULL;
    left->searched -= before - own;
    return danger;
}

/* The digest, and the danger. Of one whose other files cannot be listed nothing can be
 * said, which is said. */
static json_t *look_at(struct index_document *d, const struct found_skill *skill,
                       const struct skill_text *t, struct reading_left *left) {
    struct skill whole = {.text = *t};
    struct err err = {0};
    bool hashed = left->hashed >= SKILL_MAX_BYTES;
    if (!skill->beside) {
        digest_alone(d, t);
        return look_through(d, &whole, left);
    }
    if (skill_open(&whole, skill->path, hashed, &err) < 0) {
        whole.text = *t;
        set_digest(d, &whole, false, skill->path);
        return d->listed ? danger_unknown(err.msg) : NULL;
    }
    json_t *danger = look_through(d, &whole, left);
    left->hashed -= !hashed ? 0 : whole.bytes < left->hashed ? whole.bytes : left->hashed;
    skill_hide_tests(&whole); /* records change with each evaluation; copies have none */
    set_digest(d, &whole, hashed && !json_array_size(whole.problems), skill->path);
    skill_finish(&whole);
    return danger;
}

static void set_danger(struct index_document *d, const json_t *danger) {
    autobuf text = BUF_INIT(64u << 10);
    if (json_array_size(danger)) {
        json_write(&text, danger);
        d->danger = buf_detach(&text);
    }
}

int document_read(const struct found_skill *skill, struct stemmer *stemmer,
                  struct reading_left *left, struct index_document *ret) {
    autobuf text = BUF_INIT(SKILL_MAX_TEXT);
    struct skill_text t;
    *ret = (struct index_document){0};
    int rc = read_beneath(skill->path, skill->file, &text);
    if (rc < 0) {
        return rc;
    }
    skill_text_read(&t, text.data, text.len);
    ret->name = shown(t.name, CATALOG_NAME_MAX);
    ret->description = shown(t.description, CATALOG_DESCRIPTION_MAX);
    ret->listed = ret->description[0] != '\0';
    const char *name = ret->name[0] ? ret->name : path_basename(skill->path);
    set_words(ret, 0, name);
    set_words(ret, 1, ret->description);
    if (ret->listed) {
        autobuf headings = BUF_INIT(8u << 10);
        set_body(ret, &t, &headings);
        set_meaning(ret, stemmer, name, headings.len ? headings.data : "");
    }
    autojson *danger = look_at(ret, skill, &t, left);
    set_danger(ret, danger);
    skill_text_finish(&t);
    return 0;
}

void document_finish(struct index_document *d) {
    free(d->name);
    free(d->description);
    free(d->danger);
    for (size_t i = 0; i < CATALOG_FIELDS; i++) {
        free(d->fields[i]);
    }
    *d = (struct index_document){0};
}
