"""Questions made for a corpus.

A language model writes them, or they are made from the names in the texts of the corpus.

| module | questions | known about each |
|---|---|---|
| `abstract_questions` | ask for an overview, by a language model | nothing |
| `linked_questions` | about two linked passages, by a language model | gold passages |
| `model_questions` | about one passage, by a language model, checked | answer, gold passage |
| `name_questions` | made from names alone | answer, gold passages |
"""
