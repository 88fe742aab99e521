#include "clients/ctl/setup.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "clients/ctl/agent_config.h"
#include "clients/ctl/agent_daemon.h"
#include "clients/ctl/connection.h"
#include "clients/ctl/fetch_nvcc.h"
#include "clients/ctl/texts.h"

#include <sys/stat.h>
#include <unistd.h>

#define MOST_AGENTS 32 /* and files of theirs */
#define MAX_FILE (16u << 20)

/* What becomes of one agent's file. */
struct setup_step {
    const struct agent_config *agent;
    char *file;     /* absolute or of the project; NULL: the agent has none here */
    struct buf now; /* its text */
    bool exists;
    const char *kept; /* why it is not written */
    struct stat was;
    char *next;              /* its new text; NULL: nothing to write */
    bool gone;               /* next is nothing, and the file is deleted */
    const struct setup_step *same; /* an earlier one, which has this file */
    struct err refusal;
};

struct setup {
    const struct terminal *terminal;
    bool project, print, remove, yes, named;
    char *program;
    const struct agent_config *agents[MOST_AGENTS];
    int agent_count;
    struct setup_step steps[MOST_AGENTS];
    int count;
};

static void print_usage(void) {
    fputs(setup_usage, stdout);
    for (const struct agent_config *a = agent_configs; a->name; a++) {
        autofree char *file = agent_config_file(a, false, 0);
        printf("  %-13s %-12s %s\n", a->name, a->title, file ? file : "");
    }
}

/* --- words --- */

static int wrong(const struct setup *s, const char *what, const char *word,
                 const char *meant) {
    terminal_error(s->terminal, "%s \"%s\"%s%s%s", what, word,
                   meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
    terminal_hint(s->terminal, "upskillctl setup --help lists agents and options");
    return -EINVAL;
}

static int no_option(const struct setup *s, const char *word) {
    static const char *const options[] = {"--scope", "--print", "--remove", "--yes"};
    struct nearest_name near = {.said = word, .limit = 3};
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        nearest_name_try(&near, options[i]);
    }
    return wrong(s, "there is no option", word, near.best);
}

/* Whose name begins so, or is much like it. */
static int no_agent(const struct setup *s, const char *word) {
    struct nearest_name near = {.said = word, .limit = 3};
    for (const struct agent_config *a = agent_configs; a->name; a++) {
        nearest_name_try(&near, a->name);
    }
    for (const struct agent_config *a = agent_configs; *word && a->name; a++) {
        near.best = strncmp(a->name, word, strlen(word)) == 0 ? a->name : near.best;
    }
    return wrong(s, "there is no agent", word, near.best);
}

static int read_scope(struct setup *s, const char *scope) {
    s->project = scope && strcmp(scope, "project") == 0;
    return s->project || (scope && strcmp(scope, "user") == 0)
               ? 0
               : wrong(s, "--scope: user or project, not", scope ? scope : "", NULL);
}

static int read_option(struct setup *s, const char *word) {
    if (strcmp(word, "--print") == 0) {
        s->print = true;
    } else if (strcmp(word, "--remove") == 0) {
        s->remove = true;
    } else if (strcmp(word, "--yes") == 0) {
        s->yes = true;
    } else {
        return no_option(s, word);
    }
    return 0;
}

static int add_agent(struct setup *s, const char *name) {
    const struct agent_config *agent = agent_config_find(name);
    if (!agent) {
        return no_agent(s, name);
    }
    for (int i = 0; i < s->agent_count; i++) {
        if (s->agents[i] == agent) {
            return 0;
        }
    }
    s->agents[s->agent_count++] = agent;
    return 0;
}

/* One of its files, as a path that lstat(2) finds; NULL: none is there. Freed by the
 * caller. */
static char *file_there(const struct setup *s, const struct agent_config *agent, int *n) {
    struct stat st;
    char *file;
    while ((file = agent_config_file(agent, s->project, (*n)++)) &&
           lstat(file, &st) < 0 && errno == ENOENT) {
        free(file);
    }
    return file;
}

/* What may hold an entry, or could use one. */
static bool concerns(const struct setup *s, const struct agent_config *agent) {
    int n = 0;
    autofree char *file = s->remove ? file_there(s, agent, &n) : NULL;
    return file || (!s->remove && agent_config_is_here(agent));
}

