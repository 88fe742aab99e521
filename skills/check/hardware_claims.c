#include "skills/check/hardware_claims.h"
#include "base/mem.h"

#define NUM "(?<![\\w.])(\\d[\\d,]*(?:\\.\\d+)?)"
#define BYTES "\\s*(kb|kib|k|kilobytes?|mb|mib|bytes)\\b"
#define SM "(?:sms?\\b|streaming[- ]multiprocessors?\\b|multiprocessors?\\b)"
#define PER_SM "\\s*(?:per|/|on each|in each|for each|on every)\\s*" SM
#define BLOCK "(?:thread[- ]?)?(?:block|cta)\\b"
#define PER_BLOCK "\\s*(?:per|/|for each|in each)\\s*" BLOCK
#define SHARED "(?:shared[- ]memory|smem|shared mem|shared(?=\\s*(?:per|/)\\s*sms?\\b))"
#define OF                                                                               \
    "\\s*(?:of\\s+)?(?:(?:on-chip|fast|configurable|dynamic|total|usable|available)\\s+" \
    ")*"
#define GAP "(?:(?!l1|regist|block|cta|thread|warp|per\\b)[^\\d.;|]){0,30}?"
#define RESIDENT                                                                         \
    "\\s*(?:(?:resident|concurrent|active|maximum|max|simultaneous|co-resident)\\s+)*"
#define MOST "(?:(?:up to|at most|a maximum of|a total of|exactly|only|as many as)\\s+)?"
#define ON_DEVICE                                                                        \
    "(?:\\s+(?:on|of|in|for)\\s+(?:the |an |a )?(?:[ah][12]00s?|hopper)(?: gpus?)?)?"
#define EACH_SM                                                                          \
    "(?:each|every|per|an|one)\\s+(?:(?:[ah][12]00|hopper)\\s+(?:sxm\\d?\\s+|pcie\\s+)?" \
    ")?" SM
#define HOLDS                                                                            \
    ON_DEVICE "\\s+(?:holds?|runs?|supports?|can hold|can run|can host|can "             \
              "have|has|have|hosts?|keeps?|"                                             \
              "provides?|offers?|contains?|comes with|allows?)\\s+" MOST
#define RATE "\\s*(tflops|tflop/s|tflops/s|tops|pflops|pflop/s|pops)\\b"
#define TENSOR_WORDS                                                                     \
    "(?:\\s*(?:/"                                                                        \
    "|,|and)\\s*(?:fp16|bf16|int8|fp8))*(?:(?!fp\\d|bf16|tf32|int\\d)[^\\d.;|]){0,30}?"
#define PEAK_OF "\\s*(?:of\\s+)?(?:(?:dense|peak|sparse|theoretical|\\(dense\\))\\s+)*"

/* "threads per SM: 2048 (64 warps)" says two things. */
#define OTHER_COUNT                                                                      \
    RESIDENT "(?:(?:thread[- ])?blocks?|ctas?|warps?|threads?|regist\\w*|sms?)\\b"
#define SHARED_SM(flags, regex)                                                          \
    { HARDWARE_SHARED_PER_SM, UNIT_BYTES, (flags), "shared|smem", regex }
#define SHARED_BLOCK(regex)                                                              \
    {                                                                                    \
        HARDWARE_SHARED_PER_BLOCK, UNIT_BYTES, CLAIM_LIMIT | CLAIM_UNBOUND,              \
            "shared|smem", regex                                                         \
    }
#define PER_SM_COUNT(quantity, noun)                                                     \
    {quantity, UNIT_NONE, CLAIM_LIMIT | CLAIM_UNBOUND, noun,                             \
     "(?<!blocks of )(?<!warps of )(?<!groups of )" NUM RESIDENT "(?:thread[- ])?" noun  \
     "s" PER_SM},                                                                        \
        {quantity, UNIT_NONE, CLAIM_UNBOUND, noun,                                       \
         noun "s" PER_SM ON_DEVICE                                                       \
              "(?:(?!l1|regist|shared|and\\b|block|thread|warp|,)[^\\d.;|]){0,20}?" NUM  \
              "(?![\\d,.]*\\d|\\s*[kmg]i?b|\\s*+(?!" noun ")" OTHER_COUNT ")"},          \
    {                                                                                    \
        quantity, UNIT_NONE, CLAIM_LIMIT, noun,                                          \
            EACH_SM HOLDS NUM RESIDENT "(?:thread[- ])?" noun "s\\b"                     \
    }
