import pytest
import torch

import fused_norm


@pytest.mark.parametrize("shape", [(1, 32), (7, 100), (64, 4096)])
def test_rms_norm_agrees_with_its_definition(shape):
    x = torch.randn(shape, device="cuda")
    weight = torch.randn(shape[-1], device="cuda")
    expected = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight
    torch.testing.assert_close(fused_norm.rms_norm(x, weight), expected)
