"""The ``deepchart`` command: thin, one module a group of commands.

main      the group, exit codes, errors in one line
common    options and output that all commands share
runs      materialising assets through Dagster in this process
"""
