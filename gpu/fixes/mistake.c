#include "gpu/fixes/mistake.h"

#include "base/buf.h"

bool mistake_is_of_front_end(const json_t *finding) {
    return json_says(finding, "source", "nvrtc") || json_says(finding, "source", "nvcc");
}

/* The last one of that name: a header is compiled through a unit that borrows its name.
 */
struct fix_text *mistake_source(struct fixer *fixer, const char *display) {
    for (size_t i = fixer->sources->count; display && i-- > 0;) {
        if (strcmp(fixer->sources->files[i].display, display) == 0) {
            if (!fixer->texts[i]) {
                fixer->texts[i] = xmalloc(sizeof *fixer->texts[i]);
                fix_text_init(fixer->texts[i], &fixer->sources->files[i]);
            }
            return fixer->texts[i];
        }
    }
    return NULL;
}

void mistake_edit(struct mistake *m, const char *title, size_t start, size_t end,
                  const char *text) {
    struct finding_span span = finding_span_of(&m->text->lines, start, end);
    if (title) {
        finding_add_fix(m->finding, title, m->text->display, &span, text);
    } else {
        finding_add_edit(m->finding, m->text->display, &span, text);
    }
}

void mistake_say(struct mistake *m, const char *more) {
    autofree char *message = xasprintf("%s; %s", m->message, more);
    json_object_set_new(m->finding, "message", json_clean_z(message));
}

void mistake_add_lines(struct mistake *m, const char *header, const char *declaration) {
    struct fix_text *t = m->text;
    bool include = header && !fix_text_includes(t, header);
    if (!include && !declaration) {
        return;
    }
    size_t place = fix_text_include_place(t);
    bool unfinished = place && t->text[place - 1] != '\n' && t->text[place - 1] != '\r';
    autofree char *title =
        include ? xasprintf("add #include %s%s%s", header, declaration ? " and " : "",
                            declaration ? declaration : "")
                : xasprintf("add %s", declaration);
    autobuf lines = BUF_INIT(4096);
    buf_adds(&lines, unfinished ? "\n" : "");
    if (include) {
        buf_addf(&lines, "#include %s\n", header);
    }
    if (declaration) {
        buf_addf(&lines, "%s\n", declaration);
    }
    mistake_edit(m, title, place, place, lines.data);
}

void mistake_replace(struct mistake *m, size_t token, const char *by) {
    const struct cuda_token *t = &m->text->tokens[token];
    autofree char *title =
        xasprintf("change \"%.*s\" to \"%s\"", (int)(t->end - t->start),
                  m->text->text + t->start, by);
    mistake_edit(m, title, t->start, t->end, by);
}
