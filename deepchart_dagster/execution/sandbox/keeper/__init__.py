"""The processes that hold programs. Standard library only, relative imports only.

They are started by path, apart from the rest of the package, because they must start in milliseconds and hold no
secret:

    main         the keeper of one program: reads the request, drains its output, keeps the time, writes the report
    launcher     raises the walls around a fork server, starts and watches it
    server       the fork server: does for many programs what the keeper does for one
    interpreter  makes a fork look as an interpreter that has just started, and ends it
    streams      what a program writes to stdout and stderr
    guard        forks the program, waits for it, ends what it left behind, collects its files
    namespaces   tier `namespaces`: a private root, process table, network
    folders      tiers `landlock` and `trusted`: a fresh folder of the host
    agent        inside a container: hands one program after another to a keeper
    contained    tier `container`: a container's walls stand already
    landlock     rules on paths
    seccomp      system calls that no chart needs
    linux        the Linux calls that Python 3.11 has no name for
    request      request and report as values, and how they travel
"""
