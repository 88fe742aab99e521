#include "skills/check/safety_patterns.h"
#include "base/mem.h"
#include "skills/check/safety_download.h"
#include "skills/check/safety_installers.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define SHELL                                                                            \
    "(?:sudo\\s+(?:-\\w+\\s+)*)?(?:/bin/|/usr/bin/|/usr/bin/"                            \
    "env\\s+)?(?:ba|z|da|k|fi)?sh\\b"
/* Not where the program itself stands on the command line and the pipe is its data. */
#define INTERPRETER                                                                      \
    "(?:" SHELL "|(?:sudo\\s+)?(?:python[23]?|node|perl|ruby|php)\\b)"                   \
    "(?!\\s+-\\w*[cem]\\b|\\s+[\\w./-]+\\.(?:py|js|mjs|rb|pl|php)\\b)"
#define PIPE "\\s*\\|\\s*(?:[^\\n|]{0,80}\\|\\s*)?"
#define FETCH "\\b(?:curl|wget)\\b"
#define SECRET_FILE                                                                      \
    "(?:(?:~|\\$\\{?HOME\\}?|/root|/home/\\w+|/Users/\\w+)/"                             \
    "\\.(?:ssh|aws|gnupg|kube|netrc|docker/config"                                       \
    "|config/"                                                                           \
    "gcloud|git-credentials|npmrc|pypirc)|\\bid_(?:rsa|ed25519|ecdsa|dsa)\\b(?!\\.pub)"  \
    "|\\.aws/"                                                                           \
    "credentials|\\.netrc\\b|(?<![\\w.])\\.env\\b(?!\\.(?:example|sample|template))"     \
    "|/etc/shadow|login\\.keychain|\\bkeychain(?:-db)?\\b)"
#define SENDER                                                                           \
    "(?:requests\\.(?:post|put)|httpx\\.(?:post|put)|urllib\\.request\\.(?:urlopen|"     \
    "Request)|"                                                                          \
    "http\\.client|\\bfetch\\(|axios(?:\\.post)?\\(|XMLHttpRequest|socket\\.(?:socket|"  \
    "create_connection)"                                                                 \
    "|\\bcurl\\b[^\\n]{0,80}\\s(?:-d|-F|-T|--data\\S*|--form|--upload-file)\\b|"         \
    "\\bnc\\s+[\\w.-]+\\s+\\d)"

#define DOWNLOAD_WORDS "curl|wget|-outfile"
#define SCRIPT_SUFFIX "\\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ps1)\\b"
/* A fetch into a file; group 1 is the file's name without folders. */
#define DOWNLOAD(name)                                                                   \
    "\\b(?:(?:curl|wget)\\b[^\\n;&|]{0,300}?(?:\\s-\\w*o\\s*|\\s--output(?:-document)?[" \
    "=\\s]"                                                                              \
    "\\s*|>\\s*)|wget\\s+(?:-[a-z]+\\s+){0,5}(?=[\"']?https?:)|(?:iwr|invoke-"           \
    "webrequest)\\b"                                                                     \
    "[^\\n;&|]{0,300}?-outfile\\s+)[\"']?(?:[^\\s\"'|;&<>]*[/\\\\])?(" name              \
    ")(?:\\?[^\\s\"']*)?[\"']?(?=[\\s;&|)`]|$)[^\\n;&|`]{0,300}"

static size_t distinct_bytes(const char *s, size_t len) {
    bool seen[256] = {false};
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += !seen[(unsigned char)s[i]];
        seen[(unsigned char)s[i]] = true;
    }
    return count;
}

bool safety_holds(const char *s, size_t len, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= len; i++) {
        if (strncasecmp(s + i, word, n) == 0) {
            return true;
        }
    }
    return false;
}

/* Documentation shows tokens as "sk-ant-xxxx…" or "…EXAMPLE". */
static bool is_real_secret(const char *match, size_t len) {
    static const char *const marks[] = {"example",  "xxxx",   "your", "placeholder",
                                        "0000",     "abcdef", "1234", "secret",
                                        "redacted", "...."};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (safety_holds(match, len, marks[i])) {
            return false;
        }
    }
    return distinct_bytes(match, len) >= 12;
}

