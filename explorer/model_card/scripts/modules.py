from explorer.ui.scripts.start import model

tree = str(model)
print(tree)
