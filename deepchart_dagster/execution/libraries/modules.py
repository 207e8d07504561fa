"""ES modules of local packages: imports between packages become addresses that are answered here.

CDNs that serve modules (jsDelivr's ``+esm``, esm.sh, Skypack) rewrite the imports of a package. So does this: a bare
``import "d3-array"`` becomes the address of the file that Node would find. A package without ES modules is wrapped,
with what it exports as the default export; its names can then not be imported one by one, as on those CDNs.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_IMPORT = re.compile(r"""(?P<before>(?:\bfrom|\bimport)\s*\(?\s*)(?P<quote>["'])(?P<name>[^"'\n\\]{1,300})(?P=quote)""")
_IS_MODULE = re.compile(
    r"(?:^|[;}\s])(?:export\s*[{*]|export\s+(?:default|const|function|class|let|var|async)\b)", re.M
)
_HAS_IMPORT = re.compile(r"""(?:^|[;}\s])import\s*(?:[\w{*"'])""", re.M)
_HAS_DEFAULT = re.compile(r"\bexport\s+default\b|\bas\s+default\b")

_WRAPPED = """const module = {{ exports: {{}} }}, exports = module.exports, define = undefined;
(function (module, exports, define) {{
{source}
}}).call(globalThis, module, exports, define);
export default module.exports;
"""


def is_module(source: str) -> bool:
    """Whether a script's text is an ES module."""
    return bool(_IS_MODULE.search(source) or _HAS_IMPORT.search(source))


def as_module(source: str, address_of: Callable[[str], str | None]) -> str:
    """``source`` as an ES module; ``address_of`` says where a bare import is answered, None: leave it as it is."""
    if not is_module(source):
        return _WRAPPED.format(source=source)

    def resolved(found: re.Match[str]) -> str:
        name = found["name"]
        address = None if name.startswith((".", "/")) or ":" in name else address_of(name)
        return found.group() if address is None else f"{found['before']}{found['quote']}{address}{found['quote']}"

    return _IMPORT.sub(resolved, source)


def forwarding(source: str, address: str) -> str:
    """A module with everything that the module ``source`` at ``address`` exports: both names mean one instance."""
    has_default = not is_module(source) or bool(_HAS_DEFAULT.search(source))
    lines = [f'export * from "{address}";']
    if has_default:
        lines.append(f'export {{ default }} from "{address}";')
    return "\n".join(lines)
