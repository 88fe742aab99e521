/* Workers on a terminal: where each runs, its compiler and its GPUs. */
#include "clients/ctl/render.h"

/* No GPU is "none" once a greeting or a driver said so, "?" before. */
static const char row_words[] =
    "{name|?}\t[{?state=failed}" RED "|{?state=ready}" GREEN "]{state|?}\t{host}\t"
    "[{gpus/, /:{name|?}}|{?gpus=*}none|{?cuda=false}none|?]\t"
    "{running|0}/{parallel|0}\t{argv/ /:{.}}";

static const char trouble_words[] = "{.:[" YELLOW "{name|?}" END ": {says}\n][" YELLOW
                                    "{name|?}" END ": {last_error}\n]}";

void render_workers(const struct terminal *t, const json_t *workers) {
    if (json_array_size(workers)) {
        putchar('\n');
    }
    table_print(t, "worker\tstate\thost\tGPUs\tjobs\tcommand", row_words, workers);
    terminal_words(t, 0, trouble_words, workers);
}
