"""Parts of the page Graphs: pictures, a walk, counts, downloads and removal."""
