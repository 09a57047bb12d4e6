from explorer.attention.scripts.each import ahead, cls, confidence, distance, entropy, next, previous, same_token, self, sep, word  # noqa: F401

metric = entropy  # [layers, heads]
print(metric)
