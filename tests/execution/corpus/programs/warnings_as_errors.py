import warnings

warnings.filterwarnings("error")
warnings.warn("now an error")
