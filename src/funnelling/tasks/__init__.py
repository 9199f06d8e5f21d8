"""What users set out to do, as functions: train, compare, predict …; most commands call one of them.

They read and write files, and refuse what cannot be used before the work that leads to it. What they have to
say meanwhile goes to ``report``, one line at a time.
"""
