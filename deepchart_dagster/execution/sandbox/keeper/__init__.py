"""The processes that hold programs. Standard library only, relative imports only.

They are started by path, apart from the rest of the package, because they must start in milliseconds and hold no
secret:

    main         the keeper of one program: reads the request, drains its output, keeps the time, writes the report
    launcher     raises the walls around a fork server, starts and watches it
    server       the fork server: does for many programs what the keeper does for one
    forks        the process that the server has fork
    places       the namespaces that the server furnishes for a program
    interpreter  makes a fork look as an interpreter that has just started, and ends it
    warmup       what most programs do, done once before they start
    arenas       where the objects of libraries lie in memory
    pages        which of that memory a fork writes to, copied at once
    streams      what a program writes to stdout and stderr
    guard        starts the program with its limits, and says what it left
    place        the folders of a program, and what lies in them before it starts
    processes    those below a guard: who they are, what they use, their end
    files        what a program left on disk: read, counted, removed
    namespaces   tier `namespaces`: a private root, process table, network
    folders      tiers `landlock` and `trusted`: a fresh folder of the host
    agent        inside a container: hands one program after another to a keeper
    contained    tier `container`: a container's walls stand already
    landlock     rules on paths
    seccomp      system calls that no chart needs
    linux        the Linux calls that Python 3.11 has no name for
    request      request and report as values, and how they travel
"""
