#include "skills/check/safety_installers.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

/* Hosts and paths, each taken from its maker's own install page. */
static const char *const makers[] = {
    "astral.sh/uv/",
    "astral.sh/ruff/",
    "bun.com/install",
    "bun.sh/install",
    "claude.ai/install.",
    "code-server.dev/install.sh",
    "deb.nodesource.com/setup_",
    "deno.land/install.",
    "fnm.vercel.app/install",
    "get.docker.com",
    "get.pnpm.io/install.",
    "get.sdkman.io",
    "get.volta.sh",
    "install.determinate.systems/nix",
    "install.python-poetry.org",
    "mise.run",
    "nixos.org/nix/install",
    "ollama.com/install.sh",
    "pixi.sh/install.",
    "raw.githubusercontent.com/Homebrew/install/",
    "raw.githubusercontent.com/nvm-sh/nvm/",
    "raw.githubusercontent.com/ohmyzsh/ohmyzsh/",
    "sh.rustup.rs",
    "sdk.cloud.google.com",
};

/* Options that change nothing about whom a fetching program asks, and the programs. */
static const char *const plain_words[] = {
    "curl",
    "wget",
    "irm",
    "iwr",
    "iex",
    "invoke-restmethod",
    "--location",
    "--silent",
    "--fail",
    "--show-error",
    "invoke-webrequest",
    "--proto",
    "'=https'",
    "=https",
    "\"=https\"",
    "--tlsv1.2",
    "-O-",
    "-qO-",
    "-o-",
    "-useb",
    "-UseBasicParsing",
};

static bool is_plain(const char *word, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(plain_words); i++) {
        if (strlen(plain_words[i]) == len &&
            strncasecmp(plain_words[i], word, len) == 0) {
            return true;
        }
    }
    /* -fsSL: fail, silent, show errors, follow. */
    return len >= 2 && word[0] == '-' && strspn(word + 1, "fsSL#") >= len - 1;
}

static bool is_maker(const char *address, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
        size_t n = strlen(makers[i]);
        if (len < n || memcmp(address, makers[i], n) != 0) {
            continue;
        }
        /* "get.docker.com.evil.example" and "get.docker.com@evil.example" are others. */
        bool host_only = !memchr(makers[i], '/', n);
        return !host_only || len == n || address[n] == '/';
    }
    return false;
}

/* Of the address itself: what ends it in a shell, in Markdown and in PowerShell. */
static size_t address_len(const char *at, const char *end) {
    size_t len = 0;
    while (at + len < end && !isspace((unsigned char)at[len]) &&
           !strchr("\"'`|;)<>", at[len])) {
        len++;
    }
    return len;
}

static bool has_plain_words(const char *at, const char *end) {
    while (at < end) {
        size_t len = 0;
        while (at + len < end && !isspace((unsigned char)at[len]) &&
               !strchr("\"`|;(", at[len])) {
            len++;
        }
        if (len > 0 && !is_plain(at, len)) {
            return false;
        }
        at += len + 1;
    }
    return true;
}

/* sh -c "$(curl …)": behind what runs it. */
static const char *skip_shell(const char *match, size_t *len) {
    static const char *const shells[] = {"/bin/bash -c \"$(", "bash -c \"$(",
                                         "/bin/sh -c \"$(", "sh -c \"$("};
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        size_t n = strlen(shells[i]);
        if (*len > n && memcmp(match, shells[i], n) == 0) {
            *len -= n;
            return match + n;
        }
    }
    return match;
}

bool installer_is_known(const char *match, size_t len) {
    match = skip_shell(match, &len);
    const char *end = match + len, *scheme = memmem(match, len, "https://", 8);
    if (!scheme || memchr(match, '$', len) || memchr(match, '\\', len)) {
        return false;
    }
    const char *address = scheme + 8;
    size_t n = address_len(address, end);
    bool lone = !memmem(address, (size_t)(end - address), "://", 3) &&
                !memmem(address, n, "..", 2) && !memchr(address, '%', n) &&
                !memchr(address, '@', n) && !memchr(address, '{', n);
    return lone && is_maker(address, n) && has_plain_words(match, scheme);
}