static int read_words(struct setup *s, const char *const *words, int count) {
    for (int i = 0; i < count; i++) {
        bool scope = strcmp(words[i], "--scope") == 0;
        int rc = scope              ? read_scope(s, i + 1 < count ? words[++i] : NULL)
                 : *words[i] == '-' ? read_option(s, words[i])
                                    : add_agent(s, words[i]);
        if (rc < 0) {
            return rc;
        }
    }
    s->named = s->agent_count > 0;
    for (const struct agent_config *a = agent_configs; !s->named && a->name; a++) {
        if (concerns(s, a)) {
            s->agents[s->agent_count++] = a;
        }
    }
    return 0;
}

/* --- what would be done --- */

/* A link belongs to whoever keeps the file elsewhere; what cannot be written, or would
 * not be the same file afterwards, is left. */
static int look_at_file(struct setup_step *t) {
    if (lstat(t->file, &t->was) < 0) {
        return errno == ENOENT ? 0 : err_set(&t->refusal, -errno, "%s", strerror(errno));
    }
    t->exists = true;
    t->kept = S_ISLNK(t->was.st_mode)     ? "it is a link"
              : !S_ISREG(t->was.st_mode)  ? "it is not a file"
              : t->was.st_nlink > 1       ? "it has hard links"
              : !(t->was.st_mode & 0222)  ? "it is read-only"
              : access(t->file, W_OK) < 0 ? "it cannot be written"
                                          : NULL;
    struct stat st;
    bool text = stat(t->file, &st) == 0 && S_ISREG(st.st_mode);
    int rc = text ? file_read(t->file, &t->now, &t->refusal) : 0;
    return rc == 0 && t->now.len && strlen(t->now.data) != t->now.len
               ? err_set(&t->refusal, -EINVAL, "it holds a zero byte")
               : rc;
}

static const struct setup_step *earlier(const struct setup *s, const char *file) {
    return list_find(one, s->steps, s->count,
                     strcmp(one->file ? one->file : "", file) == 0);
}

/* NULL: there is no file. */
static const char *text_of(const struct setup_step *t) {
    return !t->exists ? NULL : t->now.len ? t->now.data : "";
}

/* The file is the step's now. */
static void plan_step(const struct setup *s, struct setup_step *t,
                      const struct agent_config *agent, char *file) {
    *t = (struct setup_step){.agent = agent, .file = file, .now = BUF_INIT(MAX_FILE)};
    t->same = file ? earlier(s, file) : NULL;
    if (!file && !s->project) {
        err_set(&t->refusal, -ENOENT, "HOME is not an absolute path");
    }
    if (!file || t->same || look_at_file(t) < 0) {
        return;
    }
    const char *text = text_of(t);
    if (!s->remove) {
        agent_config_put(agent, text, s->program, &t->next, &t->refusal);
    } else if (t->exists) {
        agent_config_take(agent, text, &t->next, &t->gone, &t->refusal);
    }
    if (t->next && t->kept) {
        err_set(&t->refusal, -EACCES, "%s", t->kept);
        free(t->next);
        t->next = NULL;
    }
}

static void free_step(struct setup_step *t) {
    free(t->file);
    free(t->next);
    buf_finish(&t->now);
}

static void plan_agent(struct setup *s, const struct agent_config *agent) {
    struct setup_step *first = &s->steps[s->count];
    char *file;
    for (int n = 0; (file = file_there(s, agent, &n)); s->count++) {
        plan_step(s, &s->steps[s->count], agent, file);
    }
    if (first == &s->steps[s->count]) {
        plan_step(s, first, agent, agent_config_file(agent, s->project, 0));
        s->count++;
    }
}

/* All files of an agent lose their entry. One gets it: the first that has it, or that
 * cannot, else the first. */
static void choose_one(struct setup *s, struct setup_step *first) {
    struct setup_step *end = &s->steps[s->count], *chosen = first;
    for (struct setup_step *t = first; t < end; t++) {
        chosen = chosen->next && !t->next ? t : chosen;
    }
    for (struct setup_step *t = first; t < end; t++) {
        if (t != chosen) {
            free_step(t);
        }
    }
    *first = *chosen;
    s->count = (int)(first - s->steps) + 1;
}

/* --- showing --- */

