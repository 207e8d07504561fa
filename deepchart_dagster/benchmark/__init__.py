"""What an instance is, where its parts lie, and how benchmarks come in.

model       queries, references, splits, instances
documents   raw PDFs registered by content hash
library     the benchmarks in a storage root: read, listed, selected
importers   the project's own folder layout, and a clone of the published benchmark
mini        the built-in mini benchmark, one folder a query, drawn as PDFs
"""
