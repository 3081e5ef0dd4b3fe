"""Builds other people's test suites for one MPI, each in a folder of its own."""
import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

from sources import run, say

HERE = pathlib.Path(__file__).resolve().parent
CORES = os.cpu_count() or 1
# Debian packages each suite is built with, beyond those of scripts/setup
PACKAGES = {
    "romio": ["dpkg-dev"],
    "mpich": ["dpkg-dev", "g++", "make", "perl"],
    "mpi4py": ["python3-pip", "python3-venv"],
    "hdf5": ["dpkg-dev", "libhdf5-openmpi-dev", "libhdf5-mpich-dev"],
    "pnetcdf": ["autoconf", "automake", "dpkg-dev", "g++", "libtool", "m4", "make"],
}
# the folders of MPICH's test/mpi that are about files
MPICH_FOLDERS = ("io", "f77/io", "f90/io", "f08/io", "cxx/io",
                 "errors/io", "errors/f77/io", "errors/f90/io", "errors/f08/io", "errors/cxx/io")
MPICH_QUICK = ("io", "f77/io", "errors/io")


def compiler(mpi, suffix):
    """The command that compiles a source with this suffix."""
    if suffix == ".f" or suffix == ".f90":
        return [f"mpifort.{mpi}", "-w", "-O1", "-g", "-fallow-argument-mismatch", "-I."]
    old_names = ["-include", str(HERE / "mpi1.h")] if mpi == "openmpi" else []
    return [f"{'mpicxx' if suffix == '.cxx' else 'mpicc'}.{mpi}", "-w", "-O1", "-g", *old_names]


def compile_all(commands, folder, log):
    """Runs the commands, as many at a time as there are cores. One that fails leaves no program: its test will say so."""
    def one(command):
        return command, subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool, open(log, "a", encoding="utf-8") as output:
        for command, result in pool.map(one, commands):
            if result.returncode:
                output.write(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}\n")


def build_romio(source, mpi, folder):
    """ROMIO's own programs; the words that its configure would put in."""
    words = {"@F77MPIOINC@": "", "@FORTRAN_MPI_OFFSET@": "integer(kind=MPI_OFFSET_KIND)", "@F77IARGC@": "iargc()",
             "@F77GETARG@": "call getarg(i, str)", "@LL@": "lld"}
    commands = []
    for path in sorted((source / "src/mpi/romio/test").iterdir()):
        name = path.name.removesuffix(".in")
        if pathlib.Path(name).suffix not in (".c", ".f") and name != "test_hintfile":
            continue
        text = path.read_text()
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        (folder / name).write_text(text)
        if name != "test_hintfile":
            stem, suffix = name.rsplit(".", 1)
            commands.append([*compiler(mpi, f".{suffix}"), "-o", stem, name, "-lm"])
    compile_all(commands, folder, folder / "build.log")


def build_mpich(source, mpi, folder, folders=MPICH_FOLDERS):
    """MPICH's tests, without its configure: they need little of it."""
    source = source / "test/mpi"
    include = [f"-I{path}" for path in (folder / "include", source / "include", source / "dtpools/include")]
    (folder / "include").mkdir()
    shutil.copy(HERE / "mpitestconf.h", folder / "include")
    merge = folder / "testmerge"
    merge.write_text((source / "maint/testmerge.in").read_text().replace("@PERL@", "/usr/bin/perl"))
    languages = {name: build_mpich_helpers(source / "util", mpi, folder / "util" / name, names, include) for name, names in {
        "": ["mtest_single.c", "mtest.c", "mtest_common.c"], "cxx": ["mtest_cxx.cxx", "mtest_common.c"],
        "f77": ["mtest_f77.f"], "f90": ["mtest_f90.f90"], "f08": ["mtest_f08.f90"]}.items()}
    for where in folders:
        target = folder / where
        target.mkdir(parents=True, exist_ok=True)
        if (source / where / "Makefile.ap").exists():
            # Fortran 90's harness is made from Fortran 77's by its own rules
            run(["make", "-f", "Makefile.ap", "srcdir=.", "./ioharness.defn", "./ioharness.tlt"], target / "harness.log",
                cwd=source / where)
        for path in (source / where).iterdir():
            text = path.read_text(errors="replace")
            text = text.replace("@F77_MPI_OFFSET@", "integer*8").replace("@F77_MPI_ADDRESS@", "integer*8")
            (target / path.name.removesuffix(".in")).write_text(text)
        if (target / "ioharness.tlt").exists():
            run(["perl", merge, f"-defn={source / 'maint/common.defn'}", "ioharness.defn", "ioharness.tlt"],
                target / "merge.log", cwd=target)
        commands = []
        for path in sorted(target.iterdir()):
            if path.suffix not in (".c", ".cxx", ".f", ".f90") or path.name in ("c2f2cio.c", "c2f902cio.c"):
                continue
            language = next((name for name in languages if name and name in where and path.suffix != ".c"), "")
            # the copy of the second in f08/io lacks a declaration
            partner = {"c2f2ciof": ["c2f2cio.c"], "c2f2ciof90": [str(source / "f90/io/c2f902cio.c")]}.get(path.stem, [])
            commands.append([*compiler(mpi, path.suffix), *include, languages[language][0], "-o", path.stem, path.name, *partner,
                             *languages[language][1:]])
        compile_all(commands, target, folder / "build.log")


