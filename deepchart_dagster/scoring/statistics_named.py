"""Which statistics a label names, so that it can be said which ones a prediction lacks."""

from __future__ import annotations

import re
from functools import lru_cache

# Folded labels (scoring.labelled): lower case, words apart by one blank.
_NAMES = {
    "sem": r"sems?|s e ms?|se|std err(?:or)?s?|standard errors?",
    "sd": r"sds?|stds?|st ?devs?|std devs?|standard deviations?",
    "variance": r"vars?|variances?",
    "interval": r"ci|ci ?\d*|ci low(?:er)?|ci high|ci upper|confidence|confidence intervals?",
    "p_value": r"ps?|p ?val(?:ue)?s?|significances?",
    "mean": r"means?|averages?|avg",
    "median": r"medians?",
    "quartile": r"quartiles?|iqr|percentiles?",
    "correlation": r"r|rho|pearson|spearman|correlations?|corr",
    "r_squared": r"r ?2|r ?sq|r squared|rsquared",
    "slope": r"slopes?",
    "intercept": r"intercepts?",
    "effect": r"cohen s? ?d|effect sizes?|odds ratios?|hazard ratios?",
}
_STATISTIC = re.compile("|".join(rf"(?P<{name}>\b(?:{pattern})\b)" for name, pattern in reversed(_NAMES.items())))


@lru_cache(maxsize=4096)
def statistics_named(labels: tuple[str, ...]) -> frozenset[str]:
    """Of the innermost label that names any: {"means": {"WT": …, "KO": …}} holds means, whatever WT is."""
    for label in reversed(labels):
        named = frozenset(found.lastgroup for found in _STATISTIC.finditer(label) if found.lastgroup)
        if named:
            return named
    return frozenset()