#define RATE_OF(quantity, word, type)                                                    \
    {quantity, UNIT_RATE, CLAIM_PEAK | CLAIM_BOARD | CLAIM_UNBOUND, word,                \
     "\\b" type TENSOR_WORDS NUM RATE},                                                  \
    {                                                                                    \
        quantity, UNIT_RATE, CLAIM_PEAK | CLAIM_BOARD | CLAIM_UNBOUND, word,             \
            NUM RATE PEAK_OF "(?:in |for |at )?" type "\\b"                              \
    }

const struct claim_shape claim_shapes[] = {
    {HARDWARE_SM_COUNT, UNIT_NONE, CLAIM_ASSERTS, "sms|multiprocessors",
     "(?:has|have|having|contains?|features?|with|provides?|offers?|all|the|its|:|\\(|=|"
     "'s|,|and)\\s*" MOST NUM "\\s*(?:sms\\b|streaming "
     "multiprocessors\\b|multiprocessors\\b)(?!\\s*(?:for|reserved|"
     "left|free|busy|each|per))"},
    {HARDWARE_SM_COUNT, UNIT_NONE, CLAIM_UNBOUND, "sms|multiprocessors|sm count",
     "(?:sm count|number of sms|(?<!per )\\bsms|(?<!per )streaming multiprocessors|"
     "number of (?:streaming )?multiprocessors)\\s*(?:\\([a-z "
     "/]*\\)\\s*)?(?:is|are|=|:|of)\\s*"
     "\\s*" NUM "(?!\\s*(?:[kmg]i?b|mhz|%))"},
    SHARED_SM(CLAIM_UNBOUND, NUM BYTES OF SHARED PER_SM),
    SHARED_SM(CLAIM_UNBOUND, SHARED
              "(?: capacity| size)?" PER_SM ON_DEVICE
              "(?:(?!l1|regist|block|cta|thread|warp|per\\b)[^\\d.;|]){0,30}?" NUM BYTES),
    SHARED_SM(CLAIM_UNBOUND, SHARED GAP NUM BYTES PER_SM),
    SHARED_SM(CLAIM_UNBOUND, NUM BYTES PER_SM OF SHARED),
    SHARED_SM(CLAIM_UNBOUND,
              EACH_SM HOLDS NUM BYTES OF SHARED "(?![^.;|]{0,40}\\bl1\\b)"),
    SHARED_BLOCK(NUM BYTES OF SHARED PER_BLOCK),
    SHARED_BLOCK(SHARED PER_BLOCK "[^\\d.;|]{0,30}?" NUM BYTES),
    SHARED_BLOCK(SHARED
                 "(?:(?!l1|regist|thread |warp)[^\\d.;|]){0,30}?" NUM BYTES PER_BLOCK),
    SHARED_BLOCK("(?:each|every|one|a|per|single)\\s+" BLOCK ON_DEVICE
                 "\\s+(?:can|may)\\s+(?:use|have|allocate|opt in to)\\s+" MOST NUM BYTES
                     OF SHARED),
    {HARDWARE_L1_AND_SHARED, UNIT_BYTES, CLAIM_UNBOUND, "l1",
     NUM BYTES
     "\\s*(?:of\\s+)?(?:combined |unified |configurable )*l1(?: data)?(?: cache)?\\s*"
     "(?:/|and|\\+)\\s*(?:shared|smem)"},
    {HARDWARE_L1_AND_SHARED, UNIT_BYTES, CLAIM_UNBOUND, "l1",
     "l1(?: data)?(?: cache)?\\s*(?:/|and|\\+)\\s*(?:shared(?: memory)?|smem)"
     "[^\\d.;|]{0,25}?" NUM BYTES},
    {HARDWARE_WARP_SIZE, UNIT_NONE, CLAIM_UNBOUND, "warp",
     "\\bwarp[ _]?size\\b" ON_DEVICE "(?:\\s*(?:is|are|of|=|:))*\\s*\\(?" NUM
     "(?!\\w|\\s*(?:or|to|and|-)\\s*\\d)"},
    {HARDWARE_WARP_SIZE, UNIT_NONE, CLAIM_UNBOUND, "warp",
     NUM "\\s*(?:threads|lanes)\\s*(?:per|/|in (?:a|an|each|every|one))\\s*warp\\b(?![- "
         "]?group)"},
    {HARDWARE_WARP_SIZE, UNIT_NONE, CLAIM_UNBOUND, "warp",
     "(?:threads|lanes)\\s*(?:per|/)\\s*warp\\b" ON_DEVICE "\\W{1,6}(?:is |are )?" NUM
     "\\s*[.;]?\\s*$"},
    {HARDWARE_WARP_SIZE, UNIT_NONE, CLAIM_UNBOUND, "warp",
     "\\b(?:(?:a|each|every|one|per|the)\\s+warp|warps)\\b(?![- ]?group)" ON_DEVICE
     "\\s+(?:has|have|is|are|holds?|contains?|consists? of|of|comprises?)\\s+" MOST NUM
     "\\s*(?:threads|lanes)\\b"},
    PER_SM_COUNT(HARDWARE_THREADS_PER_SM, "thread"),
    PER_SM_COUNT(HARDWARE_WARPS_PER_SM, "warp"),
    PER_SM_COUNT(HARDWARE_BLOCKS_PER_SM, "block"),
    {HARDWARE_THREADS_PER_BLOCK, UNIT_NONE, CLAIM_LIMIT, "thread",
     NUM RESIDENT "threads\\s*(?:per|/|in a|in one)\\s*" BLOCK},
    {HARDWARE_THREADS_PER_BLOCK, UNIT_NONE, CLAIM_LIMIT | CLAIM_UNBOUND, "thread",
     "threads\\s*(?:per|/)\\s*" BLOCK "\\W{1,6}" NUM "\\s*$"},
    {HARDWARE_REGISTERS_PER_SM, UNIT_NONE, CLAIM_LIMIT | CLAIM_UNBOUND, "register",
     NUM "\\s*(k)?\\s*(?:32-bit\\s+)?registers" PER_SM},
    {HARDWARE_REGISTERS_PER_SM, UNIT_NONE, CLAIM_UNBOUND, "register",
     "registers" PER_SM ON_DEVICE "\\W{1,6}(?:is |are )?" NUM
     "\\s*(k)?\\b(?!i?b\\b|\\s*+" OTHER_COUNT ")"},
    {HARDWARE_REGISTERS_PER_THREAD, UNIT_NONE, CLAIM_LIMIT | CLAIM_UNBOUND, "register",
     NUM "\\s*(?:32-bit\\s+)?registers\\s*(?:per|/)\\s*thread"},
    {HARDWARE_REGISTERS_PER_THREAD, UNIT_NONE, CLAIM_LIMIT | CLAIM_UNBOUND, "register",
     "registers\\s*(?:per|/)\\s*thread" ON_DEVICE "\\W{1,6}(?:is |are )?" NUM
     "\\s*[.;]?\\s*$"},
    {HARDWARE_L2, UNIT_BYTES, CLAIM_BOARD | CLAIM_UNBOUND, "l2",
     NUM
     "\\s*(kb|kib|mb|mib)\\s*(?:of\\s+)?(?:(?:on-chip|shared|unified|total)\\s+)*l2\\b"},
    {HARDWARE_L2, UNIT_BYTES, CLAIM_BOARD | CLAIM_UNBOUND, "l2",
     "\\bl2(?: cache)?(?: size| capacity)?(?:(?!per\\b)[^\\d.;|]){0,12}?" NUM
     "\\s*(kb|kib|mb|mib)\\b(?!/s)"},
    {HARDWARE_MEMORY, UNIT_BYTES, CLAIM_ASSERTS | CLAIM_BOARD, "gb",
     "(?:has|have|with|provides?|offers?|features?|comes "
     "with|carries|and|,|:|=|\\()\\s*" MOST NUM
     "\\s*(gb|gib)\\s*(?:of\\s+)?(?:hbm\\w*|vram|gpu memory|device memory|global memory|"
     "gpu ram)\\b(?!\\s*(?:bandwidth|per))"},
    {HARDWARE_MEMORY, UNIT_BYTES, CLAIM_BOARD | CLAIM_UNBOUND, "gb",
     "(?:hbm\\w*|vram|gpu memory|device memory|global memory|memory(?: size| capacity)?)"
     "\\s*(?:size|capacity)?\\s*(?:is|=|:|of)\\s*" NUM
     "\\s*(gb|gib)\\b(?!\\s*/\\s*s|ps)"},
    {HARDWARE_BANDWIDTH, UNIT_BANDWIDTH, CLAIM_PEAK | CLAIM_BOARD | CLAIM_UNBOUND,
     "bandwidth",
     "(?:memory|hbm\\w*|dram|peak|theoretical)(?:\\s+(?:memory|hbm\\w*|dram))*\\s+"
     "bandwidth"
     "[^\\d.;|]{0,25}?" NUM "\\s*(tb/s|gb/s|tbps|gbps)"},
    {HARDWARE_BANDWIDTH, UNIT_BANDWIDTH, CLAIM_PEAK | CLAIM_BOARD | CLAIM_UNBOUND, "b",
     NUM "\\s*(tb/s|gb/"
         "s|tbps|gbps)\\s*(?:of\\s+)?(?:(?:peak|theoretical|hbm\\w*|memory|dram)\\s+)"
         "{1,3}bandwidth"},
    {HARDWARE_BANDWIDTH, UNIT_BANDWIDTH, CLAIM_PEAK | CLAIM_BOARD | CLAIM_UNBOUND, "hbm",
     "\\bhbm\\w*\\s*(?:at|with|:|\\()\\s*" NUM "\\s*(tb/s|gb/s|tbps|gbps)"},
    {HARDWARE_BOOST_CLOCK, UNIT_CLOCK, CLAIM_PEAK | CLAIM_UNBOUND, "boost",
     "\\bboost(?:s|ed)?(?: clock| frequency)?(?: speed)?[^\\d.;|]{0,20}?" NUM
     "\\s*(mhz|ghz)"},
    {HARDWARE_BOOST_CLOCK, UNIT_CLOCK, CLAIM_PEAK | CLAIM_UNBOUND, "boost",
     NUM "\\s*(mhz|ghz)\\s*boost"},
    RATE_OF(HARDWARE_FP64, "fp64", "fp64"),
    RATE_OF(HARDWARE_FP32, "fp32", "fp32"),
    RATE_OF(HARDWARE_TF32, "tf32", "tf32"),
    RATE_OF(HARDWARE_FP16, "fp16|bf16", "(?:bf16|fp16)"),
    RATE_OF(HARDWARE_FP8, "fp8", "fp8"),
    RATE_OF(HARDWARE_INT8, "int8", "int8"),
    {HARDWARE_CUDA_CORES, UNIT_NONE, CLAIM_BOARD | CLAIM_UNBOUND, "cores",
     "\\b" NUM "\\s*(?:cuda|fp32)\\s+cores\\b(?!\\s*(?:per|/))"},
    {HARDWARE_CUDA_CORES, UNIT_NONE, CLAIM_BOARD | CLAIM_UNBOUND, "cores",
     "(?:cuda|fp32)\\s+cores\\s*(?:is|are|=|:)\\s*" NUM "(?!\\s*(?:per|/))"},
    {HARDWARE_CORES_PER_SM, UNIT_NONE, CLAIM_UNBOUND, "cores",
     NUM "\\s*(?:cuda|fp32)\\s+cores" PER_SM},
    {HARDWARE_TENSOR_CORES, UNIT_NONE, CLAIM_BOARD | CLAIM_UNBOUND, "tensor",
     "(?:has|have|with|contains?|features?|and|,|:)\\s*" NUM
     "\\s*(?:(?:fourth|third|4th|3rd)[- ]gen(?:eration)?\\s+)?tensor "
     "cores\\b(?!\\s*(?:per|/))"},
    {HARDWARE_TENSOR_CORES, UNIT_NONE, CLAIM_BOARD | CLAIM_UNBOUND, "tensor",
     "tensor cores\\s*(?:is|are|=|:)\\s*" NUM "\\s*$"},
    {HARDWARE_BANKS, UNIT_NONE, CLAIM_UNBOUND, "bank",
     SHARED "\\s*(?:has|have|is (?:divided|split|organi[sz]ed) (?:in|into|as)|consists "
            "of|:)\\s*" NUM "\\s*(?:32-bit\\s+|4-byte\\s+)?banks\\b"},
    {HARDWARE_BANKS, UNIT_NONE, CLAIM_ASSERTS, "bank",
     "(?:has|have)\\s*" NUM "\\s*" SHARED "\\s*banks\\b"},
    {HARDWARE_CLUSTER_PORTABLE, UNIT_NONE, CLAIM_UNBOUND, "portable",
     "(?<!non-)(?<!non)\\bportable\\s+(?:maximum |max )?cluster size[^\\d.;|]{0,20}?" NUM
     "\\b"},
    {HARDWARE_CLUSTER_MAX, UNIT_NONE, CLAIM_UNBOUND, "non-portable",
     "\\bnon-portable\\s+(?:maximum |max )?cluster size[^\\d.;|]{0,20}?" NUM "\\b"},
    {HARDWARE_CAPABILITY, UNIT_NONE, 0, "capability",
     "\\b[ah][12]00s?(?:\\s+(?:sxm\\d?|pcie|nvl|gpus?))*(?:'s)?\\s*(?:\\(|is|are|has|"
     "have|=|:|,)?"
     "\\s*"
     "(?:(?:an?|of|the|hopper,?|ampere,?|architecture,?|gpus? (?:of|with))\\s+)*"
     "(?:compute capability|capability)\\s*(?:is|=|:)?\\s*(\\d{1,2}\\.\\d)"},
    {HARDWARE_CAPABILITY, UNIT_NONE, CLAIM_UNBOUND, "capability",
     "^\\W*compute capability\\s*[:=]\\s*(\\d{1,2}\\.\\d)\\s*$"},
    {HARDWARE_CAPABILITY, UNIT_SM, 0, "sm_",
     "\\b[ah][12]00s?(?:\\s+(?:sxm\\d?|pcie|nvl|gpus?))*\\s*(?:\\(|is|are|=|:)\\s*"
     "(?:(?:an?|hopper,?|ampere,?|arch(?:itecture)?,?)\\s+)*sm_(\\d{2,3})a?\\b"},
};
const size_t claim_shape_count = ARRAY_LEN(claim_shapes);

