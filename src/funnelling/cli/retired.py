"""Commands and options that were removed, each with its replacement."""

from funnelling.errors import InputError

LABELLING = "Run python benchmarks/labelling.py in a clone of the repository."
# What was typed after `funnelling`, without arguments, and one sentence or two that name the replacement.
RETIRED = {
    "--no-config": "Only a file named by --config or FUNNELLING_CONFIG is read. Unset the variable instead.",
    "inspect MODEL MODEL": "Write inspect --json of each model to a file, and compare the files with diff.",
    "embeddings neighbours": "Use gensim: KeyedVectors.load_word2vec_format(FILE).most_similar(WORD).",
    "experiment labelling": LABELLING,
    "experiment --learner": LABELLING,
    "experiment --label-up-to": LABELLING,
    "experiment --steps": LABELLING,
    "train --device": "Fits run on the CPU. Leave the option out.",
    "predict --device": "Predictions run on the CPU. Leave the option out.",
}


def refuse_retired(command: str, word: str) -> None:
    """Refuse a retired subcommand or option of a command; "" is the command of general options.

    >>> RETIRED["data describe"] = "Use inspect DATA."
    >>> refuse_retired("data", "describe")
    Traceback (most recent call last):
    funnelling.errors.InputError: 'data describe' is retired. Use inspect DATA.
    >>> del RETIRED["data describe"]
    """
    typed = f"{command} {word}".strip()
    if typed in RETIRED:
        raise InputError(f"'{typed}' is retired. {RETIRED[typed]}")
