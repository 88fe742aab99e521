/* Neutral prose for placebo.c. Nothing in it bears on programming, numbers, formats or
 * any other thing that a test may ask for; it contains no instruction on how to answer.
 */
#include "skills/evaluation/placebo.h"

#include <stddef.h>

const char *const placebo_prose[] = {
    "# Keeping a small shelf of books\n\nA shelf that is used every day wants little "
    "care, "
    "but it wants it regularly. Whoever looks after it knows most of the volumes by the "
    "colour of their backs. Visitors do not, and the order of the shelf is made for "
    "them. "
    "The advice below comes from people who have kept reading rooms in villages, on "
    "ships "
    "and above a bakery.",
    "## Light and air\n\nPaper turns yellow in the sun, and cloth fades faster than "
    "paper. "
    "A north wall is the best place for a shelf, and a curtain helps where there is "
    "none. "
    "Air should move behind the boards, so a finger's width is left between wood and "
    "wall. "
    "In damp months the window is opened in the late morning, when the air outside is "
    "drier than the air within. A bowl of dry rice in a corner does less than people "
    "say.",
    "## Dust\n\nDust is taken off from the top, with a soft brush and the book held "
    "shut. "
    "Brushing towards the spine pushes the dust into the binding, so the brush goes away "
    "from it. A damp cloth is for the boards and never for the books. Old leather likes "
    "to "
    "be touched by clean hands now and then, and it likes oil much less than one thinks.",
    "## Order\n\nThere are many good orders and one bad one, which is the order that "
    "only "
    "the keeper remembers. By author is the common way, because people ask by author. By "
    "subject is kinder to those who do not know what they look for. Tall books stand "
    "with "
    "tall books, even where that breaks the rule, since a leaning book warps in a year. "
    "Gaps are left on purpose, a hand wide on each board, so that a return never becomes "
    "a "
    "removal of everything to its right.",
    "## Lending\n\nA lent book is a small promise between neighbours. The card that "
    "stays "
    "behind bears a name and a season, and no more is needed in a place where people "
    "meet. "
    "Reminders are best given in person, with a question about the book rather than "
    "about "
    "its return. Some books never come back, and a calm keeper buys another copy in "
    "spring. "
    "Children may borrow like everybody else, and they mend what they tear when they are "
    "shown how.",
    "## Mending\n\nTorn pages are joined with thin paper and paste made of flour, never "
    "with tape, which browns and lets go. The paste is cooked slowly and stirred, and it "
    "keeps for some days in a cold place. A loose board is tied with a ribbon until "
    "winter, "
    "when there is time to sew. Pages that were wet are dried between blotting sheets "
    "under "
    "a weight, and they are never put near the stove.",
    "## Guests that eat paper\n\nSilverfish come for the paste and stay for the damp, so "
    "dry air sends them away. Moths care for the cloth of the reading chair and not for "
    "the "
    "books. Mice are a matter for the cat. Lavender smells pleasant and does nothing, "
    "which "
    "is a good reason to have it and a bad reason to trust it.",
    "## The reading table\n\nA table by the window gathers what people have just put "
    "down. "
    "It is cleared in the evening, and the heap tells what was read that day. Two chairs "
    "are "
    "enough for talk and few enough for quiet. A lamp with a warm shade makes a dark "
    "afternoon short, and a blanket over the chair makes it shorter.",
    "## Moving house\n\nBooks are heavier than they look, and boxes should be small. "
    "They "
    "are packed spine down or lying flat, never with the pages hanging. The first box to "
    "be "
    "opened is the one with the favourites, because a room becomes a home with the first "
    "familiar back on the board. The old order is not copied; a new room asks for a new "
    "one.",
    "## Seasons\n\nIn spring the boards are emptied one after the other and washed. In "
    "summer the shelf is left alone, since nobody reads inside. In autumn new books "
    "arrive "
    "with the first rain, and room is made by giving away what nobody has opened in "
    "years. "
    "In winter there is mending, and soup, and the long novels come down from the top "
    "board.",
    NULL,
};
