"""Models that are programs: offline, deterministic, and named as scripted wherever their results appear.

They stand behind the same litellm path as real models (a custom provider, ``scripted/<name>``) and see
only what a model would see: the messages, and for an image what the evidence store knows of its bytes.
"""
