"""The tests of each suite: what to start, on how many ranks, and what it says when it passes."""
import dataclasses
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# what most programs end with, in several spellings
NO_ERRORS = r"No\s+[Ee]rrors"
# for tests whose exit code is all that counts
ANYTHING = r""


@dataclasses.dataclass
class Test:
    """One test: a program of some ranks, or a shell script that starts ranks by itself."""
    name: str
    program: list
    ranks: int = 4
    says: str = NO_ERRORS
    environment: dict = dataclasses.field(default_factory=dict)
    files: tuple = ()           # copied into the scratch directory
    large: bool = False         # needs many GiB
    patience: int = 1           # times the usual limit
    script: bool = False        # `program` starts the ranks by itself, with the command in TESTMPIRUN
    place: pathlib.Path = None  # where it must be started; a scratch directory of its own if nowhere
    needs: pathlib.Path = None  # what must have been built for it: the program, unless it is a script
    journal: bool = False       # the program reports many tests, see mpi4py_driver.py

    def built(self):
        return pathlib.Path(self.needs or self.program[0]).exists()


def romio(source, folder, mpi):
    """ROMIO's tests, started as its own runtests does."""
    name = ["-fname", "test"]
    two, one = {"ranks": 2}, {"ranks": 1}
    table = {
        "simple": {}, "async": {}, "async-multiple": {}, "atomicity": {}, "coll_test": {}, "excl": {}, "file_info": {},
        "i_noncontig": two, "noncontig": two, "noncontig_coll": two, "noncontig_coll2": {}, "misc": {}, "shared_fp": {},
        "ordered_fp": {}, "split_coll": {}, "psimple": {}, "error": one, "status": one, "creat_excl": {},
        "aggregation1": {"arguments": ["-h", "-f", "test"]}, "aggregation2": {"arguments": ["test"]},
        "hindexed": {"arguments": ["test"]}, "types_with_zeros": {"arguments": ["test"], **two},
        "darray_read": {"arguments": ["test"]}, "syshints": {"arguments": ["test_hintfile"], **one},
        "fmisc": {}, "fcoll_test": {}, "pfcoll_test": {}, "perf": {"says": "Read bandwidth after file sync"},
        "fperf": {"says": "Read bandwidth after file sync"},
        "external32": {"arguments": [], "says": r"native datarep is LITTLE ENDIAN(?s:.*)external32 datarep is BIG ENDIAN", **one},
        "coll_perf": {"says": "Collective read bandwidth", "large": True},
        "large_file": {"says": "Data read back is correct", "large": True, **one},
        "large_array": {"says": "data read back is correct", "large": True},
        "big_extents": {"arguments": ["test"], "large": True, **one},
    }
    for program, row in table.items():
        row = dict(row)
        arguments = row.pop("arguments", name)
        yield Test(f"romio/{program}", [folder / program, *arguments], files=(folder / "test_hintfile",), **row)


def mpich(source, folder, mpi):
    """MPICH's tests, from its own lists."""
    for listed in sorted(folder.glob("**/testlist")):
        where = listed.parent.relative_to(folder)
        for line in listed.read_text().splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            options = [word.partition("=")[::2] for word in words[2:]]
            yield Test(f"mpich/{where}/{words[0]}", [listed.parent / words[0], *(value for key, value in options if key == "arg")],
                       ranks=int(words[1]), environment=dict(value.split("=", 1) for key, value in options if key == "env"),
                       large=any(key == "mem" for key, _ in options),
                       # ranks hand on to each other 10^5 times
                       patience=10 if "writesh" in words[0] else 2)


def mpi4py(source, folder, mpi):
    """mpi4py's tests of files, as they are and without its list of what is known to fail with an MPI."""
    environment = {"MPI4PY_MPIABI": mpi, "TESTS": str(source / "test")}
    if mpi == "mpich":
        environment["LD_LIBRARY_PATH"] = str(folder / "lib")
    for ranks in (1, 3):
        for known in ("", "-no-skips"):
            yield Test(f"mpi4py/{ranks}{known}", [folder / "venv/bin/python", HERE / "mpi4py_driver.py"], ranks=ranks,
                       environment=dict(environment, NO_SKIPS=known), journal=True, patience=10)


