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

_KEPT = ("echarts", "chart.js")
# A Vega view is known to its page alone: it is noted when it is put into the page.
_LISTEN_TO_VIEWS = """
;(() => { const view = VIEW; if (!view || view.prototype.initialize.listens) return;
const start = view.prototype.initialize;
const initialize = function (...given) {
  (globalThis.__deepchartViews ??= []).push(this);
  return start.apply(this, given);
};
initialize.listens = true; view.prototype.initialize = initialize; })();
"""
# Put behind a package's script: package -> script.
LISTENERS = {"vega": _LISTEN_TO_VIEWS.replace("VIEW", "globalThis.vega && globalThis.vega.View").encode()}


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


def forwarding(source: str, address: str, package: str) -> str:
    """A module with everything that the module ``source`` at ``address`` exports: both names mean one instance.

    Libraries that tell what they drew only to who holds them are kept where page_drawn/ looks for them.
    """
    has_default = not is_module(source) or bool(_HAS_DEFAULT.search(source))
    lines = [f'export * from "{address}";']
    if has_default:
        lines.append(f'export {{ default }} from "{address}";')
    if package in _KEPT:
        lines.append(f'import * as kept from "{address}";')
        lines.append(f'(globalThis.__deepchartLibraries ??= {{}})["{package}"] = kept;')
    elif package == "vega":
        lines.append(f'import {{ View as kept }} from "{address}";\n{_LISTEN_TO_VIEWS.replace("VIEW", "kept")}')
    return "\n".join(lines)
