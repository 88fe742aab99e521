#include "clients/ctl/line_editor.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* libedit writes past its own buffer when a line outgrows it (1024 characters): keys of a
 * line, and characters of one that is kept, which more keys may follow. So no key inserts
 * more than one: not ^Y, and behind Escape only what moves, deletes or changes case. */
#define MOST_KEYS 450
#define KEY_YANK 25
#define KEY_ESCAPE 27
#define KEY_UNUSED 7 /* behind Escape it has no meaning */
static const char behind_escape[] = "[Obfdluc\b\177";

struct line_editor {
    void *library;
    const char *prompt;
    line_editor_line *on_line;
    void *data;
    /* libedit's, by the names of readline that it has */
    void (*install)(const char *prompt, void (*line)(char *));
    void (*remove)(void);
    void (*read)(void);
    void (*update)(void);
    int (*add_history)(const char *line);
};

static struct line_editor *current; /* libedit hands no pointer back */
static int keys;                    /* of this line */
static bool escaped;                /* the last one was Escape */

static bool ends_line(unsigned char key) {
    return key == '\r' || key == '\n' || key == 3 || key == 4;
}

/* The next key; what is too much for a line is dropped, with a bell. */
static int next_key(FILE *) {
    unsigned char key;
    while (read(STDIN_FILENO, &key, 1) == 1) {
        bool was = escaped, ends = ends_line(key);
        escaped = key == KEY_ESCAPE && !was;
        if (was && (!key || !strchr(behind_escape, key))) {
            return KEY_UNUSED;
        }
        if (ends || (keys < MOST_KEYS && key != KEY_YANK)) {
            keys = ends ? 0 : keys + 1;
            return key;
        }
        (void)!write(STDOUT_FILENO, "\a", 1);
    }
    return EOF;
}

static void on_line(char *line) {
    struct line_editor *e = current;
    if (line && *line && strlen(line) <= MOST_KEYS) {
        e->add_history(line);
    }
    e->on_line(line, e->data);
    free(line);
    e->install(e->prompt, on_line); /* a line ends libedit's hold of the terminal */
}

static bool load(struct line_editor *e) {
    struct {
        const char *name;
        void *function;
    } functions[] = {
        {"rl_callback_handler_install", &e->install},
        {"rl_callback_handler_remove", &e->remove},
        {"rl_callback_read_char", &e->read},
        {"rl_forced_update_display", &e->update},
        {"add_history", &e->add_history},
    };
    e->library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    bool whole = e->library != NULL;
    for (size_t i = 0; whole && i < ARRAY_LEN(functions); i++) {
        *(void **)functions[i].function = dlsym(e->library, functions[i].name);
        whole = *(void **)functions[i].function != NULL;
    }
    return whole;
}

struct line_editor *line_editor_new(const char *prompt, line_editor_line *line,
                                    void *data) {
    struct line_editor *e = xcalloc(1, sizeof *e);
    e->prompt = prompt;
    e->on_line = line;
    e->data = data;
    bool loaded = load(e);
    int (**getc_function)(FILE *) = loaded ? dlsym(e->library, "rl_getc_function") : NULL;
    if (!getc_function) {
        if (e->library) {
            dlclose(e->library);
        }
        free(e);
        return NULL;
    }
    current = e;
    *getc_function = next_key;
    e->install(prompt, on_line); /* which shows the prompt */
    return e;
}

void line_editor_free(struct line_editor *e) {
    if (e) { /* libedit stays: it would leave its memory behind */
        e->remove();
        current = NULL;
        free(e);
    }
}

void line_editor_read(struct line_editor *e) {
    e->read();
}

void line_editor_hide(struct line_editor *) {
    fputs("\r\033[K", stdout);
}

void line_editor_show(struct line_editor *e) {
    fflush(stdout);
    e->update();
}
