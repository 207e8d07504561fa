"""Models that are programs: offline, deterministic, and named as scripted wherever their results appear.

They stand behind the same litellm path as real models (a custom provider, ``scripted/<name>``) and see
only what a model would see: the messages, and for an image what the evidence store knows of its bytes.

base            what a scripted model is given, what it answers, which version of its program answers
provider        the litellm provider behind ``scripted/<name>``
oracle          answers rightly what its messages hold
misreads, miscalculates, misdraws, breaks (crashes, hangs, truncates)   each errs in one way, at a rate
chatters        answers rightly, in many words
faults          which instances are hit, and the record of what was injected
rubric_writer   questions that are true of the chart in the picture
judge           answers to such questions; anything else is "unclear"
sight           what both see of their messages
drawing         a chart as a judge would name it: panels, marks, series
forms           questions as values: text, reading back, when they hold
questions       all kinds of questions, by aspect in questions_compliance, _topology and _presentation
proposals       which questions a chart suggests
"""
