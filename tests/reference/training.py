#!/usr/bin/env python3
"""The training of the paper's networks once more, in double precision, and what it gives for a few small recipes:

    python3 tests/reference/training.py [file]         writes tests/golden/training.txt

Written from train/paper.h and the paper's facts alone, not from train/*.c, so that the two do not share mistakes.
From top to bottom: random numbers, parameters, tasks, the layers, a task's loss with its gradient, a step, the file."""

import os
import sys
from dataclasses import dataclass, replace

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lego

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "training.txt")
ROWS, COLUMNS, TENTH, TABLE, BATCH = 5, 5120, 512, 80, 8
TIE = 1e-5
V_MIN, V_MAX = float(np.float32(0.001)), 1.0
LAYERS_SIZE = sum((inputs + 1) * outputs for _, inputs, outputs in lego.LAYERS)
SIZE = TABLE + LAYERS_SIZE + 5
ABLATIONS = ["fixed_table", "no_norm", "no_scan", "plain_loss"]


@dataclass
class Recipe:
    seed: int = 0
    tasks: int = 4000000
    n_min: int = 1000
    n_max: int = 50000
    alpha_min: float = 0.5
    alpha_max: float = 1.0
    scale_min: float = 0.5
    scale_max: float = 10.0
    scouts: int = 0
    scout_n_min: int = 0
    scout_alpha_max: float = 0.0
    rate: float = 1e-3
    rate_table: float = 1e-4
    fixed_table: int = 0
    no_norm: int = 0
    no_scan: int = 0
    plain_loss: int = 0


# ---- random numbers -------------------------------------------------------------------------------------------------

def outputs(state, first, count):
    """Outputs first ... first + count - 1 of SplitMix64 from a state; the one after the state itself is output 1."""
    k = np.arange(first, first + count, dtype=np.uint64)
    z = np.uint64(state) + k * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def output(state, k):
    return int(outputs(state & lego.MASK, k, 1)[0])


def unit(x):
    """[0, 1)"""
    return (x >> np.uint64(11)).astype(float) / 2**53


# ---- parameters -----------------------------------------------------------------------------------------------------

class Parameters:
    """Names for the parts of an arena: V, the layers, the weights of the loss. Parts are views."""

    def __init__(self, arena):
        self.arena = arena
        self.v, self.w = arena[:TABLE], arena[-5:]
        self.layers, self.span, at = {}, {"V": slice(0, TABLE)}, TABLE
        for name, inputs, outputs_ in lego.LAYERS:
            size = inputs * outputs_
            bias = arena[at + size:at + size + outputs_]
            self.layers[name] = arena[at:at + size].reshape(outputs_, inputs), bias
            self.span[name] = slice(at, at + size + outputs_)
            at += size + outputs_
        self.span["loss"] = slice(at, at + 5)


def initial(recipe):
    u = unit(outputs(output(recipe.seed, 2), 1, 2 * TABLE + LAYERS_SIZE))
    u1, u2 = u[:2 * TABLE].reshape(TABLE, 2).T
    normal = np.sqrt(-2 * np.log(1 - u1)) * np.cos(2 * np.pi * u2)
    v = np.clip(0.5005 + 0.2 * normal, V_MIN, V_MAX)
    bound = np.concatenate([np.full((inputs + 1) * outputs_, 1 / np.sqrt(inputs))
                            for _, inputs, outputs_ in lego.LAYERS])
    layers = (2 * u[2 * TABLE:] - 1) * bound
    return np.concatenate([v, layers, np.ones(5)]).astype(np.float32).astype(float)


# ---- tasks ----------------------------------------------------------------------------------------------------------

@dataclass
class Task:
    key: int
    n: int
    alpha: float  # a float32, as scale
    scale: float
    scout: bool   # stored and scanned, not queried


def make_task(recipe, step, slot):
    key = output(output(recipe.seed, 1) + BATCH * step + slot, 1)
    u = unit(outputs(key, 1, 3))
    scout = slot + recipe.scouts >= BATCH
    n_min, alpha_max = (recipe.scout_n_min, recipe.scout_alpha_max) if scout else (recipe.n_min, recipe.alpha_max)
    n = n_min + int(u[0] * (recipe.n_max - n_min + 1))
    alpha = recipe.alpha_min + u[1] * (alpha_max - recipe.alpha_min)
    scale = recipe.scale_min + u[2] * (recipe.scale_max - recipe.scale_min)
    return Task(key, n, float(np.float32(alpha)), float(np.float32(scale)), scout)


