"""Questions made for a corpus, by a language model or from the names in its texts.

| module | questions | known about each |
|---|---|---|
| `abstract_questions` | ask for an overview, by a language model | nothing |
| `linked_questions` | about two linked passages, by a language model | gold passages |
| `model_questions` | about one passage, by a language model, checked | answer, gold passage |
| `name_questions` | made from names alone | answer, gold passages |
"""
