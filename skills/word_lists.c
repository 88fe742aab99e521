/* What words weigh before any index has counted them: English function words, words that
 * every second task holds, and other names of the same thing. */
#include "base/mem.h"
#include "skills/key_phrases.h"

#include <string.h>

#define GENERIC_WEIGHT 0.35

/* Both sorted, for bsearch. */
static const char *const function_words[] = {
    "a",          "about",     "above",        "across",     "after",      "afterwards",
    "again",      "against",   "ain",          "all",        "almost",     "along",
    "already",    "also",      "although",     "always",     "am",         "among",
    "an",         "and",       "another",      "any",        "anybody",    "anyone",
    "anything",   "anyway",    "are",          "aren",       "around",     "as",
    "ask",        "asked",     "asking",       "at",         "away",       "back",
    "be",         "became",    "because",      "been",       "before",     "being",
    "below",      "besides",   "better",       "between",    "both",       "but",
    "by",         "call",      "called",       "came",       "can",        "cannot",
    "cant",       "come",      "comes",        "could",      "couldn",     "couple",
    "currently",  "did",       "didn",         "do",         "does",       "doesn",
    "doing",      "don",       "done",         "down",       "during",     "each",
    "eight",      "either",    "eleven",       "else",       "enough",     "etc",
    "even",       "ever",      "every",        "everybody",  "everyone",   "everything",
    "everywhere", "exactly",   "fairly",       "far",        "few",        "fifty",
    "first",      "five",      "followed",     "following",  "follows",    "for",
    "forty",      "four",      "from",         "get",        "gets",       "getting",
    "give",       "given",     "gives",        "giving",     "go",         "goes",
    "going",      "gone",      "good",         "got",        "had",        "hadn",
    "happen",     "happened",  "happening",    "happens",    "has",        "hasn",
    "have",       "haven",     "having",       "he",         "hello",      "help",
    "helped",     "helping",   "helps",        "her",        "here",       "hers",
    "herself",    "hey",       "hi",           "him",        "himself",    "his",
    "hopefully",  "hour",      "hours",        "how",        "however",    "hundred",
    "hundreds",   "i",         "id",           "ideally",    "if",         "ill",
    "im",         "in",        "indeed",       "inside",     "instead",    "into",
    "is",         "isn",       "it",           "its",        "itself",     "ive",
    "just",       "keep",      "keeps",        "kept",       "kind",       "know",
    "known",      "last",      "later",        "least",      "less",       "let",
    "lets",       "like",      "likely",       "likes",      "little",     "look",
    "looking",    "looks",     "lot",          "lots",       "made",       "make",
    "makes",      "making",    "many",         "may",        "maybe",      "me",
    "mean",       "means",     "meanwhile",    "might",      "million",    "mine",
    "month",      "months",    "more",         "most",       "mostly",     "much",
    "must",       "my",        "myself",       "need",       "needed",     "needs",
    "neither",    "never",     "nevertheless", "next",       "nine",       "no",
    "nobody",     "none",      "nor",          "not",        "nothing",    "now",
    "of",         "off",       "often",        "ok",         "okay",       "on",
    "once",       "one",       "ones",         "only",       "onto",       "or",
    "other",      "others",    "otherwise",    "ought",      "our",        "ours",
    "out",        "outside",   "over",         "own",        "particular", "per",
    "perhaps",    "please",    "possible",     "possibly",   "probably",   "put",
    "quite",      "rather",    "re",           "really",     "right",      "said",
    "same",       "saw",       "say",          "says",       "second",     "seconds",
    "see",        "seem",      "seemed",       "seems",      "seen",       "seven",
    "several",    "shall",     "she",          "should",     "shouldn",    "show",
    "showing",    "shows",     "since",        "six",        "sixty",      "so",
    "some",       "somebody",  "somehow",      "someone",    "something",  "sometimes",
    "somewhere",  "soon",      "still",        "stuff",      "such",       "suggest",
    "sure",       "take",      "taken",        "takes",      "taking",     "tell",
    "ten",        "than",      "thank",        "thanks",     "that",       "thats",
    "the",        "their",     "theirs",       "them",       "themselves", "then",
    "there",      "therefore", "these",        "they",       "thing",      "things",
    "think",      "thirty",    "this",         "those",      "though",     "thousand",
    "thousands",  "three",     "through",      "throughout", "thus",       "till",
    "to",         "today",     "together",     "told",       "tomorrow",   "too",
    "took",       "toward",    "towards",      "tried",      "tries",      "try",
    "trying",     "twelve",    "twenty",       "two",        "under",      "unless",
    "unlike",     "until",     "unto",         "up",         "upon",       "us",
    "use",        "used",      "uses",         "using",      "usually",    "various",
    "very",       "via",       "want",         "wanted",     "wants",      "was",
    "wasn",       "way",       "ways",         "we",         "week",       "weeks",
    "well",       "went",      "were",         "weren",      "what",       "whatever",
    "when",       "whenever",  "where",        "wherever",   "whether",    "which",
    "whichever",  "while",     "who",          "whoever",    "whole",      "whom",
    "whose",      "why",       "will",         "with",       "within",     "without",
    "won",        "wonder",    "word",         "works",      "would",      "wouldn",
    "yes",        "yesterday", "yet",          "you",        "your",       "yours",
    "yourself",
};

