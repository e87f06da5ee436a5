"""The checkable values of a text (numbers, amounts, dates, times, links, addresses) as facts that
can be compared whatever their format or language. `extract` is the way in."""
