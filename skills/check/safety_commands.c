/* The table's part about commands worth a second look: warnings. */
#include "base/mem.h"
#include "skills/check/safety_patterns.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define HOME "(?:~|\\$\\{?HOME\\}?)"
#define RC_FILE "\\.(?:bashrc|zshrc|zshenv|profile|bash_profile|bash_login|zprofile)\\b"
/* What writes the file that is named next. */
#define WRITES                                                                           \
    "(?:(?<![-=])>>?|\\btee\\s+(?:-a\\s+)?|\\b(?:cp|mv|ln|install)\\s[^\\n;|&]{0,120}"   \
    "\\s)"                                                                               \
    "\\s*[\"']?"

static bool is_pinned(const char *word, size_t len) {
    return safety_holds(word, len, "==") || safety_holds(word, len, "@") ||
           memchr(word, '/', len) || memchr(word, '$', len) || memchr(word, '<', len) ||
           memchr(word, '{', len) || word[0] == '.' || safety_holds(word, len, ".whl") ||
           safety_holds(word, len, "...");
}

/* "pip install a==1 -r x.txt": every package named has its version. */
static bool installs_unpinned(const char *match, size_t len) {
    size_t i = 0;
    while (i + 7 < len && strncasecmp(match + i, "install", 7) != 0) {
        i++;
    }
    bool argument_next = false;
    for (i += 7; i < len;) {
        while (i < len && isspace((unsigned char)match[i])) {
            i++;
        }
        size_t start = i;
        while (i < len && !isspace((unsigned char)match[i])) {
            i++;
        }
        if (i == start) {
            break;
        }
        const char *word = match + start;
        if (word[0] == '-') {
            argument_next = memchr("rcefit", i - start == 2 ? word[1] : 0, 6) != NULL ||
                            safety_holds(word, i - start, "index") ||
                            safety_holds(word, i - start, "target");
        } else if (!argument_next &&
                   isalpha((unsigned char)word[word[0] == '"' || word[0] == '\'']) &&
                   !is_pinned(word, i - start)) {
            return true;
        } else {
            argument_next = false;
        }
    }
    return false;
}

static bool is_unpinned_npx(const char *match, size_t len) {
    /* name@1.2.3; a scope's own '@' stands first. */
    for (size_t i = 1; i + 1 < len; i++) {
        if (match[i] == '@' && isdigit((unsigned char)match[i + 1])) {
            return false;
        }
    }
    return true;
}

/* --- programs that are fetched to be run --- */

/* What nearly everybody runs so; a name that is none of these may be anybody's. */
static bool is_well_known(const char *name, size_t len) {
    static const char *const names[] = {
        "ruff",         "black",      "mypy",    "pytest",   "isort",  "flake8",
        "pyright",      "ty",         "tox",     "nox",      "twine",  "hatch",
        "poetry",       "pre-commit", "ipython", "jupyter",  "httpie", "mkdocs",
        "cookiecutter", "pip-audit",  "bandit",  "prettier", "eslint", "tsx",
        "vitest",       "markitdown",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) {
            return true;
        }
    }
    return false;
}

/* "uvx [--from x] x …": group of the last word is the package. */
static bool is_unknown_run(const char *match, size_t len) {
    size_t start = len;
    while (start > 0 && !isspace((unsigned char)match[start - 1]) &&
           !strchr("=\"'", match[start - 1])) {
        start--;
    }
    const char *name = match + start;
    size_t n = len - start;
    const char *at = n > 1 ? memchr(name + 1, '@', n - 1) : NULL;
    bool pinned = at && at + 1 < match + len && isdigit((unsigned char)at[1]);
    return n > 1 && !pinned && !is_well_known(name, at ? (size_t)(at - name) : n);
}

/* The reference behind "@" is a commit or a version. */
static bool is_moving_git(const char *match, size_t len) {
    const char *slash = memrchr(match, '/', len), *end = match + len;
    const char *at = slash ? memchr(slash, '@', (size_t)(end - slash)) : NULL;
    if (!at) {
        return true;
    }
    size_t hex = 0, n = (size_t)(end - at) - 1;
    while (hex < n && isxdigit((unsigned char)at[1 + hex])) {
        hex++;
    }
    bool version = n > 1 && isdigit((unsigned char)at[1 + (at[1] == 'v')]);
    return !(hex >= 7 && hex == n) && !version && n && !strchr("$<{", at[1]);
}

#define RULE(code, block, where, window, words, regex, message)                          \
    { code, block, where, window, message, words, regex, NULL, NULL, NULL }
#define WARN false