const char claim_requirement[] =
    "\\s*(?:\\([^)]{0,40}\\)\\s*)?(?:(?:instructions?|copies|copy|operations?|support|"
    "hardware|"
    "arithmetic|is|are|was|were|unit|units|loads?|a|an|the|conversions?|feature)\\s+){0,"
    "4}"
    "(?:requires?|needs?|only (?:on|for|works? on|available (?:on|in|from|since))|"
    "(?:supported|available|works?) (?:only )?(?:from|since|starting (?:with|from|at))|"
    "supported only (?:on|in)|available only (?:on|in)|introduced (?:in|with|by)|new in|"
    "hopper-only|minimum)\\s*"
    "(?:(?:an?|the|at "
    "least|nvidia|gpus?|devices?|of|with|architecture|arch|target|minimum|"
    ":)\\s+){0,4}"
    "(?:(?:compute capability|capability|cc|sm)\\s*(?:of\\s+|>=\\s*|at "
    "least\\s+)?(\\d{1,2}\\.\\d)|"
    "sm_(\\d{2,3})a?|\\b(ampere|hopper|a100|h100|h200|ada)\\b)"
    "(?!\\s*(?:or|and|/|,)\\s*(?:sm_|\\d|ampere|hopper|ada|older|earlier|lower))";

