"""Methods on trials: splits into training and test documents, fitting, measuring, comparing, kept results."""
