import os
import tempfile

folder = tempfile.TemporaryDirectory()
kept = tempfile.NamedTemporaryFile()
kept.write(b"x")
print(tempfile.gettempdir() == os.environ["TMPDIR"], os.path.dirname(folder.name) == os.environ["TMPDIR"], len(os.listdir(os.environ["TMPDIR"])))
