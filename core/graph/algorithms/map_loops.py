"""Compiled loops of the layout in `core.graph.algorithms.map_layout`.

Positions are float64 [n, 2]. The distance between two nodes at rest is 1.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()


@njit(cache=True, nogil=True)
def settle_discs(xy, radii, heads, tails, weights, rounds, flatness):
    """Move discs to the centre and to linked discs until they touch, in place.

    Parameters
    ----------
    xy, radii : centres and radii of the discs.
    heads, tails, weights : linked discs, and the strength of each link from 0 to 1.
    rounds : number of rounds. The forces fade, so that the last ones only separate discs.
    flatness : factor of the pull to the horizontal axis; above 1 the picture becomes wide.
    """
    n = len(xy)
    for turn in range(rounds):
        heat = max(0.0, 1.0 - 1.25 * turn / rounds)
        for disc in range(n):
            xy[disc, 0] -= 0.02 * heat * xy[disc, 0]
            xy[disc, 1] -= 0.02 * heat * flatness * xy[disc, 1]
        for link in range(len(heads)):
            a = heads[link]
            b = tails[link]
            pull = 0.2 * heat * weights[link]
            share = radii[b] ** 2 / (radii[a] ** 2 + radii[b] ** 2)
            for axis in range(2):
                gap = xy[b, axis] - xy[a, axis]
                xy[a, axis] += pull * share * gap
                xy[b, axis] -= pull * (1 - share) * gap
        _separate_discs(xy, radii)


@njit(cache=True, nogil=True)
def _separate_discs(xy, radii):
    """Push discs apart that overlap, in place; the smaller one moves more."""
    for a in range(len(xy)):
        for b in range(a):
            reach = radii[a] + radii[b]
            dx = xy[a, 0] - xy[b, 0]
            dy = xy[a, 1] - xy[b, 1]
            distance = math.hypot(dx, dy)
            if distance >= reach:
                continue
            if distance < 1e-9:
                dx = 1e-9
                dy = 1e-9 * a
                distance = math.hypot(dx, dy)
            share = radii[b] ** 2 / (radii[a] ** 2 + radii[b] ** 2)
            push = 0.6 * (reach - distance) / distance
            xy[a, 0] += push * share * dx
            xy[a, 1] += push * share * dy
            xy[b, 0] -= push * (1 - share) * dx
            xy[b, 1] -= push * (1 - share) * dy


@njit(cache=True, nogil=True)
def settle_nodes(xy, indptr, neighbours, community_of, centres, radii, gravity, rounds, first):
    """Move nodes to their neighbours, but not nearer than 1, within their community's disc.

    The positions are changed in place.

    Parameters
    ----------
    indptr, neighbours : the undirected graph in CSR form.
    community_of, centres, radii : community of each node, and disc of each community.
    gravity : pull of each node to the centre of its disc, 0 to 1.
    rounds, first : number of all rounds, and the round to begin with; one call makes 10.
    """
    moved = np.empty_like(xy)
    for turn in range(first, min(rounds, first + 10)):
        heat = max(0.0, 1.0 - 1.2 * turn / rounds)
        for node in range(len(xy)):
            own = community_of[node]
            x, y = _pull(node, xy, indptr, neighbours, community_of, radii[own])
            moved[node, 0] = xy[node, 0] + heat * x
            moved[node, 1] = xy[node, 1] + heat * y
            for axis in range(2):
                offset = centres[own, axis] - xy[node, axis]
                moved[node, axis] += 0.3 * heat * gravity[node] * offset
        _separate(moved, xy)
        for node in range(len(xy)):
            own = community_of[node]
            dx = moved[node, 0] - centres[own, 0]
            dy = moved[node, 1] - centres[own, 1]
            scale = min(1.0, radii[own] / (math.hypot(dx, dy) + 1e-9))
            xy[node, 0] = centres[own, 0] + scale * dx
            xy[node, 1] = centres[own, 1] + scale * dy


@njit(cache=True, nogil=True)
def _pull(node, xy, indptr, neighbours, community_of, radius):
    """Return by how much its neighbours pull a node.

    Those in its own community do so from a distance on that grows with the degrees; those in
    others pull weakly.
    """
    x = y = away_x = away_y = 0.0
    inner = outer = 0
    for index in range(indptr[node], indptr[node + 1]):
        other = neighbours[index]
        dx = xy[other, 0] - xy[node, 0]
        dy = xy[other, 1] - xy[node, 1]
        distance = math.hypot(dx, dy) + 1e-9
        if community_of[other] != community_of[node]:
            away_x += dx / distance
            away_y += dy / distance
            outer += 1
            continue
        degree = max(indptr[node + 1] - indptr[node], indptr[other + 1] - indptr[other])
        excess = max(0.0, 1 - min(0.7 * radius, 0.6 * math.sqrt(degree)) / distance)
        x += excess * dx
        y += excess * dy
        inner += 1
    near = 0.35 / max(1, inner)
    far = 0.006 * radius / max(1, inner + outer)
    return near * x + far * away_x, near * y + far * away_y


@njit(cache=True, nogil=True)
def _separate(xy, work):
    """Push nodes apart that are nearer than 1, in place; `work` is an array of the same shape."""
    left = xy[:, 0].min()
    top = xy[:, 1].min()
    width = xy[:, 0].max() - left
    height = xy[:, 1].max() - top
    size = max(1.0, math.sqrt((width + 1) * (height + 1) / (4 * len(xy))))
    columns = int(width / size) + 1
    rows = int(height / size) + 1
    cells = np.empty(len(xy), np.int64)
    for node in range(len(xy)):
        column = int((xy[node, 0] - left) / size)
        row = int((xy[node, 1] - top) / size)
        cells[node] = row * columns + column
    order, starts = _group(cells, columns * rows)
    work[:] = xy
    for node in range(len(xy)):
        column = cells[node] % columns
        row = cells[node] // columns
        for near_row in range(max(0, row - 1), min(rows, row + 2)):
            start = starts[near_row * columns + max(0, column - 1)]
            stop = starts[near_row * columns + min(columns, column + 2)]
            for index in range(start, stop):
                other = order[index]
                dx = work[node, 0] - work[other, 0]
                dy = work[node, 1] - work[other, 1]
                distance = math.hypot(dx, dy)
                if other == node or distance >= 1:
                    continue
                if distance < 1e-6:  # at one place: pushed to different sides by their numbers
                    dx = math.cos(2.4 * node) * 1e-6
                    dy = math.sin(2.4 * node) * 1e-6
                    distance = 1e-6
                xy[node, 0] += 0.4 * (1 - distance) * dx / distance
                xy[node, 1] += 0.4 * (1 - distance) * dy / distance


@njit(cache=True, nogil=True)
def _group(cells, n_cells):
    """Return the nodes ordered by cell, and where each cell begins, int64."""
    starts = np.zeros(n_cells + 1, np.int64)
    for cell in cells:
        starts[cell + 1] += 1
    starts = np.cumsum(starts)
    filled = starts.copy()
    order = np.empty(len(cells), np.int64)
    for node in range(len(cells)):
        order[filled[cells[node]]] = node
        filled[cells[node]] += 1
    return order, starts
