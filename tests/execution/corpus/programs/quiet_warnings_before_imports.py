import warnings

warnings.filterwarnings("ignore")
import pandas as pd

print(len(warnings.filters), warnings.filters[0][0], pd.Series([1, 2]).sum())
