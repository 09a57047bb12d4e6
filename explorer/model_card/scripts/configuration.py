from explorer.ui.scripts.start import model

for name, value in sorted(model.config.to_diff_dict().items()):
    print(name, value)
