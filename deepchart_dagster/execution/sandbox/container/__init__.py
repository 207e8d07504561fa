"""Tier `container`: programs in containers of a Docker engine, for hosts where the other safe tiers cannot be had.

engine   finds the engine, in words where there is none; removes what pipelines that died left behind
owner    which process a container belongs to, and whether that process still runs
image    what a container starts from: a skeleton that shows this machine's interpreter, or an image of the user's
box      one container: its walls, and handing it one program after another
options  what a user may set
pool     a container per program that runs at a time, used again and recycled

Inside a container run keeper/agent.py and, for each program, a keeper.
"""
