import scipy

print(scipy.stats.norm.cdf(0.5))
print(scipy.no_such_part)
