#pragma once
/* safety_installers: the install commands published by the makers of common tools. */
#include "base/mem.h"

/* match: from the download program to the shell, or from "iex" to the address. True if it
 * downloads exactly one address over HTTPS from its maker, with no option that changes
 * the server, and nothing in it is substituted at run time. */
bool installer_is_known(const char *match, size_t len);
