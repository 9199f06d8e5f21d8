"""Methods on some corpora, beside the pipeline that a user of scikit-learn would write.

    python benchmarks/methods.py documents.jsonl.gz --methods fun-tat,fun-auto --pipeline
    python benchmarks/methods.py documents.jsonl.gz --folds 3 --pipeline

Learns from rows with split train and measures on rows with split test. With --folds it measures on folds of
the training rows instead, each labelled by a model that did not see it, and looks at no test row.
"""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

from funnelling import Corpus, InputError, read_corpus
from funnelling.cli import options, printing
from funnelling.evaluation.language_averages import measure_languages
from funnelling.evaluation.registry import MEASURES, ONE_LABEL_MEASURES, PAPER_MEASURES
from funnelling.method.registry import make_method, parse_methods, parse_settings, title
from funnelling.report.tables import Table, markdown, number
from funnelling.text.words import analyser
from funnelling.trials.fitting import fit_method
from funnelling.trials.measuring import as_indicators
from funnelling.trials.one_label import NOTICED, settle
from funnelling.trials.splits import Trial, outer_folds, sides_of, trial_split
from measuring import run, short, timed


class Pipeline:
    """scikit-learn's own: words and characters of all languages, a linear SVM. It is used like a method."""

    def __init__(self, class_weight: str | None, jobs: int | None) -> None:
        self.class_weight = class_weight
        self.jobs = jobs

    def fit(self, texts: list[str], y: Any, **_: Any) -> Self:
        """Learn one label each from a 1-D array, several from lists."""
        self.exclusive_ = isinstance(y, np.ndarray)
        svm = LinearSVC(class_weight=self.class_weight)
        if self.exclusive_:
            self.classes_ = np.unique(y)
        else:
            self.classes_ = np.array(sorted({label for labels in y for label in labels}), dtype=object)
            y = np.array([[label in labels for label in self.classes_] for labels in map(set, y)])
            svm = OneVsRestClassifier(svm, n_jobs=self.jobs)
        characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5))
        self.pipeline_ = make_pipeline(make_union(TfidfVectorizer(), characters), svm).fit(texts, y)
        return self

    def predict(self, texts: list[str], **_: Any) -> Any:
        return self.pipeline_.predict(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", nargs="+", metavar="FILE")
    parser.add_argument("--methods", default="fun-tat,words-and-characters", metavar="M,…")
    parser.add_argument("--set", action="append", default=[], metavar="METHOD.PARAM=VALUE")
    parser.add_argument("--pipeline", action="store_true", help="measure scikit-learn's pipeline as well")
    parser.add_argument(
        "--folds", type=options.count, metavar="K", help="of the training rows, to measure on"
    )
    options.add_jobs(parser)
    options.add_seed(parser)
    arguments = parser.parse_args()
    names = parse_methods(arguments.methods)
    settings = parse_settings(arguments.set, names)
    makers: dict[str, Callable[[], Any]] = {
        title(name): partial(make_method, name, seed=arguments.seed, jobs=arguments.jobs, settings=settings)
        for name in names
    }
    if arguments.pipeline:
        makers["scikit-learn"] = partial(Pipeline, None, arguments.jobs)
        makers["scikit-learn, balanced"] = partial(Pipeline, "balanced", arguments.jobs)
    for path in arguments.data:
        corpus = read_corpus(path).labelled()
        trials = (
            folds_of(corpus, arguments.folds, arguments.seed)
            if arguments.folds
            else [trial_split(corpus, 0, arguments.seed)]
        )
        print(f"{path.rpartition('/')[2]}\n\n{markdown(compare(makers, trials))}\n", flush=True)


def folds_of(corpus: Corpus, folds: int, seed: int) -> list[Trial]:
    """Training rows alone, each fold measured on by what the others teach, groups kept together."""
    if folds < 2:
        raise InputError("--folds must be 2 or more: what is measured on is not learned from.")
    train = sides_of(corpus).train
    fold = outer_folds(train, folds, seed)
    nothing = train.select([])
    return [Trial(train.select(fold != k), train.select(fold == k), nothing) for k in np.unique(fold)]


def compare(makers: Mapping[str, Callable[[], Any]], trials: list[Trial]) -> Table:
    """A row for each method: measures, mean over languages, and mean seconds of a fit and a prediction."""
    trials, lines = settle([_in_known_languages(trial) for trial in trials])
    for line in lines:
        if line != NOTICED:
            printing.say(line)
    reduce_words(trials)
    measures = ONE_LABEL_MEASURES if trials[0].train.one_label else PAPER_MEASURES
    rows = []
    for name, make in makers.items():
        average, seconds = measure(make, trials)
        rows.append([name, *(number(average[each]) for each in measures), *map(short, seconds)])
        printing.say(" ".join(rows[-1]))
    return Table(["", *(MEASURES[each].title for each in measures), "fit s", "predict s"], rows)


def reduce_words(trials: list[Trial]) -> None:
    """Reduce all words to lemmas, once per process, so that no method is clocked for all."""
    for trial in trials:
        for corpus in (trial.train, trial.test):
            for text, language in zip(corpus.texts, corpus.languages, strict=True):
                analyser(language)(text)


def measure(make: Callable[[], Any], trials: list[Trial]) -> tuple[dict[str, float], list[float]]:
    """The measures of all trials' test documents together, and the mean seconds of a fit and a prediction."""
    one_label = trials[0].train.one_label
    known = sorted({label for trial in trials for label in trial.train.label_set()})
    # Whoever gives one label is wrong about those that training documents lack.
    tested = {label for trial in trials for label in trial.test.label_set()}
    classes = [*known, *sorted(tested - set(known))] if one_label else known
    column_of = {label: column for column, label in enumerate(classes)}
    truth, decisions, languages, seconds = [], [], [], []
    for train, test, _ in trials:
        model = make()
        fit_seconds, _ = timed(partial(fit_method, model, train))
        predict_seconds, labels = timed(partial(model.predict, test.texts, languages=test.languages))
        decided = np.zeros((len(test), len(classes)), dtype=bool)
        decided[:, [column_of[label] for label in model.classes_]] = as_indicators(model, labels)
        truth.append(test.label_matrix(classes))
        decisions.append(decided)
        languages += test.languages
        seconds.append([fit_seconds, predict_seconds])
    columns = np.arange(len(known))
    measured = measure_languages(np.vstack(truth), np.vstack(decisions), languages, one_label, columns)
    return measured["average"], np.mean(seconds, axis=0).tolist()


def _in_known_languages(trial: Trial) -> Trial:
    """A trial whose test documents are in languages of training documents, which all methods can label."""
    known = trial.train.by_language()
    rows = np.array([language in known for language in trial.test.languages], dtype=bool)
    if not rows.all():
        printing.say(f"{(~rows).sum()} test documents left out, in languages without training documents.")
    return trial._replace(test=trial.test.select(rows))


if __name__ == "__main__":
    run(main)
