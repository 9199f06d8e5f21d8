"""Documents of which some have labels that their words deny."""

from funnelling import Corpus, Document


def mislabelled(each: int = 30, one_label: bool = False) -> Corpus:
    """English documents on loans or on games; every tenth is called what it is not."""
    documents = []
    for i in range(each):
        for j, (word, label) in enumerate((("loan bank", "money"), ("game ball", "sport"))):
            wrong = i % 10 == 3 + j
            shown = ("sport" if label == "money" else "money") if wrong else label
            filler = ("street", "window", "garden", "letter")[i % 4]
            documents.append(Document(f"{label}-{i}", f"The {word} {filler}", language="en", labels=(shown,)))
    return Corpus.from_documents(documents, one_label)
