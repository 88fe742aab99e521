#pragma once
/* cuda_document: .cu and .cuh files in an editor. */
#include "protocol/document.h"

extern const struct document_kind cuda_document_kind;
