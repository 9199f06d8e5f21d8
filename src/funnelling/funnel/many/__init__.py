"""The funnel for label sets that are long: thousands of labels, of which a document has a few."""