static bool is_public_address(const char *match, size_t len) {
    unsigned part[4] = {0};
    size_t n = 0;
    for (size_t i = 0; i < len && n < 4; i++) {
        if (isdigit((unsigned char)match[i])) {
            part[n] = part[n] * 10 + (unsigned)(match[i] - '0');
            if (part[n] > 255) {
                return false;
            }
        } else if (match[i] == '.') {
            n++;
        }
    }
    bool own = part[0] == 0 || part[0] == 10 || part[0] == 127 || part[0] >= 224 ||
               (part[0] == 192 && part[1] == 168) || (part[0] == 169 && part[1] == 254) ||
               (part[0] == 172 && part[1] >= 16 && part[1] < 32);
    bool document = (part[0] == 192 && part[1] == 0 && part[2] == 2) ||
                    (part[0] == 198 && part[1] == 51 && part[2] == 100) ||
                    (part[0] == 203 && part[1] == 0 && part[2] == 113);
    /* Resolvers that everybody asks. */
    bool resolver = (part[0] == 1 && part[1] == part[2] && part[1] <= 1) ||
                    (part[0] == 8 && part[1] == 8) || (part[0] == 9 && part[1] == 9);
    return !own && !document && !resolver;
}

#define RULE(code, block, where, window, words, regex, message)                          \
    { code, block, where, window, message, words, regex, NULL, NULL, NULL }
#define INSTALLS(words, regex, message)                                                  \
    {                                                                                    \
        "pipe_to_shell", true, IN_ALL, WINDOW_LINE, message, words, regex, NULL,         \
            installer_is_known, NULL                                                     \
    }
#define TOKEN(words, regex)                                                              \
    {                                                                                    \
        "secret_token", true, IN_ALL, WINDOW_LINE,                                       \
            "this looks like a real access token; revoke it", words, regex,              \
            is_real_secret, NULL, NULL                                                   \
    }
#define BLOCK true
#define WARN false

