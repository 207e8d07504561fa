"""Reference chart: ports by jobs for each company and capital for each job, sized by companies."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

ports = [port for port in J["der_data"] if "companies" in J["src_data"].get(port, {})]
jobs = [J["der_data"][port]["jobs_per_company"] for port in ports]
capital = [J["der_data"][port]["capital_per_job_thousand"] for port in ports]
companies = [J["src_data"][port]["companies"] for port in ports]

figure, axes = plt.subplots(figsize=(9.5, 6.5), dpi=120, layout="constrained")
axes.scatter(jobs, capital, s=[8 * n for n in companies], color="#295e8c", alpha=0.45, label="Port (area: companies)")
for port, x, y, n in zip(ports, jobs, capital, companies, strict=True):
    axes.annotate(
        f"{port} ({n:.0f})", (x, y), (0, 4 + (8 * n) ** 0.5 / 2), textcoords="offset points", ha="center", fontsize=9
    )
axes.set_title("Jobs and capital of ports, with the number of companies")
axes.set_xlabel("Jobs per company")
axes.set_ylabel("Capital of 2024 per job (EUR thousand)")
axes.margins(0.14)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.11), frameon=False, markerscale=0.5)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])
