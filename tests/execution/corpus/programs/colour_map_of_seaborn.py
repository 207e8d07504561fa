import matplotlib.pyplot as plt
import seaborn
print(plt.get_cmap('rocket').name)
