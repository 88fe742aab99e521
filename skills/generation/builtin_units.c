/* Turns lessons into pieces of Markdown. */
#include "base/find.h"
#include "skills/generation/builtin_skill.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "skills/generation/builtin_words.h"
#include "skills/generation/markdown_write.h"

#include <ctype.h>

#define MAX_UNIT (64u << 10)
#define HEADING 160u     /* bytes of an error */
#define LONG_WORD 24u    /* of one that is longer the rest may go */
#define HEADING_END 100u /* of them from its end, if it is longer */
#define MAX_INLINE_LINES 40u
#define MAX_INLINE_TOTAL 120u /* lines of final files in the body */
#define MAX_FILE_BYTES (48u << 10)
#define MAX_FILES 8u
#define MAX_SHARE 8u /* lines of a file to one that its fix changed */
#define MAX_CHECKS 6u
#define MAX_DOCUMENT (128u << 10)
#define DIFF_LINES 64u /* on a side; longer ones are shown as they are */

static struct unit *add_unit(struct units *u, enum section section, struct buf *text,
                             const struct evidence_list *evidence, const char *kind) {
    u->list = xreallocarray(u->list, u->count + 1, sizeof *u->list);
    struct unit *unit = &u->list[u->count++];
    *unit = (struct unit){
        .section = section, .text = buf_detach(text), .evidence = evidence, .kind = kind};
    return unit;
}

/* --- errors and fixes --- */

/* Whether the lines at a and b are equal after their marks. */
static bool same_line(const char *a, const char *b) {
    size_t len = strcspn(a, "\n");
    return len && len == strcspn(b, "\n") && memcmp(a + 1, b + 1, len - 1) == 0;
}

/* Lines that are removed and added again, in a change of "-" lines and then "+" lines,
 * are context: " ". */
static void add_diff(struct buf *out, const char *diff) {
    const char *old[DIFF_LINES], *now[DIFF_LINES];
    size_t olds = 0, nows = 0, head = 0, tail = 0;
    const char *s = diff;
    for (; *s == '-' && olds < DIFF_LINES; s = text_next_line(s)) {
        old[olds++] = s;
    }
    for (; *s == '+' && nows < DIFF_LINES; s = text_next_line(s)) {
        now[nows++] = s;
    }
    if (*s) { /* of another form, or longer */
        buf_adds(out, diff);
        return;
    }
    size_t least = olds < nows ? olds : nows;
    while (head < least && same_line(old[head], now[head])) {
        head++;
    }
    while (tail < least - head && same_line(old[olds - 1 - tail], now[nows - 1 - tail])) {
        tail++;
    }
    for (size_t i = 0; i < olds - tail; i++) {
        buf_addf(out, "%c%.*s\n", i < head ? ' ' : '-', (int)strcspn(old[i] + 1, "\n"),
                 old[i] + 1);
    }
    for (size_t i = head; i < nows; i++) {
        bool stays = i >= nows - tail;
        buf_addf(out, "%c%.*s\n", stays ? ' ' : '+', (int)strcspn(now[i] + 1, "\n"),
                 now[i] + 1);
    }
}

/* Letters and digits alone: a word that is only spelt otherwise has them too. */
static char *letters_of(const char *text, size_t len) {
    struct buf out = BUF_INIT(MAX_UNIT);
    buf_adds(&out, "");
    for (size_t i = 0; i < len; i++) {
        if (isalnum((unsigned char)text[i])) {
            buf_addc(&out, text[i]);
        }
    }
    return buf_detach(&out);
}

/* What the first command ran on and the other one does not name. */
static void add_left_out(struct buf *b, const char *from, const char *to) {
    autofree char *now = letters_of(to, strlen(to));
    for (const char *at = from + strcspn(from, " "); *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        size_t len = strcspn(at, " "), end = len;
        while (end && at[end - 1] == '/') {
            end--;
        }
        const char *slash = memrchr(at, '/', end); /* the same thing may be named from elsewhere */
        size_t from_base = slash ? (size_t)(slash + 1 - at) : 0;
        autofree char *letters = letters_of(at + from_base, end - from_base);
        if (len && *at != '-' && memchr(at, '/', len) && *letters && !strstr(now, letters)) {
            autofree char *word = xstrndup(at, len);
            markdown_command(b, "It no longer names", word, ".");
        }
    }
}