const struct safety_pattern safety_commands[] = {
    {"unpinned_package", WARN, IN_COMMANDS, WINDOW_LINE,
     "fetches and runs a package that is not widely known; name a version that was read",
     "uvx|bunx|pipx run|uv tool run|pnpm dlx|yarn dlx",
     "(?:^|[;&|(`\"]|\\$\\s)\\s*\\K(?:uvx|bunx|pipx\\s+run|uv\\s+tool\\s+run|(?:pnpm|"
     "yarn)\\s+dlx)\\s+"
     "(?:--(?!from|spec|package)[\\w-]+(?:=\\S+)?\\s+|-[a-z]\\s+)*(?:(?:--(?:from|spec|"
     "package)|-p)[=\\s]\\s*)?[\"']?@?[a-z0-9][\\w./"
     "-]*(?:@[\\w.^~-]+)?(?![\\w.@=+:<>~\\[-])",
     is_unknown_run, NULL, NULL},
    {"unpinned_package", WARN, IN_COMMANDS, WINDOW_LINE,
     "installs whatever the repository holds by then; name a commit behind an @",
     "git+http|git+ssh",
     "\\b(?:pip[23]?|pipx|uvx?|npx|npm|pnpm|yarn)\\b[^\\n;&|`]{0,120}?git\\+(?:https?|"
     "ssh)"
     "://[^\\s\"'`#;&|)]{1,300}",
     is_moving_git, NULL, NULL},
    RULE("writes_git_hooks", WARN, IN_COMMANDS, WINDOW_LINE, "core.hookspath|.git/hooks",
         "\\bgit\\s+config\\s+(?:--(?:global|system|local|add|replace-all|worktree)\\s+)*"
         "core\\.hookspath[\\s=]+(?!\\S*\\.husky)[\"']?[\\w~$./]|" WRITES
         "\\S*\\.git/hooks/|\\bchmod\\s+\\S+\\s+\\S*\\.git/hooks/"
         "|\\b(?:open|writeFile\\w*)\\s*"
         "\\([^)\\n]{0,60}\\.git/hooks/[^)\\n]{0,60}(?:[\"'][wa]|writeFile)|"
         "\\.git/hooks/[^\\n]{0,60}\\.write_text",
         "makes git run a program by itself later"),
    {"unpinned_package", WARN, IN_COMMANDS, WINDOW_LINE,
     "runs or installs whatever version is newest; name one", "npx",
     "\\bnpx\\s+(?:--?\\w+\\s+)*(?:-y|--yes)\\s+(?:-\\S+\\s+)*@?[\\w./"
     "-]+(?:@[\\w.^~-]+)?",
     is_unpinned_npx, NULL, NULL},
    {"unpinned_package", WARN, IN_COMMANDS, WINDOW_LINE,
     "installs whatever version is newest; name one", "install",
     "\\b(?:uv\\s+)?pip[23]?\\s+install\\s+[^\\n;&|`)#]{1,300}", installs_unpinned, NULL,
     NULL},
    RULE(
        "elevated_rights", WARN, IN_COMMANDS, WINDOW_LINE, "sudo",
        "(?:^|[`;&|(]|\\$\\s|#\\s)\\s*\\Ksudo\\s+[\\w/-]+|\\bwith sudo\\b|\\brun sudo\\b",
        "asks for administrator rights"),
    RULE("open_permissions", WARN, IN_COMMANDS, WINDOW_LINE, "chmod",
         "\\bchmod\\s+(?:-\\w+\\s+)*(?:0?777|a\\+rwx|ugo\\+rwx)\\b",
         "lets everybody write"),
    RULE("sets_setuid", WARN, IN_COMMANDS, WINDOW_LINE, "chmod",
         "\\bchmod\\s+(?:-\\w+\\s+)*(?:[2467][0-7]{3}|[ug]*\\+[rwx]*s)\\b",
         "lets a program run with its owner's rights"),
    RULE("skips_permissions", WARN, IN_ALL, WINDOW_LINE,
         "--dangerously-|--yolo|bypasspermissions|--allow-all-tools",
         "--dangerously-(?:skip-permissions|bypass-approvals-and-sandbox)|--yolo\\b|"
         "(?:mode\\W{1,6}|=\\s*[\"']?|\\b(?:use|set|enable|choose|pick|switch to|turn on|"
         "with)\\s+[`\"']?)bypassPermissions|--allow-all-tools",
         "switches off an agent's questions to its user"),
    RULE(
        "writes_agent_files", WARN, IN_COMMANDS, WINDOW_LINE,
        "claude|codex|cursor|agents.md|gemini",
        "(?:(?<![-=])>>?|\\btee\\s+(?:-a\\s+)?|\\b(?:cp|mv|ln|install)\\s[^\\n;|&]{0,120}"
        "\\s|\\bsed\\s+-i[^\\n;|&]{0,120}\\s)\\s*[\"']?"
        "(?:(?:~|\\$\\{?HOME\\}?)/\\.(?:claude|codex|cursor|gemini)\\b|(?:\\./"
        ")?(?:AGENTS|CLAUDE|GEMINI)\\.md\\b)|"
        "\\b(?:append|write|add|insert)\\b[^.\\n]{0,60}\\b(?:to|into)\\s+`?(?:~/"
        "\\.(?:claude|codex|cursor|gemini)\\b|"
        "(?:AGENTS|CLAUDE|GEMINI)\\.md)",
        "changes what agents are told everywhere"),
    RULE("writes_startup_files", WARN, IN_COMMANDS, WINDOW_LINE,
         "bashrc|zshrc|profile|/fish|crontab|/etc/cron|systemctl|launchctl|launchagents|"
         "autostart",
         "(?:>>?|\\btee\\s+(?:-a\\s+)?)\\s*[\"']?(?:~|\\$\\{?HOME\\}?)/"
         "\\.(?:bashrc|zshrc|profile|bash_profile|zprofile|"
         "config/fish/conf)|\\bcrontab\\s+(?:-(?!l\\b|-)|[\\w-]*[/.][\\w/.-]*\\w)|"
         "(?:^|[`;&|(]|\\$\\s)\\s*(?:sudo\\s+)?crontab\\s+\\w[\\w-]*\\s*(?:$|[`;&|)])|>>?"
         "\\s*/etc/"
         "cron|\\bsystemctl\\s+(?:--user\\s+)?enable\\b|"
         "\\blaunchctl\\s+(?:load|bootstrap)\\b|(?:>|\\bcp\\s[^\\n]{0,80})\\s*\\S*/"
         "(?:LaunchAgents|autostart)/",
         "makes something start by itself later"),
    RULE("writes_startup_files", WARN, IN_COMMANDS, WINDOW_LINE,
         "/systemd/|/etc/|schtasks|currentversion\\run|register-scheduledtask",
         WRITES
         "(?:" HOME "/\\.config/systemd/user/|/(?:etc|lib|usr/lib)/systemd/(?:system|"
         "user)/|/etc/(?:cron\\.|profile|init\\.d/|rc\\.local|ld\\.so\\.preload))|"
         "\\bschtasks\\s+/create\\b|\\breg\\s+add\\s[^\\n]{0,80}currentversion\\\\run\\b"
         "|\\bregister-scheduledtask\\b",
         "makes something start by itself later"),
    RULE("writes_startup_files", WARN, IN_COMMANDS, WINDOW_LINE,
         "bashrc|zshrc|zshenv|profile|bash_login",
         "\\bsed\\s+-i[^\\n;|&]{0,160}\\s[\"']?" HOME "/" RC_FILE
         "|(?<![-=])>>?\\s*[\"']?" HOME "/\\.(?:zshenv|bash_login)\\b"
         "|\\b(?:append|write)FileSync\\s*\\([^\\n]{0,80}/" RC_FILE
         "|\\bopen\\s*\\([^\\n]{0,80}/" RC_FILE "[^\\n]{0,20},\\s*[\"'][wa]",
         "makes something start by itself later"),
    RULE("grants_access", WARN, IN_COMMANDS, WINDOW_LINE, "authorized_keys|sudoers",
         WRITES "\\S*(?:\\.ssh/authorized_keys|/etc/sudoers)",
         "lets somebody in, or act as administrator, from then on"),
    RULE("destructive_command", WARN, IN_COMMANDS, WINDOW_LINE, "rm |mkfs|:(|dd ",
         "\\brm\\s+-(?:\\w*r\\w*f|\\w*f\\w*r)\\w*\\s+(?:--no-preserve-root\\s+)?(?:/|~/"
         "?|\\$\\{?HOME\\}?/?|/\\*)(?=\\s|$|`|;|\")|"
         "\\bmkfs(?:\\.\\w+)?\\s+/dev/|\\bdd\\s[^\\n]{0,80}of=/dev/"
         "(?:sd|nvme|hd)|:\\(\\)\\s*\\{\\s*:\\|:&\\s*\\};:",
         "destroys data beyond the project"),
};
const size_t safety_command_count = ARRAY_LEN(safety_commands);
