/* Inputs of checks, read on a thread: one after the other, and each answered once or,
 * when it was cancelled, never. */
#include "base/buf.h"
#include "base/mem.h"
#include "gpu/check/check_reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define READINGS 6

struct room {
    uv_loop_t loop;
    struct check_reader *reader;
    char order[READINGS + 1]; /* letters of the readings, as they were answered */
};

struct asked {
    struct room *room;
    char letter;
    int r;
    char key[65];
    bool stripped;
};

static void room_open(struct room *room) {
    *room = (struct room){.order = ""};
    cr_assert_eq(uv_loop_init(&room->loop), 0);
    room->reader = check_reader_new(&room->loop);
}

static void room_close(struct room *room) {
    check_reader_free(room->reader);
    uv_run(&room->loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&room->loop), 0);
}

static void on_read(int r, struct check_input *input, const struct check_refusal *refusal,
                    void *data) {
    struct asked *asked = data;
    size_t n = strlen(asked->room->order);
    cr_assert_lt(n, READINGS);
    asked->room->order[n] = asked->letter;
    asked->r = r;
    if (r < 0) {
        cr_assert_str_eq(refusal->reason, "bad_option");
        return;
    }
    strcpy(asked->key, input->key);
    check_input_prepare(input);
    asked->stripped = input->host_stripped;
    check_input_finish(input);
}

static struct check_reading *ask(struct room *room, struct asked *asked, char letter,
                                 const char *source, const char *option) {
    static const char *const roots[] = {"/nowhere", NULL};
    /* What is given is gone when the thread reads. */
    autofree char *arch = xstrdup("sm_90a");
    autofree char *compiler = xstrdup("one");
    const struct check_places places = {.default_arch = arch, .compiler = compiler};
    autojson *params = json_pack("{s:s, s:[s]}", "source", source, "options", option);
    *asked = (struct asked){.room = room, .letter = letter};
    struct check_reading *ret =
        check_reader_start(room->reader, params, NULL, roots, &places, on_read, asked);
    memset(arch, 'x', strlen(arch));
    memset(compiler, 'x', strlen(compiler));
    return ret;
}

static char *large_source(void) {
    struct buf text = BUF_INIT(2u << 20);
    buf_adds(&text, "__global__ void k() {}\n");
    for (int i = 0; i < 20000; i++) {
        buf_adds(&text, "void host() { std::cout << 1; }\n");
    }
    return buf_detach(&text);
}

#define GOOD "-use_fast_math"
#define BAD "--run"

/* A large one first does not let the others overtake it. */
Test(check_reader, keeps_the_order, .timeout = 60) {
    struct room room;
    room_open(&room);
    struct asked asked[4];
    autofree char *large = large_source();
    ask(&room, &asked[0], 'a', large, GOOD);
    ask(&room, &asked[1], 'b', "__global__ void k() {}", GOOD);
    ask(&room, &asked[2], 'c', "__global__ void k() {}", BAD);
    ask(&room, &asked[3], 'd', "__global__ void k() {}", GOOD);
    cr_assert_str_eq(room.order, "", "never from inside");
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_assert_str_eq(room.order, "abcd");
    cr_assert_eq(asked[0].r, 0);
    cr_assert(asked[0].stripped);
    cr_assert_eq(asked[2].r, -EINVAL);
    cr_assert_not(asked[3].stripped);
    cr_assert_str_eq(asked[1].key, asked[3].key);
    cr_assert_str_neq(asked[0].key, asked[1].key);
    room_close(&room);
}

/* Cancelled while it waits, and while the thread has it. */
Test(check_reader, cancels, .timeout = 60) {
    struct room room;
    room_open(&room);
    struct asked asked[5];
    struct check_reading *reading[5];
    autofree char *large = large_source();
    for (int i = 0; i < 5; i++) {
        reading[i] = ask(&room, &asked[i], (char)('a' + i), i ? "int x;" : large, GOOD);
    }
    check_reading_cancel(reading[0]);
    check_reading_cancel(reading[2]);
    check_reading_cancel(reading[4]);
    struct asked last;
    ask(&room, &last, 'f', "int y;", GOOD);
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_assert_str_eq(room.order, "bdf");
    room_close(&room);
}

/* Freed while one is read and others wait, or while one that was cancelled is read: the
 * loop ends, and nobody is called. */
Test(check_reader, ends, .timeout = 60) {
    autofree char *large = large_source();
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        struct room room;
        room_open(&room);
        struct asked asked[3];
        struct check_reading *first = ask(&room, &asked[0], 'a', large, GOOD);
        ask(&room, &asked[1], 'b', "int x;", GOOD);
        ask(&room, &asked[2], 'c', "int x;", GOOD);
        if (cancelled) {
            check_reading_cancel(first);
        }
        room_close(&room);
        cr_assert_str_eq(room.order, "");
    }
}
