"""What an instance is, where its parts lie, and how benchmarks come in.

model       queries, references, splits, instances
documents   raw PDFs registered by content hash
state       J: its two sides under the names that models use, and whether it is valid; J in a program
numbers     which leaves of J or of a reference are numbers, the paper's rule
drawn       what a chart draws, in one JSON shape
pipe_tables rows of markdown tables
library     the benchmarks in a storage root: read, listed, selected
importers   the project's own folder layout, and a clone of the published benchmark
mini        the built-in mini benchmark, one folder a query, drawn as PDFs
"""
