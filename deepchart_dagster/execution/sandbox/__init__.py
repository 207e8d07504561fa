"""Holding a Python program: behind walls, as a fork of an interpreter with its libraries or in a fresh one.

runtime      what all programs of a runner share on disk: keeper, hook, font list
tiers        which tiers this host has, and choosing one
container/   tier `container`: finds the engine, makes the image, keeps containers
imports      which libraries a program imports first: what its fork server has ready
forkservers  starts, keeps and retires fork servers, hands them programs, reads their reports
process      starts a keeper for one program in an interpreter of its own, reads its report
keeper/      child side, standard library only: isolates, limits, waits, collects (runs outside the walls)
inside/      child side, seen by the program's interpreter: installs the drawing hook, or makes it a fork server
"""
