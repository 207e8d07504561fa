"""Reference chart: capital for each employee, ranked."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

values = {company: facts["EUR million per employee"] for company, facts in J["der_data"].items()}
companies = sorted(values, key=lambda company: values[company])

figure, axes = plt.subplots(figsize=(9, 6), dpi=120, layout="constrained")
bars = axes.barh(companies, [values[company] for company in companies], color="#295e8c", label="Capital per employee")
axes.bar_label(bars, fmt="%.2f", padding=4, fontsize=9)
axes.set_title("Deep-tech companies with the most capital per employee")
axes.set_xlabel("Total raised per employee (EUR million)")
axes.set_ylabel("Company")
axes.margins(x=0.1, y=0.02)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])
