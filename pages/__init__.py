"""The screens: choose, run, look. The only code that imports streamlit."""
