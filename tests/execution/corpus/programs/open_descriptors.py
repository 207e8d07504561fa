import os

print([number for number in range(3, 300) if os.path.lexists(f"/proc/self/fd/{number}")])
print(os.open("a", os.O_CREAT | os.O_WRONLY))
