from explorer.attention.scripts.each import ahead, cls, confidence, distance, entropy, next, previous, same_token, self, sep, word

metrics = {  # [layers, heads] each
    "entropy": entropy,
    "distance": distance,
    "confidence": confidence,
    "cls": cls,
    "sep": sep,
    "self": self,
    "previous": previous,
    "next": next,
    "same_token": same_token,
    "word": word,
    "ahead": ahead,
}
for name, values in metrics.items():
    print(name, values)
