"""Many binary SVM problems over one kernel matrix, solved side by side on a GPU by PyTorch.

The problem and the rule that ends it are those of native/solver.h and native/rule.h; the way there differs.
A GPU is fast at products of large matrices and slow at many small steps, so there are no steps of pairs.
A round

- finds the gradients of all documents by a product with the kernel matrix, and drops the problems solved;
- picks for each problem the documents that matter: those between their bounds and the worst violators, half
  of them to rise and half to fall; problems that need about as many go on together;
- solves each problem over these documents, while the others rest, by an interior-point method (Mehrotra
  1992): about a dozen factorisations of a matrix per problem, for all problems at once. A coefficient that
  ends next to a bound is put on it.

Where far more documents have to move than a round takes up, some cheap steps of all documents come first.

Everything is summed in double. Bits are the same in every run on the same device. PyTorch's CPU serves for
tests, where the compiled solver would be far faster.
"""

from funnelling.svm.device.gram import DeviceGram, kernel_scores
from funnelling.svm.device.solver import solve_path_on_device

__all__ = [
    "DeviceGram",
    "kernel_scores",
    "solve_path_on_device",
]
