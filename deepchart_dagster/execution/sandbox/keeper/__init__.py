"""The process that holds one program. Standard library only, relative imports only.

It is started by path, apart from the rest of the package, because it must start in milliseconds and hold no secret:

    main         reads the request, drains the program's output, keeps the time, writes the report
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
