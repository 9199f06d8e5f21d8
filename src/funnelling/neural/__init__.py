"""The network of MLE-LSTM: words as numbers, the LSTM's recurrence, the layers around it, its training.

`words` does without PyTorch; the others import it.
"""
