"""`python -m core.jobs.measure`: a spec on standard input, its estimate on standard output."""

import json
import sys
import time
from dataclasses import asdict

import torch

from core.data.corpus import make_vocabulary
from core.data.task import TASKS
from core.jobs.estimate import Estimate
from core.jobs.failures import sentence
from core.jobs.run import trainer_factory
from core.jobs.spec import TrainSpec, corpus_folder
from core.jobs.spec_file import spec_from_dict

N_WARMUP, N_MEASURED = 5, 15


def main() -> int:
    """Print one JSON object; or one sentence, and 1 is returned."""
    try:
        print(json.dumps(asdict(measure(spec_from_dict(json.load(sys.stdin))))))
    except Exception as error:  # noqa: BLE001 - whatever it was, the caller has to say so
        print(sentence(error))
        return 1
    return 0


def measure(spec: TrainSpec) -> Estimate:
    """Time a few steps of a throw-away training."""
    torch.set_num_threads(spec.threads)
    recipe = spec.recipe
    corpus = TASKS[recipe.corpus].corpus(
        n_sentences=recipe.n_sentences, folder=corpus_folder(recipe)
    )
    vocabulary = make_vocabulary(corpus, recipe.vocabulary, n_pieces=recipe.n_pieces)
    trainer = trainer_factory(recipe, corpus, vocabulary, spec.seed)(10_000)
    steps = trainer.steps()
    for _ in range(N_WARMUP):
        next(steps)
    started = time.perf_counter()
    n_tokens = sum(next(steps).n_tokens for _ in range(N_MEASURED))
    seconds = time.perf_counter() - started
    speed = N_MEASURED / seconds
    n_steps = round((spec.minutes or 0) * 60 * speed) if spec.steps is None else spec.steps
    return Estimate(
        n_parameters=trainer.model.n_parameters,
        n_steps=max(1, min(n_steps, spec.limits.steps)),
        steps_per_second=speed,
        tokens_per_second=n_tokens / seconds,
        seconds=n_steps / speed,
    )


if __name__ == "__main__":
    sys.exit(main())
