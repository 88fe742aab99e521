/* bench_models: many calls through the model client.
 *
 *   bench_models URL MODEL CALLS LIMIT [PROMPT_BYTES]
 *
 * URL is a fake_model.py's (http://127.0.0.1:PORT/v1), MODEL an object or a name such as
 * "generic.m:delay=200". Prints as JSON: wall time, the ideal for LIMIT at once when each
 * call takes what the quickest took, outcomes, requests, the longest turn of the loop and
 * resident memory. `bench.py … models` runs it beside a peer. */
#include "base/clock.h"
#include "base/http.h"
#include "skills/models/model_client.h"

#include "base/err.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct bench {
    uv_loop_t loop;
    struct http *http;
    struct model_client *client;
    unsigned left, calls, requests, outcomes[8];
    uint64_t bytes, turn_began, longest_turn;
    double quickest, slowest, sum;
    char first_failure[512];
};

static void on_done(struct model_call *call, const struct model_answer *a, void *data) {
    struct bench *b = data;
    (void)call;
    b->outcomes[a->outcome]++;
    b->requests += a->requests;
    b->bytes += strlen(a->text);
    b->sum += a->ms;
    b->quickest = fmin(b->quickest, a->ms);
    b->slowest = fmax(b->slowest, a->ms);
    if (*a->message && !b->first_failure[0]) {
        snprintf(b->first_failure, sizeof b->first_failure, "%s: %s", a->reason,
                 a->message);
    }
    if (--b->left == 0) {
        model_client_close(b->client, NULL, NULL);
        http_close(b->http, NULL, NULL);
    }
}

static void start_all(struct bench *b, const struct model *model, size_t prompt_bytes) {
    char *prompt = malloc(prompt_bytes + 32);
    for (unsigned i = 0; i < b->calls; i++) {
        int n = sprintf(prompt, "question %u ", i);
        memset(prompt + n, 'a', prompt_bytes);
        prompt[(size_t)n + prompt_bytes] = '\0';
        struct model_message message = {"user", prompt};
        struct model_request request = {.model = model,
                                        .system = "Be brief.",
                                        .messages = &message,
                                        .message_count = 1};
        struct err err = {0};
        if (model_call_start(b->client, &request, NULL, on_done, b, NULL, &err) < 0) {
            fprintf(stderr, "%s\n", err.msg);
            exit(1);
        }
    }
    free(prompt);
}

static void on_prepare(uv_prepare_t *prepare) {
    struct bench *b = prepare->data;
    uint64_t turn = clock_us() - b->turn_began;
    b->longest_turn = turn > b->longest_turn ? turn : b->longest_turn;
}

static void on_check(uv_check_t *check) {
    ((struct bench *)check->data)->turn_began = clock_us();
}

static long resident_kb(const char *field) {
    char line[256];
    long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, field, strlen(field)) == 0) {
            kb = strtol(line + strlen(field) + 1, NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return kb;
}

static void print(const struct bench *b, unsigned limit, double wall_ms, long before_kb) {
    double ideal = ceil((double)b->calls / limit) * b->quickest;
    printf("{\"calls\": %u, \"limit\": %u, \"wall_ms\": %.0f, \"ideal_ms\": %.0f, "
           "\"call_ms\": [%.1f, %.1f, %.1f], \"requests\": %u, \"answer_bytes\": %llu, "
           "\"longest_turn_ms\": %.1f, \"rss_before_kb\": %ld, \"rss_peak_kb\": %ld",
           b->calls, limit, wall_ms, ideal, b->quickest, b->sum / b->calls, b->slowest,
           b->requests, (unsigned long long)b->bytes, (double)b->longest_turn / 1000,
           before_kb, resident_kb("VmHWM:"));
    for (int i = 0; i < 8; i++) {
        if (b->outcomes[i]) {
            printf(", \"%s\": %u", model_outcome_name((enum model_outcome)i),
                   b->outcomes[i]);
        }
    }
    printf("}\n");
    if (b->first_failure[0]) {
        fprintf(stderr, "%s\n", b->first_failure);
    }
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: bench_models URL MODEL CALLS LIMIT [PROMPT_BYTES]\n");
        return 2;
    }
    struct bench b = {.calls = (unsigned)strtoul(argv[3], NULL, 10), .quickest = 1e18};
    unsigned limit = (unsigned)strtoul(argv[4], NULL, 10);
    struct err err = {0};
    struct model model;
    autojson *name = json_text(argv[2], strlen(argv[2]));
    signal(SIGPIPE, SIG_IGN);
    setenv("GENERIC_BASE_URL", argv[1], 1);
    setenv("ANTHROPIC_BASE_URL", argv[1], 1);
    if (model_resolve(&model, name, NULL, NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    uv_prepare_t prepare;
    uv_check_t check;
    uv_loop_init(&b.loop);
    uv_prepare_init(&b.loop, &prepare);
    uv_check_init(&b.loop, &check);
    prepare.data = check.data = &b;
    b.http = http_new(&b.loop);
    struct model_client_options options = {.max_in_flight = limit,
                                           .start_in_flight = limit};
    b.client = model_client_new(&b.loop, b.http, &options);
    b.left = b.calls;
    long before = resident_kb("VmRSS:");
    uint64_t began = b.turn_began = clock_us();
    uv_prepare_start(&prepare, on_prepare);
    uv_check_start(&check, on_check);
    uv_unref((uv_handle_t *)&prepare);
    uv_unref((uv_handle_t *)&check);
    start_all(&b, &model, argc > 5 ? strtoul(argv[5], NULL, 10) : 100);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    print(&b, limit, (double)(clock_us() - began) / 1000, before);
    uv_close((uv_handle_t *)&prepare, NULL);
    uv_close((uv_handle_t *)&check, NULL);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    uv_loop_close(&b.loop);
    model_finish(&model);
    return 0;
}