# HDF5 tests that read what another one wrote
HDF5_WRITERS = {"idsetr": "idsetw", "cdsetr": "cdsetw", "eidsetr": "eidsetw", "ecdsetr": "ecdsetw", "ngrpr": "ngrpw",
                "ccontr": "ccontw", "cschunkr": "cschunkw", "ccchunkr": "ccchunkw"}


def hdf5(source, folder, mpi):
    """HDF5's parallel tests."""
    listed = (source / "testpar/testphdf5.c").read_text()
    names = dict.fromkeys(re.findall(r'AddTest\([^;"]*(?:"-[^"]*"\s*:\s*)?"([^"]+)"', listed))
    for name in names:
        if name == "page_buffer":   # stands in a comment
            continue
        before = [HDF5_WRITERS[name]] if name in HDF5_WRITERS else []
        only = [word for one in (*before, name) for word in ("-only", one)]
        yield Test(f"hdf5/testphdf5/{name}", [folder / "testphdf5", *only], says="PHDF5 tests finished with no errors")
    yield Test("hdf5/t_mpi", [folder / "t_mpi"], says="MPI tests finished with no errors", patience=2)
    for name in ("t_pread", "t_init_term", "t_filters_parallel"):
        yield Test(f"hdf5/{name}", [folder / name], says=ANYTHING, patience=2)
    yield Test("hdf5/t_shapesame", [folder / "t_shapesame"], says="finished with no errors", patience=10)
    for name in ("t_cache", "t_cache_image", "t_bigio"):
        # the second starts itself by its bare name
        yield Test(f"hdf5/{name}", [folder / name], says=ANYTHING, files=(folder / name,), patience=20, large=True)
    for first, second in (("t_pflush1", "t_pflush2"), ("t_pshutdown", "t_prestart")):
        # the first leaves a file for the second; t_pflush1 fails on purpose, without closing it
        steps = f"$RUN {folder / first} || [ {first} = t_pflush1 ] && $RUN {folder / second}"
        yield Test(f"hdf5/{second}", ["sh", "-c", "RUN=$(echo \"$TESTMPIRUN\" | sed s/NP/4/); " + steps], says=ANYTHING, script=True,
                   needs=folder / second)


# folders of PnetCDF whose tests are not about MPI-IO or are not built: other formats, C++, files of 4 GiB and more
PNETCDF_LEFT_OUT = ("nc4", "adios", "subfile", "largefile", "CXX")
PNETCDF_LARGE = ("large_var_cdf5", "last_large_var", "large_files", "high_dim_var")


def pnetcdf(source, folder, mpi):
    """PnetCDF's tests: the script of each folder, for one program at a time where it loops over them."""
    for script in sorted(source.glob("*/*/parallel_run.sh")):
        where = script.parent.relative_to(source)
        if where.name in PNETCDF_LEFT_OUT:
            continue
        loop = re.search(r"for i in \$\{(\w+)\}", script.read_text())
        variable = loop.group(1) if loop else "check_PROGRAMS"
        asked = f"include Makefile\nshow:\n\t@echo $({variable})\n"
        programs = subprocess.run(["make", "-s", "-C", folder / where, "-f", "-", "show"], input=asked, text=True,
                                  capture_output=True, check=True).stdout.split()
        for program in programs if loop else [" ".join(programs)]:
            before = []
            if program.startswith("pnetcdf-read-"):
                before = [program.replace("read", "write")]
            elif program.startswith("get_var"):
                before = [program.replace("get_", "put_")]
            environment = {variable: " ".join([*before, program]), "ENABLE_BURST_BUFFER": "1", "SED": "sed", "PNETCDF_DEBUG": "0",
                           "BUILD_BENCHMARKS_IN_PNETCDF": "1", "srcdir": str(script.parent)}
            yield Test(f"pnetcdf/{where}" + (f"/{program}" if loop else ""), ["sh", script, "4"], says=ANYTHING,
                       environment=environment, large=program in PNETCDF_LARGE, patience=5, script=True, place=folder / where,
                       needs=folder / where / program.split()[0])


SUITES = {"romio": romio, "mpich": mpich, "mpi4py": mpi4py, "hdf5": hdf5, "pnetcdf": pnetcdf}
