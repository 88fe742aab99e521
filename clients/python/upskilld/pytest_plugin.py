"""pytest's fixture `kernel`: its check(…), validate(…), kernelbench(…) and triton(…), as upskilld's, fail the test with the findings.

    def test_relu(kernel):
        kernel.validate("relu.cu", args=…, expect=…)
"""
import pytest

from .client import Client
from .errors import UpskilldError


class KernelFixture:
    def __init__(self, client):
        self.client = client

    def check(self, kernel, **params):
        return _judged(self.client.check, kernel, **params)

    def validate(self, kernel, spec=None, args=None, expect=None, **params):
        return _judged(self.client.validate, kernel, spec, args, expect, **params)

    def kernelbench(self, problem, kernel, spec=None, args=None, seed=0, **params):
        return _judged(self.client.kernelbench, problem, kernel, spec, args, seed, **params)

    def triton(self, kernel, grid, *args, expect=None, **params):
        return _judged(self.client.triton, kernel, grid, *args, expect=expect, **params)


def _judged(ask, *args, **params):
    """The result; the findings, or why there is none, are the whole of a failure."""
    try:
        result = ask(*args, **params)
        failure = None if result.ok else result.text()
    except UpskilldError as e:
        failure = str(e)
    if failure:
        pytest.fail(failure, pytrace=False)
    return result


@pytest.fixture(scope="session")
def kernel_client(pytestconfig):
    """One daemon for all tests; it reads files beneath pytest's root folder and the working folder."""
    with Client(pytestconfig.invocation_params.dir, pytestconfig.rootpath) as client:
        yield client


@pytest.fixture
def kernel(kernel_client):
    return KernelFixture(kernel_client)
