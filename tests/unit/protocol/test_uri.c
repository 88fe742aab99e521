/* file: URIs (RFC 8089) and RFC 3986's escapes, which are read here by sscanf. */
#include "base/mem.h"
#include "protocol/uri.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void expect_path(const char *uri, const char *path) {
    autofree char *got = uri_to_path(uri);
    cr_expect(path ? got && strcmp(got, path) == 0 : !got, "%s: %s", uri,
              got ? got : "none");
}

Test(uri, a_file_uri_names_a_path_of_this_machine) {
    expect_path("file:///a/b.cu", "/a/b.cu");
    expect_path("FILE:///a", "/a");
    expect_path("file:/a/b", "/a/b");
    expect_path("file://localhost/a", "/a");
    expect_path("file://LocalHost/a", "/a");
    expect_path("file:///a%20b%2Fc%2f%41", "/a b/c/A");
    expect_path("file:///%c3%A4", "/\xc3\xa4");
    expect_path("file:///a?query", "/a");
    expect_path("file:///a#L12", "/a");
    expect_path("file:///a%3Fb%23", "/a?b#");
    expect_path("file:///a/./b/../c//d/", "/a/c/d");
    expect_path("file:///", "/");
    static const char *const none[] = {"",
                                       "/a",
                                       "fil:///a",
                                       "file",
                                       "file:",
                                       "file:a",
                                       "file://",
                                       "file://host/a",
                                       "file://localhost",
                                       "http://localhost/a",
                                       "file:///%",
                                       "file:///%2",
                                       "file:///%2g",
                                       "file:///%g2",
                                       "file:///%:0",
                                       "file:///%/0",
                                       "file:///%@0",
                                       "file:///%00",
                                       "file:///a%ff",
                                       "file:///%c3",
                                       "file:///%c3%28",
                                       "file://localhosta",
                                       "untitled:Untitled-1"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        expect_path(none[i], NULL);
    }
}

/* Each byte that may stand in a path, and each that may not stand in a URI. */
Test(uri, what_is_escaped_is_read_back) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~";
    char path[300] = "/";
    for (int byte = 1; byte < 0x80; byte++) {
        path[byte] = (char)(byte == '/' ? '_' : byte);
    }
    strcat(path, "/\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    autofree char *uri = uri_of_path(path);
    cr_assert(strncmp(uri, "file://", 7) == 0);
    const char *at = uri + 7;
    for (const char *p = path; *p; p++) {
        unsigned byte = 0;
        if (strchr(plain, *p)) {
            cr_assert_eq(*at++, *p);
        } else {
            cr_assert(sscanf(at, "%%%2X", &byte) == 1 && byte == (unsigned char)*p, "%s",
                      at);
            at += 3;
        }
    }
    cr_expect_eq(*at, 0);
    expect_path(uri, path);
}

Test(uri, a_path_has_its_limit) {
    for (unsigned over = 0; over < 2; over++) {
        autofree char *path = xmalloc(URI_MAX + 2);
        memset(path, 'a', URI_MAX + over);
        path[0] = '/';
        path[URI_MAX + over] = 0;
        autofree char *uri = xasprintf("file://%s", path);
        expect_path(uri, over ? NULL : path);
    }
}
