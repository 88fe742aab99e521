"""What can go wrong, as exceptions."""
import contextlib


class UpskilldError(Exception):
    """Anything that keeps upskilld from an answer. A kernel that is wrong is an answer, not an error."""


class DaemonError(UpskilldError):
    """The program upskilld was not found, did not start, or ended."""


class ArgumentError(UpskilldError, TypeError, ValueError):
    """What was given makes no request; the message says what is wanted instead."""


@contextlib.contextmanager
def about(what):
    """Names what an ArgumentError is about."""
    try:
        yield
    except ArgumentError as e:
        raise ArgumentError(f"{what}: {e}") from None


class RequestError(UpskilldError):
    """The daemon refused a request: `reason` is a word for programs, `hint` says what to do, if it knows."""

    def __init__(self, error):
        data = error.get("data") or {}
        self.code, self.reason, self.hint = error.get("code"), data.get("reason"), data.get("hint")
        message = error.get("message", "the request failed")
        super().__init__(f"{message} ({self.hint})" if self.hint else message)


class KernelFailed(AssertionError):
    """raise_for_findings() found some; `result` is the Check or Validation."""

    def __init__(self, result):
        self.result = result
        super().__init__(result.text())
