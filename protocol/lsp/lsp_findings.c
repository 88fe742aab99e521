/* Findings have 1-based lines and byte columns; LSP wants 0-based lines and its own
 * units. */
#include "base/find.h"
#include "base/text.h"
#include "protocol/lsp/lsp_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "protocol/uri.h"

#define MAX_RELATED 32 /* places beside one diagnostic */

/* --- places --- */

static size_t integer(const json_t *obj, const char *key) {
    json_int_t n = json_get_integer(obj, key, 0);
    return n > 0 ? (size_t)n : 0;
}

/* The offset of a 1-based line and byte column, both clamped; column 0 = line start. */
static size_t place(const struct lsp_view *v, size_t line, size_t column) {
    size_t index = line > v->lines->count ? v->lines->count - 1 : line - 1;
    size_t start = v->lines->starts[index];
    size_t end = lines_end(v->lines, v->text, index);
    size_t at = column ? column - 1 : 0;
    return at < end - start ? start + at : end;
}

/* From the offset to the end of its word, or else of its line without trailing blanks. */
static size_t guess_end(const struct lsp_view *v, size_t at) {
    size_t end = lines_end(v->lines, v->text, lines_at(v->lines, at));
    size_t word = at;
    while (word < end && text_is_wide_word(v->text[word])) {
        word++;
    }
    if (word > at) {
        return word;
    }
    while (end > at && isspace((unsigned char)v->text[end - 1])) {
        end--;
    }
    return end;
}

/* A whole line without the blanks around its text. */
static void line_span(const struct lsp_view *v, size_t line, size_t *ret_start,
                      size_t *ret_end) {
    size_t start = place(v, line, 0);
    size_t end = lines_end(v->lines, v->text, lines_at(v->lines, start));
    while (end > start && isspace((unsigned char)v->text[end - 1])) {
        end--;
    }
    while (start < end && isspace((unsigned char)v->text[start])) {
        start++;
    }
    *ret_start = start;
    *ret_end = end;
}

static void span(const struct lsp_view *v, const json_t *obj, size_t *ret_start,
                 size_t *ret_end) {
    size_t line = integer(obj, "line");
    size_t column = integer(obj, "column");
    size_t end_line = integer(obj, "end_line");
    size_t end_column = integer(obj, "end_column");
    if (!line || !column) {
        line_span(v, line ? line : 1, ret_start, ret_end);
        return;
    }
    *ret_start = place(v, line, column);
    *ret_end = end_column ? place(v, end_line ? end_line : line, end_column) : 0;
    if (*ret_end <= *ret_start) {
        *ret_end = guess_end(v, *ret_start);
    }
}

void lsp_edit_span(const struct lsp_view *view, const json_t *edit, size_t *ret_start,
                   size_t *ret_end) {
    size_t line = integer(edit, "line"), end_line = integer(edit, "end_line");
    size_t end_column = integer(edit, "end_column");
    bool ends = end_line || end_column;
    line = line ? line : 1;
    *ret_start = place(view, line, integer(edit, "column"));
    *ret_end = ends ? place(view, end_line ? end_line : line, end_column) : 0;
    *ret_end = *ret_end > *ret_start ? *ret_end : *ret_start;
}

/* --- files --- */

/* The name by which a kind knows a document that has no path ("untitled:Untitled-1"). */
static const char *uri_name(const char *uri) {
    const char *name = path_basename(uri);
    const char *scheme = strrchr(name, ':');
    return scheme ? scheme + 1 : name;
}

static bool is_own(const struct lsp_document *d, const char *file) {
    if (!file || !*file) {
        return true;
    }
    if (!d->path) {
        return strcmp(file, d->uri) == 0 || strcmp(file, uri_name(d->uri)) == 0;
    }
    return strcmp(file, d->path) == 0 || strcmp(file, path_basename(d->path)) == 0;
}

bool lsp_finding_is_own(const struct lsp_document *d, const json_t *finding) {
    return is_own(d, json_get_string(finding, "file", NULL));
}

/* Files that findings name: this document, other open ones, or on disk. */
struct sources {
    struct lsp_document *document;
    char *file, *uri; /* loaded last; uri NULL = cannot be read */
    char *text;
    size_t len;
    struct lines lines;
};

static void unload(struct sources *s) {
    if (s->text) {
        lines_finish(&s->lines);
    }
    free(take(s->file));
    free(take(s->uri));
    free(take(s->text));
}

static bool load_path(struct sources *s, const char *path) {
    autobuf text = BUF_INIT(s->document->lsp->host->settings->max_document_bytes);
    if (file_read(path, &text, NULL) < 0) {
        return false;
    }
    s->len = text.len;
    s->text = text.len ? buf_detach(&text) : xstrdup("");
    s->uri = uri_of_path(path);
    lines_init(&s->lines, s->text, s->len);
    return true;
}

