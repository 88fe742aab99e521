#include "skills/format/markdown.h"

#include "base/buf.h"
#include "base/lines.h"

#include <cmark.h>
#include <ctype.h>

#define MAX_INPUT (4u << 20)
#define MAX_LABEL 4096 /* text of a heading or link */

enum kind { CODES, HEADINGS, LINKS, KINDS };

/* The heading or the outermost link that text belongs to at the moment. */
struct label {
    cmark_node *owner;
    size_t item;
    struct buf text;
};

struct reader {
    struct markdown *out;
    const char *text;
    const struct lines *lines;
    int first_line;
    size_t capacity[KINDS];
    struct buf plain;
    struct label heading, link;
};

/* Room for one more item, zeroed, or NULL at the limit. */
static void *grow(struct reader *r, enum kind kind, void *list, size_t *count,
                  size_t size) {
    void **items = list;
    if (*count >= MARKDOWN_MAX_ITEMS) {
        r->out->truncated = 1;
        return NULL;
    }
    if (*count == r->capacity[kind]) {
        r->capacity[kind] = r->capacity[kind] ? r->capacity[kind] * 2 : 16;
        *items = xreallocarray(*items, r->capacity[kind], size);
    }
    void *item = (char *)*items + (*count)++ * size;
    memset(item, 0, size);
    return item;
}

/* cmark's own line, 1-based; some inline nodes have only their parent's. */
static int own_line(cmark_node *node) {
    while (node && cmark_node_get_start_line(node) <= 0) {
        node = cmark_node_parent(node);
    }
    return node ? cmark_node_get_start_line(node) : 1;
}

static int line_of(const struct reader *r, cmark_node *node) {
    return r->first_line - 1 + own_line(node);
}

/* --- code --- */

/* cmark does not tell fenced code from indented code: the source at its place does. */
static bool is_fenced(const struct reader *r, cmark_node *node, const char *literal) {
    size_t line = (size_t)own_line(node) - 1;
    size_t column = (size_t)cmark_node_get_start_column(node);
    if (line >= r->lines->count || column == 0) {
        return false;
    }
    size_t at = r->lines->starts[line] + column - 1;
    size_t end = lines_end(r->lines, r->text, line);
    if (end < at + 3 ||
        (memcmp(r->text + at, "```", 3) != 0 && memcmp(r->text + at, "~~~", 3) != 0)) {
        return false;
    }
    return strncmp(literal, r->text + at, end - at) != 0;
}

