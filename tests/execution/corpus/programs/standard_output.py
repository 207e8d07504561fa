import sys

for stream in (sys.stdout, sys.stderr):
    print(stream, stream.line_buffering, stream.write_through, stream.errors, stream.seekable(), stream.buffer, stream is getattr(sys, f"__{stream.name[1:-1]}__"))
print("é ∑ \udcff")
sys.stderr.write("no newline")
