#pragma once

#include <torch/torch.h>

void rms_norm(torch::Tensor &out, torch::Tensor const &input, torch::Tensor const &weight,
              double epsilon);
