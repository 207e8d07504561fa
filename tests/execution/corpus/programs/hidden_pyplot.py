import matplotlib
matplotlib.pyplot.figure()
