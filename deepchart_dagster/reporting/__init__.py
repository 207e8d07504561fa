"""The report: one page that can be sent to somebody, made from the metrics store and the stored charts.

content   what the page shows, as values
figures   the stages' scores as bars with intervals
pictures  charts small enough to be part of the page
report    the page itself (template: report.html.j2)
"""
