#pragma once
/* safety_installers: the install commands that makers of common tools publish. */
#include <stdbool.h>
#include <stddef.h>

/* match: from the program that fetches to the shell, or from "iex" to the address. True
 * where it fetches exactly one address over HTTPS from its maker, with no option that
 * changes whom it asks, and nothing in it is put in at run time. */
bool installer_is_known(const char *match, size_t len);
