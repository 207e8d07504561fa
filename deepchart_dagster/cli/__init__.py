"""The ``deepchart`` command: thin, one module a group of commands.

main      the entry point, light
group     the group, exit codes, errors in one line
ctrl_c    Ctrl-C before the command is known, and after its last words
narrow    what a narrow terminal is shown otherwise
common    options and output that all commands share
runs      materialising assets through Dagster in this process
"""
