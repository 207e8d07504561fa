"""Asking models, once and traceably.

model            requests and answers as values
registry         models.yaml and judges.yaml (read strictly by yaml_file)
client           what the stages call: response cache, single flight, retries, call ledger
cache            content-addressed answers on disk
misses           why an answer is not among them
ledger           one row an attempt: tokens, price, seconds, error class
in_flight        the calls that are being made just now
budget           money and tokens that calls may take (counting, usage_history)
retry            the one retry policy
pace             how many calls at once: fewer where a provider refuses; places, of a provider, for all processes
litellm_call     one call: what is sent, what came back, whole or streamed (messages by wire)
litellm_library  litellm, imported late, quiet and offline
provider_errors  what litellm raises, as errors of ours, without secrets (redaction)
event_loop       what belongs to one event loop: concurrency, HTTP clients
doctor           which keys are needed, and whether they are there
scripted         models, a rubric writer and a judge that are programs, behind the same litellm path
"""
