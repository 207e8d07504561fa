"""The artifacts of the paper's pipeline as Dagster assets: thin, one module each.

An asset body opens a workbench, runs one stage and reports it. Loops over instances, concurrency, retries
and caching live in the domain (deepchart_dagster).
"""
