"""Notes what matplotlib drew (format deepchart-drawn/1, docs/architecture.md). Runs in the program's interpreter.

    recorder   the listener on savefig, and the file it writes
    figures    a figure and its axes
    marks      bars, lines, points, … of one axes
    values     numbers, dates, colours, tick labels

Nothing here may raise into the program, and nothing of the rest of the project is importable.
"""