/* What the tool is to be asked for stands behind the command, as a comment, and is told in
 * a line of its own: typed there it would do nothing. */
static void add_command_change(struct buf *b, const struct lesson_change *c, bool again) {
    const char *asked = strstr(c->to, "  # ");
    autofree char *command =
        xstrndup(c->to, asked ? (size_t)(asked - c->to) : strlen(c->to));
    bool same = strcmp(command, c->from) == 0;
    if (!again && !same) {
        markdown_command(b, "Instead of", c->from, ",");
    }
    markdown_command(b, again ? "or" : same ? "Run" : "run", command, "");
    if (asked) {
        buf_adds(b, "In the tool's call, ask for ");
        markdown_span(b, asked + 4, 200);
        buf_adds(b, ".\n");
    }
    add_left_out(b, c->from, command);
}

static void add_change(struct buf *b, const struct lesson_change *c, bool again) {
    autobuf shown = BUF_INIT(MAX_UNIT);
    bool typed;
    switch (c->kind) {
    case CHANGE_COMMAND:
        add_command_change(b, c, again);
        break;
    case CHANGE_RUN:
        markdown_command(b, "Fix: first run", c->to, "");
        break;
    case CHANGE_EDIT:
        typed = !c->created && !strpbrk(c->path, "./"); /* into the command itself */
        buf_adds(b, c->created ? "Fix: write " : typed ? "Fix in the script for " : "Fix in ");
        markdown_span(b, c->path, 200);
        buf_adds(b, ":\n\n");
        add_diff(&shown, c->to);
        markdown_fence(b, "diff", shown.data);
        break;
    }
}

static bool has_command_change(const struct lesson *f) {
    return any_of(i, 0, f->change_count, f->changes[i].kind == CHANGE_COMMAND);
}

/* Of a long error the beginning and, unless it was cut off, the end, which says why: whole words. */
static void add_heading(struct buf *b, const char *quote) {
    size_t len = strlen(quote), from = len - (len < HEADING_END ? len : HEADING_END);
    while (from > 0 && quote[from] && quote[from - 1] != ' ') {
        from++;
    }
    bool ends = len > 3 && strcmp(quote + len - 3, "…") != 0, whole = len <= HEADING || from >= len;
    size_t cut = whole ? len : text_cut(quote, len, ends ? HEADING - HEADING_END : HEADING);
    size_t word = strcspn(quote + cut, " ");
    cut += word <= LONG_WORD ? word : 0;
    autofree char *head = xstrndup(quote, cut < from || !ends ? cut : from);
    autofree char *both = whole || cut >= len ? xstrdup(quote) : xasprintf("%s … %s", head, ends ? quote + from : "");
    buf_adds(b, "### ");
    markdown_span(b, both, whole ? HEADING : strlen(both));
}

static void add_fix(struct units *u, const struct lesson *f) {
    struct buf b = BUF_INIT(MAX_UNIT);
    add_heading(&b, f->quote);
    buf_adds(&b, "\n\n");
    if (f->cause && !builtin_is_safe(f->cause)) {
        u->dropped++; /* the fix may still be told */
    } else if (f->cause) {
        buf_adds(&b, "Cause: ");
        markdown_prose(&b, f->cause, LESSON_MAX_LINE);
        buf_adds(&b, "\n");
    }
    if (!has_command_change(f)) {
        markdown_command(&b, "Seen in", f->context, ".");
    }
    list_each(i, c, f->changes, f->change_count) {
        bool again = i > 0 && c->kind == CHANGE_COMMAND && c[-1].kind == CHANGE_COMMAND &&
                     strcmp(c[-1].from, c->from) == 0;
        add_change(&b, c, again);
    }
    bool reads = strlen(f->verified_by) > 2 && strcmp(f->verified_by + strlen(f->verified_by) - 2, " -") == 0;
    if (!has_command_change(f) && !reads && strcmp(f->verified_by, f->context) != 0) {
        markdown_command(&b, "Then", f->verified_by, " passes.");
    }
    add_unit(u, SECTION_FIXES, &b, &f->evidence, "fixes");
}

/* --- commands --- */

