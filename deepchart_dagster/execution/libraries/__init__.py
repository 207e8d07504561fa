"""Chart libraries for pages, from a local node_modules folder: no page reaches a network.

addresses   which npm package, version and file a CDN's address asks for
packages    a node_modules folder: which file of which version answers
modules     ES modules as CDNs make them of packages (``+esm``, esm.sh, Skypack)
serving     the bytes that answer an address, and what they are
installing  getting the packages with npm, as package-lock.json names them
"""

from deepchart_dagster.execution.libraries.addresses import Asked, parse_address
from deepchart_dagster.execution.libraries.packages import LocalFile
from deepchart_dagster.execution.libraries.serving import Answer, ChartLibraries, Part

__all__ = ["Answer", "Asked", "ChartLibraries", "LocalFile", "Part", "parse_address"]