/* A file's place on disk: as it is, beside the document, or beneath a root. */
static void load(struct sources *s, const char *file) {
    unload(s);
    s->file = xstrdup(file);
    if (*file == '/') {
        load_path(s, file);
        return;
    }
    const char *path = s->document->path;
    if (path) {
        autofree char *dir = xstrndup(path, (size_t)(path_basename(path) - path));
        autofree char *beside = path_resolve(dir, file);
        if (load_path(s, beside)) {
            return;
        }
    }
    const char *const *root = s->document->lsp->host->origin->roots;
    for (; root && *root; root++) {
        autofree char *beneath = path_join(*root, file);
        if (load_path(s, beneath)) {
            return;
        }
    }
}

/* Where a finding or an edit lies; all borrowed, until the next source_find. */
struct source {
    struct lsp_view view;
    const char *uri;
    const struct lsp_document *open; /* NULL: from disk */
};

static void source_open(const struct lsp_document *d, struct source *ret) {
    *ret = (struct source){.view = lsp_document_view(d), .uri = d->uri, .open = d};
}

/* False when the file cannot be read. */
static bool source_find(struct sources *s, const char *file, struct source *ret) {
    if (is_own(s->document, file)) {
        source_open(s->document, ret);
        return true;
    }
    const struct lsp_document *open = lsp_document_find_path(s->document->lsp, file);
    if (open) {
        source_open(open, ret);
        return true;
    }
    if (!s->file || strcmp(s->file, file) != 0) {
        load(s, file);
    }
    ret->view = (struct lsp_view){.text = s->text, .len = s->len, .lines = &s->lines};
    ret->uri = s->uri;
    ret->open = NULL;
    return s->uri;
}

/* --- diagnostics --- */

/* The first line with the file's name at the end of a quoted text, as in includes,
 * imports and lists of sources; 1-based, 0 if there is none. */
static size_t naming_line(const struct lsp_document *d, const char *file) {
    const char *name = path_basename(file);
    size_t len = strlen(name);
    const char *text = d->text.text;
    const char *end = text + d->text.len;
    for (const char *at = text;
         len && (at = memmem(at, (size_t)(end - at), name, len)) != NULL; at++) {
        if (at > text && strchr("/\"<'", at[-1]) && at[len] && strchr("\">'", at[len])) {
            return lines_at(&d->text.lines, (size_t)(at - text)) + 1;
        }
    }
    return 0;
}

/* A finding in another file is shown at the line of this document that leads there: given
 * by the finding, or the line that names the file. */
static size_t anchor_line(const struct lsp_document *d, const json_t *finding) {
    json_each(json_object_get(finding, "related"), i, related) {
        const char *file = json_get_string(related, "file", NULL);
        if (file && is_own(d, file) && integer(related, "line")) {
            return integer(related, "line");
        }
    }
    size_t naming = naming_line(d, json_get_string(finding, "file", ""));
    return naming ? naming : 1;
}

bool lsp_document_refers(const struct lsp_document *d, const char *path) {
    return json_any(d->findings, finding, json_says(finding, "file", path)) ||
           naming_line(d, path) != 0;
}

void lsp_finding_span(const struct lsp_document *d, const json_t *finding,
                      size_t *ret_start, size_t *ret_end) {
    struct lsp_view view = lsp_document_view(d);
    if (lsp_finding_is_own(d, finding)) {
        span(&view, finding, ret_start, ret_end);
    } else {
        line_span(&view, anchor_line(d, finding), ret_start, ret_end);
    }
}

/* One place for relatedInformation, unless its file cannot be read. */
static void add_place(struct sources *s, json_t *list, const json_t *finding) {
    struct source source;
    size_t start, end;
    if (!integer(finding, "line") || json_array_size(list) >= MAX_RELATED ||
        !source_find(s, json_get_string(finding, "file", NULL), &source)) {
        return;
    }
    span(&source.view, finding, &start, &end);
    enum lsp_encoding encoding = s->document->lsp->client.encoding;
    json_array_append_new(
        list, json_pack("{s:{s:s, s:o}, s:s}", "location", "uri", source.uri, "range",
                        lsp_range(encoding, &source.view, start, end), "message",
                        json_get_string(finding, "message", "")));
}

/* The list, or NULL instead of an empty one. list is stolen. */
static json_t *unless_empty(json_t *list) {
    if (!json_array_size(list)) {
        json_decref(take(list));
    }
    return list;
}

static json_t *related_of(struct sources *s, const json_t *finding) {
    json_t *list = json_array();
    if (!lsp_finding_is_own(s->document, finding)) {
        add_place(s, list, finding);
    }
    json_each(json_object_get(finding, "related"), i, related) {
        add_place(s, list, related);
    }
    return unless_empty(list);
}

static int severity(const json_t *finding) {
    const char *word = json_get_string(finding, "severity", "error");
    return strcmp(word, "error") == 0     ? 1
           : strcmp(word, "warning") == 0 ? 2
           : strcmp(word, "hint") == 0    ? 4
                                          : 3;
}

