"""Parts of the page Graphs: pictures, a walk, shape, downloads and removal."""
