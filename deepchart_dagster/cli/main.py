"""Where the ``deepchart`` command starts. Imports next to nothing: Ctrl-C ends it in order from its first moment on."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the ``deepchart`` command: leaves by SystemExit, except for an error of ours (a traceback)."""
    own_process = arguments is None
    try:
        from deepchart_dagster.cli.ctrl_c import leave_at_ctrl_c

        if own_process:
            leave_at_ctrl_c()
    except KeyboardInterrupt:
        sys.exit(130)  # ctrl_c.INTERRUPTED, which may not be there yet
    from deepchart_dagster.cli.group import run

    run(list(sys.argv[1:] if arguments is None else arguments), own_process=own_process)


if __name__ == "__main__":
    main()
