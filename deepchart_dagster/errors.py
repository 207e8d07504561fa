"""Every error the product raises on purpose.

    DeepChartError
    ├── UsageError                  the caller asked for something that cannot be (exit 2)
    │   └── ConfigurationError      a setting, models.yaml, judges.yaml (exit 2)
    ├── BenchmarkFormatError        a benchmark record or file that cannot be read (exit 2)
    ├── NoWorkPossible              nothing at all could be done (exit 3)
    └── InfrastructureError         ours, never the model's: the instance stays unscored and is retried (exit 1);
        │                           where it stops a whole command, nothing could be done (exit 3)
        ├── MissingInputError       a file that an instance needs is not there
        ├── UpstreamError           the step before has no result for this instance
        ├── DocumentError           a PDF that cannot be read
        ├── StorageError            no permission, disk full: nothing can be kept, so it ends a step
        │   └── DamagedFile         a stored file that cannot be read: the instances that need it are in error
        ├── SandboxUnavailable      no safe way to run a generated program on this host
        ├── BrowserUnavailable      no Chromium, or it would not start
        ├── BudgetReached           a model call that would have taken more money or tokens than allowed: not made
        └── ProviderError           a model call that did not produce an answer
            ├── ProviderTimeout
            ├── RateLimited
            ├── ProviderRefusedRequest   the provider rejects the request itself (bad key, unknown model)
            └── BadProviderAnswer        an answer that does not follow the protocol

A *failure* (the model's program crashed, its JSON is invalid, its chart is blank) is no exception at
all: it is a result with status ``failed`` (artifacts.results). Messages say what happened, to which
file or instance, and what to do about it.
"""

from __future__ import annotations

__all__ = [
    "BadProviderAnswer",
    "BenchmarkFormatError",
    "BrowserUnavailable",
    "BudgetReached",
    "ConfigurationError",
    "DamagedFile",
    "DeepChartError",
    "DocumentError",
    "InfrastructureError",
    "MissingInputError",
    "NoWorkPossible",
    "ProviderError",
    "ProviderRefusedRequest",
    "ProviderTimeout",
    "RateLimited",
    "SandboxUnavailable",
    "StorageError",
    "UpstreamError",
    "UsageError",
    "in_words",
]


class DeepChartError(Exception):
    """Base of all errors raised on purpose. ``exit_code``: what a command that one of these stops ends with."""

    exit_code = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class UsageError(DeepChartError):
    exit_code = 2


class ConfigurationError(UsageError):
    pass


class BenchmarkFormatError(DeepChartError):
    exit_code = 2


class NoWorkPossible(DeepChartError):
    exit_code = 3


class InfrastructureError(DeepChartError):
    exit_code = 3


class MissingInputError(InfrastructureError):
    pass


class UpstreamError(InfrastructureError):
    pass


class DocumentError(InfrastructureError):
    pass


class StorageError(InfrastructureError):
    pass


class DamagedFile(StorageError):
    pass


class SandboxUnavailable(InfrastructureError):
    pass


class BrowserUnavailable(InfrastructureError):
    pass


class BudgetReached(InfrastructureError):
    pass


class ProviderError(InfrastructureError):
    """``status`` is the HTTP status where there was one."""

    def __init__(self, message: str, *, remedy: str = "", status: int | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.status = status


class ProviderTimeout(ProviderError):
    pass


class RateLimited(ProviderError):
    """``retry_after_s`` is the provider's own wish, in seconds, where it named one."""

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy, status=status)
        self.retry_after_s = retry_after_s


class ProviderRefusedRequest(ProviderError):
    pass


class BadProviderAnswer(ProviderError):
    """``came`` is what came in place of any chat completion ("a web page"); "" where it was one in part."""

    def __init__(self, message: str, *, remedy: str = "", status: int | None = None, came: str = "") -> None:
        super().__init__(message, remedy=remedy, status=status)
        self.came = came


def in_words(validation: str) -> str:
    """What pydantic says of a value, in words for people: no "Value error", no class names of ours."""
    if validation == "Field required":
        return "is missing"
    message = validation.removeprefix("Value error, ")
    wanted = message.removeprefix("Input should be ").partition(", unable to parse")[0].partition(" or instance of")[0]
    if wanted != message:
        return f"must be {wanted.replace('a valid dictionary', 'an object')}"
    return message[:1].lower() + message[1:]
