"""A provider that sends a call on to another host is not followed.

The HTTP library takes ``Authorization`` away before it asks another host, but no other header: a key in ``x-api-key``
or ``x-goog-api-key`` would be given to whoever the answer names, and documents and questions would be in any case.
"""

from __future__ import annotations

import importlib
from typing import Any

from deepchart_dagster.errors import ProviderRefusedRequest

# The library's own clients have no switch for this: each asks this method which headers the next host is sent.
_METHOD = "_redirect_headers"
_LIBRARIES = ("httpx", "httpx2")
_MARK = "deepchart_stays_on_its_host"


def stay_on_the_host() -> None:
    """From now on, redirects of this process's HTTP clients to another host raise ProviderRefusedRequest."""
    for library in _LIBRARIES:
        try:
            client = importlib.import_module(f"{library}._client").BaseClient
        except ImportError:
            continue
        original = getattr(client, _METHOD)
        if not hasattr(original, _MARK):
            setattr(client, _METHOD, _guarded(original))


def _guarded(original: Any) -> Any:
    def headers(self: Any, request: Any, url: Any, method: str) -> Any:
        elsewhere = url.host != request.url.host or (request.url.scheme == "https" and url.scheme != "https")
        if elsewhere and request.method == "POST":  # files are fetched from other hosts by right
            raise ProviderRefusedRequest(
                f"{request.url.scheme}://{request.url.host} sends the call on to {url.scheme}://{url.host}, which is "
                "not followed: the key would go there.",
                remedy="Where that is right, name it as api_base of this model.",
            )
        return original(self, request, url, method)

    setattr(headers, _MARK, True)
    return headers
