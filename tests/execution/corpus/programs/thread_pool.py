import json
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

with ThreadPoolExecutor(3) as pool:
    json.dump(sorted(future.result() for future in as_completed(pool.submit(pow, n, 2) for n in range(5))), open(sys.argv[1], "w"))
