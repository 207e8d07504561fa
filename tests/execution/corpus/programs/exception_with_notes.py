error = ValueError("bad")
error.add_note("look at line 3")
raise error
