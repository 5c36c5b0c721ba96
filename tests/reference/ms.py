#!/usr/bin/env python3
"""The training of the meta-sketch once more, in double precision, and what it gives for three small recipes:

    python3 tests/reference/ms.py [file]         writes tests/golden/ms.txt

Written from the head of train/ms_train.h alone, not from the other files of train/, so that the two do not share
mistakes: gradients come from a tape (class Value), items are rows, nothing is in blocks."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from training import output, outputs, unit

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "ms.txt")
BITS, EMBED, REFINED, DEPTH, SLOTS, POPULATION = 60, 23, 5, 2, 50, 100000
IN = DEPTH * (EMBED + 3) + EMBED + 1
LAYERS = [("embed.0", BITS, 64, True), ("embed.1", 64, 43, True), ("embed.2", 43, EMBED, False),
          ("refine.0", EMBED, 32, True), ("refine.1", 32, 18, True), ("refine.2", 18, REFINED, False),
          ("decode.0", IN, 256, False), ("decode.1", 256, IN, False), ("decode.2", IN, 38, False),
          ("decode.3", 38, 1, False)]
NORMED = [name for name, _, _, norm in LAYERS if norm]


# ---- a tape ---------------------------------------------------------------------------------------------------------

class Value:
    """An array, and how its gradient goes on to what it was made of: [(value, function of the gradient)]."""

    def __init__(self, array, *sources):
        self.array, self.sources, self.gradient = np.asarray(array, dtype=float), sources, 0.0

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if id(value) not in seen:
                seen.add(id(value))
                for source, _ in value.sources:
                    visit(source)
                order.append(value)
        visit(self)
        self.gradient = np.ones_like(self.array)
        for value in reversed(order):
            for source, back in value.sources:
                source.gradient = source.gradient + fit(back(value.gradient), source.array.shape)

    def __add__(self, other):
        other = value_of(other)
        return Value(self.array + other.array, (self, lambda d: d), (other, lambda d: d))

    def __sub__(self, other):
        other = value_of(other)
        return Value(self.array - other.array, (self, lambda d: d), (other, lambda d: -d))

    def __mul__(self, other):
        other = value_of(other)
        return Value(self.array * other.array, (self, lambda d: d * other.array), (other, lambda d: d * self.array))

    def __truediv__(self, other):
        return self * value_of(other).power(-1)

    def __matmul__(self, other):
        return Value(self.array @ other.array, (self, lambda d: d @ other.array.T), (other, lambda d: self.array.T @ d))

    def power(self, p):
        return Value(self.array**p, (self, lambda d: d * p * self.array**(p - 1)))

    def log(self):
        return Value(np.log(self.array), (self, lambda d: d / self.array))

    def abs(self):
        return Value(np.abs(self.array), (self, lambda d: d * np.sign(self.array)))

    def transpose(self):
        return Value(self.array.T, (self, lambda d: d.T))

    def bend(self, slope):
        factor = np.where(self.array > 0, 1, slope)
        return Value(self.array * factor, (self, lambda d: d * factor))

    def sum(self, axis):
        return Value(self.array.sum(axis, keepdims=True), (self, lambda d: d + np.zeros_like(self.array)))

    def mean(self, axis):
        return self.sum(axis) / self.array.shape[axis]

    def take(self, columns):
        """One column for each row; 0 where that is -1."""
        rows = np.arange(len(columns))

        def back(d):
            whole = np.zeros_like(self.array)
            whole[rows, columns] = np.where(columns >= 0, d[:, 0], 0)
            return whole
        return Value(np.where(columns >= 0, self.array[rows, columns], 0)[:, None], (self, back))

    def part(self, i):
        def back(d):
            whole = np.zeros_like(self.array)
            whole[i] = d
            return whole
        return Value(self.array[i], (self, back))


def value_of(x):
    return x if isinstance(x, Value) else Value(x)


def fit(d, shape):
    """The gradient of something that was broadcast."""
    d = np.asarray(d)
    while d.ndim > len(shape):
        d = d.sum(0)
    for axis, size in enumerate(shape):
        if size == 1 and d.shape[axis] > 1:
            d = d.sum(axis, keepdims=True)
    return d


def join(values):
    widths = np.cumsum([0] + [v.array.shape[1] for v in values])
    return Value(np.concatenate([v.array for v in values], 1),
                 *[(v, lambda d, a=a, b=b: d[:, a:b]) for v, a, b in zip(values, widths, widths[1:])])


def sparsemax(x):
    """Martins and Astudillo 2016, by sorting."""
    z = -np.sort(-x.array, 1)
    sums, k = z.cumsum(1), np.arange(1, SLOTS + 1)
    size = (1 + k * z > sums).sum(1, keepdims=True)
    tau = (np.take_along_axis(sums, size - 1, 1) - 1) / size
    a = np.maximum(x.array - tau, 0)
    inside = a > 0

    def back(d):
        return inside * (d - (inside * d).sum(1, keepdims=True) / inside.sum(1, keepdims=True))
    return Value(a, (x, back))


# ---- parameters and tasks -------------------------------------------------------------------------------------------

class Recipe:
    """tasks: of the whole run; log_scale: 0 for scales from 1 to 10, or the largest, their logarithms being uniform;
    rate_end: 0 for one that does not fall"""

    def __init__(self, seed, n_min, n_max, rate, batch=1, tasks=5000000, log_scale=0, rate_end=0):
        self.seed, self.n_min, self.n_max, self.rate = seed, n_min, n_max, rate
        self.batch, self.tasks, self.log_scale, self.rate_end = batch, tasks, log_scale, rate_end or rate


def sizes():
    """(name, shape) of each array in the order of the arena"""
    for name, inputs, outs, norm in LAYERS:
        yield name, (outs, inputs)
        yield name + (".beta" if norm else ".bias"), (outs,)
        if norm:
            yield name + ".gamma", (outs,)
    yield "address", (DEPTH, REFINED, SLOTS)
    yield "loss", (2,)


def normalise(address):
    return address / np.sqrt((address**2).sum(1, keepdims=True))


def initial(recipe):
    """name -> array, rounded to floats"""
    state, k, arrays, inputs = output(recipe.seed, 2), 1, {}, 0
    for name, shape in sizes():
        if name.endswith(".beta") or name.endswith(".gamma") or name == "loss":
            arrays[name] = np.zeros(shape) + (not name.endswith(".beta"))
            continue
        count = int(np.prod(shape))
        u = unit(outputs(state, k, count)).reshape(shape)
        k += count
        if len(shape) == 2:
            inputs = shape[1]
        arrays[name] = normalise(u) if name == "address" else (2 * u - 1) / np.sqrt(inputs)
        arrays[name] = arrays[name].astype(np.float32).astype(float)
    return arrays


def make_task(recipe, number):
    key = output(output(recipe.seed, 1) + number, 1)
    u = unit(outputs(key, 1, 3))
    n = recipe.n_min + int(u[0] * (recipe.n_max - recipe.n_min + 1))
    alpha, scale = 0.8 + u[1] * (1.3 - 0.8), np.exp(u[2] * np.log(recipe.log_scale)) if recipe.log_scale else 1 + 9 * u[2]
    drawn = outputs(key, 4, 2 * n)
    x = (drawn[::2, None] >> np.arange(4, 64, dtype=np.uint64) & np.uint64(1)).astype(float)
    rank = 1 + ((drawn[1::2] >> np.uint64(32)) * np.uint64(POPULATION) >> np.uint64(32)).astype(float)
    total = (np.arange(1, POPULATION + 1.0)**-alpha).sum()
    f = (1 + np.floor(scale * POPULATION * rank**-alpha / total + 0.5)).astype(np.float32).astype(float)
    return key, n, alpha, scale, x, f[:, None]


# ---- a step ----------------------------------------------------------------------------------------------------------

def least(read, z):
    """The three minima of the reads of one depth, as columns."""
    usable = z.array > 1e-4
    low = read.take(read.array.argmin(1))
    above = usable & (read.array - low.array > 1e-4)
    safe = np.where(usable, z.array, 1)

    def winner(numbers, mask):
        return np.where(mask.any(1), np.where(mask, numbers, np.inf).argmin(1), -1)
    by_ratio, by_gap = winner(read.array / safe, usable), winner((read.array - low.array) / safe, above)

    def over(numbers, columns):  # 0 / 1 where there is none
        there = (columns >= 0)[:, None]
        return numbers * there / (z.take(columns) + ~there)
    return over(read.take(by_ratio), by_ratio), low, over(read.take(by_gap) - low, by_gap)


def evaluate(arrays, x, f):
    """-> (total, mse, are, aae), gradients by name, (mean, variance) by name"""
    p = {name: Value(array) for name, array in arrays.items()}
    statistics, n = {}, len(f)

    def dense(name, inputs):
        return inputs @ p[name].transpose()

    def normed(name, inputs, slope):
        u = dense(name, inputs)
        mean = u.mean(0)
        variance = (u - mean).power(2).mean(0)
        statistics[name] = mean.array[0], variance.array[0] * n / (n - 1)
        return ((u - mean) * (variance + 1e-5).power(-0.5) * p[name + ".gamma"] + p[name + ".beta"]).bend(slope)

    def biased(name, inputs):
        return dense(name, inputs) + p[name + ".bias"]
    z = biased("embed.2", normed("embed.1", normed("embed.0", Value(x), 0), 0)).bend(0)
    q = biased("refine.2", normed("refine.1", normed("refine.0", z, 0.01), 0.01))
    reads, minima = [], []
    for d in range(DEPTH):
        a = sparsemax(q @ p["address"].part(d))
        memory = a.transpose() @ (z * f)
        reads.append(a @ memory / a.power(2).sum(1))
        minima.append(least(reads[d], z))
    total = Value(np.full((n, 1), f.sum()))
    features = join(reads + [minima[d][i] for i in range(3) for d in range(DEPTH)] + [z, total])
    hidden = (biased("decode.1", biased("decode.0", features).bend(0)) + features).bend(0)
    answer = biased("decode.3", biased("decode.2", hidden).bend(0))
    error = answer - f
    mse, are = error.power(2).mean(0), (error.abs() / f).mean(0)
    total = Value(0)
    for i, metric in enumerate((mse, are)):
        square = p["loss"].part(i).power(2)
        total = total + metric * 0.5 / square + (square + 1).log()
    total.backward()
    losses = [total.array.item(), mse.array.item(), are.array.item(), np.abs(error.array).mean()]
    return losses, {name: value.gradient + np.zeros(value.array.shape) for name, value in p.items()}, statistics


class Trainer:
    def __init__(self, recipe):
        self.recipe, self.arrays, self.step = recipe, initial(recipe), 0
        self.first = {name: 0 * array for name, array in self.arrays.items()}
        self.second = {name: 0 * array for name, array in self.arrays.items()}
        self.mean = {name: 0 for name in NORMED}
        self.variance = {name: 1 for name in NORMED}

    def follow(self, n, statistics):
        for name, (mean, variance) in statistics.items():
            follow = 0.01 * n / self.recipe.n_max
            self.mean[name] = self.mean[name] + follow * (mean - self.mean[name])
            self.variance[name] = self.variance[name] + follow * (variance - self.variance[name])

    def advance(self):
        """One step -> the mean of its tasks' losses"""
        numbers = range(self.step * self.recipe.batch, min((self.step + 1) * self.recipe.batch, self.recipe.tasks))
        mean, losses = {name: 0 for name in self.arrays}, []
        for number in numbers:
            _, n, _, _, x, f = make_task(self.recipe, number)
            task_losses, gradients, statistics = evaluate(self.arrays, x, f)
            losses.append(task_losses)
            norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))
            for name, g in gradients.items():
                mean[name] = mean[name] + g * (5 / (norm + 1e-6) if norm > 5 else 1) / len(numbers)
            self.follow(n, statistics)
        late = max(0, 2 * self.step / -(-self.recipe.tasks // self.recipe.batch) - 1)
        rate = self.recipe.rate * (self.recipe.rate_end / self.recipe.rate) ** late
        self.step += 1
        for name, g in mean.items():
            self.first[name] = 0.9 * self.first[name] + 0.1 * g
            self.second[name] = 0.999 * self.second[name] + 0.001 * g**2
            root = np.sqrt(self.second[name] / (1 - 0.999**self.step)) + 1e-8
            self.arrays[name] = self.arrays[name] - rate * self.first[name] / (1 - 0.9**self.step) / root
        self.arrays["address"] = normalise(self.arrays["address"])
        return np.mean(losses, 0)


# ---- the file -------------------------------------------------------------------------------------------------------

HEAD = """\
# Written by tests/reference/ms.py. For each case, whose recipe is the published one but for these:
# case SEED N_MIN N_MAX RATE RATE_END BATCH TASKS LOG_SCALE      0, or the largest scale
# parameter INDEX value          how parameters start
# task NUMBER key n alpha scale N
# norm INDEX COUNT value         of the gradient of task 0 before clipping, of the parameters from INDEX on
# gradient INDEX value           the same, of some
# loss STEP total mse are aae    before the step's update, means over its tasks
# mean INDEX value | variance INDEX value      of batch norm after the last step
"""


def numbers(*values):
    return " ".join("%.10g" % x for x in values)


def case_lines(recipe, steps):
    yield f"case {recipe.seed} {recipe.n_min} {recipe.n_max} {numbers(recipe.rate, recipe.rate_end)} " \
          f"{recipe.batch} {recipe.tasks} {recipe.log_scale}"
    trainer = Trainer(recipe)
    for number in range(3):
        key, n, alpha, scale, x, f = make_task(recipe, number)
        yield f"task {number} {key} {n} {numbers(alpha, scale, f.sum())}"
        if number == 0:
            _, gradients, _ = evaluate(trainer.arrays, x, f)
    at = 0
    for name, shape in sizes():
        flat, g = trainer.arrays[name].ravel(), gradients[name].ravel()
        yield f"norm {at} {len(flat)} {numbers(np.linalg.norm(g))}"
        for i in sorted({0, len(flat) // 3, 2 * len(flat) // 3, len(flat) - 1}):
            yield f"parameter {at + i} {numbers(flat[i])}"
            yield f"gradient {at + i} {numbers(g[i])}"
        at += len(flat)
    for step in range(steps):
        yield f"loss {step} {numbers(*trainer.advance())}"
    for what, by_name in ("mean", trainer.mean), ("variance", trainer.variance):
        flat = np.concatenate([by_name[name] for name in NORMED])
        for i in range(0, len(flat), 13):
            yield f"{what} {i} {numbers(flat[i])}"


def lines():
    yield from HEAD.splitlines()
    yield from case_lines(Recipe(seed=7, n_min=30, n_max=90, rate=1e-4), 10)
    yield from case_lines(Recipe(seed=8, n_min=500, n_max=700, rate=1e-3), 6)
    yield from case_lines(Recipe(seed=9, n_min=40, n_max=200, rate=1e-3, batch=4, tasks=18, log_scale=600, rate_end=1e-4), 5)


def main():
    with open(sys.argv[1] if len(sys.argv) > 1 else GOLDEN, "w") as file:
        file.writelines(line + "\n" for line in lines())


if __name__ == "__main__":
    main()
