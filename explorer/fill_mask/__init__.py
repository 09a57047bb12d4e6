"""Fill-mask: guesses for a blank, in which layer they arise, and which parts of the model are responsible."""
