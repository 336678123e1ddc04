"""What must hold for a family, each as the largest relative difference from the untouched model."""

import copy
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache

import torch
from torch import Tensor, nn

from core.generation.greedy import greedy
from core.inspection.answered import attending
from core.inspection.attribution import Parts, stream_parts
from core.inspection.patching import record_run
from core.models.heads import Heads
from core.models.seam import Ability, Change, Stream
from tests.models.family import Family
from tests.models.tiny_models import Seen, Tiny, apart, tiny

N_NEW = 5
NO_CACHE = "no part of the run goes on from an earlier one: every step is a whole pass"


def own(made: Tiny) -> float:
    """Logits by the family's own attention function."""
    x = made.model.run(made.ids, attending(None), source=made.source)
    return apart(made.model.logits(x), made.expected)


def shown(made: Tiny) -> float:
    """Logits by the weights that the heads show."""
    return apart(made.logits(made.ids), made.expected)


def rows(made: Tiny) -> float:
    """How far rows of weights, with the sink's share, are from 1."""
    return max(
        float((seen.weights.sum(-1) + sink_share(made, layer, seen) - 1).abs().max())
        for layer, seen in enumerate(made.seen(made.ids)[1])
    )


def sink_share(made: Tiny, layer: int, seen: Seen) -> Tensor:
    """(B, H, rows): what each row gives to the sink of its head; 0 where there are none."""
    if not made.family.sinks:
        return torch.zeros(seen.weights.shape[:3])
    sink = made.plain.get_parameter(made.family.sinks.format(layer))[:, None]
    return sink.exp() / (sink.exp() + seen.heads.scores().exp().sum(-1))


def parts(made: Tiny) -> float:
    """The heads' parts and the bias against the output of W_O."""
    worst = 0.0
    for layer, seen in enumerate(made.seen(made.ids)[1]):
        project = made.plain.get_submodule(made.family.projections[layer])
        expected = project(seen.output.transpose(1, 2).flatten(2))
        summed = made.model.parts(layer, seen.output).sum(1) + made.model.attention_bias(layer)
        worst = max(worst, apart(summed, expected))
    return worst


def off(made: Tiny, layer: int = 0, head: int = 1) -> float:
    """A head off against zeroed columns of W_O."""
    path = made.family.projections[layer]
    twin = without_columns(made.plain, made.family, path, head)
    return apart(made.logits(made.ids, off_at(made.family, path, head)), made.twin(twin))


def off_at(family: Family, path: str, head: int) -> Change:
    """ALBERT's blocks are one and the same: there a head is off in all layers."""

    def change(layer: int, _: Heads, output: Tensor) -> Tensor:
        here = family.projections[layer] == path
        return output.index_fill(1, torch.tensor([head]), 0.0) if here else output

    return change


def without_columns(plain: nn.Module, family: Family, path: str, head: int) -> nn.Module:
    """A copy whose output projection reads nothing of one head."""
    model = copy.deepcopy(plain)
    project = model.get_submodule(path)
    assert isinstance(project.weight, Tensor)
    read = project.weight.T if isinstance(project, nn.Linear) else project.weight
    read[head * family.head_dim : (head + 1) * family.head_dim] = 0
    return model


def with_cache(made: Tiny) -> float:
    """Log-probabilities of steps with a key-value cache against one whole pass."""
    written = greedy(made.model, made.ids, N_NEW, ends=())
    whole = torch.cat([made.ids, written.ids], 1)
    logits = made.plain(input_ids=whole).logits[:, made.ids.shape[1] - 1 : -1]
    assert torch.equal(logits.argmax(-1), written.ids)
    return apart(written.logs, logits.log_softmax(-1).amax(-1))


def patching(made: Tiny) -> float:
    """The whole stream of another run, put in after each layer, against that other run."""
    others = record_run(made.model, made.others).streams
    expected = made.plain(**made.given(made.others)).logits
    worst = 0.0
    for layer in range(len(others)):

        def tap(at: int, stream: Stream, layer: int = layer) -> Stream:
            return stream._replace(x=others[layer]) if at == layer else stream

        x = made.model.run(made.ids, attending(None), tap=tap)
        worst = max(worst, apart(made.model.logits(x), expected))
    return worst


