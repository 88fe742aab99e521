#include "skills/check/hardware_claims.h"
#include "base/mem.h"

#include "skills/hardware_claims_table.h"
const size_t claim_shape_count = ARRAY_LEN(claim_shapes) - 1;

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
