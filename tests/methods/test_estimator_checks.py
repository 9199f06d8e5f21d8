"""scikit-learn's own checks of what an estimator must do; none is excepted."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from funnelling.funnel.estimator import FunnellingClassifier
from funnelling.methods.classifiers import NaiveClassifier, PooledClassifier
from funnelling.research import DCIClassifier, LRIClassifier, PaperFunnelClassifier

METHODS = [
    FunnellingClassifier(random_state=0),
    PaperFunnelClassifier(random_state=0),
    NaiveClassifier(C=1.0, random_state=0),
    PooledClassifier(C=1.0, random_state=0),
    LRIClassifier(C=1.0, random_state=0),
    DCIClassifier(C=1.0, random_state=0),
]
SLOW_METHODS = [
    PaperFunnelClassifier("kfcv", folds=3, random_state=0),
    NaiveClassifier(random_state=0),
    PooledClassifier(random_state=0),
]


@parametrize_with_checks(METHODS)
def test_the_contract_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(SLOW_METHODS)
def test_the_contract_of_scikit_learn_at_length(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
