import concurrent
import importlib
import xml

for holder, name in ((importlib, "util"), (importlib, "machinery"), (xml, "dom"), (concurrent, "futures")):
    print(name, hasattr(holder, name))
