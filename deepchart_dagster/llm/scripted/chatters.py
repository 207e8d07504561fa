"""The scripted model ``chatters``: the oracle's program in an answer full of other things. It scores as the oracle.

Parameters (models.yaml): ``rate`` and ``seed`` (llm.scripted.faults) say which instances are answered so. Around the
program stand prose, a block of shell commands before and after, and a block of Python that is a sketch and no answer.
"""

from __future__ import annotations

from deepchart_dagster.llm.scripted import oracle
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.faults import FAULTS_VERSION, Dice, FaultParameters, record
from deepchart_dagster.llm.scripted.oracle import Task, answer_by, program_of, solve
from deepchart_dagster.llm.scripted.recipes import recipes_hash

NAME = "chatters"
# Changes with what is said around a program.
VERSION = f"1, faults {FAULTS_VERSION}, oracle {oracle.VERSION}"

_ANSWER = """Happy to help! Let me first recall what is asked, then sketch the idea, then write it down.

You may need this once:

```bash
python -m pip install matplotlib
```

In a nutshell the program will do something like this (a sketch only, import nothing from it):

```python
data = read_the_documents()  # as I did above
print("sketch:", data)
```

And here is the complete program:

```python
{program}
```

Run it with the path of the output as its only argument:

```bash
python program.py out
```

Let me know if you would like other colours, a log scale, or `float` instead of `int`!
"""

Parameters = FaultParameters


def followed_files_hash() -> str:
    return recipes_hash()


def answer(request: ScriptedRequest) -> ScriptedReply:
    return answer_by(_solve, request)


def _solve(task: Task) -> ScriptedReply:
    dice = Dice.of(NAME, Parameters, task)
    if not dice.hit:
        return solve(task)
    record(task, dice, "chatter")
    return ScriptedReply(_ANSWER.format(program=program_of(task)))
