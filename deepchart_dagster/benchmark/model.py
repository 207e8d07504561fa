"""The instance model (paper, sections 2 and 3).

A *query* is one record: an intent, the documents it is about, and its references. An *instance* is a
query × context variant; a *split* is a domain × context variant. What a source lacks is None.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class Domain(StrEnum):
    ACADEMIC = "academic"
    FINANCE = "finance"
    ECOSYSTEM = "ecosystem"


class ContextVariant(StrEnum):
    NORMAL = "normal"
    LONG = "long"
    ULTRA_LONG = "ultra-long"


class Modality(StrEnum):
    TEXT = "text"
    MULTIMODAL = "multimodal"


class CodeType(StrEnum):
    PYTHON = "python"
    HTML = "html"


class Split(StrEnum):
    """The six partitions of the benchmark, in the paper's order."""

    ACADEMIC_NORMAL = "academic-normal"
    ACADEMIC_LONG = "academic-long"
    FINANCE_NORMAL = "finance-normal"
    FINANCE_LONG = "finance-long"
    FINANCE_ULTRA_LONG = "finance-ultra-long"
    ECOSYSTEM = "ecosystem"

    @property
    def domain(self) -> Domain:
        return Domain(self.value.split("-")[0])

    @property
    def variant(self) -> ContextVariant:
        _, _, variant = self.value.partition("-")
        return ContextVariant(variant) if variant else ContextVariant.NORMAL

    @property
    def modality(self) -> Modality:
        return Modality.MULTIMODAL if self is Split.ECOSYSTEM else Modality.TEXT

    @classmethod
    def of(cls, domain: Domain, variant: ContextVariant) -> Split:
        """Raises ValueError where the benchmark has no such split (ecosystem has reports only)."""
        if domain is Domain.ECOSYSTEM:
            if variant is not ContextVariant.NORMAL:
                raise ValueError(f"the ecosystem domain has no {variant.value} context")
            return cls.ECOSYSTEM
        return cls(f"{domain.value}-{variant.value}")


# The text settings: those of the study of rendering backends (paper, section 5.4).
TEXT_SETTINGS = (Split.FINANCE_NORMAL, Split.FINANCE_LONG, Split.ACADEMIC_NORMAL, Split.ACADEMIC_LONG)


class Backend(StrEnum):
    """How the study of rendering backends asks for a chart; ``free`` leaves the choice to the model (paper, 5.4)."""

    PYTHON = "python"
    HTML = "html"
    FREE = "free"

    @property
    def code_type(self) -> CodeType | None:
        return None if self is Backend.FREE else CodeType(self.value)

    @property
    def words(self) -> str:
        """As a prompt names it."""
        return self.value if self.code_type else "Python or HTML"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class References(_Frozen):
    """Paths below the benchmark's folder, with forward slashes; None where the source has none.

    d_src is JSON, CSV or markdown; d_der is JSON. The programs take the path of their output as their
    only argument. When ``programs_are_truth`` is set (the mini benchmark), D_src, D_der and the chart
    are what the programs make when they are run.
    """

    d_src: str | None = None
    d_der: str | None = None
    stage1: str | None = None
    stage2_python: str | None = None
    stage2_html: str | None = None
    chart_image: str | None = None
    programs_are_truth: bool = False

    @field_validator("d_src", "d_der", "stage1", "stage2_python", "stage2_html", "chart_image")
    @classmethod
    def _inside(cls, path: str | None) -> str | None:
        return None if path is None else inside_benchmark(path)


class EvidenceCounts(_Frozen):
    """Scalar entries of the references, as counted by the source; None where it does not say."""

    source_values: int | None = None
    derived_values: int | None = None


class Query(_Frozen):
    """One record of a benchmark.

    context_files   variant -> files that the benchmark itself ships for it (published layout)
    evidence_hint   what the contexts room needs to build variants from raw documents: for academic
                    queries {"figure": "3", "data": "<path of the data block, markdown>"}; for finance
                    queries {"statements": ["income_statement", …]}
    """

    uid: str = Field(min_length=1, max_length=200)
    benchmark: str
    domain: Domain
    orig_id: str | None = None
    document_ids: tuple[str, ...] = ()
    query_type: str | None = None
    indicator: str | None = None
    company: str | None = None
    years: tuple[int, ...] = ()
    chart_type: str | None = None
    chart_family: str | None = None
    chart_subclass: str | None = None
    chart_purpose: str = Field(min_length=1, description="may carry {code_type}; see purpose_for")
    chart_layout: str | None = None
    code_types: tuple[CodeType, ...] = (CodeType.PYTHON,)
    modality: Modality = Modality.TEXT
    variants: tuple[ContextVariant, ...]
    context_files: dict[ContextVariant, tuple[str, ...]] = Field(default_factory=dict)
    evidence_hint: dict[str, str | list[str]] = Field(default_factory=dict)
    references: References = References()
    evidence: EvidenceCounts = EvidenceCounts()

    @field_validator("context_files")
    @classmethod
    def _files_inside(cls, files: dict[ContextVariant, tuple[str, ...]]) -> dict[ContextVariant, tuple[str, ...]]:
        return {variant: tuple(inside_benchmark(path) for path in paths) for variant, paths in files.items()}

    @model_validator(mode="after")
    def _variants_exist(self) -> Self:
        if not self.variants:
            raise ValueError("a query needs at least one context variant")
        for variant in self.variants:
            Split.of(self.domain, variant)
        return self

    @property
    def splits(self) -> tuple[Split, ...]:
        return tuple(Split.of(self.domain, variant) for variant in self.variants)

    def purpose_for(self, code_type: CodeType) -> str:
        """The chart purpose as a model reads it: the literal ``{code_type}`` is filled."""
        return self.purpose_in(code_type.value)

    def purpose_in(self, code_type: str) -> str:
        """The same where the code type is not one of ours ("Python or HTML")."""
        return self.chart_purpose.replace("{code_type}", code_type)


class Instance(_Frozen):
    """A query in one split."""

    query: Query
    split: Split

    @property
    def uid(self) -> str:
        return self.query.uid


def inside_benchmark(path: str) -> str:
    """``path`` in normal form. Raises ValueError for a path that leaves the benchmark's folder."""
    pure = PurePosixPath(path.replace("\\", "/"))
    if not path or pure.is_absolute() or ".." in pure.parts or (pure.parts and ":" in pure.parts[0]):
        raise ValueError(f"the path {path!r} leaves the benchmark's folder")
    return str(pure)
