import sys

from PIL import Image, ImageDraw

picture = Image.new("RGB", (200, 100), "white")
ImageDraw.Draw(picture).rectangle((10, 10, 90, 90), fill="navy")
picture.save(sys.argv[1])
