"""The recipe that made the bundled BERT, small enough to read.

Corpus, pairs, masked batches, two losses, steps: read it in this order, in corpus.py, sampling.py, batches.py (with
explorer/text/masking.py), stream.py, losses.py, training.py. `python -m explorer.pretraining --help` says how to run it.
"""

import os

# Must be set before torch starts its threads. When anything else runs on the machine, a thread that spins while it waits takes
# the core from the thread it waits for: beside one busy process on 2 cores, 2,900 pieces a second with sleeping threads and 670
# with spinning ones; no difference on an idle machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
