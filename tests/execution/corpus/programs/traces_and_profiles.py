import cProfile
import sys

calls = []
sys.settrace(lambda frame, event, argument: calls.append(frame.f_code.co_name))


def traced():
    return 1


traced()
sys.settrace(None)
print(calls)
profile = cProfile.Profile()
print(profile.runcall(traced))
