"""No secret survives; what is no secret stays readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.llm.redaction import redact


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Incorrect API key provided: sk-proj-abcDEF123456.", "abcDEF123456"),
        ("Incorrect API key provided: zzzz9999yyyy8888.", "zzzz9999yyyy8888"),
        ("headers: {'Authorization': 'Bearer abc.def-ghi'}", "abc.def-ghi"),
        ("POST https://host/v1beta/models/m:generate?key=AIzaSyD-1234567890abc&alt=sse", "AIzaSyD-1234567890abc"),
        ("POST https://host/path?key=0123456789", "0123456789"),
        ("x-api-key: 7f3a9b2c", "7f3a9b2c"),
        ('{"api_key": "7f3a9b2c11"}', "7f3a9b2c11"),
        ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln refused", "eyJzdWIiOiIxIn0"),
        ("https://user:hunter22@host/v1 refused", "hunter22"),
        ("gsk_abcdefghijkl is revoked", "abcdefghijkl"),
        ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    ],
)
def test_what_looks_like_a_key_goes(text, secret):
    assert secret not in redact(text, {})
    assert "[redacted]" in redact(text, {})


@given(
    secret=st.text(alphabet=st.characters(codec="ascii", categories=("L", "N", "P")), min_size=8, max_size=60),
    before=st.text(max_size=20),
    name=st.sampled_from(["ZAI_API_KEY", "MY_TOKEN", "aws_secret_access", "DB_PASSWORD"]),
)
def test_the_value_of_a_variable_named_like_a_secret_goes(secret, before, name):
    assert secret not in redact(f"{before} {secret}", {name: secret}).replace("[redacted]", "")


def test_a_secret_behind_its_scheme_goes_with_it_and_is_named_once():
    assert redact("no Bearer abcdefgh-123 here", {"A_KEY": "abcdefgh-123"}) == "no [redacted] here"


def test_a_secret_that_contains_another_goes_whole():
    environ = {"A_KEY": "abcdefgh", "B_KEY": "abcdefgh-ijklmnop"}
    assert redact("it was abcdefgh-ijklmnop", environ) == "it was [redacted]"


@pytest.mark.parametrize(
    "text",
    [
        "local (openai/local-model): no answer within 600 s.",
        "Rate limit reached for gpt-5.2 on tokens per min (TPM): Limit 30000, Used 29000.",
        "This model's maximum context length is 128000 tokens; 131072 were given.",
        "k1-533d87535b9c8da57e6507862f719c2dd43e5be88332385b842b81b08b822a2c is damaged",
        "http://127.0.0.1:8000/v1 refused the connection",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text, {"SOME_KEY": "1", "OTHER_TOKEN": "true", "PATH": "/usr/bin:/bin"}) == text