static const char *const generic_words[] = {
    "able",        "add",        "adding",      "additional",  "app",
    "application", "apply",      "appropriate", "automatic",   "automatically",
    "bad",         "basic",      "best",        "big",         "build",
    "building",    "built",      "case",        "change",      "changed",
    "changes",     "check",      "code",        "common",      "complete",
    "contain",     "containing", "contains",    "content",     "correct",
    "correctly",   "create",     "created",     "creates",     "creating",
    "current",     "custom",     "data",        "day",         "days",
    "default",     "detail",     "details",     "difference",  "different",
    "document",    "easily",     "easy",        "edit",        "effective",
    "ensure",      "example",    "examples",    "existing",    "expert",
    "explain",     "fast",       "file",        "files",       "find",
    "fix",         "folder",     "follow",      "format",      "full",
    "general",     "generate",   "great",       "guide",       "handle",
    "hard",        "high",       "idea",        "important",   "improve",
    "include",     "includes",   "including",   "information", "input",
    "interface",   "issue",      "issues",      "item",        "items",
    "job",         "large",      "level",       "library",     "line",
    "lines",       "list",       "long",        "low",         "machine",
    "main",        "manage",     "manner",      "method",      "methods",
    "minute",      "minutes",    "multiple",    "name",        "names",
    "new",         "nice",       "number",      "old",         "open",
    "option",      "options",    "order",       "output",      "page",
    "part",        "parts",      "people",      "person",      "piece",
    "place",       "plan",       "point",       "practice",    "practices",
    "prepare",     "problem",    "problems",    "process",     "produce",
    "program",     "project",    "projects",    "proper",      "properly",
    "provide",     "question",   "quick",       "quickly",     "read",
    "ready",       "real",       "recommend",   "related",     "require",
    "required",    "requires",   "result",      "results",     "run",
    "running",     "runs",       "section",     "select",      "set",
    "sets",        "setup",      "short",       "simple",      "simply",
    "single",      "site",       "size",        "skill",       "skills",
    "small",       "software",   "solution",    "solve",       "sort",
    "source",      "specific",   "standard",    "start",       "started",
    "step",        "steps",      "stop",        "structure",   "style",
    "support",     "system",     "systems",     "task",        "tasks",
    "team",        "text",       "time",        "times",       "tool",
    "tools",       "top",        "turn",        "type",        "types",
    "understand",  "update",     "user",        "users",       "value",
    "values",      "version",    "view",        "walk",        "work",
    "workflow",    "working",    "write",       "writes",      "writing",
    "written",     "wrote",      "year",        "years",
};

