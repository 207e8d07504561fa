import builtins
del builtins.open
open('x')