def places(task):
    """Columns and indices of V, [row][item]."""
    lo, hi = outputs(task.key, 4, 2 * task.n).reshape(task.n, 2).T
    x = np.array([np.uint64(lego.MULTIPLIERS[k]) * (lo + np.uint64(k) * hi) for k in range(ROWS)])
    columns = (x >> np.uint64(32)) % np.uint64(COLUMNS)
    indices = (x >> np.uint64(16)) % np.uint64(2**16) * np.uint64(TABLE) >> np.uint64(16)
    return columns.astype(int), indices.astype(int)


@dataclass
class Brick:
    """A task as stored, and all that is a constant for the gradient."""
    task: Task
    f: np.ndarray          # the true frequencies
    index: np.ndarray      # of V, [row][item]
    scale: np.ndarray      # v = scale * V[index]: d1 / S, or 1
    memory: np.ndarray     # the first tenth of every row
    m: np.ndarray          # what an item reads, [row][item]
    total: float           # N
    best: np.ndarray       # the row of the minimum of an item
    guide: np.ndarray      # errors of f''
    alpha: float = 0.0     # s(alpha) and s(n) as the decoder sees them
    distinct: float = 0.0


def store(parameters, recipe, task):
    i = np.arange(task.n)
    f = task.scale * ((task.n + 1) / (i + 2)) ** task.alpha
    columns, index = places(task)
    v = parameters.v[index]
    scale = np.ones(task.n) if recipe.no_norm else ROWS / v.sum(axis=0)
    v = scale * v
    cells = np.array([np.bincount(columns[k], f * v[k], COLUMNS) for k in range(ROWS)])
    m = np.array([cells[k][columns[k]] for k in range(ROWS)])
    # An item alone in two of its cells has a tie, which rounding must not decide: the row of least weight.
    best = np.argmin(np.where(m / v <= (m / v).min(axis=0) * (1 + TIE), v, np.inf), axis=0)
    f2 = np.take_along_axis(m / v, best[None], 0)[0]
    brick = Brick(task, f, index, scale, cells[:, :TENTH], m, f.sum(), best, errors(f2, f))
    if not recipe.no_scan:
        _, brick.alpha, brick.distinct, _ = scan_forward(parameters, brick.memory)
    return brick


def errors(estimate, f):
    """AAE, ARE, MSE"""
    e = estimate - f
    return np.array([np.mean(absolute(e)), np.mean(absolute(e) / f), np.mean(e * e)])


# ---- layers: forward keeps what backward needs ----------------------------------------------------------------------

def absolute(x):
    return x * np.sign(x.real)  # of complex numbers too: the test differentiates by a complex step


def chain_forward(parameters, layers, x):
    """layers: (name, slope below zero); the last axis of x goes through them one by one."""
    tape = []
    for name, slope in layers:
        matrix, bias = parameters.layers[name]
        y = x @ np.ascontiguousarray(matrix.T) + bias  # contiguous: plain BLAS is faster so
        d = np.where(y.real > 0, 1.0, slope)
        tape.append((name, x, d))
        x = y * d
    return x, tape


def chain_backward(parameters, gradient, tape, dx):
    for name, x, d in reversed(tape):
        dy = dx * d
        d_matrix, d_bias = gradient.layers[name]
        rows = dy.reshape(-1, dy.shape[-1])
        d_matrix += rows.T @ x.reshape(-1, x.shape[-1])
        d_bias += rows.sum(axis=0)
        dx = dy @ parameters.layers[name][0]
    return dx


def layers_of(name, *slopes):
    return [(f"{name}.{i}", slope) for i, slope in enumerate(slopes)]


RELU, LEAKY, NONE = 0.0, 0.01, 1.0
CELL = layers_of("scan.cell", RELU, RELU, RELU)
IMPLICIT = layers_of("scan.implicit", LEAKY, LEAKY, LEAKY)
SKEW = layers_of("scan.skew", LEAKY, LEAKY, LEAKY, NONE)
DISTINCT = layers_of("scan.distinct", LEAKY, LEAKY, LEAKY, NONE)
PAIR = layers_of("dec.pair", RELU, RELU, RELU)
MIX = layers_of("dec.mix", LEAKY, LEAKY)
OUT = layers_of("dec.out", LEAKY, LEAKY, NONE)


