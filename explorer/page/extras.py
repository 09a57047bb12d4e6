def build(tabs):
    return []
