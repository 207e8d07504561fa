import sys

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

figure = Figure(figsize=(4, 3))
FigureCanvasAgg(figure)
figure.add_subplot().plot([1, 4, 9])
figure.savefig(sys.argv[1])
