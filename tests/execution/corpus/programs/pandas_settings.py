import pandas as pd
print(pd.get_option('display.width'), pd.options.mode.copy_on_write)
print(pd.DataFrame({'a': range(70)}))
