"""Holding a Python program: one keeper process per program, a fresh interpreter inside.

runtime      what all programs of a runner share on disk: keeper, hook, font list
tiers        which tiers this host has, and choosing one
container/   tier `container`: finds the engine, makes the image, keeps containers
process      starts a keeper, hands it one program, reads its report
keeper/      child side, standard library only: isolates, limits, waits, collects (runs outside the walls)
inside/      child side, seen by the program's interpreter: installs the drawing hook (runs inside the walls)
"""
