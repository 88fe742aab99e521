/* What a refinement did: a bar of the gate for each round, and start against result. */
#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "clients/ctl/evaluation_plot.h"
#include "clients/ctl/render.h"

#include <math.h>

#define BAR 20

static void put_bar(const struct terminal *t, double rate, enum style style) {
    terminal_bar(t, isnan(rate) ? 0 : rate, BAR, style);
    if (isnan(rate)) {
        fputs("    –", stdout);
    } else {
        printf(" %3.0f%%", 100 * rate);
    }
}

/* "1 edit", in a column of its own. */
static void put_edits(const json_t *edits) {
    size_t count = json_array_size(edits);
    autofree char *words = count ? xasprintf("%zu edit%s", count, text_plural((double)count))
                                 : xstrdup("no edit");
    printf("  %-7s ", words);
}

static void print_round(const struct terminal *t, const json_t *round) {
    bool accepted = json_get_bool(round, "accepted", 0);
    const char *why = json_get_string(round, "why", NULL);
    printf("  %2d  ", (int)json_get_integer(round, "round", 0));
    put_bar(t, number_of(round, "gate_after"), accepted ? STYLE_GREEN : STYLE_DIM);
    put_edits(json_object_get(round, "edits"));
    terminal_put(t, accepted ? STYLE_GREEN : STYLE_YELLOW,
                 accepted ? "kept" : "rejected");
    fputs(": ", stdout);
    terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(round, "reason", ""), 50, 6);
    if (why && *why) {
        fputs("      ", stdout);
        terminal_put_wrapped(t, STYLE_DIM, why, 6, 6);
    }
}

static const char *stop_in_words(const char *word) {
    static const struct {
        const char *word, *words;
    } stops[] = {
        {"perfect", "no gate test fails any more"},
        {"plateau", "no further gain"},
        {"rounds", "all rounds were used"},
        {"budget", "the budget or the time is used up"},
        {"unavailable", "it could not continue"},
    };
    size_t at = first_of(i, 0, ARRAY_LEN(stops), strcmp(stops[i].word, word) == 0);
    return at < ARRAY_LEN(stops) ? stops[at].words : word;
}

static void print_verdict(const struct terminal *t, const json_t *verdict) {
    const json_t *lift = json_object_get(verdict, "lift");
    const char *word = json_get_string(verdict, "verdict", "");
    enum style style = strcmp(word, "helps") == 0   ? STYLE_GREEN
                       : strcmp(word, "hurts") == 0 ? STYLE_RED
                                                    : STYLE_YELLOW;
    autobuf plot = BUF_INIT(4096);
    evaluation_plot_lift(&plot, number_of(lift, "estimate"), number_of(lift, "low"),
                         number_of(lift, "high"));
    static const char lead[] = "  on held-out tests: ";
    autobuf text = BUF_INIT(4096);
    buf_addf(&text, "%.0f%% instead of %.0f%%", 100 * number_of(verdict, "final"),
             100 * number_of(verdict, "start"));
    if (!isnan(number_of(lift, "p"))) {
        buf_addf(&text, " (p = %.3g, %d tests)", number_of(lift, "p"),
                 (int)json_get_integer(lift, "n_tests", 0));
    }
    fputs(lead, stdout);
    terminal_put(t, style, word);
    fputs(", ", stdout);
    terminal_put_wrapped(t, STYLE_PLAIN, text.data,
                         (int)(strlen(lead) + strlen(word)) + 2, 2);
    printf("  -100%% %s +100%%\n", plot.data);
}

void render_refinement(const struct terminal *t, const json_t *refinement) {
    const json_t *gate = json_object_get(refinement, "gate");
    const json_t *verdict = json_object_get(refinement, "verdict");
    const char *problem = json_get_string(refinement, "problem", NULL);
    if (!refinement) {
        return;
    }
    const json_t *rounds = json_object_get(refinement, "rounds");
    printf("refined   %d of %zu rounds kept; %s%s%s\n",
           (int)json_get_integer(refinement, "kept", 0), json_array_size(rounds),
           stop_in_words(json_get_string(refinement, "stopped", "")), problem ? ": " : "",
           problem ? problem : "");
    if (json_array_size(rounds) && !isnan(number_of(gate, "start"))) {
        fputs("  gate\n   –  ", stdout);
        put_bar(t, number_of(gate, "start"), STYLE_BLUE);
        fputs("  as it was\n", stdout);
    }
    json_each(rounds, i, round) {
        print_round(t, round);
    }
    if (verdict) {
        print_verdict(t, verdict);
    }
}