static void add_checks(struct units *u, const struct lessons *l) {
    for (size_t i = 0; i < l->commands.count && i < MAX_CHECKS; i++) {
        const struct lesson *c = &l->commands.list[i];
        struct buf b = BUF_INIT(MAX_UNIT);
        if (command_reaches_out(c->key)) {
            u->dropped++;
            continue;
        }
        if (strpbrk(c->key, "\n`!") || strlen(c->key) > 110) {
            markdown_fence(&b, "sh", c->key);
        } else {
            markdown_command(&b, "-", c->key, "");
        }
        add_unit(u, SECTION_CHECKS, &b, &c->evidence, "commands");
    }
}

/* --- words --- */

/* "- " and the words, as prose or in a span. */
static void add_words(struct units *u, enum section section,
                      const struct evidence_list *evidence, const char *kind,
                      void (*write)(struct buf *out, const char *text, size_t max),
                      const char *words, size_t max) {
    struct buf b = BUF_INIT(MAX_UNIT);
    buf_adds(&b, "- ");
    write(&b, words, max);
    buf_adds(&b, "\n");
    add_unit(u, section, &b, evidence, kind);
}

/* --- files --- */

/* Part of what ended an error: of another nothing shows that it is right. Most of a long file of
 * which a fix changed few lines has nothing to do with it. */
static bool is_proven(const struct lessons *l, const struct lesson *f) {
    size_t changed = 0;
    for (size_t i = 0; i < l->fixes.count; i++) {
        list_each(k, c, l->fixes.list[i].changes, l->fixes.list[i].change_count) {
            bool here = c->path && strcmp(c->path, f->key) == 0;
            changed += here ? text_count(c->to, strlen(c->to), '\n') : 0;
            changed = here && c->created ? SIZE_MAX / MAX_SHARE : changed;
        }
    }
    size_t lines = text_count(f->text ? f->text : "", f->len, '\n');
    return changed && (lines <= MAX_INLINE_LINES || lines <= MAX_SHARE * changed);
}

static bool is_worth_keeping(const struct lesson *f) {
    static const char *const no[] = {
        ".lock",  "package-lock.json", ".env",      ".pem",     ".key",
        "id_rsa", ".min.js",           ".csv",      ".log",     ".ipynb",
        ".svg",   "SKILL.md",          "CLAUDE.md", "AGENTS.md"};
    if (f->partial || !f->len || f->len > MAX_FILE_BYTES || f->key[0] == '/' ||
        f->key[0] == '~') {
        return false;
    }
    return !any_of(i, 0, ARRAY_LEN(no), strstr(f->key, no[i]));
}

/* "references/NAME", free among the files and made of harmless characters. */
static char *reference_path(const json_t *files, const char *path, const char *end) {
    struct buf name = BUF_INIT(80);
    for (const char *s = path_basename(path); *s; s++) {
        bool plain = isalnum((unsigned char)*s) || *s == '_' || (*s == '.' && name.len) ||
                     (*s == '-' && name.len);
        buf_addc(&name, plain ? *s : '-');
    }
    autofree char *base = buf_detach(&name);
    char *result = xasprintf("references/%s%s", base, end);
    for (int i = 2; json_object_get(files, result); i++) {
        free(result);
        result = xasprintf("references/%d-%s%s", i, base, end);
    }
    return result;
}

static void add_file(struct units *u, const struct builtin_request *q,
                     const struct lesson *f, size_t *inlined) {
    struct buf b = BUF_INIT(MAX_UNIT);
    size_t lines = text_count(f->text, f->len, '\n');
    bool aside = json_object_get(q->aside, f->key) || lines > MAX_INLINE_LINES ||
                 *inlined + lines > MAX_INLINE_TOTAL || strstr(f->key, ".md");
    if (aside) {
        autofree char *path = reference_path(u->files, f->key, "");
        json_object_set_new(u->files, path, json_clean(f->text, f->len));
        buf_adds(&b, "- ");
        markdown_span(&b, f->key, 160);
        buf_addf(&b, " as it was left: [%s](%s), %zu line%s\n", path_basename(path),
                 path, lines, text_plural((double)lines));
    } else {
        *inlined += lines;
        markdown_span(&b, f->key, 160);
        buf_adds(&b, ":\n\n");
        markdown_fence(&b, markdown_language(f->key), f->text);
    }
    add_unit(u, SECTION_FILES, &b, &f->evidence, "files");
}

static bool is_safe_file(const struct lesson *f) {
    struct buf b = BUF_INIT(2 * MAX_FILE_BYTES);
    markdown_fence(&b, markdown_language(f->key), f->text);
    autofree char *block = buf_detach(&b);
    return builtin_is_safe(block);
}

