"""Fetches the sources of other people's test suites: by name, from Debian and from the Python package index."""
import pathlib
import re
import subprocess
import sys

# suite: the Debian source package it is in
DEBIAN = {"romio": "mpich", "mpich": "mpich", "hdf5": "hdf5", "pnetcdf": "pnetcdf"}
MPI4PY = "mpi4py==4.1.2"


def say(text):
    print(f"conformance: {text}", file=sys.stderr, flush=True)


def run(command, log, **options):
    """Runs a command with its output in a log; what went wrong is shown."""
    with open(log, "w", encoding="utf-8") as output:
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                              **options).returncode
    if code:
        tail = "".join(pathlib.Path(log).read_text(errors="replace").splitlines(keepends=True)[-15:])
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {code}, see {log}\n{tail}")


def unpacked(folder, package):
    found = sorted(path for path in folder.glob(f"{package}-[0-9]*") if path.is_dir())
    return found[-1] if found else None


def source_list(folder):
    """apt's own sources as a list of source packages; the system's list is left as it is."""
    text = []
    for path in [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]:
        if path.suffix == ".list" and path.exists():
            for words in re.findall(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+(.*)$", path.read_text(), re.M):
                text.append(f"Types: deb-src\nURIs: {words[0]}\nSuites: {words[1]}\nComponents: {words[2]}\n")
        elif path.suffix == ".sources":
            text += [re.sub(r"(?m)^Types:.*$", "Types: deb-src", part) for part in path.read_text().split("\n\n")]
    # only the distribution's own: others have no sources, and may not be reached
    kept = [part for part in text if re.search(r"(?m)^Components:.*\bmain\b", part) and "/debian" in part]
    (folder / "apt.sources").write_text("\n\n".join(part.strip() for part in kept) + "\n")
    return folder / "apt.sources"


def fetch_debian(folder, package):
    found = unpacked(folder, package)
    if found:
        return found
    say(f"fetching the source of {package}")
    (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    private = ["-o", f"Dir::Etc::SourceList={source_list(folder)}", "-o", "Dir::Etc::SourceParts=/dev/null",
               "-o", f"Dir::State::Lists={folder / 'lists'}", "-o", "APT::Sandbox::User=root"]
    if not any((folder / "lists").glob("*Sources*")):
        run(["apt-get", *private, "update"], folder / "update.log", cwd=folder)
    run(["apt-get", *private, "source", package], folder / f"{package}.log", cwd=folder)
    return unpacked(folder, package)


def fetch_mpi4py(folder):
    found = unpacked(folder, "mpi4py")
    if found:
        return found
    say(f"fetching {MPI4PY}")
    run([sys.executable, "-m", "pip", "download", "--no-binary", "mpi4py", "--no-deps", MPI4PY],
        folder / "mpi4py.log", cwd=folder)
    run(["tar", "xzf", *folder.glob("mpi4py-*.tar.gz")], folder / "mpi4py.log", cwd=folder)
    return unpacked(folder, "mpi4py")


def fetch(cache, suite):
    """The folder with the unpacked source of a suite."""
    folder = cache / "src"
    folder.mkdir(parents=True, exist_ok=True)
    return fetch_mpi4py(folder) if suite == "mpi4py" else fetch_debian(folder, DEBIAN[suite])
