"""The stand-ins: how they are built, how a program is run on them, and what they counted."""
import os
import pathlib
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COUNTS = ["enqueues", "callbacks", "cancels", "grants", "dropped", "matched", "accesses", "waits", "shipped", "unreleased", "locks_most", "speculated",
          "messages", "message_bytes"]
LIBRARIES = {"lustre": "liblustreapi.so.1", "gpfs": "libgpfs.so"}
# Everything that the drivers can be asked for, for programs that ask for nothing themselves; their calls are too small to be
# made together unless that is said.
HINTS = {"lustre": "mpiio_rs_lock_ahead=cycle:mpiio_rs_lock_ahead_individual=element:striping_factor=3",
         "gpfs": "mpiio_rs_data_shipping=true:mpiio_rs_declare_ranges=true:mpiio_rs_prefetch=enable:mpiio_rs_clear_cache=true"}
TOGETHER = "romio_cb_write=enable:romio_cb_read=enable"
# What can be made to go wrong on each; see lustre.c and gpfs.c.
FAILURES = {
    "lustre": ["no_lockahead", "old_client", "eagain", "eopnotsupp", "drop", "silent_setstripe", "setstripe", "no_xattr"],
    "gpfs": ["no_data_shipping", "eintr_data_shipping", "no_hints"],
}


def build(folder):
    """Both libraries and the program of schemes for each MPI that is there: {name: path}."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    flags = ["-std=gnu99", "-O2", "-g", "-Wall", "-Wextra", "-Werror"]
    built = {}
    for name, file in LIBRARIES.items():
        built[name] = folder / file
        sources, new = [HERE / "model.c", HERE / f"{name}.c"], folder / f"{file}.{os.getpid()}"
        subprocess.run(["cc", *flags, "-shared", "-fPIC", f"-Wl,-soname,{file}", "-o", new, *sources, "-ldl"], check=True)
        new.replace(built[name])  # programs that still run have the old one
    for mpi in ("openmpi", "mpich"):
        target = folder / f"schemes-{mpi}"
        if subprocess.run(["which", f"mpicc.{mpi}"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
            subprocess.run([f"mpicc.{mpi}", *flags, "-o", target, HERE / "schemes.c"], check=True)
            built[mpi] = target
    return built


def counts(state):
    """What the lock server counted."""
    size = 8 * len(COUNTS)
    data = pathlib.Path(state).read_bytes()[:size] if os.path.exists(state) else bytes(size)
    return dict(zip(COUNTS, struct.unpack(f"{len(COUNTS)}Q", data.ljust(size, b"\0"))))


def forced(name, files, state, failure="", hints=""):
    """Variables that make a driver serve the files below a folder though statfs does not name its file system."""
    said = ":".join(filter(None, (HINTS[name], TOGETHER, hints)))
    return {"MODEL_ROOT": str(files), "MODEL_STATE": str(state), "MODEL_FAIL": ",".join(filter(None, ("statfs", failure))),
            "ROMIO_FSTYPE_FORCE": f"{name}:", "MPIIO_RS_HINTS": said}


def launch(mpi, ranks, environment, words, timeout=60):
    """Runs a program on ranks, with variables for them only."""
    if mpi == "openmpi":
        command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        command += [word for pair in environment.items() for word in ("-x", "=".join(pair))]
    else:
        command = ["mpirun.mpich"] + [word for pair in environment.items() for word in ("-genv", *pair)]
    command += ["-n", str(ranks), *map(str, words)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)


def run(built, library, kind, ranks, hints="", file_system="lustre", mpi="openmpi", size=1 << 20, times=1, environment=None,
        before=()):
    """Runs one scheme, with words `before` its command; returns (output, counts, lines of the log)."""
    with tempfile.TemporaryDirectory(prefix="model-", dir="/dev/shm") as folder:
        folder = pathlib.Path(folder)
        (folder / "files").mkdir()
        variables = {
            "MODEL_ROOT": str(folder / "files"), "MODEL_STATE": str(folder / "state"), "MODEL_LOG": str(folder / "log"),
            "LD_PRELOAD": f"{built[file_system]}:{library}", "MPIIO_RS_REPORT": "text", **(environment or {}),
        }
        if hints:
            variables["MPIIO_RS_HINTS"] = hints
        outcome = launch(mpi, ranks, variables, [*before, built[mpi], folder / "files" / "data", kind, size, times])
        if outcome.returncode or "No Errors" not in outcome.stdout:
            raise RuntimeError(f"{kind} on {file_system} with {mpi}, {hints}: {outcome.stdout[-2000:]}")
        log = (folder / "log").read_text().splitlines() if (folder / "log").exists() else []
        return outcome.stdout, counts(folder / "state"), log
