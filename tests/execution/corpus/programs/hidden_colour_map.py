import matplotlib.pyplot as plt
plt.get_cmap('rocket')
