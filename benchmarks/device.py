"""Tier 2's search for C on a GPU and on the CPU, in one run: seconds, the C chosen, how exact solutions are.

    python benchmarks/device.py
    python benchmarks/device.py --small --device cpu

A corpus is drawn in JRC-Acquis' shape and its tier 1 fitted, on the CPU. Then both sides find the kernel
matrix of the posteriors and solve the SVMs of all labels and folds for each C of the grid, each C from the
one before; the micro-F1 of held-out decisions chooses. The GPU does so twice, because the first time
includes what CUDA loads and compiles.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import corpora
from drawing import Shape
from funnelling.cli import options
from funnelling.funnel.tier_one import Posteriors, fit_tier_one
from funnelling.matrices import Floats, Folds, Targets
from funnelling.randomness import assign_folds
from funnelling.report.tables import Table, plain
from funnelling.svm.device import DeviceGram, solve_path_on_device
from funnelling.svm.learner import C_GRID, SVM, Fit
from funnelling.svm.path import SparseSolution
from funnelling.work.devices import pick_device
from funnelling.work.progress import quietly
from measuring import machine, run, short, timed

FOLDS = 5
SMALL = "3x150x20x600"


@dataclass(frozen=True)
class TierTwo:
    """What tier 2 learns from."""

    X: Floats
    targets: Targets
    folds: Folds

    @property
    def gamma(self) -> float:
        return 1 / self.targets.shape[1]

    @property
    def active(self) -> Targets:
        held_out = self.folds == np.arange(FOLDS)[:, None]
        return np.vstack([np.ones((1, len(self.folds)), dtype=bool), ~held_out])


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the search for tier 2's C on a GPU and on the CPU.")
    parser.add_argument("--small", action="store_true", help=f"a quick try, shape {SMALL}")
    parser.add_argument("--shape", default="jrc", metavar="S", help="as in memory.py (jrc)")
    parser.add_argument("--device", default="cuda", metavar="D", help="cuda or cpu (cuda)")
    options.add_jobs(parser)
    options.add_seed(parser)
    arguments = parser.parse_args()
    device = pick_device(arguments.device)
    shape = Shape.parse(SMALL if arguments.small else arguments.shape)
    seconds, tier_two = timed(lambda: posteriors(shape, arguments.seed, arguments.jobs))
    documents, labels = tier_two.targets.shape
    print(f"{documents:,} documents, {labels} labels, {FOLDS} folds; tier 1 took {short(seconds)} s")

    cold, _ = timed(lambda: search_on_device(tier_two, device))
    clock = Clock(labels * (FOLDS + 1))
    warm, (gram, paths, on_device) = timed(lambda: search_on_device(tier_two, device, clock))
    learner = SVM(None, gamma=tier_two.gamma, n_jobs=arguments.jobs)
    problem = learner.problem(tier_two.X, tier_two.targets)
    on_cpu, best = timed(lambda: problem.fit(tier_two.folds))
    rows = [
        [
            f"{device}, first",
            short(cold),
            short(on_cpu / cold),
            f"{on_device.C:g}",
            f"{on_device.held_out_f1():.4f}",
        ],
        [
            f"{device}, again",
            short(warm),
            short(on_cpu / warm),
            f"{on_device.C:g}",
            f"{on_device.held_out_f1():.4f}",
        ],
        ["CPU solver", short(on_cpu), "1", f"{best.C:g}", f"{best.held_out_f1():.4f}"],
    ]
    print(plain(Table(["side", "search s", "times as fast", "C", "micro-F1 held out"], rows)))
    print(plain(_exactness(tier_two, gram, paths, clock.seconds)))
    where = machine()
    print(f"{where['cpu']}, {where['cores']} cores, {arguments.jobs} jobs; device {_name(device)}")


def posteriors(shape: Shape, seed: int, jobs: int) -> TierTwo:
    """The posteriors of the training documents of all languages, by their base classifiers."""
    by_language, targets, folds = [], [], []
    for language, vectors in corpora.draw_corpus(shape, seed).by_language.items():
        has_label = vectors.train_labels.astype(bool)
        of_language = assign_folds(FOLDS, len(has_label), seed, language=language)
        problem = SVM(n_jobs=jobs).problem(vectors.train, has_label, language)
        by_language.append(fit_tier_one(problem, of_language, "platt", n_jobs=jobs)[1])
        targets.append(has_label)
        folds.append(of_language)
    return TierTwo(Posteriors.stacked(by_language).training, np.vstack(targets), np.concatenate(folds))


class Clock:
    """How long each C took, by the number of problems solved."""

    def __init__(self, problems: int) -> None:
        self.problems, self.solved, self.seconds = problems, 0, list[float]()
        self.last = time.perf_counter()

    def __call__(self, solved: int) -> None:
        self.solved += solved
        if self.solved % self.problems == 0:
            now = time.perf_counter()
            self.seconds.append(now - self.last)
            self.last = now


def search_on_device(
    tier_two: TierTwo, device: str, clock: Clock | None = None
) -> tuple[DeviceGram, list[SparseSolution], Fit]:
    """The kernel matrix, the solutions for each C, and the one chosen."""
    gram = DeviceGram.rbf(tier_two.X, tier_two.gamma, device)
    paths = solve_path_on_device(
        gram, tier_two.targets, tier_two.active, C_GRID, folds=tier_two.folds, advance=clock or quietly
    )
    problem = SVM(None, gamma=tier_two.gamma).problem(tier_two.X, tier_two.targets)
    fits = [Fit(problem, C, tier_two.folds, path) for C, path in zip(C_GRID, paths, strict=True)]
    return gram, paths, max(fits, key=lambda fit: fit.held_out_f1())


def _exactness(
    tier_two: TierTwo, gram: DeviceGram, paths: Sequence[SparseSolution], seconds: Sequence[float]
) -> Table:
    """The worst problem of each C, computed from its definition: in double, one label after the other.

    The seconds are those of the second search; those of the first C include the kernel matrix.
    """
    import torch

    rows = []
    active = torch.from_numpy(tier_two.active).to(gram.device)
    for C, solution, elapsed in zip(C_GRID, paths, seconds, strict=True):
        violations, gaps = [0.0], [0.0]
        for label in range(tier_two.targets.shape[1]):
            beta = torch.from_numpy(solution.of_label(label)).to(gram.device)
            bias = torch.from_numpy(solution.bias[label]).to(gram.device)[:, None]
            signs = torch.from_numpy(np.where(tier_two.targets[:, label], 1.0, -1.0)).to(gram.device)
            both = ((signs > 0) & active).any(dim=1) & ((signs < 0) & active).any(dim=1)
            sums = gram.times(beta)
            gradient = signs - sums
            rises = active & torch.where(signs > 0, beta < C, beta < 0)
            falls = active & torch.where(signs > 0, beta > 0, beta > -C)
            top = gradient.masked_fill(~rises, -torch.inf).amax(dim=1)
            bottom = gradient.masked_fill(~falls, torch.inf).amin(dim=1)
            quadratic = (beta * sums).sum(dim=1)
            loss = ((1 - signs * (sums + bias)).clamp(min=0) * active).sum(dim=1)
            primal = quadratic / 2 + C * loss
            gap = (primal - (signs * beta).sum(dim=1) + quadratic / 2) / primal
            violations += (top - bottom)[both].tolist()
            gaps += gap[both].tolist()
        support = f"{solution.support.nnz / len(violations):,.0f}"
        rows.append([f"{C:g}", short(elapsed), f"{max(violations):.2e}", f"{max(gaps):.2e}", support])
    return Table(["C", "s", "worst violation", "worst relative gap", "support vectors per problem"], rows)


def _name(device: str) -> str:
    import torch

    return str(torch.cuda.get_device_name()) if device == "cuda" else device


if __name__ == "__main__":
    run(main)
