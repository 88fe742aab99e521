#pragma once
/* bundled: the folder of the skills that come with the program. */

/* Beside the program: where it was installed, else in the sources that it was built from.
 * NULL when it is in neither. Malloc'ed. */
char *bundled_skills(void);
