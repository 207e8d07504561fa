"""models.yaml and judges.yaml: which models exist, how they are reached, what they cost.

A slug is a Dagster partition key and a folder name; the provider's own name lives in ``litellm_model``.
Prices, concurrency and time-outs change no output and are in no key.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from deepchart_dagster.benchmark.model import Modality

SCRIPTED_PREFIX = "scripted/"


class Prices(BaseModel):
    """US dollars per million tokens; None where unknown (never 0 for that reason)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_per_million: float | None = Field(default=None, ge=0)
    output_per_million: float | None = Field(default=None, ge=0)


class ModelSpec(BaseModel):
    """One entry of models.yaml or judges.yaml.

    parameters     provider parameters sent with every call (reasoning_effort: low); part of every key
    context_window tokens of input and output together, as the provider states it
    benchmarks     the benchmarks this model can be asked about; empty: all (scripted models know only mini)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    slug: str
    litellm_model: str
    name: str = ""
    family: str = "other"
    protocols: tuple[Modality, ...] = (Modality.TEXT,)
    context_window: int = Field(default=128_000, gt=0)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    prices: Prices = Prices()
    concurrency: int = Field(default=4, ge=1, le=1024)
    timeout_s: float = Field(default=600.0, gt=0)
    max_image_chunks: int | None = Field(default=None, gt=0)
    api_base: str | None = None
    benchmarks: tuple[str, ...] = ()

    @property
    def scripted(self) -> bool:
        """A program in place of a model; its results are called scripted wherever they appear."""
        return self.litellm_model.startswith(SCRIPTED_PREFIX)

    def speaks(self, modality: Modality) -> bool:
        return modality in self.protocols

    def knows(self, benchmark: str) -> bool:
        return not self.benchmarks or benchmark in self.benchmarks
