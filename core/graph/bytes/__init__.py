"""Names as bytes: ordered and searched where they lie."""
