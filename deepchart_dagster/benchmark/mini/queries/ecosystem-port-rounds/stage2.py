"""Reference chart: mean size of a round, ports ranked."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

sizes = J["der_data"]["mean_round"]
ports = sorted(sizes, key=lambda port: -sizes[port])
overall = J["der_data"]["mean_round_of_all"]

figure, axes = plt.subplots(figsize=(9.5, 5.8), dpi=120, layout="constrained")
bars = axes.bar(ports, [sizes[port] for port in ports], 0.7, color="#295e8c", label="Mean round")
axes.bar_label(bars, fmt="%.2f", padding=3, fontsize=9)
axes.axhline(overall, color="#cc7833", linestyle="--", linewidth=1.2, label=f"Mean of all rounds: {overall:.2f}")
axes.set_title("Mean size of a round of 2024 by port")
axes.set_xlabel("Port")
axes.set_ylabel("Capital per round (EUR million)")
axes.tick_params(axis="x", labelrotation=25)
axes.legend(loc="upper right", frameon=False)
axes.margins(y=0.1)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])
