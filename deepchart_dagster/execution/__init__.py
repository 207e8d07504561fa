"""Running generated programs, contained.

model        requests, limits and results as values
runner       the one way to run a program: chooses backend and sandbox tier
sandbox/     Python programs: tiers, limits, reading what they left
pages        HTML programs: one Chromium, no network
browser      finding a Chromium
libraries    chart libraries for pages, from a local folder
images       is this a valid chart image (decodes, size, not blank)
doctor       which tiers and which browser this host has
"""
