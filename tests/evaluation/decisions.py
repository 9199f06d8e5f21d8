"""Truth and predictions: some by hand, and any."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Four documents, five labels: ordinary, absent and left alone, absent and predicted, everywhere, missed.
TRUTH = np.array(
    [
        [1, 0, 0, 1, 1],
        [1, 0, 0, 1, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 1, 0],
    ]
)
PREDICTED = np.array(
    [
        [1, 0, 1, 1, 0],
        [0, 0, 0, 1, 0],
        [1, 0, 0, 1, 0],
        [0, 0, 0, 0, 0],
    ]
)

shapes = st.tuples(st.integers(1, 12), st.integers(1, 6))
pairs = shapes.flatmap(lambda shape: st.tuples(hnp.arrays(bool, shape), hnp.arrays(bool, shape)))
