"""Routers: rules that choose a method for each question, learned from a finished evaluation."""
