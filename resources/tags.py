"""Tags of runs, as the list of runs shows them."""

HOST_TAG = ".dagster/deepchart_host"  # this beginning keeps it out of the list of runs
CALLS_TAG = "deepchart/calls"
PRICE_TAG = "deepchart/price_usd"
UNKNOWN_PRICE_TAG = "deepchart/price_unknown"
# A run that repeats another begins with that one's tags.
COST_TAGS = (CALLS_TAG, PRICE_TAG, UNKNOWN_PRICE_TAG)
