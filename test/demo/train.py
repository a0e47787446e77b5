#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains a small neural network to read handwritten digits; needs nothing but Python.

64 pixels -> 32 ReLU units -> 10 classes with softmax and cross-entropy, stochastic gradient descent
with momentum over mini-batches. Reads digits.csv below --data, writes model.json and metrics.json
below --model. `--evaluate model.json` reads a trained model and prints how well it does on the rows
that training has not seen.
"""

import argparse
import json
import math
import os
import random
import sys
import time

PIXELS, HIDDEN, CLASSES = 64, 32, 10
HELD_OUT = 360  # rows kept for testing: every fifth


def read_rows(directory):
    with open(os.path.join(directory, "digits.csv"), encoding="ascii") as f:
        rows = [[int(v) for v in line.split(",")] for line in f]
    rows = [([v / 16.0 for v in row[:PIXELS]], row[PIXELS]) for row in rows]
    test = rows[::5][:HELD_OUT]
    train = [row for i, row in enumerate(rows) if i % 5 != 0]
    return train, test


def new_model(rng):
    def layer(n_out, n_in):
        spread = math.sqrt(2.0 / n_in)
        return [[rng.gauss(0.0, spread) for _ in range(n_in)] for _ in range(n_out)]

    return {
        "w1": layer(HIDDEN, PIXELS),
        "b1": [0.0] * HIDDEN,
        "w2": layer(CLASSES, HIDDEN),
        "b2": [0.0] * CLASSES,
    }


def dot(a, b):
    return sum(map(float.__mul__, a, b))


def forward(model, x):
    hidden = [max(0.0, dot(w, x) + b) for w, b in zip(model["w1"], model["b1"])]
    scores = [dot(w, hidden) + b for w, b in zip(model["w2"], model["b2"])]
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    total = sum(powers)
    return hidden, [p / total for p in powers]


def accumulate(into, vector, factor):
    for i, v in enumerate(vector):
        into[i] += factor * v


def backward(model, grad, x, label, hidden, probs):
    """Adds one sample's gradient to grad; returns its loss."""
    back = [0.0] * HIDDEN
    for k, p in enumerate(probs):
        error = p - (1.0 if k == label else 0.0)
        accumulate(grad["w2"][k], hidden, error)
        grad["b2"][k] += error
        accumulate(back, model["w2"][k], error)
    for j, (h, error) in enumerate(zip(hidden, back)):
        if h > 0.0:
            accumulate(grad["w1"][j], x, error)
            grad["b1"][j] += error
    return -math.log(max(probs[label], 1e-12))


def zeros_like(model):
    return {
        "w1": [[0.0] * PIXELS for _ in range(HIDDEN)],
        "b1": [0.0] * HIDDEN,
        "w2": [[0.0] * HIDDEN for _ in range(CLASSES)],
        "b2": [0.0] * CLASSES,
    }


def step_row(row, speed, grad, rate, momentum):
    for i, g in enumerate(grad):
        speed[i] = momentum * speed[i] - rate * g
        row[i] += speed[i]


def step(model, velocity, grad, rate, momentum):
    for layer in ("w1", "w2"):
        for row, speed, g in zip(model[layer], velocity[layer], grad[layer]):
            step_row(row, speed, g, rate, momentum)
    for layer in ("b1", "b2"):
        step_row(model[layer], velocity[layer], grad[layer], rate, momentum)


def accuracy(model, rows):
    right = 0
    for x, label in rows:
        _, probs = forward(model, x)
        right += probs.index(max(probs)) == label
    return right / len(rows)


def train_epoch(model, velocity, rows, options):
    loss = 0.0
    for start in range(0, len(rows), options.batch):
        batch = rows[start : start + options.batch]
        grad = zeros_like(model)
        for x, label in batch:
            hidden, probs = forward(model, x)
            loss += backward(model, grad, x, label, hidden, probs)
        step(model, velocity, grad, options.rate / len(batch), options.momentum)
    return loss / len(rows)


def train(options):
    rng = random.Random(options.seed)
    rows, test = read_rows(options.data)
    print(f"{len(rows)} digits to learn from, {len(test)} kept for testing", flush=True)
    model, history, began = new_model(rng), [], time.monotonic()
    velocity = zeros_like(model)
    for epoch in range(1, options.epochs + 1):
        rng.shuffle(rows)
        loss = train_epoch(model, velocity, rows, options)
        right = accuracy(model, test)
        history.append({"epoch": epoch, "loss": loss, "accuracy": right})
        seconds = time.monotonic() - began
        print(f"epoch {epoch:2d}  loss {loss:.4f}  test accuracy {right:.4f}  {seconds:.1f} s", flush=True)
    os.makedirs(options.model, exist_ok=True)
    for name, content in (("model.json", model), ("metrics.json", history)):
        path = os.path.join(options.model, name)
        with open(path, "w", encoding="ascii") as f:
            json.dump(content, f)
        print(f"wrote {path}", flush=True)
    return 0


def evaluate(options):
    with open(options.evaluate, encoding="ascii") as f:
        model = json.load(f)
    _, test = read_rows(options.data)
    right = accuracy(model, test)
    print(f"the downloaded model reads {right:.1%} of {len(test)} unseen digits correctly")
    return 0 if right >= options.at_least else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("AZ_BATCHAI_INPUT_DATA"))
    parser.add_argument("--model", default=os.environ.get("AZ_BATCHAI_OUTPUT_MODEL"))
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--evaluate", metavar="MODEL.JSON")
    parser.add_argument("--at-least", type=float, default=0.9, help="accuracy that counts as success")
    options = parser.parse_args()
    if not options.data:
        parser.error("where is the data? Give --data or set AZ_BATCHAI_INPUT_DATA")
    if options.evaluate:
        return evaluate(options)
    if not options.model:
        parser.error("where shall the model go? Give --model or set AZ_BATCHAI_OUTPUT_MODEL")
    return train(options)


if __name__ == "__main__":
    sys.exit(main())
