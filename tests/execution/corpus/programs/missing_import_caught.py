try:
    import plotly_no
except ImportError as error:
    print(error, error.name)
