"""Reference: total raised for each employee, the twelve highest of the company list. EUR million and people."""

import json
import sys
from pathlib import Path

SRC = {
    "Aldergate Photonics": {"total_raised": 64.2, "headcount": 118},
    "Arcwell Power": {"total_raised": 142.5, "headcount": 364},
    "Auroral Sensing": {"total_raised": 17.8, "headcount": 41},
    "Basalt Energy": {"total_raised": 58.6, "headcount": 73},
    "Brinewise": {"total_raised": 6.4, "headcount": 19},
    "Calyx Enzymes": {"total_raised": 187.3, "headcount": 291},
    "Coldbox Labs": {"total_raised": 93.7, "headcount": 86},
    "Deepnote Acoustics": {"total_raised": 22.9, "headcount": 57},
    "Driftline Subsea": {"total_raised": 71.4, "headcount": 163},
    "Eider Robotics": {"total_raised": 26.3, "headcount": 68},
    "Fathom Grid": {"total_raised": 128.9, "headcount": 207},
    "Ferrolite": {"total_raised": 19.5, "headcount": 62},
    "Fjordchip": {"total_raised": 48.1, "headcount": 94},
    "Glasswing Optics": {"total_raised": 83.4, "headcount": 132},
    "Hoarfrost Quantum": {"total_raised": 214.6, "headcount": 178},
    "Isobar Medical": {"total_raised": 156.8, "headcount": 243},
    "Juniper Cells": {"total_raised": 612.5, "headcount": 1384},
    "Kestrel Orbit": {"total_raised": 77.2, "headcount": 109},
    "Lodestone Imaging": {"total_raised": 52.3, "headcount": 88},
    "Meridian Speech": {"total_raised": 171.9, "headcount": 226},
    "Moraine Mining": {"total_raised": 43.6, "headcount": 147},
    "Nettle Bio": {"total_raised": 88.5, "headcount": 104},
    "Northlight Fabs": {"total_raised": 133.4, "headcount": 312},
    "Ostrea Pumps": {"total_raised": 21.7, "headcount": 75},
    "Permafrost Data": {"total_raised": 16.9, "headcount": 28},
    "Quillwork": {"total_raised": 66.8, "headcount": 97},
    "Rimefall": {"total_raised": 39.2, "headcount": 83},
    "Saltire Carbon": {"total_raised": 97.6, "headcount": 121},
    "Selkie Marine": {"total_raised": 7.9, "headcount": 23},
    "Skerry Wave": {"total_raised": 24.4, "headcount": 49},
    "Thistledown": {"total_raised": 149.2, "headcount": 185},
    "Umbra Vision": {"total_raised": 61.5, "headcount": 136},
    "Vantage Cryo": {"total_raised": 72.8, "headcount": 92},
    "Yarrow Materials": {"total_raised": 31.7, "headcount": 53},
}

ratios = {company: facts["total_raised"] / facts["headcount"] for company, facts in SRC.items()}
highest = sorted(ratios, key=lambda company: ratios[company], reverse=True)[:12]
DER = {company: {"EUR million per employee": ratios[company]} for company in highest}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