static void add_files(struct units *u, const struct builtin_request *q) {
    size_t inlined = 0, added = 0;
    for (int aside = 0; aside < 2; aside++) { /* the short ones first */
        for (size_t i = 0; i < q->lessons->files.count && added < MAX_FILES; i++) {
            const struct lesson *f = &q->lessons->files.list[i];
            bool is_long =
                text_count(f->text ? f->text : "", f->len, '\n') > MAX_INLINE_LINES;
            if (is_long != (aside == 1) || !f->proven || !is_proven(q->lessons, f) ||
                !is_worth_keeping(f)) {
                continue;
            }
            if (!is_safe_file(f)) {
                u->dropped++;
            } else {
                add_file(u, q, f, &inlined);
                added++;
            }
        }
    }
}

/* What it is about: its first line, if that is a heading. */
static void add_title(struct buf *out, const char *text) {
    text += strspn(text, "\n");
    if (strncmp(text, "# ", 2) == 0) {
        autofree char *title = xstrndup(text + 2, strcspn(text + 2, "\n"));
        buf_adds(out, ": ");
        markdown_prose(out, title, LESSON_MAX_LINE);
    }
}

static void add_documents(struct units *u, const json_t *documents) {
    json_each_member(documents, name, text) {
        struct buf b = BUF_INIT(MAX_UNIT);
        const char *dot = strrchr(name, '.');
        autofree char *path = reference_path(u->files, name, dot ? "" : ".md");
        size_t len = json_string_length(text);
        len = len > MAX_DOCUMENT ? MAX_DOCUMENT : len;
        json_object_set_new(u->files, path, json_clean(json_string_value(text), len));
        buf_addf(&b, "- [%s](%s)", path_basename(path), path);
        add_title(&b, json_string_value(text));
        buf_addc(&b, '\n');
        add_unit(u, SECTION_REFERENCES, &b, NULL, NULL);
    }
}

static void add_examples(struct units *u, const json_t *examples) {
    json_each(examples, i, example) {
        const char *text = json_string_value(example);
        if (!strchr(text, '\n')) {
            add_words(u, SECTION_EXAMPLES, NULL, NULL, markdown_prose, text, 1000);
            continue;
        }
        struct buf b = BUF_INIT(MAX_UNIT);
        markdown_fence(&b, "text", text);
        add_unit(u, SECTION_EXAMPLES, &b, NULL, NULL);
    }
}

static bool names_any(const char *word, const struct lesson *c) {
    return strcasestr(word, c->heeded) || (c->instead && strcasestr(word, c->instead));
}

/* Without the word that only interrupts: "No, ", "Stop. ". */
static char *rule_of(const struct lesson *c) {
    size_t len = strcspn(c->key, " ");
    bool interrupts = len > 1 && c->key[len] && strchr(",.!", c->key[len - 1]);
    autofree char *word = xstrndup(c->key, len), *rest = xstrdup(interrupts ? c->key + len + 1 : c->key);
    if (!interrupts || names_any(word, c)) {
        return xstrdup(c->key);
    }
    autofree char *next = xstrndup(rest, strcspn(rest, " "));
    *rest = names_any(next, c) ? *rest : (char)toupper((unsigned char)*rest);
    return take(rest);
}

void builtin_units(struct units *ret, const struct builtin_request *q) {
    const struct lessons *l = q->lessons;
    *ret = (struct units){.files = json_object()};
    add_checks(ret, l);
    for (size_t i = 0; i < l->fixes.count; i++) {
        add_fix(ret, &l->fixes.list[i]);
    }
    list_each(i, c, l->corrections.list, l->corrections.count) {
        autofree char *rule = rule_of(c);
        add_words(ret, SECTION_RULES, &c->evidence, "corrections", markdown_prose, rule, 500);
    }
    for (size_t i = 0; i < l->limits.count && i < 8; i++) {
        add_words(ret, SECTION_LIMITS, &l->limits.list[i].evidence, "limits",
                  markdown_span, l->limits.list[i].key, 200);
    }
    add_files(ret, q);
    add_examples(ret, q->examples);
    add_documents(ret, q->documents);
}

void builtin_units_finish(struct units *u) {
    for (size_t i = 0; i < u->count; i++) {
        free(u->list[i].text);
    }
    free(u->list);
    json_decref(u->files);
    *u = (struct units){0};
}
