"""The local push: it walks only where mass flows, and keeps what it touched in hashed work arrays, which other local searches borrow."""
