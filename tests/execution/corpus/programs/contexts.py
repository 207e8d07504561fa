import contextvars, threading
print(list(contextvars.copy_context()), threading.main_thread() is threading.current_thread())
