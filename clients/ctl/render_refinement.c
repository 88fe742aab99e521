/* What a refinement did: a bar of the gate for each round, and start against result. */
#include "clients/ctl/render.h"

/* The figure of an unknown gate is a dash, of its width. */
#define GATE(member) "[{" member "#bar}" END " {" member "%3.0p}%|                    " END "    –]"

static const char rounds_words[] =
    "refined   {kept|0} of [{rounds-0}|0] rounds kept; "
    "[{?stopped=perfect}no gate test fails any more|{?stopped=plateau}no further gain"
    "|{?stopped=rounds}all rounds were used"
    "|{?stopped=budget}the budget or the time is used up"
    "|{?stopped=unavailable}it could not continue|{stopped}][: {problem}]\n"
    "[{?rounds}  gate\n   –  " BLUE "{gate.start#bar}" END " {gate.start%3.0p}%  as it was\n]"
    "{rounds:  {round%2d}  [{?accepted}" GREEN "|" DIM "]" GATE("gate_after")
    "  [{edits-0} edit[{!edits=1}s]|no edit,][{?edits=1} ] "
    "[{?accepted}" GREEN "kept|" YELLOW "rejected]" END ": \t{reason}\n"
    "[      \t" DIM "{why}\n]}";

static const char verdict_words[] =
    "[  on held-out tests: {verdict#verdict}, \t{verdict.final%.0p}% instead of "
    "{verdict.start%.0p}%[ (p = {verdict.lift.p%.3g}, {verdict.lift.n_tests|0} tests)]\n"
    "  -100% {verdict.lift#lift} +100%\n]";

void render_refinement(const struct terminal *t, const json_t *refinement) {
    if (refinement) {
        terminal_words(t, 0, rounds_words, refinement);
        terminal_words(t, 0, verdict_words, refinement);
    }
}
