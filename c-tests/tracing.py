"""Counts the calls of each routine in real runs: builds c-tests/tool/trace.c and reads what it leaves behind."""
import array
import pathlib
import re
import subprocess

TOOL = pathlib.Path(__file__).resolve().parent / "tool"


def exported(library):
    """The names of the routines a library defines, without our own two."""
    table = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in table.splitlines()}
    return sorted(name for name in names if re.search(r"file_|register_datarep|errhandler_(set_cxx|create_file)", name, re.I)
                  and not name.startswith("mpiio_rs_"))


def routine_of(name):
    """`MPI_x` for the profiling name `PMPI_x`, and for its Fortran kin."""
    return name[1:] if re.match(r"pmpi", name, re.I) else name


def compile_shared(compiler, source, target, *options):
    subprocess.run([compiler, "-O2", "-g", "-Wall", "-Wextra", "-shared", "-fPIC", *options, "-o", str(target), str(TOOL / source)],
                   check=True)


class Tool:
    """The counting tool for one library. It finds what is next by dlsym, or by the profiling names of MPI."""

    def __init__(self, library, build, by_profiling_names=False):
        self.folder = pathlib.Path(build) / ("tool-pmpi" if by_profiling_names else "tool-next")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.library = self.folder / "libtool.so"
        names = exported(library)
        if by_profiling_names:
            names = [name for name in names if name.startswith("MPI_") and "P" + name in names]
        self.names = names
        header = "".join(f"ROUTINE({index}, {name})\n" for index, name in enumerate(names))
        written = self.folder / "routines.h"
        sources = [TOOL / "trace.c", written]
        if not written.exists() or written.read_text() != header:
            written.write_text(header)
        if not self.library.exists() or self.library.stat().st_mtime < max(path.stat().st_mtime for path in sources):
            compile_shared("gcc", "trace.c", self.library, f"-I{self.folder}", *([] if by_profiling_names else ["-DNEXT"]))

    def calls(self, path):
        """{routine: calls} of a trace; empty if nothing was counted."""
        counts, found = array.array("Q"), {}
        try:
            counts.frombytes(pathlib.Path(path).read_bytes())
        except OSError:
            return {}
        for name, count in zip(self.names, counts):
            if count:
                found[routine_of(name)] = found.get(routine_of(name), 0) + count
        return found