def build_mpich_helpers(source, mpi, folder, names, include):
    """What the tests of one language share: the option that finds its Fortran modules, and the objects."""
    folder.mkdir(parents=True)
    compile_all([[*compiler(mpi, pathlib.Path(name).suffix), *include, "-c", source / name] for name in names],
                folder, folder / "build.log")
    return [f"-I{folder}", *map(str, sorted(folder.glob("*.o")))]


def build_mpi4py(source, mpi, folder):
    """The wheel of the package index serves both MPIs; it wants MPICH's library under the name of its ABI."""
    run([sys.executable, "-m", "venv", folder / "venv"], folder / "build.log")
    version = re.search(r"mpi4py-([\d.]+)", source.name).group(1)
    run([folder / "venv/bin/python", "-m", "pip", "install", "-q", "--only-binary", ":all:", f"mpi4py=={version}", "numpy"],
        folder / "build.log")
    if mpi == "mpich":
        listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
        (folder / "lib").mkdir(exist_ok=True)
        (folder / "lib/libmpi.so.12").symlink_to(re.search(r"libmpich\.so\.12 .*=> (.*)", listed).group(1))


def build_hdf5(source, mpi, folder):
    """HDF5's parallel tests against Debian's parallel library of the same version."""
    (folder / "H5srcdir_str.h").write_text(f'#define config_srcdir "{source / "test"}"\n')
    include = [f"-I{path}" for path in (folder, source / "src", source / "test", source / "testpar", source,
                                        f"/usr/include/hdf5/{mpi}")]
    command = [*compiler(mpi, ".c"), *include]
    helpers = ["h5test", "testframe", "cache_common"]
    compile_all([[*command, "-c", source / f"test/{name}.c"] for name in helpers], folder, folder / "build.log")
    parts = ["t_dset", "t_file", "t_file_image", "t_mdset", "t_ph5basic", "t_coll_chunk", "t_span_tree", "t_chunk_alloc",
             "t_filter_read", "t_prop", "t_coll_md_read"]
    programs = {path.stem: [path] for path in (source / "testpar").glob("t*.c") if path.stem not in parts}
    programs["testphdf5"] += [source / f"testpar/{name}.c" for name in parts]
    libraries = ["h5test.o", "testframe.o", f"-lhdf5_{mpi}", "-lz", "-lm", "-ldl"]
    compile_all([[*command, "-o", name, *files, *(["cache_common.o"] if name == "t_cache_image" else []), *libraries]
                 for name, files in programs.items()], folder, folder / "build.log")


def build_pnetcdf(source, mpi, folder):
    """PnetCDF with its own configure and make; minutes."""
    flags = "-O0 -w -fallow-argument-mismatch"
    if not (source / "configure").exists():
        run(["autoreconf", "-i"], folder / "autoreconf.log", cwd=source)
    run([source / "configure", "--disable-shared", "--enable-static", "--disable-cxx", "--enable-burst-buffering",
         f"MPICC=mpicc.{mpi}", f"MPICXX=mpicxx.{mpi}", f"MPIF77=mpifort.{mpi}", f"MPIF90=mpifort.{mpi}",
         "CFLAGS=-O0 -w", f"FFLAGS={flags}", f"FCFLAGS={flags}"], folder / "configure.log", cwd=folder)
    run(["make", f"-j{CORES}"], folder / "build.log", cwd=folder)
    # a program that does not build leaves its test without one, which that test will say
    subprocess.run(["make", "-k", f"-j{CORES}", "tests"], cwd=folder, check=False, stderr=subprocess.STDOUT,
                   stdout=open(folder / "build-tests.log", "w", encoding="utf-8"))


BUILDERS = {"romio": build_romio, "mpich": build_mpich, "mpich-quick": functools.partial(build_mpich, folders=MPICH_QUICK),
            "mpi4py": build_mpi4py, "hdf5": build_hdf5, "pnetcdf": build_pnetcdf}


def build(cache, suite, source, mpi):
    """The folder with the built suite; built once."""
    folder = cache / "build" / mpi / suite
    if (folder / "finished").exists():
        return folder
    say(f"building {suite} for {mpi} in {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    BUILDERS[suite](source, mpi, folder)
    (folder / "finished").touch()
    return folder
