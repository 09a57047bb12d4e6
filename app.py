"""Start BERT Explorer: `python app.py`. What it does stands in explorer/app.py, which an installed package has too."""

import gc

if __name__ == "__main__":
    gc.disable()  # until the page is up: what is imported stays, and looking for garbage in it is a fifth of the start

from explorer.app import launch, main, parse, warm

__all__ = ["launch", "main", "parse", "warm"]

if __name__ == "__main__":
    main()
