import io
import sys

import matplotlib.pyplot as plt
from PIL import Image

plt.plot([1, 2])
buffer = io.BytesIO()
plt.savefig(buffer, format="png")
picture = Image.open(buffer).convert("RGB").resize((320, 240))
picture.save(sys.argv[1])
