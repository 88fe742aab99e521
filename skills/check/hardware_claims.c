#include "skills/check/hardware_claims.h"
#include "base/mem.h"
#include "skills/hardware_claims_table.h"

const size_t claim_shape_count = ARRAY_LEN(claim_shapes) - 1;

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
