from matplotlib import font_manager

print(len(font_manager.fontManager.ttflist), font_manager.findfont("DejaVu Sans"), font_manager.findfont("No Such Font"))
