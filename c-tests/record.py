"""Writes what a run of the tests found into a table of a Markdown file, one row for each MPI."""
import pathlib

COLUMNS = ("doorway", "errors", "lessons", "programs", "above", "Fortran", "Python", "random")


def column_of(name):
    """The column that a test such as `doorway/datarep_f77.f` is counted in."""
    folder, _, file = name.partition("/")
    if file.endswith((".f", ".f90")):
        return "Fortran"
    return "Python" if folder == "python" else folder


def cell(passed, failed, skipped):
    """What stands in the table: `skipped` gives the number for each reason."""
    if not passed and not failed and len(skipped) == 1:
        return next(iter(skipped))
    counts = [f"{passed} passed"] + ([f"**{failed} failed**"] if failed else [])
    counts += [f"{number} skipped: {reason}" for reason, number in skipped.items()]
    return ", ".join(counts)


def record(path, key, cells):
    """Puts `cells` (by column) into the row that begins with `key`, or into a new one; other cells stay."""
    path = pathlib.Path(path)
    lines = path.read_text().splitlines()
    rule = max(number for number, line in enumerate(lines) if line.startswith("|---"))
    end = next((number for number in range(rule, len(lines)) if not lines[number].startswith("|")), len(lines))
    for number in range(rule + 1, end):
        row = [part.strip() for part in lines[number].strip("|").split("|")]
        if row[:len(key)] == list(key):
            break
    else:
        number, row = end, [*key, *("" for _ in COLUMNS)]
        lines.insert(end, "")
    for at, column in enumerate(COLUMNS, len(key)):
        row[at] = cells.get(column, row[at])
    lines[number] = "| " + " | ".join(row) + " |"
    path.write_text("\n".join(lines) + "\n")
