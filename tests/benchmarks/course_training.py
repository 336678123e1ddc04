"""Our training loop and evaluation against plain ones as the course has them: same model, machine.

    python tests/benchmarks/course_training.py --corpus DIR [--char] [--corruption] [--json]

1. Real (not padded) input tokens a second. Ours: core.training.loop.Trainer, with the recipe's own
   batches of similar length, fused attention and optimizers. Plain: the same kind of examples from
   a Python Dataset, each padded to the block, a DataLoader, batches of 128, attention by hand with
   a masked softmax over the whole square, AdamW. With --corruption both have the course's
   objective and AdamW. Neither has dropout, though the course's has: it would make the plain loop
   slower. They take turns over the same number of examples; medians.
2. Seconds to answer the dev questions. Ours: core.evaluation.accuracy.evaluate, all questions.
   Plain: one question at a time, always 32 new tokens, the whole sequence again for each of them,
   measured on a part of the questions and stated for one question.

The plain model is written here; that it is the same function is checked before anything is timed.
Bars: 2.5 times the tokens, 20 times the questions. Not a test: the figures belong to the machine
that is printed with them. It takes two to four minutes on 2 cores.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

QUIET = {"OMP_WAIT_POLICY": "passive", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
if __name__ == "__main__" and any(os.environ.get(key) != value for key, value in QUIET.items()):
    # Both are read when torch is loaded.
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **QUIET})

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

from core.checkpoints.store import load_checkpoint  # noqa: E402
from core.data.corpus import TrainingCorpus, course_corpus, make_vocabulary  # noqa: E402
from core.data.course import load_course  # noqa: E402
from core.data.own_vocabulary import MASK_ID, PAD_ID  # noqa: E402
from core.data.people import Question  # noqa: E402
from core.data.vocabulary import Vocabulary  # noqa: E402
from core.devices import processor_name  # noqa: E402
from core.evaluation.accuracy import evaluate  # noqa: E402
from core.models.config import GPTConfig  # noqa: E402
from core.models.gpt import GPT  # noqa: E402
from core.paths import CHECKPOINTS  # noqa: E402
from core.training import examples  # noqa: E402
from core.training.examples import TrainingData, draw, pool_of_batches, training_data  # noqa: E402
from core.training.loop import Trainer  # noqa: E402
from core.training.presets import preset  # noqa: E402
from core.training.recipe import Phase, Recipe  # noqa: E402
from tests.with_task import gpt_of, with_task  # noqa: E402

BAR_TOKENS, BAR_QUESTIONS = 2.5, 20.0
PLAIN_BATCH, N_NEW = 128, 32
SEED, FOREVER = 0, 1_000_000  # no turn comes near the end of the schedule


class PlainBlock(nn.Module):
    """Pre-LN block; attention as a product, a mask, a softmax and another product."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        width, self.n_heads = config.width, config.n_heads
        self.norm_attention, self.norm_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.project = nn.Linear(width, width), nn.Linear(width, width)
        self.mlp_in, self.mlp_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        length = config.block_size
        mask = torch.ones(length, length).tril().view(1, 1, length, length)
        self.mask: Tensor
        self.register_buffer("mask", mask, persistent=False)
        self.angles = angles(length, config.head_dim) if config.positions == "rotary" else None

    def forward(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        normed = self.norm_attention(x)
        query, key, value = (
            part(normed).view(n, length, self.n_heads, width // self.n_heads).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        if self.angles is not None:
            cos, sin = (part[:length] for part in self.angles)
            query, key = turned(query, cos, sin), turned(key, cos, sin)
        scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, -1e10)
        output = scores.softmax(-1) @ value
        x = x + self.project(output.transpose(1, 2).contiguous().view(n, length, width))
        return x + self.mlp_out(F.gelu(self.mlp_in(self.norm_mlp(x))))


def angles(length: int, head_dim: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines (length, d/2) of position · 10000^(−2i/d), made once as the course does."""
    rates = torch.pow(10000.0, -torch.arange(head_dim // 2) * 2 / head_dim)
    angle = torch.outer(torch.arange(length), rates)
    return angle.cos(), angle.sin()


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions: the members i and i + d/2 of a pair, by their angle."""
    one, other = x.chunk(2, dim=-1)
    return torch.cat([one * cos - other * sin, other * cos + one * sin], dim=-1)


class PlainGPT(nn.Module):
    """The same parameters under the same names, with nothing of ours around them."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.block_size = config.block_size
        self.tokens = nn.Embedding(config.vocabulary_size, config.width)
        learned = config.positions == "learned"
        shape = (1, config.block_size, config.width)
        self.positions = nn.Parameter(torch.zeros(shape)) if learned else None
        self.blocks = nn.Sequential(*(PlainBlock(config) for _ in range(config.n_layers)))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary_size, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids)
        if self.positions is not None:
            x = x + self.positions[:, : ids.shape[1]]
        return self.head(self.norm(self.blocks(x)))


class Padded(Dataset[tuple[Tensor, Tensor]]):
    """The recipe's examples, one by one, each padded to the block."""

    def __init__(self, data: TrainingData, recipe: Recipe, n: int, *, turn: int) -> None:
        self.data, self.recipe, self.n, self.turn = data, recipe, n, turn

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        generator = Random(f"{self.turn}:{index}")
        ids = draw(self.data, self.recipe, self.recipe.phases[0], generator)
        ids = [*ids, *[PAD_ID] * (self.recipe.block_size - len(ids))][: self.recipe.block_size]
        return torch.tensor(ids[:-1]), torch.tensor(ids[1:])


@dataclass(frozen=True)
class Turn:
    """What one loop did in one turn; `n_positions` counts padding too."""

    seconds: float
    n_tokens: int
    n_positions: int

    @property
    def tokens_per_second(self) -> float:
        return self.n_tokens / self.seconds


@dataclass(frozen=True)
class Setting:
    """What both sides are given."""

    recipe: Recipe
    data: TrainingData
    vocabulary: Vocabulary
    model: GPT
    plain: PlainGPT
    questions: list[Question]


def plain_turns(setting: Setting, n_batches: int, workers: int) -> Iterator[Turn]:
    """Turns of the plain loop, without end."""
    model = setting.plain.train()
    matrices = [p for p in model.parameters() if p.ndim == 2]
    rest = [p for p in model.parameters() if p.ndim != 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=6e-4, betas=(0.9, 0.95))
    turn = 0
    while True:
        start, n_tokens, n_positions = time.perf_counter(), 0, 0
        dataset = Padded(setting.data, setting.recipe, n_batches * PLAIN_BATCH, turn=turn)
        loader = DataLoader(dataset, batch_size=PLAIN_BATCH, shuffle=True, num_workers=workers)
        for inputs, targets in loader:
            logits = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD_ID)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            loss.item()
            n_tokens += int((inputs != PAD_ID).sum())
            n_positions += inputs.numel()
        yield Turn(time.perf_counter() - start, n_tokens, n_positions)
        turn += 1


def our_turns(setting: Setting) -> Iterator[Turn]:
    """Turns of our loop, a whole pool of examples each, so that drawing them is counted too."""
    recipe, data, phase = setting.recipe, setting.data, setting.recipe.phases[0]
    trainer = Trainer(setting.model, data, recipe, n_steps=FOREVER, seed=SEED)
    steps = trainer.steps()
    for pool in range(FOREVER):
        batches = pool_of_batches(data, recipe, phase, seed=SEED, pool=pool)  # not timed: to count
        start = time.perf_counter()
        n_tokens = sum(next(steps).n_tokens for _ in batches)
        seconds = time.perf_counter() - start
        if trainer.cursor.pool != pool:
            raise SystemExit("a turn of our loop was not one pool of examples")
        yield Turn(seconds, n_tokens, sum(batch.inputs.numel() for batch in batches))


def measure_training(setting: Setting, *, steps: int, rounds: int, workers: int) -> dict[str, Any]:
    """Both loops in turns, one round to warm up."""
    ours, plain = our_turns(setting), plain_turns(setting, steps, workers)
    turns = [(next(ours), next(plain)) for _ in range(rounds + 1)][1:]
    sides = {"ours": [one for one, _ in turns], "plain": [other for _, other in turns]}
    report: dict[str, Any] = {"examples_a_turn": steps * PLAIN_BATCH, "rounds": rounds}
    for name, side in sides.items():
        report[name] = {
            "tokens_per_second": statistics.median(turn.tokens_per_second for turn in side),
            "tokens_per_second_each": [turn.tokens_per_second for turn in side],
            "padding_share": 1 - sum(t.n_tokens for t in side) / sum(t.n_positions for t in side),
        }
    report["ratio"] = report["ours"]["tokens_per_second"] / report["plain"]["tokens_per_second"]
    report["bar"] = BAR_TOKENS
    return report


@torch.no_grad()
def sampled(model: PlainGPT, prompt: list[int]) -> list[int]:
    """32 greedy tokens behind a prompt, the whole sequence again for each of them."""
    ids = torch.tensor([prompt])
    for _ in range(N_NEW):
        logits = model(ids[:, -model.block_size :])[:, -1]
        _, best = logits.softmax(-1).topk(1)
        ids = torch.cat([ids, best], dim=1)
    return ids[0, len(prompt) :].tolist()


def measure_evaluation(setting: Setting, *, n_one_by_one: int, rounds: int) -> dict[str, Any]:
    """All questions at once and some of them one by one, in turns."""
    model, plain = setting.model.eval(), setting.plain.eval()
    plain.load_state_dict(model.state_dict())
    vocabulary, questions = setting.vocabulary, setting.questions
    part = questions[:n_one_by_one]
    prompts = [[*vocabulary.encode(question.text), MASK_ID] for question in part]
    evaluate(with_task(model, vocabulary), part)  # to warm up
    sampled(plain, prompts[0])
    at_once: list[float] = []
    one_by_one: list[float] = []
    written: list[list[int]] = []
    answers = []
    for share in range(rounds):
        seconds, found = timed(lambda: evaluate(with_task(model, vocabulary), questions))
        at_once.append(seconds / len(questions))
        answers = found.answers
        mine = prompts[share * len(prompts) // rounds : (share + 1) * len(prompts) // rounds]
        seconds, ids = timed(lambda mine=mine: [sampled(plain, prompt) for prompt in mine])
        one_by_one.append(seconds / len(mine))
        written += ids
    same = sum(
        until_mark(list(answer.ids[:N_NEW])) == until_mark(ids)
        for answer, ids in zip(answers, written, strict=False)
    )
    return {
        "n_questions": len(questions),
        "n_one_by_one": len(written),
        "same_answers": same,
        "seconds_a_question": statistics.median(at_once),
        "seconds_a_question_one_by_one": statistics.median(one_by_one),
        "ratio": statistics.median(one_by_one) / statistics.median(at_once),
        "bar": BAR_QUESTIONS,
    }


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and the result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def until_mark(ids: list[int]) -> list[int]:
    """An answer without its end mark and what stands behind it."""
    return ids[: ids.index(MASK_ID)] if MASK_ID in ids else ids


def prepare(corpus: TrainingCorpus, options: argparse.Namespace) -> Setting:
    """Model, vocabulary and data of the preset; both models start from the same parameters."""
    recipe = preset("course-char-untaught" if options.char else "course-untaught")
    if options.char:  # the course's vanilla shape
        recipe = replace(recipe, n_layers=4, positions="learned")
    if options.corruption:
        phases = (Phase(name="pretrain", span_corruption=1.0),)
        recipe = replace(recipe, phases=phases, optimizer="adamw")
    vocabulary = make_vocabulary(corpus, recipe.vocabulary, n_pieces=recipe.n_pieces)
    data = training_data(corpus.documents, corpus.train, vocabulary, recipe)
    generator = torch.Generator().manual_seed(SEED)
    config = recipe.model_config(vocabulary.size)
    assert isinstance(config, GPTConfig)
    model = GPT(config, generator=generator)
    plain = PlainGPT(model.config)
    plain.load_state_dict(model.state_dict())
    questions = corpus.dev[: options.questions]
    return Setting(recipe, data, vocabulary, model, plain, questions)


def with_checkpoint(setting: Setting, name: str) -> Setting:
    """The models and the vocabulary of a stored checkpoint, for the questions."""
    folder = CHECKPOINTS / name if (CHECKPOINTS / name).is_dir() else Path(name)
    stored = load_checkpoint(folder)
    model = gpt_of(stored)
    plain = PlainGPT(model.config)
    return replace(setting, model=model, plain=plain, vocabulary=stored.vocabulary)


@torch.no_grad()
def refuse_another_function(setting: Setting) -> float:
    """The largest difference of the two models' logits; more than rounding ends the program."""
    generator = torch.Generator().manual_seed(SEED)
    ids = torch.randint(2, setting.vocabulary.size, (4, 100), generator=generator)
    difference = float((setting.model(ids) - setting.plain(ids)).abs().max())
    if difference > 1e-4:
        raise SystemExit(f"the plain model is another function: logits differ by {difference:.1e}")
    return difference


def read_options() -> argparse.Namespace:
    """The command line."""
    beside = ROOT.parent / "shared" / "data" / "cs224n-a5"
    parser = argparse.ArgumentParser(description="Our loops against plain ones.")
    given = Path(os.environ.get("A5_DATA") or beside)
    parser.add_argument("--corpus", type=Path, default=given, help="A5_DATA unless told")
    parser.add_argument("--char", action="store_true", help="characters, the course's vanilla")
    parser.add_argument(
        "--corruption",
        action="store_true",
        help="the course's span corruption and optimizer (AdamW) for both loops, not the recipe's",
    )
    parser.add_argument("--steps", type=int, default=8, help="plain batches of 128 a turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each loop, after one more")
    parser.add_argument("--workers", type=int, default=0, help="processes of the DataLoader")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--one-by-one", type=int, default=50, metavar="N")
    parser.add_argument("--checkpoint", help="answers the questions, not the model just trained")
    parser.add_argument("--threads", type=int, help="of torch")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    if min(options.steps, options.rounds, options.questions, options.one_by_one) < 1:
        parser.error("every number must be at least 1")
    return options


def main() -> None:
    """Measure both and print them."""
    options = read_options()
    if options.threads:
        torch.set_num_threads(options.threads)
    # A turn of ours is one pool of as many examples as the plain loop's batches hold.
    examples.POOL_SIZE = options.steps * PLAIN_BATCH
    setting = prepare(course_corpus(load_course(options.corpus)), options)
    report: dict[str, Any] = {
        "machine": f"{processor_name()}, {os.cpu_count()} cores",
        "node": platform.node(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "load": os.getloadavg()[0],
        "model": {**setting.model.config.to_dict(), "n_parameters": setting.model.n_parameters},
        "logits_differ_by": refuse_another_function(setting),
        "training": {
            "examples": "span corruption" if options.corruption else "the recipe's mixture",
            "our_optimizer": setting.recipe.optimizer,
            **measure_training(
                setting, steps=options.steps, rounds=options.rounds, workers=options.workers
            ),
        },
    }
    if options.checkpoint:
        setting = with_checkpoint(setting, options.checkpoint)
    rounds = min(options.rounds, options.one_by_one, options.questions)
    report["evaluation"] = {
        "answered_by": options.checkpoint or "the model just trained",
        **measure_evaluation(setting, n_one_by_one=options.one_by_one, rounds=rounds),
    }
    print(json.dumps(report) if options.json else table(report))


def table(report: dict[str, Any]) -> str:
    """Both measurements as lines to read."""
    return "\n".join([_head(report), _training(report["training"]), _evaluation(report)])


def _head(report: dict[str, Any]) -> str:
    model = report["model"]
    return (
        f"{report['machine']}, torch {report['torch']}, {report['threads']} threads, "
        f"load {report['load']:.1f}\n"
        f"{model['n_layers']} layers, width {model['width']}, {model['positions']} positions, "
        f"{model['n_parameters']:,} parameters; logits of the two models differ by at most "
        f"{report['logits_differ_by']:.0e}"
    )


def _training(training: dict[str, Any]) -> str:
    sides = "\n".join(
        f"  {name:<6}{training[name]['tokens_per_second']:>8,.0f}   "
        f"({100 * training[name]['padding_share']:.0f} % padding; turns: "
        f"{', '.join(f'{each:,.0f}' for each in training[name]['tokens_per_second_each'])})"
        for name in ("ours", "plain")
    )
    return (
        f"Real tokens a second, medians of {training['rounds']} turns of "
        f"{training['examples_a_turn']:,} examples ({training['examples']}):\n{sides}\n"
        f"  ratio {training['ratio']:.2f}; bar {training['bar']}"
    )


def _evaluation(report: dict[str, Any]) -> str:
    asked = report["evaluation"]
    return (
        f"Seconds a question, answered by {asked['answered_by']}:\n"
        f"  ours  {asked['seconds_a_question']:>8.4f}   (all {asked['n_questions']} at once)\n"
        f"  plain {asked['seconds_a_question_one_by_one']:>8.4f}   (one by one, measured on "
        f"{asked['n_one_by_one']}; {asked['same_answers']} of them answered alike)\n"
        f"  ratio {asked['ratio']:.1f}; bar {asked['bar']:.0f}"
    )


if __name__ == "__main__":
    main()
