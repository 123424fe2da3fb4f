"""Trains an n-gram model with VariKN in a separate process; see `train_language_model`.

Usage: python -m paraloom.pairs.scoring.varikn_process CORPUS ARPA ORDER. Exit status 3: VariKN is not installed.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Train an unpruned, interpolated Kneser–Ney model with three discounts per order and write it as ARPA."""
    corpus, arpa, order = sys.argv[1:]
    try:
        from varikn import VarigramTrainer
    except ImportError:
        sys.exit(3)
    trainer = VarigramTrainer(True, False)  # three discounts per order, estimated
    trainer.set_datacost_scale(0.0)  # keep n-grams whatever their cost
    trainer.set_datacost_scale2(0.0)
    trainer.set_max_order(int(order))
    trainer.initialize(corpus, 0, 0, -1, "", "<s>", False, "")
    trainer.set_cutoffs([0])
    trainer.grow(1)
    trainer.write_file(arpa, True)


if __name__ == "__main__":
    main()