# ---- the two networks -----------------------------------------------------------------------------------------------

def scan_forward(parameters, memory):
    """-> implicit[4], s(alpha), s(n), tape"""
    cells, tape = chain_forward(parameters, CELL, memory[:, :, None])
    rows = cells.mean(axis=1)
    heads = [chain_forward(parameters, head, rows) for head in (IMPLICIT, SKEW, DISTINCT)]
    implicit, alpha, n = [head.mean(axis=0) for head, _ in heads]
    return implicit, alpha[0], n[0], [tape, [t for _, t in heads], cells.shape]


def scan_backward(parameters, gradient, tape, d_implicit, d_alpha, d_n):
    tape, heads, shape = tape
    d_rows = 0
    for head, d in zip(heads, (d_implicit, np.array([d_alpha]), np.array([d_n]))):
        d_rows = d_rows + chain_backward(parameters, gradient, head, np.tile(d / ROWS, (ROWS, 1)))
    chain_backward(parameters, gradient, tape, np.broadcast_to(d_rows[:, None] / shape[1], shape))


def decode_forward(parameters, brick, implicit):
    """-> f', f'' of every item, tape"""
    v = brick.scale * parameters.v[brick.index]
    f2 = np.take_along_axis(brick.m / v, brick.best[None], 0)[0]
    pairs, pair = chain_forward(parameters, PAIR, np.stack([brick.m + 0 * v, v], axis=2))
    n = len(f2)
    known = np.stack([f2] + [np.full(n, x) for x in (brick.total, brick.alpha, brick.distinct)], axis=1)
    x, mix = chain_forward(parameters, MIX, np.concatenate([pairs.mean(axis=0), np.tile(implicit, (n, 1)), known], 1))
    x, out = chain_forward(parameters, OUT, np.concatenate([x, known], 1))
    return x[:, 0], f2, [pair, mix, out, v]


def decode_backward(parameters, gradient, brick, tape, df):
    """-> d_implicit[4]"""
    pair, mix, out, v = tape
    dx = chain_backward(parameters, gradient, out, df[:, None])
    d_mix, df2 = dx[:, :16], dx[:, 16]
    dx = chain_backward(parameters, gradient, mix, d_mix)
    d_pooled, d_implicit, df2 = dx[:, :16], dx[:, 16:20].sum(axis=0), df2 + dx[:, 20]
    dx = chain_backward(parameters, gradient, pair, np.tile(d_pooled / ROWS, (ROWS, 1, 1)))
    through_rule = brick.scale * df2 * -brick.m / v**2
    dv = brick.scale * dx[:, :, 1] + np.where(np.arange(ROWS)[:, None] == brick.best, through_rule, 0)
    gradient.v += np.bincount(brick.index.ravel(), dv.ravel(), TABLE)
    return d_implicit


# ---- the loss -------------------------------------------------------------------------------------------------------

@dataclass
class Losses:
    total: float
    metric: np.ndarray  # of the five
    error: np.ndarray
    guide: np.ndarray


