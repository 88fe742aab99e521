/* bench_find: skill lookup over many skills.
 *
 *   bench_find [SKILLS]        (10000 by default)
 *   bench_find FOLDER TASKS    (real skills, an absolute path; a task a line)
 *
 * Indexes the skills, synthetic ones beneath /tmp or real ones, asks up to 400 tasks
 * twice and prints as JSON: time to build by the clock and of the processor, p50/p90/max
 * of warm questions and their mean of the processor, of a look without changes, and
 * resident memory. */
#include "base/clock.h"
#include "base/mem.h"
#include "tests/unit/skills/lookup.h"

#include <sys/stat.h>
#include <unistd.h>

#define VOCABULARY 30000
#define TASKS 400
#define BODY_WORDS 600

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Words by Zipf's law, pronounceable so that the stemmer has something to do. */
static void add_word(struct buf *out) {
    static const char *const endings[] = {"", "s", "ing", "ed", "er", "ation"};
    double u = (double)(next_random() >> 11) / (double)(1ull << 53);
    unsigned rank = 1;
    for (double x = u * 10.9; x > 1 && rank < VOCABULARY; x -= 1) {
        rank = rank * 27 / 10 + (unsigned)(next_random() % 3);
    }
    for (unsigned n = rank; n; n /= 60) {
        buf_addc(out, "bcdfgklmnprt"[n % 12]);
        buf_addc(out, "aeiou"[n / 12 % 5]);
    }
    buf_adds(out, endings[rank % 6]);
    buf_addc(out, ' ');
}

static void add_words(struct buf *out, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        add_word(out);
    }
}

/* As fixture_skill, but without waiting for the disk: thousands are written. */
static void write_skill(const char *folder, const char *name, const char *description,
                        const char *body) {
    autofree char *own = xasprintf("%s/%s", folder, name);
    autofree char *path = xasprintf("%s/SKILL.md", own);
    FILE *out = mkdir(own, 0755) == 0 ? fopen(path, "we") : NULL;
    if (!out || fprintf(out, "---\nname: %s\ndescription: >-\n  %s\n---\n\n# %s\n\n%s",
                        name, description, name, body) < 0) {
        abort();
    }
    fclose(out);
}

static void write_skills(const char *folder, int count) {
    mkdir(folder, 0755);
    for (int i = 0; i < count; i++) {
        autobuf description = BUF_INIT(8192), body = BUF_INIT(64u << 10);
        char name[64];
        snprintf(name, sizeof name, "skill-%d", i);
        add_words(&description, 25);
        for (int section = 0; section < 6; section++) {
            buf_adds(&body, "\n## ");
            add_words(&body, 3);
            buf_adds(&body, "\n\n");
            add_words(&body, BODY_WORDS / 6);
            buf_addc(&body, '\n');
        }
        write_skill(folder, name, description.data, body.data);
    }
}

static double resident_mib(void) {
    long pages = 0, resident = 0;
    FILE *in = fopen("/proc/self/statm", "re");
    if (!in || fscanf(in, "%ld %ld", &pages, &resident) != 2) {
        resident = 0;
    }
    if (in) {
        fclose(in);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1048576.0;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double processor_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The time of one question in ms; what the processor spent is added to *spent. */
static double ask(struct fixture *f, const char *task, double *spent) {
    uint64_t began = clock_us();
    double before = processor_ms(CLOCK_THREAD_CPUTIME_ID);
    json_t *result = catalog_find(f->catalog, task, 5, NULL, NULL, NULL);
    *spent += processor_ms(CLOCK_THREAD_CPUTIME_ID) - before;
    double took = (double)(clock_us() - began) / 1000;
    json_decref(result);
    return took;
}

/* Tasks into the list; returns how many. */
static int read_tasks(const char *path, char **tasks) {
    char line[4096];
    int count = 0;
    FILE *in = fopen(path, "re");
    while (in && count < TASKS && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        tasks[count++] = xstrdup(line);
    }
    if (in) {
        fclose(in);
    }
    return count;
}

static int make_tasks(char **tasks) {
    for (int i = 0; i < TASKS; i++) {
        struct buf task = BUF_INIT(4096);
        add_words(&task, 4 + (unsigned)i % 9);
        tasks[i] = buf_detach(&task);
    }
    return TASKS;
}

static void set_folder(struct fixture *f, const char *path) {
    autofree char *own = xstrdup(path);
    const struct catalog_folder folder = {own, "user", NULL};
    catalog_set_folders(f->catalog, &folder, 1);
}

/* Each twice; returns the mean processor time of a warm question in ms. */
static double ask_all(struct fixture *f, char **tasks, int count, double *times) {
    double cold = 0, warm = 0;
    for (int i = 0; i < count; i++) {
        ask(f, tasks[i], &cold);
    }
    for (int i = 0; i < count; i++) {
        times[i] = ask(f, tasks[i], &warm);
        free(tasks[i]);
    }
    qsort(times, (size_t)count, sizeof *times, by_value);
    return warm / (count ? count : 1);
}

int main(int argc, char **argv) {
    static char *tasks[TASKS];
    static double times[TASKS];
    bool real = argc > 2 && argv[1][0] == '/';
    int count = argc > 1 && !real ? atoi(argv[1]) : 10000;
    char folder[128];
    struct fixture f;
    fixture_make(&f);
    snprintf(folder, sizeof folder, "%s/user", f.folder);
    if (!real) {
        write_skills(folder, count);
    }
    double before = resident_mib();
    fixture_open(&f);
    set_folder(&f, real ? argv[1] : folder);
    uint64_t began = clock_ms();
    double spent_before = processor_ms(CLOCK_PROCESS_CPUTIME_ID);
    int status = fixture_wait(&f);
    double build_ms = (double)(clock_ms() - began);
    double build_cpu_ms = processor_ms(CLOCK_PROCESS_CPUTIME_ID) - spent_before;
    int asked = real ? read_tasks(argv[2], tasks) : make_tasks(tasks);
    double spent = ask_all(&f, tasks, asked, times);
    json_t *status_json = catalog_status(f.catalog);
    count = (int)json_get_integer(status_json, "skills", count);
    json_decref(status_json);
    began = clock_us();
    catalog_set_folders(f.catalog, NULL, 0);
    set_folder(&f, real ? argv[1] : folder); /* as another daemon would: all is known */
    fixture_wait(&f);
    double look_ms = (double)(clock_us() - began) / 1000;
    printf("{\"skills\": %d, \"status\": %d, \"build_ms\": %.0f, "
           "\"build_cpu_ms\": %.0f, \"find_p50_ms\": %.2f, "
           "\"find_p90_ms\": %.2f, \"find_cpu_ms\": %.2f, \"find_max_ms\": %.2f, "
           "\"look_ms\": %.0f, "
           "\"resident_mib\": %.1f, \"resident_before_mib\": %.1f}\n",
           count, status, build_ms, build_cpu_ms, times[asked / 2], times[asked * 9 / 10],
           spent, times[asked ? asked - 1 : 0], look_ms, resident_mib(), before);
    fixture_close(&f);
    fixture_drop(&f);
    return status < 0;
}