const char claim_doubt[] =
    "\\b(?:wrong(?:ly)?|incorrect(?:ly)?|myths?|mistak\\w*|false(?:ly)?|contrary|"
    "claim\\w*|"
    "often (?:said|stated|repeated|quoted)|not "
    "true|untrue|outdated|confus\\w*|unlike|suppose|"
    "imagine|hypothetical\\w*|would|misread|misquoted?|if you "
    "(?:read|see)|sometimes|simulat\\w*|"
    "emulat\\w*|don't assume|do not assume|assuming|pretend)\\b|\\?\\s*$";
const char claim_usage[] =
    "\\b(?:(?<!can )(?<!may "
    ")use[sd]?|using|usage|consum\\w*|reserv\\w*|leav\\w*|remain\\w*|needs|needed|"
    "budget|"
    "allocat\\w*|(?:this|our|the|a|your|each) "
    "kernels?|request\\w*|configured|configuring|"
    "carve-?outs?|tiles?|stages?|buffers?|occup(?:y|ies|ied|ancy)|mig|slices?|"
    "partition\\w*|grids?|"
    "launch\\w*|persist\\w*|waves?|dedicat\\w*|half|idle|set "
    "aside|set-aside|fits?|working set|"
    "we|spill\\w*|limited "
    "to|target\\w*|default|cap|capped|prefer\\w*|choose|aim|free)\\b|="
    "\\s*\\d+\\s*\\*|\\d\\s*[*x\xc3]\\s*\\d";
