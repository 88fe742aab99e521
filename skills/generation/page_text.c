#include "skills/generation/page_text.h"

#include "base/buf.h"
#include "base/strings.h"
#include "base/text.h"

#include <strings.h>

#define MAX_TAG 16u /* bytes of a tag's name that is told apart */

struct page {
    struct buf *out;
    const char *at, *end;
    bool pre, code, blank; /* blank: white space came since the last word */
    unsigned breaks;       /* line ends wanted before the next word */
    size_t start;          /* of what was written, in out */
};

struct tag {
    char name[MAX_TAG];
    bool closes, hidden, empty;
};

/* --- writing --- */

static void want_break(struct page *p, unsigned lines) {
    p->breaks = p->breaks > lines ? p->breaks : lines;
    p->blank = false;
}

static void add(struct page *p, const char *bytes, size_t len) {
    if (p->breaks && p->out->len > p->start) {
        buf_add(p->out, "\n\n", p->breaks);
    } else if (p->blank && p->out->len > p->start) {
        buf_addc(p->out, ' ');
    }
    p->breaks = 0;
    p->blank = false;
    buf_add(p->out, bytes, len);
}

#define BLANK " "
struct entity {
    const char *name, *text;
};
#include "skills/page_text_table.h"

/* "&#8230;" or "&amp;" at p->at: its text in ret; the bytes it takes, or 0. */
static size_t entity_at(const struct page *p, char ret[static 8]) {
    size_t left = (size_t)(p->end - p->at), len = 1;
    while (len < left && len < 12 &&
           (isalnum((unsigned char)p->at[len]) || p->at[len] == '#')) {
        len++;
    }
    if (len >= left || p->at[len] != ';' || len < 3) {
        return 0;
    }
    if (p->at[1] == '#') {
        bool hex = p->at[2] == 'x' || p->at[2] == 'X';
        uint32_t cp = 0;
        for (size_t i = hex ? 3 : 2; i < len; i++) {
            char c = p->at[i];
            if (hex ? !isxdigit((unsigned char)c) : !isdigit((unsigned char)c)) {
                return 0;
            }
            cp = cp * (hex ? 16 : 10) +
                 (uint32_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
            cp = cp > 0x110000 ? 0x110000 : cp;
        }
        bool fits = cp >= 32 && cp < 0x110000 && (cp < 0xd800 || cp > 0xdfff);
        ret[fits ? text_encode(cp, ret) : 0] = '\0';
        return len + 1;
    }
    for (size_t i = 0; entities[i].name; i++) {
        if (strlen(entities[i].name) == len - 1 &&
            strncmp(entities[i].name, p->at + 1, len - 1) == 0) {
            snprintf(ret, 8, "%s", entities[i].text);
            return len + 1;
        }
    }
    return 0;
}

static void read_text(struct page *p) {
    char c = *p->at;
    char text[8];
    size_t taken = c == '&' ? entity_at(p, text) : 0;
    if (taken) {
        p->at += taken;
        if (strcmp(text, BLANK) == 0 && !p->pre) {
            p->blank = true;
        } else if (*text) {
            add(p, text, strlen(text));
        }
        return;
    }
    p->at++;
    if (!p->pre && isspace((unsigned char)c)) {
        p->blank = p->breaks == 0;
    } else if (c != '\r' && c != '\0') {
        add(p, &c, 1);
    }
}

/* --- tags --- */

static bool is_word(const char *at, const char *end, const char *word) {
    size_t len = strlen(word);
    return (size_t)(end - at) >= len && strncasecmp(at, word, len) == 0;
}

/* Attributes that take an element out of sight. */
static bool hides(const char *at, const char *end) {
    for (; at < end; at++) {
        bool edge = isspace((unsigned char)at[-1]) || at[-1] == '"' || at[-1] == '\'';
        if (edge && is_word(at, end, "hidden") && at + 6 <= end &&
            (at + 6 == end || !(isalnum((unsigned char)at[6]) || at[6] == '-'))) {
            return true;
        }
        if (is_word(at, end, "aria-hidden=\"true") ||
            is_word(at, end, "aria-hidden=true") || is_word(at, end, "display:none") ||
            is_word(at, end, "display: none") || is_word(at, end, "visibility:hidden") ||
            is_word(at, end, "visibility: hidden")) {
            return true;
        }
    }
    return false;
}

/* The end of the tag that begins at s: after its ">"; quotes are respected. */
static const char *tag_end(const char *s, const char *end) {
    char quote = 0;
    for (const char *at = s; at < end; at++) {
        if (quote ? *at == quote : *at == '>') {
            if (!quote) {
                return at + 1;
            }
            quote = 0;
        } else if (!quote && (*at == '"' || *at == '\'') && at > s && at[-1] == '=') {
            quote = *at;
        }
    }
    return end;
}

/* Reads the tag at p->at and moves after it; false for a "<" that is text. */
static bool read_tag(struct page *p, struct tag *ret) {
    const char *s = p->at + 1;
    *ret = (struct tag){.closes = s < p->end && *s == '/'};
    s += ret->closes;
    if (s >= p->end || !isalpha((unsigned char)*s)) {
        return false;
    }
    size_t len = 0;
    while (s + len < p->end && isalnum((unsigned char)s[len])) {
        if (len < MAX_TAG - 1) {
            ret->name[len] = (char)tolower((unsigned char)s[len]);
        }
        len++;
    }
    const char *end = tag_end(s, p->end);
    ret->hidden = !ret->closes && hides(s + len, end);
    ret->empty = end > s + 1 && end[-1] == '>' && end[-2] == '/';
    p->at = end;
    return true;
}

static const char *comment_end(const char *open, const char *end) {
    const char *found = memmem(open + 4, (size_t)(end - open) - 4, "-->", 3);
    return found ? found + 3 : end;
}

/* Behind the end of an element that holds no tags. */
static void skip_raw(struct page *p, const char *name) {
    size_t len = strlen(name);
    const char *open;
    while ((open = memchr(p->at, '<', (size_t)(p->end - p->at)))) {
        p->at = open + 1;
        if (is_word(p->at, p->end, "/") && is_word(p->at + 1, p->end, name) &&
            (p->at + 1 + len == p->end || !isalnum((unsigned char)p->at[1 + len]))) {
            p->at = tag_end(open, p->end);
            return;
        }
    }
    p->at = p->end;
}

/* Behind the end of the element whose tag was just read; of the same name inside it, each
 * end belongs to one of them. */
static void skip_element(struct page *p, const char *name) {
    unsigned depth = 1;
    while (p->at < p->end && depth) {
        const char *open = memchr(p->at, '<', (size_t)(p->end - p->at));
        struct tag tag;
        p->at = open ? open : p->end;
        if (!open) {
            return;
        }
        if (is_word(open, p->end, "<!--")) {
            p->at = comment_end(open, p->end);
        } else if (!read_tag(p, &tag)) {
            p->at++;
        } else if (!tag.closes && strings_have(raw_elements, tag.name)) {
            skip_raw(p, tag.name);
        } else if (strcmp(tag.name, name) == 0) {
            depth += tag.closes ? -1u : (tag.empty ? 0u : 1u);
        }
    }
}

static void do_block(struct page *p, const struct tag *tag) {
    if (strings_have(paragraphs, tag->name)) {
        want_break(p, 2);
    } else if (strings_have(rows, tag->name)) {
        want_break(p, 1);
    } else if ((strcmp(tag->name, "td") == 0 || strcmp(tag->name, "th") == 0) &&
               !tag->closes) {
        p->blank = true;
    }
    if (strcmp(tag->name, "li") == 0 && !tag->closes) {
        add(p, "- ", 2);
    }
}

static void do_tag(struct page *p, const struct tag *tag) {
    const char *name = tag->name;
    if (name[0] == 'h' && name[1] >= '1' && name[1] <= '6' && !name[2]) {
        want_break(p, 2);
        if (!tag->closes) {
            add(p, "###### ", (size_t)(name[1] - '0'));
            p->blank = true;
        }
    } else if (strcmp(name, "pre") == 0 && p->pre == tag->closes) {
        want_break(p, tag->closes ? 1 : 2);
        add(p, "```", 3);
        want_break(p, tag->closes ? 2 : 1);
        p->pre = !tag->closes;
    } else if ((strcmp(name, "code") == 0 || strcmp(name, "kbd") == 0) && !p->pre &&
               p->code == tag->closes) {
        if (tag->closes) {
            p->blank = false;
        }
        add(p, "`", 1);
        p->code = !tag->closes;
    } else {
        do_block(p, tag);
    }
}

static void read_markup(struct page *p) {
    struct tag tag;
    if (is_word(p->at, p->end, "<!--")) {
        p->at = comment_end(p->at, p->end);
    } else if (is_word(p->at, p->end, "<!") || is_word(p->at, p->end, "<?")) {
        p->at = tag_end(p->at, p->end);
    } else if (!read_tag(p, &tag)) {
        add(p, "<", 1);
        p->at++;
    } else if (!tag.closes && !tag.empty && strings_have(raw_elements, tag.name)) {
        skip_raw(p, tag.name);
    } else if (!tag.closes && !tag.empty && !strings_have(void_elements, tag.name) &&
               (tag.hidden || strings_have(unseen, tag.name))) {
        skip_element(p, tag.name);
    } else {
        do_tag(p, &tag);
    }
}

void page_text(struct buf *out, const char *html, size_t len) {
    struct page p = {.out = out, .at = html, .end = html + len, .start = out->len};
    while (p.at < p.end && !out->full) {
        if (*p.at == '<') {
            read_markup(&p);
        } else {
            read_text(&p);
        }
    }
    if (p.pre) {
        buf_adds(out, "\n```");
    }
    if (out->len > p.start) {
        buf_addc(out, '\n');
    }
}
