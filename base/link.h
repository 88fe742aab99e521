#pragma once
/* link: addresses of documents, and the content types of answers. Pure functions.
 *
 * Implements RFC 3986 as far as http and https need it; text/html, text/markdown and
 * text/plain are documents. */
#include "base/mem.h"

#define LINK_MAX 2048

/* Whether the text begins like a link; the rest may still be invalid. */
bool link_is(const char *text);
/* -EINVAL if it is no http or https address, or contains credentials, a blank or a
 * control character. */
int link_check(const char *url, struct err *err);
/* The absolute target of a redirect; malloc'ed. NULL with err: -EINVAL if it is no such
 * address, -EACCES if it goes from https to http. */
char *link_resolve(const char *url, const char *location, struct err *err);
/* A file's name for it, "example.org-guide-install.md"; malloc'ed. */
char *link_name(const char *url);

enum link_kind { LINK_TEXT, LINK_HTML, LINK_OTHER };
/* The kind for a Content-Type (NULL: none, counts as text). *latin1: whether the bytes
 * are ISO-8859-1. */
enum link_kind link_kind(const char *content_type, bool *latin1);
