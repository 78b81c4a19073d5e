"""Evaluation of methods: correct answers, and the step that lost each missed one."""
