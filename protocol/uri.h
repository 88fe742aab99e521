#pragma once
/* uri: file: URIs, as editors and MCP clients name files with them, and paths. */

#define URI_MAX (16u << 10) /* bytes of a path in one */

/* The normalised absolute path of a file: URI on this machine, or NULL. */
char *uri_to_path(const char *uri);
char *uri_of_path(const char *path);
