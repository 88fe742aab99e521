/* The lessons as text for a teacher, within a budget. */

#include "base/buf.h"
#include "base/hash.h"
#include "skills/format/tokens.h"
#include "skills/traces/lessons_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define MAX_TEXT (2u << 20)
#define MAX_CITED 3u
#define MARKER "TRACE-DATA-"

/* One thing to tell, by rank within its share. */
struct item {
    char *text;
    size_t tokens, share;
    bool taken;
};
enum share { SHARE_FIXES, SHARE_CORRECTIONS, SHARE_FILES, SHARE_REST, SHARES };
static const double share_of[SHARES] = {0.40, 0.20, 0.25, 0.15};
static const char *const share_title[SHARES] = {"Errors and what fixed them",
                                                "Corrections by the person",
                                                "Final files", "Everything else"};

struct items {
    struct item *list;
    size_t count;
};

static void cite(struct buf *out, const struct evidence_list *e) {
    for (size_t i = 0; i < e->count && i < MAX_CITED; i++) {
        char name[EVIDENCE_NAME_SIZE];
        evidence_name(name, e->list[i]);
        buf_addf(out, "%s%s", i ? ", " : " [", name);
    }
    buf_adds(out, e->count ? "]\n" : "\n");
}

/* fmt: its words; behind them stands what shows them. */
__attribute__((format(printf, 4, 5))) static void
add_item(struct items *items, enum share share, const struct evidence_list *evidence,
         const char *fmt, ...) {
    va_list args;
    autofree char *words = NULL;
    struct buf text = BUF_INIT(MAX_TEXT);
    va_start(args, fmt);
    int len = vasprintf(&words, fmt, args);
    va_end(args);
    buf_add(&text, words, len > 0 ? (size_t)len : 0);
    cite(&text, evidence);
    items->list = xreallocarray(items->list, items->count + 1, sizeof *items->list);
    size_t tokens = tokens_estimate(text.data, text.len);
    items->list[items->count++] =
        (struct item){.text = buf_detach(&text), .tokens = tokens, .share = share};
}

static void add_change(struct buf *b, const struct lesson_change *c) {
    switch (c->kind) {
    case CHANGE_COMMAND:
        buf_addf(b, "  instead of: %s\n  ran: %s\n", c->from, c->to);
        break;
    case CHANGE_RUN:
        buf_addf(b, "  ran: %s\n", c->to);
        break;
    case CHANGE_EDIT:
        buf_addf(b, "  %s %s:\n%s\n", c->created ? "wrote" : "changed", c->path, c->to);
        break;
    }
}

static void add_fix(struct items *items, const struct lesson *f) {
    autobuf changes = BUF_INIT(MAX_TEXT);
    for (size_t k = 0; k < f->change_count; k++) {
        add_change(&changes, &f->changes[k]);
    }
    if (f->tried) {
        buf_addf(&changes, "  in vain: %s\n", f->tried);
    }
    add_item(items, SHARE_FIXES, &f->evidence,
             "- error (seen %u): %s\n  when running: %s\n%s%s%s%s  then succeeded: %s",
             f->seen, f->quote, f->context, f->cause ? "  the agent said: " : "",
             f->cause ? f->cause : "", f->cause ? "\n" : "", changes.data,
             f->verified_by);
}

static void add_errors(struct items *items, const struct lessons *l) {
    for (size_t i = 0; i < l->fixes.count; i++) {
        add_fix(items, &l->fixes.list[i]);
    }
    for (size_t i = 0; i < l->dead_ends.count; i++) {
        const struct lesson *d = &l->dead_ends.list[i];
        add_item(items, SHARE_FIXES, &d->evidence,
                 "- tried %u times, never resolved: %s, when running: %s", d->seen,
                 d->quote, d->context);
    }
}

static void add_rest(struct items *items, const struct lessons *l) {
    for (size_t i = 0; i < l->corrections.count; i++) {
        const struct lesson *c = &l->corrections.list[i];
        add_item(items, SHARE_CORRECTIONS, &c->evidence, "- \"%s\", and from then on: %s",
                 c->key, c->heeded);
    }
    for (size_t i = 0; i < l->files.count; i++) {
        const struct lesson *f = &l->files.list[i];
        add_item(items, SHARE_FILES, &f->evidence, "- %s%s:\n%s\n  (end of %s)", f->key,
                 f->partial ? ", its changes" : "", f->text, f->key);
    }
    for (size_t i = 0; i < l->commands.count; i++) {
        add_item(items, SHARE_REST, &l->commands.list[i].evidence,
                 "- failed, and passed after the fix: %s", l->commands.list[i].key);
    }
    for (size_t i = 0; i < l->limits.count; i++) {
        add_item(items, SHARE_REST, &l->limits.list[i].evidence, "- printed: %s",
                 l->limits.list[i].key);
    }
    for (size_t i = 0; i < l->links.count; i++) {
        add_item(items, SHARE_REST, &l->links.list[i].evidence, "- read: %s",
                 l->links.list[i].key);
    }
}

/* First every share by itself, then whatever still fits. */
static size_t choose(struct items *items, size_t budget) {
    size_t used = 0, in_share[SHARES] = {0};
    for (size_t i = 0; i < items->count; i++) {
        struct item *it = &items->list[i];
        size_t room = (size_t)(share_of[it->share] * (double)budget);
        if (in_share[it->share] + it->tokens <= room && used + it->tokens <= budget) {
            it->taken = true;
            in_share[it->share] += it->tokens;
            used += it->tokens;
        }
    }
    for (size_t i = 0; i < items->count; i++) {
        struct item *it = &items->list[i];
        if (!it->taken && used + it->tokens <= budget) {
            it->taken = true;
            used += it->tokens;
        }
    }
    return used;
}

static size_t write_shares(struct buf *out, const struct items *items) {
    size_t left_out = 0;
    for (size_t share = 0; share < SHARES; share++) {
        bool titled = false;
        for (size_t i = 0; i < items->count; i++) {
            const struct item *it = &items->list[i];
            if (it->share != share) {
                continue;
            }
            left_out += !it->taken;
            if (it->taken && !titled) {
                buf_addf(out, "\n## %s\n", share_title[share]);
                titled = true;
            }
            if (it->taken) {
                buf_adds(out, it->text);
            }
        }
    }
    return left_out;
}

/* The end marker holds the digest of what it ends, so no text can hold its own. */
static void wrap(struct buf *out, const struct buf *text) {
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(text->data, text->len, hex);
    buf_addf(out, "<<<" MARKER "%.16s\n%s\n" MARKER "%.16s>>>\n", hex, text->data, hex);
}

json_t *lessons_digest(const struct lessons *l, size_t tokens) {
    struct items items = {0};
    autobuf body = BUF_INIT(MAX_TEXT), text = BUF_INIT(MAX_TEXT);
    if (l->task) {
        buf_addf(&body, "## Task\n%s", l->task);
        cite(&body, &l->task_evidence);
    }
    size_t used = tokens_estimate(body.data, body.len) + 60;
    add_errors(&items, l);
    add_rest(&items, l);
    choose(&items, tokens > used ? tokens - used : 0);
    size_t left_out = write_shares(&body, &items);
    wrap(&text, &body);
    for (size_t i = 0; i < items.count; i++) {
        free(items.list[i].text);
    }
    free(items.list);
    return json_pack("{s:o,s:I,s:I}", "text", json_clean(text.data, text.len), "tokens",
                     (json_int_t)tokens_estimate(text.data, text.len), "left_out",
                     (json_int_t)left_out);
}