const char claim_limit[] =
    "\\b(?:max|maximum|maximal|up to|at most|limit(?:s|ed)?|largest|opt-?in|no more than|"
    "supports?|holds?|can hold|as many as|ceiling|has|have)\\b";
const char claim_asserts[] = "\\b(?:has|have|having|contains?|features?|with|provides?|"
                             "offers?|comes|all|carries)\\b|"
                             "[:(=|]|'s\\b";
const char claim_reached[] =
    "\\b(?:achiev\\w*|measur\\w*|reach\\w*|sustain\\w*|got|gets?|hits?|effective\\w*|"
    "observ\\w*|"
    "benchmark\\w*|obtain\\w*|nvlink|nvswitch|interconnect|host|pci|network|infiniband|"
    "percent|"
    "utili[sz]\\w*|fraction|saturat\\w*|realistic\\w*|practical\\w*|speedup|baseline|"
    "ours|real|"
    "l1|l2|shared "
    "memory|smem|register|copy|memcpy|stream|roof\\w*|expect\\w*|deliver\\w*|attain\\w*|"
    "per sm|per gpc|cublas|cutlass|flash\\w*|our|we|median|average|range)\\b|%";
const char claim_only_device[] = "^\\W*(?:(?:nvidia|hopper|ampere|gpu|tensor|cores?|data|"
                                 "center|[ah][12]00s?|sxm\\d?|pcie|nvl|"
                                 "hbm\\w*|sm_\\d+a?|cc|compute|capability|\\d+(?:\\.\\d)?"
                                 "|gb|kb|mb|tb/s|gb/s|mhz|tflops)\\b\\W*)+$";
