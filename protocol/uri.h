#pragma once
/* uri: file: URIs, as editors and MCP clients name files with them, and paths. */

#define URI_MAX (16u << 10) /* bytes of a path in one */

/* The normalised absolute path of a file: URI on this machine; NULL when it is another
 * kind of URI, another machine's, holds a NUL or is longer than URI_MAX. Freed by the
 * caller. */
char *uri_to_path(const char *uri);
struct buf;

/* The byte at *at, which is moved on, of something so escaped; -1 for a bad escape or a
 * NUL. */
int uri_byte(const char **at);
/* Append a path, or a part of one, with everything escaped that RFC 3986 wants
 * escaped. */
void uri_escape(struct buf *out, const char *path);
/* The file: URI of an absolute path, so escaped. Freed by the caller. */
char *uri_of_path(const char *path);
