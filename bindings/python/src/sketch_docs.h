/* What help() says of the methods; tests/test_documents.py runs the examples.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "compat.h"

PyDoc_STRVAR(add_doc, "add(item, count=1)\n--\n\n"
                      "Count an item `count` times more; a negative count takes it away again.\n\n"
                      "    >>> s = Sketch()\n"
                      "    >>> s.add('apple', 3)\n"
                      "    >>> s.add('apple', -1)\n"
                      "    >>> s.estimate('apple')\n"
                      "    2.0\n");

PyDoc_STRVAR(estimate_doc, "estimate(item, *, absent=0.0)\n--\n\n"
                           "How often the item was counted, about: a float, never above the upper bound.\n\n"
                           "An item that is not listed, though it may have come, is answered by what such items "
                           "mostly count, often 1.\nabsent is how likely it is that the item never came, from 0 to "
                           "below 1: at or above 0.25, such an item is\nanswered 0. Items that are listed do not "
                           "depend on it, and sketches of the paper's model do not take it.\n\n"
                           "    >>> s = Sketch()\n"
                           "    >>> s.update(['pear', 'apple', 'pear'])\n"
                           "    >>> s.estimate('pear'), s.estimate('plum')\n"
                           "    (2.0, 0.0)\n");

PyDoc_STRVAR(
    bounds_doc,
    "bounds(item, *, absent=0.0)\n--\n\n"
    "(lower, upper, likely). If no item was ever taken away more often than counted, the true count is never above "
    "upper;\nfor 99 % of the items or more it is not above likely, and for as many not below lower. Where blocks keep "
    "their\nheaviest items (`keeping`), upper is wide and likely close. lower <= estimate() of the same absent <= "
    "likely <= upper.\n\n"
    "    >>> s = Sketch()\n"
    "    >>> s.add(b'key', 5)\n"
    "    >>> s.bounds(b'key')\n"
    "    (5, 5, 5)\n");

PyDoc_STRVAR(to_bytes_doc,
             "to_bytes()\n--\n\n"
             "The bytes of a .sketch file, as docs/format.md has them. Equal sketches have equal bytes.\n\n"
             "    >>> s = Sketch('4K')\n"
             "    >>> Sketch.from_bytes(s.to_bytes()) == s\n"
             "    True\n");

PyDoc_STRVAR(clear_doc, "clear()\n--\n\nEmpty, as it was made.\n");

PyDoc_STRVAR(
    add_many_doc,
    "add_many(keys, counts=None)\n--\n\n"
    "Count every key once, or as often as `counts` says. Keys are a numpy array or any other buffer, an Arrow array, "
    "a\n"
    "column of pandas or polars, a table of one column, or anything that gives items; nulls are ignored. Arrays of\n"
    "64-bit integers are not copied. Without counts it is update(): a mapping has its own.\n\n"
    "    >>> from array import array\n"
    "    >>> s = Sketch()\n"
    "    >>> s.add_many(array('q', [1, 2, 2]))\n"
    "    >>> s.add_many(['one', 'two'], [10, 20])\n"
    "    >>> s.add_many({'two': 3})\n"
    "    >>> s.estimate(2), s.estimate('two'), s.total\n"
    "    (2.0, 23.0, 36)\n");

PyDoc_STRVAR(update_doc, "update(items)\n--\n\n"
                         "Count items as collections.Counter does: once each, or a mapping's with their counts.\n\n"
                         "    >>> s = Sketch()\n"
                         "    >>> s.update('to be or not to be'.split())\n"
                         "    >>> s.update({'to': 40})\n"
                         "    >>> s.estimate('to')\n"
                         "    42.0\n");
