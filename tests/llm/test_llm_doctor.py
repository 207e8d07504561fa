"""Which keys are needed: by name, without litellm for the models that ship, and never by value."""

from __future__ import annotations

import subprocess
import sys

import pytest

from deepchart_dagster.llm.doctor import has_provider, key_status, key_statuses, missing_key
from deepchart_dagster.llm.registry import ModelSpec, load_judges, load_models
from deepchart_dagster.settings import PROJECT_ROOT


def model(litellm_model: str) -> ModelSpec:
    return ModelSpec(slug="m", litellm_model=litellm_model)


def test_nothing_is_there_without_keys_but_the_scripted_models():
    statuses = {status.slug: status for status in key_statuses(load_models(PROJECT_ROOT / "models.yaml").values(), {})}
    assert {slug for slug, status in statuses.items() if status.present} == {
        "oracle",
        "misreads",
        "miscalculates",
        "misdraws",
        "crashes",
        "hangs",
        "truncates",
        "chatters",
    }
    assert statuses["oracle"].names == ()
    assert statuses["gpt-5.2"].remedy == "Set OPENAI_API_KEY in the environment."
    assert statuses["gemini-3-pro"].remedy == "Set GEMINI_API_KEY or GOOGLE_API_KEY in the environment."
    assert statuses["glm-4.7"].names == ("ZAI_API_KEY",)


def test_one_key_serves_every_model_of_its_provider():
    environ = {"DASHSCOPE_API_KEY": "a-secret-value"}
    judges = key_statuses(load_judges(PROJECT_ROOT / "judges.yaml").judges.values(), environ)
    present = {status.slug for status in judges if status.present}
    assert present == {"qwen3-vl-flash-2025-10-15", "qwen3.5-plus", "scripted-judge", "scripted-writer"}
    assert "a-secret-value" not in repr(judges)
    assert {status.remedy for status in judges if status.present} == {""}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("nobody/some-model", False),
        ("some-model", False),
        ("perplexity/sonar", True),
        ("hosted_vllm/x", True),
        ("scripted/oracle", True),
    ],
)
def test_a_provider_is_known_or_not(name, known):
    assert has_provider(model(name)) is known


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_either_name_will_do(name):
    assert key_status(model("gemini/gemini-3-flash-preview"), {name: "x"}).present


def test_an_empty_variable_is_no_key():
    assert not key_status(model("openai/gpt-5.2"), {"OPENAI_API_KEY": ""}).present


def test_a_provider_that_only_litellm_knows(monkeypatch):
    monkeypatch.delenv("PERPLEXITYAI_API_KEY", raising=False)
    status = key_status(model("perplexity/sonar"))
    assert (status.names, status.present) == (("PERPLEXITYAI_API_KEY",), False)
    monkeypatch.setenv("PERPLEXITYAI_API_KEY", "x")
    assert key_status(model("perplexity/sonar")).present


@pytest.mark.parametrize("api_base", [None, "http://127.0.0.1:11434"])
@pytest.mark.parametrize("provider", ["ollama", "ollama_chat", "hosted_vllm"])
def test_a_server_of_ones_own_needs_no_key(provider, api_base, monkeypatch):
    monkeypatch.delenv("OLLAMA_API_BASE", raising=False)
    local = ModelSpec(slug="m", litellm_model=f"{provider}/qwen3", api_base=api_base)
    status = key_status(local)
    assert (status.names, status.present, status.remedy) == ((), True, "")
    assert missing_key(local) == ()


def test_an_address_that_models_yaml_gives_is_not_asked_for(monkeypatch):
    for name in ("AZURE_API_BASE", "AZURE_API_VERSION", "AZURE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    azure = ModelSpec(slug="m", litellm_model="azure/gpt", api_base="https://own.openai.azure.com")
    assert key_status(azure).names == ("AZURE_API_VERSION", "AZURE_API_KEY")


def test_our_names_are_those_that_litellm_asks_for(monkeypatch):
    from deepchart_dagster.llm.litellm_library import litellm_library
    from deepchart_dagster.llm.provider_keys import KEY_NAMES

    for names in KEY_NAMES.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    for provider, names in KEY_NAMES.items():
        missing = set(litellm_library().validate_environment(model=f"{provider}/some-model")["missing_keys"])
        assert not missing or missing & set(names), provider


def test_the_shipped_models_need_no_litellm():
    code = (
        "import sys\nfrom deepchart_dagster.llm.doctor import key_statuses\n"
        "from deepchart_dagster.llm.registry import load_models\nfrom deepchart_dagster.settings import PROJECT_ROOT\n"
        "key_statuses(load_models(PROJECT_ROOT / 'models.yaml').values())\nprint('litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