def evaluate(recipe, arena, bricks, with_gradient=True):
    """The loss at these parameters, with the constants of the bricks. -> Losses, gradient

    Means of AAE, ARE and MSE are over the bricks that are queried, those of s(alpha) and s(n) over all."""
    parameters, gradient = Parameters(arena), Parameters(np.zeros(SIZE))
    w = parameters.w
    metric, error = np.zeros(5, arena.dtype), np.zeros(3, arena.dtype)
    part = np.array([1, 1, 1, 0.1, 0.1])  # L = L' + 0.1 L''
    if recipe.no_scan:
        part[3:] = 0
    queried = sum(not brick.task.scout for brick in bricks)
    # of L by a task's own part of a metric
    d_metric = part * 0.5 / w**2 / np.array([queried, queried, queried, len(bricks), len(bricks)])
    for brick in bricks:
        implicit, alpha, n, scan_tape = np.zeros(4), 0.0, 0.0, None
        if not recipe.no_scan:
            implicit, alpha, n, scan_tape = scan_forward(parameters, brick.memory)
            off = np.array([alpha - brick.task.alpha, n - brick.task.n])
            metric[3:] += off**2 / len(bricks)
        if brick.task.scout:
            if with_gradient:
                scan_backward(parameters, gradient, scan_tape, np.zeros(4), *(d_metric[3:] * 2 * off))
            continue
        f1, _, decode_tape = decode_forward(parameters, brick, implicit)
        e = errors(f1, brick.f)
        unit_ = 1.0 if recipe.plain_loss else brick.guide + 0.001
        metric[:3] += (e if recipe.plain_loss else (e / unit_)**2) / queried
        error += e / queried
        if not with_gradient:
            continue
        de = d_metric[:3] * (1 if recipe.plain_loss else 2 * e / unit_**2)
        difference = f1 - brick.f
        sign = np.sign(difference)
        df = (de[0] * sign + de[1] * sign / brick.f + de[2] * 2 * difference) / len(f1)
        d_implicit = decode_backward(parameters, gradient, brick, decode_tape, df)
        if not recipe.no_scan:
            scan_backward(parameters, gradient, scan_tape, d_implicit, *(d_metric[3:] * 2 * off))
    total = np.sum(part * (0.5 / w**2 * metric + np.log(1 + w**2)))
    gradient.w[:] = part * (-metric / w**3 + 2 * w / (1 + w**2)).real if with_gradient else 0
    if recipe.fixed_table:
        gradient.v[:] = 0
    guide = np.mean([brick.guide for brick in bricks if not brick.task.scout], axis=0)
    return Losses(total, metric, error, guide), gradient.arena


# ---- a step ---------------------------------------------------------------------------------------------------------

def batch(recipe, arena, step):
    parameters = Parameters(arena)
    return [store(parameters, recipe, make_task(recipe, step, slot)) for slot in range(BATCH)]


