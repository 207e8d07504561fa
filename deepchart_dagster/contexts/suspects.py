"""What a PDF carries besides its pages and nobody here runs or opens: programs, other files, forms, marks."""

from __future__ import annotations

from deepchart_dagster.contexts.pdf import PdfDocument


def carried_along(pdf: PdfDocument) -> tuple[str, ...]:
    """One line for each kind, for the inspection's warnings."""
    catalog = pdf.pdf_catalog()
    warnings = []
    if _has_javascript(pdf, catalog):
        warnings.append("it holds JavaScript, which is not run")
    n_files = pdf.embfile_count()
    if n_files:
        files = "a file" if n_files == 1 else f"{n_files} files"
        warnings.append(f"it has {files} attached, not read")
    if _is_there(pdf, catalog, "AcroForm/XFA"):
        warnings.append("it is an XFA form: what a viewer would compute for its fields is not read")
    return tuple(warnings)


def _has_javascript(pdf: PdfDocument, catalog: int) -> bool:
    """As a named script, or as what happens when the document is opened, printed or closed."""
    if _is_there(pdf, catalog, "Names/JavaScript"):
        return True
    actions = ("OpenAction", "AA/WC", "AA/WS", "AA/DS", "AA/WP", "AA/DP")
    return any(pdf.xref_get_key(catalog, f"{action}/S") == ("name", "/JavaScript") for action in actions)


def _is_there(pdf: PdfDocument, catalog: int, key: str) -> bool:
    return bool(pdf.xref_get_key(catalog, key)[0] != "null")
