/* Places by what names them: a URI, a name or a path; and back. */
#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/file.h"
#include "base/text.h"
#include "skills/catalog/catalog_loop_internal.h"

#define URI_SCHEME "skill://"
#define URI_END "/SKILL.md"

const struct catalog_folder *place_folder(const struct catalog *c,
                                          const struct snapshot_place *p) {
    return &c->folders.list[p->folder];
}

bool place_is_foreign(const struct catalog *c, const struct snapshot_place *p) {
    return strcmp(place_folder(c, p)->scope, "project") == 0;
}

static void add_encoded(struct buf *out, const char *name) {
    for (const char *c = name; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || strchr("-._~", *c);
        buf_addf(out, plain ? "%c" : "%%%02X", (unsigned char)*c);
    }
}

/* The first segment of the URI: the scope, or the agent whose own folder it is. */
static const char *label_of(const struct catalog *c, const struct snapshot_place *p) {
    const struct catalog_folder *f = place_folder(c, p);
    return f->agent && strcmp(f->scope, "agent") == 0 ? f->agent : f->scope;
}

/* Those of a name are looked through from the first on. */
static bool is_named(const struct snapshot *s, size_t i, const char *name) {
    return i < s->place_count && strcmp(s->places[i].name, name) == 0;
}

/* The one that counts of those under the label, whatever hides it: its URI names the same
 * skill in every project. */
static const struct snapshot_place *labelled_place(const struct catalog *c,
                                                   const char *label, const char *name) {
    const struct snapshot *s = c->snapshot;
    for (size_t i = snapshot_find_name(s, name); is_named(s, i, name); i++) {
        if (strcmp(label_of(c, &s->places[i]), label) == 0) {
            return &s->places[i];
        }
    }
    return NULL;
}

/* skill://<label>/<name>/SKILL.md; another of the same label and name is told apart by
 * its digest. */
char *place_uri(const struct catalog *c, const struct snapshot_place *p) {
    autobuf out = BUF_INIT(4096);
    const struct snapshot *s = c->snapshot;
    const struct snapshot_place *first = labelled_place(c, label_of(c, p), p->name);
    buf_adds(&out, URI_SCHEME);
    if (first && first->document != p->document) {
        buf_addf(&out, "shadowed/%s/", s->documents[p->document].digest);
    } else {
        add_encoded(&out, label_of(c, p));
        buf_addc(&out, '/');
    }
    add_encoded(&out, p->name);
    buf_adds(&out, URI_END);
    return buf_detach(&out);
}

static char *decode(const char *s, size_t len) {
    char *out = xmalloc(len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int high = s[i] == '%' && i + 2 < len ? text_hex_digit(s[i + 1]) : -1;
        int low = high >= 0 ? text_hex_digit(s[i + 2]) : -1;
        if (low >= 0 && (high || low)) {
            out[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[n++] = s[i];
        }
    }
    out[n] = '\0';
    return out;
}

static const struct snapshot_place *locate_name(const struct catalog *c, const char *name,
                                                const char *digest, bool own) {
    const struct snapshot *s = c->snapshot;
    for (size_t i = snapshot_find_name(s, name); is_named(s, i, name); i++) {
        const struct snapshot_place *p = &s->places[i];
        if ((!digest || strcmp(s->documents[p->document].digest, digest) == 0) &&
            !(own && place_is_foreign(c, p))) {
            return p;
        }
    }
    return NULL;
}

/* rest: "<label>/<name>" or "shadowed/<digest>/<name>", with or without "/SKILL.md". */
static const struct snapshot_place *locate_uri(const struct catalog *c, const char *rest,
                                               bool own) {
    static const char shadowed[] = "shadowed/";
    size_t len = strlen(rest), end = strlen(URI_END);
    len -= len > end && strcmp(rest + len - end, URI_END) == 0 ? end : 0;
    bool hidden = strncmp(rest, shadowed, strlen(shadowed)) == 0;
    const char *label = hidden ? rest + strlen(shadowed) : rest;
    size_t label_len = strcspn(label, "/");
    const char *name = label + label_len + 1;
    if (name >= rest + len) {
        return NULL;
    }
    autofree char *decoded = decode(name, (size_t)(rest + len - name));
    autofree char *decoded_label = decode(label, label_len);
    const struct snapshot_place *p = hidden ? locate_name(c, decoded, decoded_label, own)
                                            : labelled_place(c, decoded_label, decoded);
    return p && own && place_is_foreign(c, p) ? NULL : p;
}

const struct snapshot_place *place_of_words(const struct catalog *c, const char *words,
                                            bool own) {
    size_t scheme = strlen(URI_SCHEME);
    return !c->snapshot                              ? NULL
           : strncmp(words, URI_SCHEME, scheme) == 0 ? locate_uri(c, words + scheme, own)
                                                     : locate_name(c, words, NULL, own);
}

static char *locate_path(const struct snapshot *s, const char *given) {
    autofree char *path = path_normalize(given);
    size_t len = strlen(path), end = strlen(URI_END);
    if (len > end && strcmp(path + len - end, URI_END) == 0) {
        path[len - end] = '\0';
    }
    for (size_t i = 0; i < s->place_count; i++) {
        if (strcmp(s->places[i].path, path) == 0) {
            return xstrdup(path);
        }
    }
    return NULL;
}

char *catalog_locate(struct catalog *c, const char *given) {
    if (c->snapshot && given[0] == '/') {
        return locate_path(c->snapshot, given);
    }
    const struct snapshot_place *p = place_of_words(c, given, false);
    return p ? xstrdup(p->path) : NULL;
}

const char *catalog_meant(const struct catalog *c, const char *word) {
    const struct snapshot *s = c->snapshot;
    struct nearest_name near = {.said = word, .limit = strlen(word) < 6 ? 1 : 2};
    for (size_t i = 0; s && i < s->place_count; i++) {
        nearest_name_try(&near, s->places[i].name);
    }
    return near.best;
}
