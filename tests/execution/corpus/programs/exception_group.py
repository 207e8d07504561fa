raise ExceptionGroup("several", [ValueError("one"), TypeError("two"), ExceptionGroup("more", [KeyError("three")])])
