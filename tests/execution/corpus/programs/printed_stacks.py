import inspect
import sys
import traceback


def show():
    traceback.print_stack()
    print([frame.function for frame in inspect.stack()])
    print(inspect.currentframe().f_back.f_back)


show()
try:
    sys._getframe(1)
except ValueError as error:
    print(error)
