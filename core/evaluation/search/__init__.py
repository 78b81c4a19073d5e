"""Search for the line of operators that answers questions best within a budget.

`space` and `space_texts` say which lines can be drawn, `search` draws and tries them, `trial`
measures one line, and `verdict` compares the best ones with published methods.
"""