/* Blank-separated names of one thing. A word may stand in several rows. */
static const char *const alias_rows[] = {
    "excel xlsx spreadsheet workbook",
    "powerpoint pptx slides slide deck presentation",
    "docx msword worddoc",
    "pdf pdfs",
    "kubernetes k8s kubectl",
    "postgres postgresql psql",
    "javascript js nodejs",
    "typescript ts",
    "python py",
    "golang go",
    "rust cargo",
    "cplusplus cpp",
    "csharp dotnet",
    "nvidia cuda gpu",
    "regex regexp",
    "database db sql",
    "repository repo",
    "authentication auth login",
    "authorization permissions",
    "configuration config",
    "documentation docs",
    "dependency dependencies deps",
    "pr mr pull",
    "ci cicd",
    "terraform iac",
    "container docker",
    "test tests testing",
    "bug debug debugging",
    "email mail",
    "photo picture image",
    "video clip footage movie",
    "audio sound",
    "chart plot graph",
    "translate translation localization i18n l10n",
    "accessibility a11y",
    "latex tex",
    "website webpage",
    "vulnerability vulnerabilities cve exploit",
    "secret secrets credential credentials password",
    "performance latency speed slow",
    "optimize optimise optimization tune faster speedup",
    "benchmark benchmarking",
    "profile profiler profiling",
    "llm gpt",
    "resume cv",
    "newsletter mailing",
    "meeting minutes transcript",
    "summary summarize summarise digest",
    "refactor restructure cleanup",
    "migrate migration upgrade",
    "monitor monitoring observability alert alerts",
    "log logs logging",
    "encrypt encryption tls",
    "schedule cron",
    "scrape scraping crawl crawler",
    "matrix matmul gemm",
    "half fp16 float16",
    "bf16 bfloat16",
    "fp8 float8",
    "hopper h100 sm90",
    "quantization quantize int8 int4",
    "commit commits",
    "rebase merge",
    "invoice billing",
    "payment payments checkout stripe",
    "paper article manuscript",
    "bibliography citation citations bibtex references",
    "ml ai",
    "deploy deployment release rollout",
    "fuzz fuzzing",
    "react jsx",
    "css stylesheet styling",
    "mobile ios android",
    "csv tabular",
    "color colour palette",
    "diagram flowchart mermaid",
    "recipe cooking",
    "trip travel itinerary",
    "speech voice tts transcription transcribe",
    "subtitle subtitles caption captions srt",
    "resize crop thumbnail",
    "etl pipeline",
    "queue kafka rabbitmq",
    "cache caching redis",
    "thread threads concurrency race",
    "memory leak leaks",
    "story fiction novel",
    "job interview hiring",
    "softmax attention",
    "reduction reduce sum",
};

static int compare(const void *key, const void *element) {
    return strcmp(key, *(const char *const *)element);
}

double word_weight(const char *word) {
    if (bsearch(word, function_words, ARRAY_LEN(function_words), sizeof *function_words,
                compare)) {
        return 0;
    }
    return bsearch(word, generic_words, ARRAY_LEN(generic_words), sizeof *generic_words,
                   compare)
               ? GENERIC_WEIGHT
               : 1;
}

/* Where `word` stands in the row, or NULL. */
static const char *find_in_row(const char *row, const char *word, size_t len) {
    for (const char *at = row; (at = strstr(at, word)); at++) {
        if ((at == row || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0')) {
            return at;
        }
    }
    return NULL;
}

size_t word_aliases(const char *word, char ret[][WORD_MAX + 1], size_t max) {
    size_t count = 0, len = strlen(word);
    for (size_t i = 0; i < ARRAY_LEN(alias_rows); i++) {
        const char *own = find_in_row(alias_rows[i], word, len);
        for (const char *at = alias_rows[i]; own && *at && count < max;) {
            size_t n = strcspn(at, " ");
            if (at != own) {
                memcpy(ret[count], at, n);
                ret[count++][n] = '\0';
            }
            at += n + (at[n] == ' ');
        }
    }
    return count;
}
