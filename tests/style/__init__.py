"""How large and how readable this project is, and the limits that it keeps."""
