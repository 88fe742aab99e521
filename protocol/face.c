#include "protocol/face.h"

const struct face_settings face_settings_default = {
    .tool_wait_ms = 20000,
    .progress_ms = 5000,
    .debounce_ms = 60,
    .max_documents = 256,
    .max_document_bytes = 4u << 20,
    .max_open_bytes = 64u << 20,
    .max_tool_text = 40000,
};
