"""What is fresh, what is stale, and why. Derived from files and hashes, never from what a run claimed.

graph    the assets' order, partitions and upstream assets, as the domain knows them
looks    one partition on its own account: its plan against what is stored
status   model × split × stage: fresh, stale, missing, partial, failed, through every hop
changes  what differs between two keys, in words
why      why the next run would compute an instance: what changed, old and new
said     what a model or a judge answered, its first lines
trace    the way of an instance from its leaderboard row to the pages of its PDFs
orphans  what is stored and belongs to nothing any more
estimate what a run would ask and cost
verify   stored files against the hashes of their results
"""
