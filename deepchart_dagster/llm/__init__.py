"""Asking models, once and traceably.

model       requests and answers as values
registry    models.yaml and judges.yaml
client      calls through litellm: time-outs, retries, response cache, call ledger
cache       content-addressed answers on disk
ledger      one row an attempt: tokens, price, seconds, error class
scripted    models, a rubric writer and a judge that are programs, behind the same litellm path
"""