static char *language_of(const char *info) {
    char *word = xstrndup(info, strcspn(info, " \t\r\n{,"));
    for (char *c = word; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    return word;
}

static void add_code(struct reader *r, cmark_node *node) {
    struct markdown *m = r->out;
    struct markdown_code *code = grow(r, CODES, &m->codes, &m->code_count, sizeof *code);
    if (!code) {
        return;
    }
    const char *info = cmark_node_get_fence_info(node);
    const char *text = cmark_node_get_literal(node);
    code->info = xstrdup(info ? info : "");
    code->language = language_of(code->info);
    code->text = xstrdup(text ? text : "");
    code->fence_line = line_of(r, node);
    code->line = code->fence_line + is_fenced(r, node, code->text);
}

/* --- headings and links --- */

static void label_begin(struct label *l, cmark_node *owner, size_t item) {
    l->owner = owner;
    l->item = item;
    buf_reset(&l->text);
}

static void add_heading(struct reader *r, cmark_node *node) {
    struct markdown *m = r->out;
    struct markdown_heading *heading =
        grow(r, HEADINGS, &m->headings, &m->heading_count, sizeof *heading);
    if (heading) {
        heading->level = cmark_node_get_heading_level(node);
        heading->line = line_of(r, node);
        label_begin(&r->heading, node, m->heading_count - 1);
    }
}

static void add_link(struct reader *r, cmark_node *node) {
    struct markdown *m = r->out;
    struct markdown_link *link = grow(r, LINKS, &m->links, &m->link_count, sizeof *link);
    if (!link) {
        return;
    }
    const char *url = cmark_node_get_url(node);
    link->url = xstrdup(url ? url : "");
    link->line = line_of(r, node);
    if (!r->link.owner) {
        label_begin(&r->link, node, m->link_count - 1);
    }
}

static void add_to(struct buf *b, const char *text, size_t len) {
    size_t room = b->max - b->len;
    buf_add(b, text, len < room ? len : room);
}

static void add_text(struct reader *r, const char *text) {
    size_t len = strlen(text);
    if (len > r->plain.max - r->plain.len) {
        r->out->truncated = 1;
    }
    add_to(&r->plain, text, len);
    if (r->heading.owner) {
        add_to(&r->heading.text, text, len);
    }
    if (r->link.owner) {
        add_to(&r->link.text, text, len);
    }
}

/* --- what cmark cannot take --- */

/* cmark 0.30 needs quadratic time for many open "![" in a paragraph, and for blank lines
 * beneath very deeply nested containers on one line. Beyond these limits, which no real
 * text reaches, both are replaced by as many other bytes. */
#define MAX_OPEN_IMAGES 500 /* between blank lines */
#define MAX_MARKERS 64      /* of quotes and list items at the head of a line */

struct softener {
    const char *text;
    size_t len;
    char *copy; /* NULL as long as nothing was changed */
};

static void soften_byte(struct softener *s, size_t at, char by) {
    if (!s->copy) {
        s->copy = xmalloc(s->len + 1);
        memcpy(s->copy, s->text, s->len);
        s->copy[s->len] = '\0';
    }
    s->copy[at] = by;
}

/* Length of the container marker at `at`, including blanks before and after it; 0:
 * none. */
static size_t marker_length(const char *text, size_t at, size_t end) {
    size_t start = at;
    while (at < end && (text[at] == ' ' || text[at] == '\t')) {
        at++;
    }
    if (at < end && text[at] == '>') {
        return at + 1 - start;
    }
    size_t digits = at;
    while (at < end && isdigit((unsigned char)text[at])) {
        at++;
    }
    const char *closers = at > digits ? ".)" : "-+*";
    bool is_item = at + 1 < end && text[at] && strchr(closers, text[at]) &&
                   (text[at + 1] == ' ' || text[at + 1] == '\t');
    return is_item ? at + 2 - start : 0;
}

static void soften_markers(struct softener *s, size_t at, size_t end) {
    size_t length;
    for (unsigned count = 0; (length = marker_length(s->text, at, end)); count++) {
        if (count == MAX_MARKERS) {
            soften_byte(s, at, '\\');
            return;
        }
        at += length;
    }
}

static size_t soften_images(struct softener *s, size_t at, size_t end, size_t open) {
    for (; at + 1 < end; at++) {
        if (s->text[at] == '!' && s->text[at + 1] == '[' && ++open > MAX_OPEN_IMAGES) {
            soften_byte(s, at, ' ');
        }
    }
    return open;
}

static bool is_blank_line(const char *text, size_t at, size_t end) {
    while (at < end && (text[at] == ' ' || text[at] == '\t')) {
        at++;
    }
    return at == end;
}

/* The text to give cmark: NULL when it can be given as it is. */
static char *soften(const char *text, size_t len, const struct lines *lines) {
    struct softener s = {.text = text, .len = len};
    size_t open = 0;
    for (size_t i = 0; i < lines->count; i++) {
        size_t at = lines->starts[i], end = lines_end(lines, text, i);
        open = is_blank_line(text, at, end) ? 0 : soften_images(&s, at, end, open);
        soften_markers(&s, at, end);
    }
    return s.copy;
}

/* --- the walk --- */

static void enter(struct reader *r, cmark_node *node) {
    const char *literal = cmark_node_get_literal(node);
    switch (cmark_node_get_type(node)) {
    case CMARK_NODE_CODE_BLOCK:
        add_code(r, node);
        break;
    case CMARK_NODE_HEADING:
        add_heading(r, node);
        break;
    case CMARK_NODE_LINK:
    case CMARK_NODE_IMAGE:
        add_link(r, node);
        break;
    case CMARK_NODE_TEXT:
    case CMARK_NODE_CODE:
        add_text(r, literal ? literal : "");
        break;
    case CMARK_NODE_SOFTBREAK:
    case CMARK_NODE_LINEBREAK:
        add_text(r, " ");
        break;
    default:
        break;
    }
}

static void leave(struct reader *r, cmark_node *node) {
    struct markdown *m = r->out;
    cmark_node_type type = cmark_node_get_type(node);
    if (node == r->heading.owner) {
        m->headings[r->heading.item].text = xstrdup(r->heading.text.data);
        r->heading.owner = NULL;
    }
    if (node == r->link.owner) {
        m->links[r->link.item].text = xstrdup(r->link.text.data);
        r->link.owner = NULL;
    }
    if (type == CMARK_NODE_PARAGRAPH || type == CMARK_NODE_HEADING) {
        add_to(&r->plain, "\n", 1);
    }
}

static void walk(struct reader *r, cmark_node *document) {
    cmark_iter *iter = cmark_iter_new(document);
    cmark_event_type event;
    while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
        if (event == CMARK_EVENT_ENTER) {
            enter(r, cmark_iter_get_node(iter));
        } else if (event == CMARK_EVENT_EXIT) {
            leave(r, cmark_iter_get_node(iter));
        }
    }
    cmark_iter_free(iter);
}

/* Images within links have no separate text. */
static void fill_texts(struct markdown *m) {
    for (size_t i = 0; i < m->link_count; i++) {
        m->links[i].text = m->links[i].text ? m->links[i].text : xstrdup("");
    }
}

void markdown_read(struct markdown *ret, const char *text, size_t len, int first_line) {
    *ret = (struct markdown){.truncated = len > MAX_INPUT};
    len = len < MAX_INPUT ? len : MAX_INPUT;
    struct lines lines;
    lines_init(&lines, text, len);
    struct reader r = {.out = ret,
                       .text = text,
                       .lines = &lines,
                       .first_line = first_line,
                       .plain = BUF_INIT(MARKDOWN_MAX_PLAIN - 1),
                       .heading.text = BUF_INIT(MAX_LABEL),
                       .link.text = BUF_INIT(MAX_LABEL)};
    autofree char *softened = soften(text, len, &lines);
    ret->truncated |= softened != NULL;
    cmark_node *document = cmark_parse_document(softened ? softened : text, len,
                                                CMARK_OPT_DEFAULT | CMARK_OPT_SOURCEPOS);
    walk(&r, document);
    cmark_node_free(document);
    fill_texts(ret);
    ret->plain = r.plain.len ? buf_detach(&r.plain) : xstrdup("");
    buf_finish(&r.heading.text);
    buf_finish(&r.link.text);
    lines_finish(&lines);
}

void markdown_finish(struct markdown *m) {
    for (size_t i = 0; i < m->heading_count; i++) {
        free(m->headings[i].text);
    }
    for (size_t i = 0; i < m->code_count; i++) {
        free(m->codes[i].language);
        free(m->codes[i].info);
        free(m->codes[i].text);
    }
    for (size_t i = 0; i < m->link_count; i++) {
        free(m->links[i].url);
        free(m->links[i].text);
    }
    free(m->headings);
    free(m->codes);
    free(m->links);
    free(m->plain);
    *m = (struct markdown){0};
}