/* For another file's finding the words say where it is; where a link leads there,
 * shortly.
 */
static json_t *message(const struct lsp_document *d, const json_t *finding) {
    const char *text = json_get_string(finding, "message", "");
    if (lsp_finding_is_own(d, finding)) {
        return json_string(text);
    }
    const char *file = json_get_string(finding, "file", "");
    file = d->lsp->client.related ? path_basename(file) : file;
    return integer(finding, "line")
               ? json_sprintf("%s:%zu: %s", file, integer(finding, "line"), text)
               : json_sprintf("%s: %s", file, text);
}

static json_t *tags_of(const struct lsp_client *client, const json_t *finding) {
    json_t *tags = json_array();
    json_each(json_object_get(finding, "tags"), i, tag) {
        const char *word = json_string_value(tag);
        if (word && strcmp(word, "unnecessary") == 0 && client->tag_unnecessary) {
            json_array_append_new(tags, json_integer(1));
        } else if (word && strcmp(word, "deprecated") == 0 && client->tag_deprecated) {
            json_array_append_new(tags, json_integer(2));
        }
    }
    return unless_empty(tags);
}

static json_t *lsp_diagnostic(struct sources *s, const json_t *finding) {
    struct lsp_document *d = s->document;
    const struct lsp_client *client = &d->lsp->client;
    struct lsp_view view = lsp_document_view(d);
    const char *code = json_get_string(finding, "code", "");
    const char *href = json_get_string(finding, "href", "");
    bool link = *code && client->code_description && strncmp(href, "https://", 8) == 0;
    json_t *fixes = json_object_get(finding, "fixes");
    size_t start, end;
    lsp_finding_span(d, finding, &start, &end);
    return json_pack(
        "{s:o, s:i, s:s, s:o, s:s*, s:o*, s:o*, s:o*, s:o*}", "range",
        lsp_range(client->encoding, &view, start, end), "severity", severity(finding),
        "source", json_get_string(finding, "source", d->lsp->host->name), "message",
        message(d, finding), "code", *code ? code : NULL, "codeDescription",
        link ? json_pack("{s:s}", "href", href) : NULL, "tags", tags_of(client, finding),
        "relatedInformation", client->related ? related_of(s, finding) : NULL, "data",
        client->data && json_array_size(fixes) ? json_pack("{s:O}", "fixes", fixes)
                                               : NULL);
}

json_t *lsp_diagnostics(struct lsp_document *d, const json_t *findings) {
    struct sources sources = {.document = d};
    json_t *list = json_map(findings, finding, lsp_diagnostic(&sources, finding));
    unload(&sources);
    return list;
}

/* --- edits --- */

/* The edits of a source's TextDocumentEdit in documentChanges, made when missing. */
static json_t *edits_for(json_t *changes, const struct source *source) {
    json_each(changes, i, change) {
        const json_t *document = json_object_get(change, "textDocument");
        if (json_says(document, "uri", source->uri)) {
            return json_object_get(change, "edits");
        }
    }
    const struct lsp_document *open = source->open;
    json_t *version = open && open->versioned ? json_integer(open->version) : json_null();
    json_t *edits = json_array();
    json_array_append_new(changes,
                          json_pack("{s:{s:s, s:o}, s:o}", "textDocument", "uri",
                                    source->uri, "version", version, "edits", edits));
    return edits;
}

static bool add_edit(struct sources *s, json_t *changes, const json_t *edit) {
    struct source source;
    if (!source_find(s, json_get_string(edit, "file", NULL), &source)) {
        return false;
    }
    size_t start, end;
    lsp_edit_span(&source.view, edit, &start, &end);
    enum lsp_encoding encoding = s->document->lsp->client.encoding;
    json_array_append_new(edits_for(changes, &source),
                          json_pack("{s:o, s:s}", "range",
                                    lsp_range(encoding, &source.view, start, end),
                                    "newText", json_get_string(edit, "text", "")));
    return true;
}

/* For clients that know no documentChanges: {"changes": {uri: edits}}. */
static json_t *plain_edit(const json_t *changes) {
    json_t *map = json_object();
    json_each(changes, i, change) {
        const json_t *document = json_object_get(change, "textDocument");
        json_object_set(map, json_get_string(document, "uri", ""),
                        json_object_get(change, "edits"));
    }
    return json_pack("{s:o}", "changes", map);
}

json_t *lsp_workspace_edit(struct lsp_document *d, const json_t *edit_lists) {
    struct sources sources = {.document = d};
    autojson *changes = json_array();
    bool good = true;
    json_each(edit_lists, i, list) {
        json_each(list, k, edit) {
            good = good && add_edit(&sources, changes, edit);
        }
    }
    unload(&sources);
    if (!good || !json_array_size(changes)) {
        return NULL;
    }
    return d->lsp->client.document_changes
               ? json_pack("{s:O}", "documentChanges", changes)
               : plain_edit(changes);
}
