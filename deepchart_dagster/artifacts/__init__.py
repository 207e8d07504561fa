"""Identity and storage of everything the pipeline makes.

canonical   canonical JSON, content hashes, versioned input keys
files       atomic writes: temporary name, fsync, rename
bounded_json
            JSON that somebody else wrote, read within bounds
results     one result.json an instance: status, key and its parts, output hashes
store       where results lie, reuse, partition manifests, data versions
inputs      results of the steps before, read only while they are what the step left
interrupts  a request to end cancels what runs, in order
steps       a partition's instances computed once each, errors kept apart from failures
evidence    what is known of an image, by the hash of its bytes (pages it shows, data it draws)
"""
