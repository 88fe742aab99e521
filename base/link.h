#pragma once
/* link: addresses of documents, and what an answer to one of them is. Pure.
 *
 * RFC 3986 as far as http and https need it; text/html, text/markdown and text/plain are
 * documents. */
#include <stdbool.h>
#include <stddef.h>

struct err;

#define LINK_MAX 2048

/* Begins like a link; the rest may still be wrong. */
bool link_is(const char *text);
/* -EINVAL for what is no http or https address, has a name and password in it, a blank or
 * a control character. */
int link_check(const char *url, struct err *err);
/* Where a redirect leads, relative ones resolved; malloc'ed. NULL with -EINVAL for what
 * is no such address, and with -EACCES from https to http. */
char *link_resolve(const char *url, const char *location, struct err *err);
/* A file's name for it, "example.org-guide-install.md"; malloc'ed. */
char *link_name(const char *url);

enum link_kind { LINK_TEXT, LINK_HTML, LINK_OTHER };
/* By the Content-Type (NULL: none, a text). latin1: bytes that are to be taken as
 * ISO-8859-1. */
enum link_kind link_kind(const char *content_type, bool *latin1);
