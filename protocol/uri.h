#pragma once
/* uri: converts between paths and the file: URIs of editors and MCP clients. */

#define URI_MAX (16u << 10) /* bytes of a path in a URI */

/* The normalised absolute path of a file: URI on this machine; NULL if it is another kind
 * of URI, names another machine, contains a NUL or is longer than URI_MAX. Freed by the
 * caller. */
char *uri_to_path(const char *uri);
struct buf;

/* The byte at *at in escaped text; advances *at. -1 for a bad escape or a NUL. */
int uri_byte(const char **at);
/* Appends a path, or a part of one, with the escapes that RFC 3986 requires. */
void uri_escape(struct buf *out, const char *path);
/* The file: URI of an absolute path, escaped in the same way. Freed by the caller. */
char *uri_of_path(const char *path);