def lens(made: Tiny) -> float:
    """The last stream read alone, as the logit lens reads it, against the logits."""
    streams = record_run(made.model, made.ids).streams
    return apart(made.model.logits(streams[-1][0]), made.expected[0])


def attribution(made: Tiny) -> float:
    """The sum of what all parts add to a logit, and above the mean logit, against it."""
    worst, tokens = 0.0, torch.tensor([7, 31])
    for row in (0, made.ids.shape[1] - 1):
        found = stream_parts(made.model, made.ids, row)
        logits = made.expected[:, row]
        for relative in (False, True):
            read, constant = made.model.readout(found.final, tokens, relative=relative)
            total = (whole(found) * read).sum(-1) + constant
            own = logits.gather(1, tokens[:, None])[:, 0] - logits.mean(-1) * relative
            worst = max(worst, float((total - own).abs().max() / logits.abs().max()))
    return worst


def whole(found: Parts) -> Tensor:
    """(B, width): the sum of all parts."""
    heads = found.heads.sum((1, 2))
    return found.embedding + heads + found.attention_bias.sum(1) + found.mlp.sum(1)


def embedding(made: Tiny) -> float:
    """What the stream begins with, against the input of the first block."""
    return apart(made.model.embedded(made.ids), block_calls(made)[0][0])


def mlp(made: Tiny) -> float:
    """Stream before, attention and MLP of each layer against the stream after it."""
    worst = 0.0
    for layer, (before, attention, after) in enumerate(block_calls(made)):
        added = made.model.mlp(layer, before, before + attention)
        worst = max(worst, apart(before + attention + added, after))
    return worst


def block_calls(made: Tiny) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Of each block of a twin that runs by itself: stream before, output of W_O, stream after."""
    befores, projected, afters = list[Tensor](), list[Tensor](), list[Tensor]()
    plain, family = made.plain, made.family
    ((block, (inside,)),) = family.blocks
    blocks = dict.fromkeys(plain.get_submodule(block.format(n)) for n in range(len(family.kinds)))

    def enter(_: nn.Module, args: tuple, kwargs: dict) -> None:
        befores.append(args[0] if args else kwargs["hidden_states"])

    def leave(_: nn.Module, __: tuple, output: Tensor | tuple) -> None:
        afters.append(output if isinstance(output, Tensor) else output[0])

    def project(_: nn.Module, __: tuple, output: Tensor) -> None:
        projected.append(output)

    with ExitStack() as hooks:
        for module in blocks:
            hooks.enter_context(module.register_forward_pre_hook(enter, with_kwargs=True))
            hooks.enter_context(module.register_forward_hook(leave))
            hooks.enter_context(module.get_submodule(inside).register_forward_hook(project))
        plain(**made.given(made.ids))
    return list(zip(befores, projected, afters, strict=True))


# What is measured, and what a model must be able to do for it.
MEASURES: dict[str, tuple[Ability, Callable[[Tiny], float]]] = {
    "own attention": ("logits", own),
    "shown weights": ("logits", shown),
    "rows": ("logits", rows),
    "parts of heads": ("parts", parts),
    "head off": ("logits", off),
    "cache": ("answer", with_cache),
    "embedding": ("patching", embedding),
    "MLP": ("patching", mlp),
    "patching": ("patching", patching),
    "lens": ("lens", lens),
    "attribution": ("attribution", attribution),
}


@cache
@torch.inference_mode()
def measured(name: str, what: str) -> float | str:
    """The difference, or why there is none to measure."""
    made, (ability, measure) = tiny(name), MEASURES[what]
    if why := made.model.cannot(ability):
        return why
    if what == "cache" and not made.model.shape.keeps_past:
        return NO_CACHE
    return measure(made)