/* Others read the file too, and there they are told of us or not, as this one is. */
static void print_readers(const struct setup *s, const struct setup_step *t) {
    for (const struct agent_config *a = agent_configs; a->name; a++) {
        autofree char *file = agent_config_file(a, s->project, 0);
        if (a != t->agent && file && strcmp(file, t->file) == 0) {
            printf(", which %s reads too", a->title);
        }
    }
}

static void say(const struct setup *s, const struct setup_step *t, enum style style,
                const char *text) {
    printf("%-12s ", t->agent->title);
    terminal_put(s->terminal, style, text);
    printf(" %s", t->file ? t->file : "");
    if (t->file && !t->same) {
        print_readers(s, t);
    }
    puts("");
}

static void print_indented(const char *text) {
    while (*text) {
        size_t len = strcspn(text, "\n");
        printf("    %.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void show_manual(const struct setup *s, const struct setup_step *t) {
    autobuf text = BUF_INIT(64u << 10);
    agent_config_manual(t->agent, text_of(t), s->program, &text);
    print_indented(text.data);
}

static void show_refusal(const struct setup *s, const struct setup_step *t) {
    int line = s->remove && t->exists ? agent_config_line(t->agent, text_of(t)) : 0;
    say(s, t, STYLE_YELLOW, "left alone:");
    printf("    %s.", t->refusal.msg);
    if (t->refusal.code == -EEXIST) {
        puts("");
    } else if (!s->remove) {
        puts(" Add this by hand:");
        show_manual(s, t);
    } else if (line) {
        printf(" Remove the entry \"upskilld\" on line %d by hand.\n", line);
    } else {
        puts(" If it has an entry \"upskilld\", remove that by hand.");
    }
}

/* Nothing is asked before it is written. */
static bool will_write(const struct setup *s) {
    return !s->print && (s->named || s->yes);
}

static const char *what_becomes(const struct setup *s, const struct setup_step *t,
                                bool done) {
    if (t->gone) {
        return done ? "deleted:" : "would be deleted:";
    }
    if (s->remove) {
        return done ? "entry removed from" : "entry would be removed from";
    }
    return t->exists ? done ? "entry added to" : "entry would be added to"
           : done    ? "new file:"
                     : "would be a new file:";
}

/* done: what was to be written is. */
static void show_step(const struct setup *s, const struct setup_step *t, bool done) {
    if (!t->file && s->project) {
        say(s, t, STYLE_DIM, "has no file in a project");
    } else if (t->refusal.code) {
        show_refusal(s, t);
    } else if (t->same) {
        say(s, t, STYLE_DIM, "has the same file:");
    } else if (!t->next) {
        say(s, t, STYLE_DIM, s->remove ? "has no entry in" : "has its entry in");
    } else {
        say(s, t, STYLE_BOLD, what_becomes(s, t, done));
        if (!s->remove && (!done || will_write(s))) {
            show_manual(s, t);
        }
    }
}

/* Or that was written, afterwards. */
static int to_write(const struct setup *s) {
    return total_of(int, i, 0, s->count, s->steps[i].next && !s->steps[i].refusal.code);
}

static bool agreed(const struct setup *s, int files) {
    if (will_write(s)) {
        return true;
    }
    if (!s->terminal->tty || !isatty(STDIN_FILENO)) {
        fflush(stdout);
        terminal_hint(s->terminal, "nothing was written: name the agents, or give --yes");
        return false;
    }
    printf("Write %d file%s? [y/N] ", files, files == 1 ? "" : "s");
    fflush(stdout);
    char answer[16] = "";
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

/* --- writing --- */

/* Somebody else, such as the agent itself, may write it meanwhile. */
static bool still_the_same(const struct setup_step *t) {
    autobuf again = BUF_INIT(MAX_FILE);
    if (!t->exists) {
        return access(t->file, F_OK) < 0;
    }
    return file_read(t->file, &again, NULL) == 0 && again.len == t->now.len &&
           memcmp(again.data, t->now.data, again.len) == 0;
}

/* The new file is as the old one was, or there is none. */
static int fill_file(struct root_file *f, const struct setup_step *t) {
    const struct stat *was = &t->was;
    if (t->exists && (fchown(f->fd, was->st_uid, was->st_gid) < 0 ||
                      fchmod(f->fd, was->st_mode & 07777) < 0)) {
        return -errno;
    }
    f->only_new = !t->exists;
    return root_file_add(f, t->next, strlen(t->next));
}

static int write_file(const struct setup *s, const struct setup_step *t,
                      const char *folder, struct err *err) {
    struct root root;
    struct root_file file;
    mode_t mode = s->project && !t->exists ? 0644 : 0600;
    int rc = dir_make(folder, 0755, err);
    if (rc < 0 || (rc = root_open(&root, folder, err)) < 0) {
        return rc;
    }
    root_sweep(&root);
    rc = root_file_begin(&file, &root, path_basename(t->file), mode, err);
    root_close(&root);
    if (rc < 0) {
        return rc;
    }
    rc = fill_file(&file, t);
    if (rc < 0) {
        root_file_drop(&file);
    } else {
        rc = root_file_end(&file, true);
    }
    return rc < 0 ? err_set(err, rc, "%s", strerror(-rc)) : 0;
}

static int write_step(const struct setup *s, struct setup_step *t) {
    struct err *err = &t->refusal;
    size_t len = (size_t)(path_basename(t->file) - t->file);
    autofree char *folder = len ? xstrndup(t->file, len > 1 ? len - 1 : 1) : xstrdup(".");
    if (!still_the_same(t)) {
        return err_set(err, -EAGAIN, "another program has just changed it");
    }
    if (!t->gone) {
        return write_file(s, t, folder, err);
    }
    return unlink(t->file) < 0 ? err_set(err, -errno, "%s", strerror(errno)) : 0;
}

/* What was not shown yet, or has come otherwise, is shown. */
static void write_all(struct setup *s) {
    list_each(i, t, s->steps, s->count) {
        if (t->next) {
            (void)write_step(s, t);
        }
        if (t->next || will_write(s)) {
            show_step(s, t, true);
        }
    }
}

/* --- all of it --- */

/* Somebody's own entry is none to remove. */
static int refused(const struct setup *s) {
    int n = 0;
    for (int i = 0; i < s->count; i++) {
        int code = s->steps[i].refusal.code;
        n += code != 0 && !(s->remove && code == -EEXIST);
    }
    return n;
}

static int do_it(struct setup *s) {
    for (int i = 0; i < s->agent_count; i++) {
        struct setup_step *first = &s->steps[s->count];
        plan_agent(s, s->agents[i]);
        if (!s->remove) {
            choose_one(s, first);
        }
    }
    for (int i = 0; i < s->count && !will_write(s); i++) {
        show_step(s, &s->steps[i], false);
    }
    int files = to_write(s);
    if (s->print || (files && !agreed(s, files))) {
        return s->print ? 0 : 1;
    }
    write_all(s);
    bool good = s->remove || agent_daemon_verify(s->terminal, s->program);
    if (to_write(s) && !s->remove && good) {
        puts("Restart the agents: they read their configuration when they start.");
    }
    return refused(s) || !good;
}

static int nobody(const struct setup *s) {
    if (s->remove) {
        puts("No agent here has a file for an entry.");
        return 0;
    }
    terminal_error(s->terminal, "no agent was found on this machine");
    terminal_hint(s->terminal, "name one to write its file anyway: upskillctl setup "
                               "--help lists them");
    return 1;
}

static int programs(const struct setup *s, const char *const *words, int count) {
    bool yes = count && strcmp(words[0], "--yes") == 0;
    if (count > yes) {
        wrong(s, "setup programs takes no", words[yes], NULL);
        return 2;
    }
    return fetch_nvcc(s->terminal, !yes);
}

int setup_run(const struct terminal *terminal, const char *const *words, int count,
              bool help) {
    struct setup s = {.terminal = terminal};
    if (help) {
        print_usage();
        return 0;
    }
    if (count && strcmp(words[0], "programs") == 0) {
        return programs(&s, words + 1, count - 1);
    }
    if (read_words(&s, words, count) < 0) {
        return 2;
    }
    s.program = connection_program();
    const char *problem = s.remove ? NULL : agent_daemon_unfit(s.program);
    if (problem) {
        terminal_error(terminal, "%s", problem);
    }
    int status = problem ? 1 : s.agent_count ? do_it(&s) : nobody(&s);
    for (int i = 0; i < s.count; i++) {
        free_step(&s.steps[i]);
    }
    free(s.program);
    return status;
}