def rate(recipe, step):
    stage = min(10 * step // (recipe.tasks // BATCH), 10)
    return 0.1 ** (stage / 10)


class Trainer:
    def __init__(self, recipe):
        self.recipe, self.arena, self.step = recipe, initial(recipe), 0
        self.first, self.second = np.zeros(SIZE), np.zeros(SIZE)

    def update(self, gradient):
        norm = np.sqrt(np.sum(gradient**2))
        if norm > 10:
            gradient = gradient * (10 / (norm + 1e-6))
        t = self.step + 1
        self.first = 0.9 * self.first + 0.1 * gradient
        self.second = 0.999 * self.second + 0.001 * gradient**2
        base = np.full(SIZE, self.recipe.rate)
        base[:TABLE] = self.recipe.rate_table
        root = np.sqrt(self.second / (1 - 0.999**t))
        change = base * rate(self.recipe, self.step) * self.first / (1 - 0.9**t) / (root + 1e-8)
        if self.recipe.fixed_table:
            change[:TABLE] = 0
        self.arena = self.arena - change
        self.arena[:TABLE] = np.clip(self.arena[:TABLE], V_MIN, V_MAX)
        self.step = t

    def advance(self):
        losses, gradient = evaluate(self.recipe, self.arena, batch(self.recipe, self.arena, self.step))
        self.update(gradient)
        return losses


# ---- the file -------------------------------------------------------------------------------------------------------

HEAD = """\
# What training gives for small recipes, in double precision (tests/reference/training.py; the recipe: train/paper.h).
# Parameters start as floats and then stay doubles; cells are not rounded to fixed point.
#
# case NAME seed tasks n_min n_max fixed_table no_norm no_scan plain_loss scouts scout_n_min scout_alpha_max
#     everything below belongs to it; without scouts the last two are 0 and mean nothing
#     small      a few hundred items: hardly two share a cell, so every guide is about 0 and L is MSE / 0.001 squared
#     balanced   cells are shared, and what `set` changes makes every part of the loss matter
#     crowded    few items are alone in a cell
# set INDEX value             the case starts with this parameter instead of the drawn one
# parameter INDEX value       how the parameters start, after `set`
# task STEP SLOT key n alpha scale
# total L | metric of[5] | error of[3] | guide of[3]     struct losses of step 0; without a scan metric[3], [4] are 0
# norm NAME value             of the gradient of step 0 before clipping: V, each layer (with its bias), loss weights
# gradient INDEX value ...    the same, of the parameters INDEX, INDEX + 1, ...
# loss STEP L metric[5]       of each step, before its update
"""


def start(recipe, name):
    """-> the parameters, and what was changed in them"""
    arena = initial(recipe)
    drawn, parameters = arena.copy(), Parameters(arena)
    if name != "small":
        # N would drown the rest; and the loss weights make all parts about as large
        parameters.layers["dec.mix.0"][0][:, 21] *= 2**-14
        parameters.layers["dec.out.0"][0][:, 17] *= 2**-14
        parameters.w[:] = [1, 2**-1, 2**6, 2**-1, 2**15] if name == "crowded" else [2**13, 2**9, 2**20, 2**-1, 2**11]
        if recipe.plain_loss:
            parameters.w[:3] = [2**2, 1, 2**7]
    return arena, np.flatnonzero(arena != drawn)


def sampled():
    """Of each part one of the middle and the last: about 50."""
    for part in Parameters(np.zeros(SIZE)).span.values():
        yield from sorted({part.start + (part.stop - part.start) // 3, part.stop - 1})


def numbers(values):
    return " ".join("%.10g" % x for x in np.atleast_1d(values))


def case_lines(name, recipe, steps, runs):
    """runs: (first, end) of the parameters whose gradients are written"""
    yield " ".join(map(str, ["case", name, recipe.seed, recipe.tasks, recipe.n_min, recipe.n_max, recipe.fixed_table,
                             recipe.no_norm, recipe.no_scan, recipe.plain_loss, recipe.scouts, recipe.scout_n_min,
                             numbers(recipe.scout_alpha_max)]))
    trainer = Trainer(recipe)
    trainer.arena, changed = start(recipe, name)
    for i in changed:
        yield f"set {i} {numbers(trainer.arena[i])}"
    for i in sampled():
        yield f"parameter {i} {numbers(trainer.arena[i])}"
    for step in range(2):
        for slot in range(BATCH):
            task = make_task(recipe, step, slot)
            yield f"task {step} {slot} {task.key} {task.n} {numbers([task.alpha, task.scale])}"

    bricks = batch(recipe, trainer.arena, 0)
    losses, gradient = evaluate(recipe, trainer.arena, bricks)
    for part in "total", "metric", "error", "guide":
        yield f"{part} {numbers(getattr(losses, part))}"
    for part, span in Parameters(gradient).span.items():
        yield f"norm {part} {numbers(np.linalg.norm(gradient[span]))}"
    for i, end in runs:
        yield f"gradient {i} {numbers(gradient[i:end])}"

    yield f"loss 0 {numbers([losses.total, *losses.metric])}"
    trainer.update(gradient)
    for step in range(1, steps):
        losses = trainer.advance()
        yield f"loss {step} {numbers([losses.total, *losses.metric])}"


SMALL = Recipe(seed=7, tasks=80, n_min=60, n_max=400)
BALANCED = replace(SMALL, n_min=1000, n_max=2000)
CROWDED = replace(SMALL, n_min=24000, n_max=25000)
SCOUTS = {"scouts": 2, "scout_n_min": 200, "scout_alpha_max": 1.375}  # fewer items and more skewness than others


def lines():
    yield from HEAD.splitlines()
    every = [(i, min(i + 8, SIZE)) for i in range(0, SIZE, 8)]
    some = [(i, i + 1) for i in sampled()]
    for name, recipe, steps in ("small", SMALL, 10), ("balanced", BALANCED, 2):
        yield from case_lines(name, recipe, 10, every)
        for ablation in ABLATIONS:
            yield from case_lines(name, replace(recipe, **{ablation: 1}), steps, some)
    yield from case_lines("balanced", replace(BALANCED, **SCOUTS), 10, some)
    yield from case_lines("crowded", CROWDED, 1, every[:TABLE // 8] + some[2:])


def main():
    with open(sys.argv[1] if len(sys.argv) > 1 else GOLDEN, "w") as file:
        file.writelines(line + "\n" for line in lines())


if __name__ == "__main__":
    main()
