"""Running generated programs, contained.

model        requests, limits and results as values
runner       the one way to run a program: chooses backend and sandbox tier
sandbox      Python programs: tiers, limits, reading what they left
pages        HTML programs: one Chromium, no network, local libraries
images       is this a valid chart image (decodes, size, not blank)
drawn        what a chart draws, in one JSON shape
"""
