"""What is fresh, what is stale, and why. Derived from files and hashes, never from what a run claimed.

graph    the assets' order, partitions and upstream assets, as the domain knows them
status   model × split × stage: fresh, stale, missing, partial, failed
why      the parts of a key that changed, old and new
verify   stored files against the hashes of their results
"""
