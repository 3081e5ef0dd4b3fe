"""Counts the calls of each routine in real runs: builds c-tests/tool/trace.c and reads what it leaves behind."""
import array
import pathlib
import re
import shutil
import subprocess

TOOL = pathlib.Path(__file__).resolve().parent / "tool"


def exported(library):
    """The names of the routines a library defines, without our own two."""
    table = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in table.splitlines()}
    return sorted(name for name in names if re.search(r"file_|register_datarep|errhandler_(set_cxx|create_file)", name, re.I)
                  and not name.startswith("mpiio_rs_"))


def routine_of(name):
    """`MPI_x` for the profiling name `PMPI_x`. A Fortran routine has many spellings, one for each compiler and module, and one body."""
    spelling = re.fullmatch(r"(?:p?mpir?|ompi)_(file_create_errhandler|register_datarep)(?:_f08|_f)?_*", name)
    if spelling:
        return f"MPI_{spelling.group(1).upper()}"
    return name[1:] if name.startswith("PMPI") else name


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


class Traces:
    """A folder of traces: a file for each MPI and test, and the names of the routines in their order."""

    def __init__(self, folder, kind):
        self.folder = pathlib.Path(folder).resolve() / kind

    def renew(self, names, keep):
        """Makes it ready for new traces; old ones are kept if asked for and if they can still be read."""
        listed = self.folder / "names"
        wanted = "\n".join(names)
        if not keep or not listed.exists() or listed.read_text() != wanted:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        listed.write_text(wanted)
        return self

    def of(self, mpi, test):
        """The file for the trace of a test. Runs that share it add up."""
        path = self.folder / mpi / test
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def calls(self, path):
        """{routine: calls} of a trace; empty if nothing was counted."""
        counts, found = array.array("Q"), {}
        if path.exists():
            counts.frombytes(path.read_bytes())
        for name, count in zip((self.folder / "names").read_text().split(), counts):
            if count:
                found[routine_of(name)] = found.get(routine_of(name), 0) + count
        return found

    def tests(self):
        """(mpi, test, {routine: calls}) of every trace there is."""
        for path in sorted(self.folder.glob("*/**/*")):
            if path.is_file():
                mpi, test = str(path.relative_to(self.folder)).split("/", 1)
                yield mpi, test, self.calls(path)