const struct safety_pattern safety_patterns[] = {
    /* --- runs what was just fetched or decoded --- */
    INSTALLS("curl|wget",
             FETCH
             "\\s+[^\\n|;]{0,300}?(?:://|\\$|\\w\\.\\w|<|localhost)[^\\n|;]{0,300}" PIPE
                 INTERPRETER,
             "runs what was downloaded without anybody having read it"),
    {"pipe_to_shell", BLOCK, IN_COMMANDS, WINDOW_LINE,
     "runs a script that was downloaded just before, without anybody having read it",
     DOWNLOAD_WORDS, DOWNLOAD("[\\w.+-]{1,80}" SCRIPT_SUFFIX), NULL, installer_is_known,
     download_runs},
    {"pipe_to_shell", BLOCK, IN_COMMANDS, WINDOW_LINE,
     "runs a script that was downloaded just before, without anybody having read it",
     DOWNLOAD_WORDS, DOWNLOAD("(?![\\w.+-]*" SCRIPT_SUFFIX ")[\\w.+-]{1,80}"), NULL,
     installer_is_known, download_is_interpreted},
    {"runs_download", WARN, IN_COMMANDS, WINDOW_LINE,
     "runs a program that was downloaded just before; compare its digest first",
     DOWNLOAD_WORDS, DOWNLOAD("(?![\\w.+-]*" SCRIPT_SUFFIX ")[\\w.+-]{2,80}"), NULL, NULL,
     download_is_program},
    INSTALLS("<(curl|<(wget|<( curl",
             "(?:" SHELL "|\\bsource|(?:^|[\\s`;&|(])\\.)\\s+<\\(\\s*(?:curl|wget)\\b",
             "runs what was downloaded without anybody having read it"),
    INSTALLS("$(curl|$(wget|`curl|`wget|$( curl",
             "(?:\\beval\\s+[\"']?|(?:" SHELL
             "|\\bpython[23]?)\\s+-\\w*c\\s+[\"']?)(?:\\$\\(|`)\\s*(?:curl|wget)\\b"
             "[^\\n)`]{0,300}",
             "evaluates what was downloaded without anybody having read it"),
    INSTALLS(
        "downloadstring|iwr|invoke-webrequest|irm|invoke-restmethod",
        "\\b(?:iex|invoke-expression)\\b[^\\n]{0,200}(?:downloadstring|\\biwr\\b|invoke-"
        "webrequest|"
        "\\birm\\b|invoke-restmethod)|(?:\\biwr\\b|invoke-webrequest|\\birm\\b|invoke-"
        "restmethod)"
        "[^\\n|]{0,300}\\|\\s*(?:iex|invoke-expression)\\b",
        "evaluates what was downloaded without anybody having read it"),
    RULE("decoded_execution", BLOCK, IN_ALL, WINDOW_LINE, "base64|xxd|openssl",
         "\\b(?:base64\\s+(?:-\\w*d\\w*|--decode|-D)|xxd\\s+-r\\S*|openssl\\s+(?:enc|"
         "base64)\\s[^\\n|]{0,60}-d)"
         "[^\\n|]{0,300}" PIPE INTERPRETER,
         "runs code that is hidden by an encoding"),
    RULE("decoded_execution", BLOCK, IN_ALL, WINDOW_LINE, "base64",
         "(?:\\beval\\s+[\"']?|" SHELL
         "\\s+-c\\s+[\"']?)(?:\\$\\(|`)[^\\n)]{0,400}base64\\s+(?:-d|--decode|-D)",
         "runs code that is hidden by an encoding"),
    RULE("decoded_execution", BLOCK, IN_COMMANDS, WINDOW_LINE,
         "b64decode|fromhex|atob(|buffer.from(",
         "\\b(?:exec|eval)\\s*\\(\\s*(?:compile\\()?\\s*(?:\\w+\\.)*(?:b64decode|fromhex|"
         "atob|Buffer\\.from)\\s*\\(|"
         "\\b(?:exec|eval)\\s*\\(\\s*__import__\\([^\\n]{0,60}b64decode",
         "runs code that is hidden by an encoding"),
    RULE("decoded_execution", BLOCK, IN_ALL, WINDOW_LINE, "powershell|pwsh",
         "\\b(?:powershell|pwsh)(?:\\.exe)?\\b[^\\n|]{0,80}\\s-e(?:c|nc|ncodedcommand)?"
         "\\s+"
         "[\"']?[A-Za-z0-9+/]{8,}",
         "runs code that is hidden by an encoding"),
    /* --- gives somebody else a shell --- */
    RULE("reverse_shell", BLOCK, IN_ALL, WINDOW_LINE, "/dev/tcp/|/dev/udp/",
         "(?:" SHELL "\\s+-i|0>&1|<&\\d)[^\\n]{0,200}/dev/(?:tcp|udp)/"
         "|/dev/(?:tcp|udp)/[^\\n]{0,120}"
         "(?:0>&1|0<&|<&1|2>&1\\s*0)",
         "opens a shell to another machine"),
    /* A connection that is opened and then used; one that is only opened is a probe. */
    RULE("reverse_shell", BLOCK, IN_ALL, WINDOW_UNIT, "/dev/tcp/|/dev/udp/",
         "\\bexec\\s+(\\d+)<>\\s*[\"']?/dev/(?:tcp|udp)/[\\s\\S]{0,1200}?[<>]&\\s*\\1\\b",
         "opens a shell to another machine"),
    RULE("reverse_shell", BLOCK, IN_ALL, WINDOW_LINE, "nc |ncat|netcat",
         "\\b(?:nc|ncat|netcat)\\b[^\\n|;]{0,120}\\s-\\w*[ec]\\s+\\S*(?:sh|bash|cmd(?:\\."
         "exe)?)\\b|"
         "\\bncat\\b[^\\n|;]{0,120}--(?:sh-)?exec\\b",
         "opens a shell to another machine"),
    RULE("reverse_shell", BLOCK, IN_ALL, WINDOW_LINE, "mkfifo|mknod",
         "\\bmk(?:fifo|nod)\\b[^\\n]{0,120}\\b(?:sh|bash)\\b[^\\n]{0,80}\\b(?:nc|ncat|"
         "netcat|telnet|openssl)\\b",
         "opens a shell to another machine"),
    RULE("reverse_shell", BLOCK, IN_ALL, WINDOW_LINE, "socat",
         "\\bsocat\\b[^\\n]{0,120}\\b(?:exec|system):['\"]?\\S*(?:ba|z)?sh\\b",
         "opens a shell to another machine"),
    RULE("reverse_shell", BLOCK, IN_ALL, WINDOW_UNIT, "dup2",
         "\\bsocket\\b[\\s\\S]{0,600}\\bdup2\\b[\\s\\S]{0,400}(?:/bin/"
         "(?:ba)?sh|pty\\.spawn|subprocess)",
         "opens a shell to another machine"),
    /* --- sends secrets away --- */
    RULE("secret_exfiltration", BLOCK, IN_ALL, WINDOW_LINE,
         "curl|wget|nc |ncat|openssl s_client",
         SECRET_FILE "[^\\n]{0,200}\\|\\s*(?:[^\\n|]{0,80}\\|\\s*)?(?:curl|wget|nc|ncat|"
                     "socat|openssl\\s+s_client)\\b",
         "sends a file with secrets over the network"),
    RULE("secret_exfiltration", BLOCK, IN_ALL, WINDOW_LINE, "curl|wget",
         FETCH "[^\\n]{0,300}\\s(?:-d|-F|-T|--data(?:-\\w+)?|--form|--upload-file|--post-"
               "file|--post-data|--body-file)"
               "[=\\s][^\\n]{0,120}(?:@|\\$\\(|`|<|\\s|=|[\"'])\\s*(?:cat\\s+|base64\\s+("
               "?:-\\w+\\s+)*)?" SECRET_FILE,
         "sends a file with secrets over the network"),
    RULE("secret_exfiltration", BLOCK, IN_ALL, WINDOW_LINE, "curl|wget",
         FETCH "[^\\n]{0,200}(?:\\$\\(|`)\\s*(?:cat|base64|head|tail|grep|xxd)\\s[^\\n)`]"
               "{0,80}" SECRET_FILE,
         "sends a file with secrets over the network"),
    RULE("secret_exfiltration", BLOCK, IN_ALL, WINDOW_LINE, "nc |ncat|netcat",
         "\\b(?:nc|ncat|netcat)\\b[^\\n]{0,120}<\\s*" SECRET_FILE,
         "sends a file with secrets over the network"),
    RULE("secret_exfiltration", BLOCK, IN_ALL, WINDOW_LINE, "scp |rsync |s3 cp|rclone",
         "\\b(?:scp|rsync|rclone\\s+copy|s3\\s+cp)\\s(?:-(?!i\\b)\\w+\\s+)*" SECRET_FILE
         "\\S*\\s+\\S*(?:\\w:|://)",
         "sends a file with secrets over the network"),
    RULE(
        "secret_exfiltration", BLOCK, IN_ALL, WINDOW_LINE, "curl|wget|nc |ncat|netcat",
        "(?<![\\w./"
        "-])(?:env|printenv)\\s*\\|\\s*(?:[^\\n|]{0,80}\\|\\s*){0,2}(?:curl|wget|nc|ncat|"
        "netcat)\\s",
        "sends the environment, secrets and all, over the network"),
    RULE("secret_exfiltration", BLOCK, IN_CODE | IN_SCRIPT, WINDOW_UNIT,
         ".ssh/|id_rsa|id_ed25519|.aws/credentials|.netrc|/etc/"
         "shadow|login.keychain|.gnupg/|.git-credentials",
         "(?:\\bopen\\s*\\(|read_text|read_bytes|readFile|Path\\(|expanduser|\\bcat\\s)[^"
         "\\n]{0,120}" HARD_SECRET "[\\s\\S]{0,2000}" SENDER,
         "reads a file with secrets and talks to the network"),
    RULE("secret_exfiltration", BLOCK, IN_PROSE | IN_FRONTMATTER, WINDOW_PARAGRAPH,
         ".ssh|.aws|.env|.netrc|keychain|id_rsa|id_ed25519|/etc/shadow",
         "(?:\\bread|\\bcollect|\\bcopy|\\bgrab|\\btake|\\bopen|\\bgather|\\bcat|"
         "\\bcontents? of|\\bfind)\\b[^.\\n]{0,80}" SECRET_FILE
         "[\\s\\S]{0,160}\\b(?:send|post|upload|exfiltrate|transmit|submit|forward|"
         "include)\\b"
         "[\\s\\S]{0,120}(?:https?://"
         "|webhook|\\bserver\\b|\\bendpoint\\b|\\battacker\\b|\\bthe url\\b|\\bquery\\b)",
         "asks for a file with secrets to be sent away"),
    /* --- secrets --- */
    {"private_key", BLOCK, IN_ALL, WINDOW_PARAGRAPH,
     "a private key; replace it everywhere it is used", "private key-----",
     "-----BEGIN (?:[A-Z]+ ){0,2}PRIVATE "
     "KEY-----\\s*(?:\\\\n)?\\s*[A-Za-z0-9+/=\\\\]{40,}",
     is_real_secret, NULL, NULL},
    TOKEN("akia|asia", "\\b(?:AKIA|ASIA)[0-9A-Z]{16}\\b"),
    TOKEN("ghp_|gho_|ghs_|ghu_|ghr_", "\\bgh[pousr]_[A-Za-z0-9]{36,}\\b"),
    TOKEN("github_pat_", "\\bgithub_pat_[A-Za-z0-9_]{50,}"),
    TOKEN("sk-ant-", "\\bsk-ant-[A-Za-z0-9_-]{32,}"),
    TOKEN("sk-proj-|sk-svcacct-", "\\bsk-(?:proj|svcacct)-[A-Za-z0-9_-]{32,}"),
    TOKEN("sk-", "\\bsk-[A-Za-z0-9]{48}\\b"),
    TOKEN("aiza", "\\bAIza[0-9A-Za-z_-]{35}"),
    TOKEN("xox", "\\bxox[baprs]-[0-9A-Za-z-]{20,}"),
    TOKEN("sk_live_|rk_live_", "\\b[sr]k_live_[0-9A-Za-z]{20,}"),
    TOKEN("hf_", "\\bhf_[A-Za-z]{34}\\b"),
    TOKEN("glpat-", "\\bglpat-[A-Za-z0-9_-]{20,}"),
    TOKEN("npm_", "\\bnpm_[A-Za-z0-9]{36}\\b"),
    /* --- acts before any model has read it --- */
    RULE("pre_model_execution", BLOCK, IN_MARKDOWN, WINDOW_LINE, "!`",
         /* What begins with a pipe or a closing bracket is no command in any shell: the
          * end of a code span with '!' in it, and the rest of a table's row. */
         "(?<![\\w`!\\])}\"'?.])!`(?!\\s*[|)])[^`\\n]+`",
         "an agent runs this command while it loads the skill, before any model has read "
         "it"),
    RULE("pre_model_execution", BLOCK, IN_MARKDOWN, WINDOW_LINE, "```!",
         "^[ \\t>]{0,12}```+!", "an agent runs this block while it loads the skill"),
    RULE("pre_model_syntax", WARN, IN_MARKDOWN, WINDOW_LINE, "!`",
         "(?<=`)!`\\w[^`\\n]{2,}`|(?<![\\w`!\\])}\"'?.])!`\\s*[|)][^`\\n]+`",
         "an exclamation mark before a code span runs it in some agents"),
    /* --- may deceive --- */
    RULE("instruction_override", WARN, IN_ALL, WINDOW_PARAGRAPH,
         "ignore|disregard|forget|override",
         "\\b(?:ignore|disregard|forget|override)\\s+(?:(?:all|any|the|your|every|of|"
         "these|those)\\s+){0,3}"
         "(?:previous|prior|earlier|above|preceding|existing|system|other)\\s+(?:(?:"
         "system|safety|user)\\s+)?"
         "(?:instructions?|prompts?|rules?|directives?|guidelines?|messages?)",
         "tries to override other instructions"),
    RULE("conceals_from_user", WARN, IN_ALL, WINDOW_PARAGRAPH,
         "tell|inform|mention|reveal|show|notify|let the user|alert",
         "\\b(?:do not|don't|never|without|must "
         "not|avoid)\\s+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|"
         "show(?:ing)?|notify(?:ing)?|alert(?:ing)?|let(?:ting)?)\\s+(?:this\\s+|it\\s+|"
         "anything\\s+)?(?:to\\s+)?the\\s+user\\b"
         "(?!\\s+(?:to|they|how|what|more\\b|less\\b|all\\b|raw\\b|unless|until|that "
         "(?:they|you))|(?<=show the user)\\s+an?\\b)",
         "asks for something to be hidden from the user"),
    RULE("system_prompt_request", WARN, IN_ALL, WINDOW_PARAGRAPH,
         "system prompt|system message",
         "\\b(?:reveal|print|repeat|output|show|leak|dump|ignore|replace|change|"
         "overwrite|modify|append to)\\s+"
         "(?:(?:all|of|your|the|its|full|entire|own)\\s+){0,3}system (?:prompt|message)",
         "reaches for the system prompt"),
    RULE(
        "remote_instructions", WARN, IN_ALL, WINDOW_PARAGRAPH, "http://|https://",
        "\\b(?:fetch|download|read|load|get(?! (?:an? )?(?:http|error)\\b)|retrieve|open|"
        "visit|follow)\\b[^.\\n]{0,80}"
        "\\b(?:instructions?|prompt|steps|commands)\\b"
        "[^.\\n]{0,60}https?://"
        "|\\b(?:fetch|download|load|retrieve|visit|open)\\b[^\\n]{0,40}https?://"
        "\\S+[^\\n]{0,60}"
        "\\b(?:and|then)\\b[^\\n]{0,30}\\b(?:follow|execute|obey|do what|run "
        "(?:it|them|whatever))\\b",
        "takes its instructions from the network at run time"),
    RULE("updates_itself", WARN, IN_ALL, WINDOW_PARAGRAPH, "skill",
         "\\b(?:update|upgrade|replace|overwrite|rewrite|re-?download|refresh)\\s+(?:"
         "this|the) skill\\b[^.\\n]{0,80}"
         "(?:automatically|itself|https?://"
         "|\\bfrom (?:the )?(?:web|net|network|internet|server|upstream|repo\\w*|git\\w*|"
         "url|source|registry|hub|marketplace|cloud|main\\b|master\\b)"
         "|every (?:time|run|day|start|session|hour|week|use)|before (?:each|every|using|"
         "running|use|you)|latest)|\\b(?:auto-?update|self-?update)\\w*\\b[^.\\n|`]{0,60}"
         "\\bskill|"
         "\\bskill\\b[^.\\n]{0,40}\\b(?:auto-?updates?|self-?updates?|updates itself)\\b|"
         "\\b(?:latest|newest) version of this skill\\b",
         "changes itself after it was checked"),
    RULE(
        "claims_every_task", WARN, IN_FRONTMATTER, WINDOW_PARAGRAPH,
        "any|every|all|always",
        "^description:[\\s\\S]{0,400}?\\b(?:(?:for|on|in|with|to|at|use (?:this "
        ")?(?:skill )?(?:for|on|in))\\s+"
        "(?:any|every|all|each)\\s+(?:and every\\s+)?(?:kinds? of\\s+|types? "
        "of\\s+|user\\s+|possible\\s+|single\\s+)?"
        "(?:tasks?|requests?|questions?|prompts?|conversations?|messages?|situations?|"
        "sessions?)\\b(?!\\s+(?:about|containing|contains?|including|includes?|involving|"
        "involves?|mention\\w*|regarding|concerning|related|relating|on|with|where|"
        "whose|in which|that (?!the user|you)))|"
        "always (?:use|load|activate|invoke) this skill(?!\\s+when))",
        "the description claims every task; an agent would load it for all of them"),
    /* --- addresses --- */
    RULE("secret_in_address", WARN, IN_CODE | IN_SCRIPT, WINDOW_LINE, "://",
         "\\bhttps?://"
         "[^\\s\"'`@]{1,200}[?&][\\w.-]{1,40}=(?:\\$\\{?|\\{(?:os\\.environ\\W{1,3}|"
         "os\\.getenv\\W{1,3}|process\\.env\\.)?)"
         "[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)\\b",
         "puts a secret into an address, where servers and logs keep it"),
    RULE("suspicious_address", WARN, IN_ALL, WINDOW_LINE, "169.254.169.254",
         "169\\.254\\.169\\.254(?![\\d.])",
         "the metadata service of a cloud, which hands out credentials"),
    {"suspicious_address", WARN, IN_ALL, WINDOW_LINE, "an address without a name", "://",
     "(?<=://)\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}(?![\\d.])", is_public_address,
     NULL, NULL},
    RULE("suspicious_address", WARN, IN_ALL, WINDOW_LINE,
         "bit.ly|tinyurl|t.co/|goo.gl|is.gd|cutt.ly|rb.gy|ow.ly|shorturl|tiny.cc",
         "\\bhttps?://"
         "(?:www\\.)?(?:bit\\.ly|tinyurl\\.com|t\\.co|goo\\.gl|is\\.gd|cutt\\.ly|rb\\.gy|"
         "ow\\.ly|shorturl\\.at|"
         "tiny\\.cc)/",
         "a shortened address hides where it leads"),
    RULE("suspicious_address", WARN, IN_ALL, WINDOW_LINE,
         "pastebin|paste.ee|hastebin|rentry|dpaste|0x0.st|transfer.sh|file.io|gofile|"
         "webhook.site|requestbin|ngrok|"
         "pipedream|oast.|burpcollaborator|interact.sh|termbin",
         "\\bhttps?://"
         "(?:[\\w-]+\\.)*(?:pastebin\\.com|paste\\.ee|hastebin\\.com|rentry\\.co|"
         "dpaste\\.(?:"
         "com|org)|0x0\\.st|transfer\\.sh|"
         "file\\.io|gofile\\.io|webhook\\.site|requestbin\\.\\w+|ngrok(?:-free)?\\.(?:io|"
         "app|dev)|pipedream\\.net|"
         "oast\\.\\w+|burpcollaborator\\.net|interact\\.sh|termbin\\.com)",
         "an address where anybody leaves or collects files"),
    RULE("interpolated_link", WARN, IN_PROSE | IN_CODE, WINDOW_LINE, "](http",
         "!\\[[^\\]\\n]{0,200}\\]\\(https?://[^)\\s]{0,300}[?&=/"
         "][^)\\s]{0,200}(?:\\{\\{|\\$\\{|\\{[a-z_]+\\}|<[a-z_]+>|%s)|"
         "\\]\\(https?://[^)\\s]{0,300}[?&=][^)\\s]{0,200}(?:\\{\\{|\\$\\{)",
         "a link or image that carries data away in its address"),
    RULE("hidden_html", WARN, IN_PROSE, WINDOW_PARAGRAPH,
         "display:none|display: none|visibility:hidden|font-size:0",
         "(?:display:\\s*none|visibility:\\s*hidden|font-size:\\s*0)[^>]{0,80}>[\\s\\S]{"
         "0,200}?"
         "\\b(?:ignore|run|execute|send|upload|download|fetch|delete|you "
         "must|always|never|do not|install|read)\\b",
         "text that a reader cannot see gives orders"),
};
const size_t safety_pattern_count = ARRAY_LEN(safety_patterns);