const char claim_specification[] = "\\b(?:peak|theoretical|max(?:imum)?|spec\\w*|"
                                   "hardware|architecture|limits?|comparison|"
                                   "features?|data ?sheet)\\b";
const char claim_part[] =
    "\\b(?:per|each|every|an?|one|single)\\s+(?:(?:[ah][12]00|hopper|ampere)('s)?\\s+)?"
    "(?:sxm\\d?\\s+|pcie\\s+)?(?:sm|streaming "
    "multiprocessor|gpc|tpc|block|thread|partition|slice)\\b|"
    "\\b(?:[ah][12]00|hopper)(?:'s)? sm\\b|\\beach of (?:the|its)\\b|/sm\\b|"
    "\\b(?:full (?:gh100|ga100|die|chip)|gh100|ga100|mig|two|2x|8x|nodes?|dgx|"
    "hgx|pairs?|eight|four)\\b";
const char claim_foreign[] =
    "\\b(?:gh100|ga100|v100|t4|p100|k80|rtx|geforce|b100|b200|b300|gb200|gb300|gh200|h20|"
    "h800|a800|"
    "l4|l40s?|"
    "a10g?|a30|a40|a6000|4090|3090|5090|blackwell|volta|turing|pascal|maxwell|kepler|"
    "mi\\d{3}x?|"
    "amd|rdna|cdna|intel|xpu|tpus?|jetson|orin|grace|sm_(?:[5-7]\\d|87|1\\d\\d)|"
    "capability (?:[5-7]\\.\\d|8\\.7|1\\d\\.\\d)|quadro|titan|gaudi)\\b";
