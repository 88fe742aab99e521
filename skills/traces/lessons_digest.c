/* The lessons as text for a teacher, within a budget. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "skills/format/tokens.h"

#include <stdio.h>
#include <string.h>

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

static void add_item(struct items *items, enum share share, struct buf *text) {
    items->list = xreallocarray(items->list, items->count + 1, sizeof *items->list);
    size_t tokens = tokens_estimate(text->data, text->len);
    items->list[items->count++] =
        (struct item){.text = buf_detach(text), .tokens = tokens, .share = share};
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

static void add_fixes(struct items *items, const struct lessons *l) {
    for (size_t i = 0; i < l->fix_count; i++) {
        const struct lesson_fix *f = &l->fixes[i];
        struct buf b = BUF_INIT(MAX_TEXT);
        buf_addf(&b, "- error (seen %u): %s\n  when running: %s\n", f->seen, f->quote,
                 f->context);
        if (f->cause) {
            buf_addf(&b, "  the agent said: %s\n", f->cause);
        }
        for (size_t k = 0; k < f->change_count; k++) {
            add_change(&b, &f->changes[k]);
        }
        buf_addf(&b, "  then succeeded: %s", f->verified_by);
        cite(&b, &f->evidence);
        add_item(items, SHARE_FIXES, &b);
    }
    for (size_t i = 0; i < l->dead_end_count; i++) {
        const struct lesson_dead_end *d = &l->dead_ends[i];
        struct buf b = BUF_INIT(MAX_TEXT);
        buf_addf(&b, "- tried %u times, never resolved: %s, when running: %s", d->seen,
                 d->quote, d->context);
        cite(&b, &d->evidence);
        add_item(items, SHARE_FIXES, &b);
    }
}

static void add_words(struct items *items, const struct lessons *l) {
    for (size_t i = 0; i < l->correction_count; i++) {
        const struct lesson_correction *c = &l->corrections[i];
        struct buf b = BUF_INIT(MAX_TEXT);
        buf_addf(&b, "- \"%s\", and from then on: %s", c->text, c->heeded);
        cite(&b, &c->evidence);
        add_item(items, SHARE_CORRECTIONS, &b);
    }
    for (size_t i = 0; i < l->file_count; i++) {
        const struct lesson_file *f = &l->files[i];
        struct buf b = BUF_INIT(MAX_TEXT);
        buf_addf(&b, "- %s%s:\n%s\n  (end of %s)", f->path,
                 f->partial ? ", its changes" : "", f->text, f->path);
        cite(&b, &f->evidence);
        add_item(items, SHARE_FILES, &b);
    }
}

static void add_rest(struct items *items, const struct lessons *l) {
    for (size_t i = 0; i < l->command_count; i++) {
        struct buf b = BUF_INIT(MAX_TEXT);
        buf_addf(&b, "- failed, and passed after the fix: %s", l->commands[i].command);
        cite(&b, &l->commands[i].evidence);
        add_item(items, SHARE_REST, &b);
    }
    for (size_t i = 0; i < l->limit_count; i++) {
        struct buf b = BUF_INIT(MAX_TEXT);
        buf_addf(&b, "- printed: %s", l->limits[i].text);
        cite(&b, &l->limits[i].evidence);
        add_item(items, SHARE_REST, &b);
    }
    for (size_t i = 0; i < l->link_count; i++) {
        struct buf b = BUF_INIT(MAX_TEXT);
        buf_addf(&b, "- read: %s", l->links[i].url);
        cite(&b, &l->links[i].evidence);
        add_item(items, SHARE_REST, &b);
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
    add_fixes(&items, l);
    add_words(&items, l);
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
