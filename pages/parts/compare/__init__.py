"""Asking and the lanes of Compare."""
