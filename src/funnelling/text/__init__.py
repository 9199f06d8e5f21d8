"""From a document's text to its vector: language, words, tf-idf."""
