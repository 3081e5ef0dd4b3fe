"""Files through mpi4py: every way to read and write, views, sizes, hints, error handlers and handles."""
import array
import os
import sys

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
BOTH = MPI.MODE_CREATE | MPI.MODE_RDWR
INTS = 100
wrong = []


def check(condition, what):
    if not condition:
        wrong.append(what)
        print(f"rank {RANK}: {what}", flush=True)


def mine(turn):
    """Numbers that no other rank and no other turn has."""
    return array.array("i", (turn * 1000000 + RANK * 1000 + number for number in range(INTS)))


def blank():
    return array.array("i", [-1] * INTS)


def others(rank, turn):
    return array.array("i", (turn * 1000000 + rank * 1000 + number for number in range(INTS)))


def counted(status):
    return status.Get_count(MPI.INT) == INTS


def explicit_offsets(file):
    """Each rank writes its block and reads that of its neighbour."""
    neighbour = (RANK + 1) % SIZE
    ways = [("Write_at", "Read_at", False), ("Write_at_all", "Read_at_all", False), ("Iwrite_at", "Iread_at", True),
            ("Iwrite_at_all", "Iread_at_all", True), ("Write_at_all_begin", "Read_at_all_begin", None)]
    for turn, (write, read, nonblocking) in enumerate(ways):
        for name, rank, buffer in ((write, RANK, mine(turn)), (read, neighbour, blank())):
            status = MPI.Status()
            if nonblocking:
                getattr(file, name)(rank * INTS, buffer).Wait(status)
            elif nonblocking is None:
                getattr(file, name)(rank * INTS, buffer)
                getattr(file, name.replace("begin", "end"))(buffer, status)
            else:
                getattr(file, name)(rank * INTS, buffer, status)
            check(counted(status), f"{name} counts {status.Get_count(MPI.INT)}")
            if name == read:
                check(buffer == others(neighbour, turn), f"{name} reads {buffer[:3]}")
            file.Sync()
            COMM.Barrier()
            file.Sync()


def pointers(file):
    """Individual pointers, then the shared one: the ranks' blocks in any order, or in the order of ranks."""
    file.Seek(RANK * INTS)
    file.Write(mine(10))
    check(file.Get_position() == (RANK + 1) * INTS, f"position {file.Get_position()}")
    check(file.Get_byte_offset(2) == 8, f"byte offset {file.Get_byte_offset(2)}")
    file.Seek(-INTS, MPI.SEEK_CUR)
    buffer = blank()
    file.Iread(buffer).Wait()
    check(buffer == mine(10), "Iread after Seek")
    COMM.Barrier()
    file.Seek_shared(0)
    file.Write_shared(mine(11))
    file.Sync()
    COMM.Barrier()
    file.Sync()
    check(file.Get_position_shared() == SIZE * INTS, f"shared position {file.Get_position_shared()}")
    file.Seek_shared(0)
    found = array.array("i", [-1] * (INTS * SIZE))
    file.Read_at_all(0, found)
    blocks = sorted(found[at:at + INTS].tolist() for at in range(0, len(found), INTS))
    check(blocks == [others(rank, 11).tolist() for rank in range(SIZE)], "Write_shared loses blocks")
    file.Write_ordered(mine(12))
    file.Seek_shared(0)
    buffer = blank()
    file.Read_ordered(buffer)
    check(buffer == mine(12), "Read_ordered")


def views(file):
    """Every SIZE-th number is this rank's."""
    filetype = MPI.INT.Create_vector(INTS, 1, SIZE).Commit()
    file.Set_view(RANK * 4, MPI.INT, filetype)
    displacement, etype, view_type, datarep = file.Get_view()
    check((displacement, datarep) == (RANK * 4, "native"), f"view {displacement} {datarep}")
    check(view_type.Get_size() == 4 * INTS and etype.Get_size() == 4, "types of the view")
    view_type.Free()
    file.Write_all(mine(20))
    file.Set_view(0, MPI.INT, MPI.INT)
    found = array.array("i", [-1] * (INTS * SIZE))
    file.Read_at_all(0, found)
    check(all(found[rank::SIZE] == others(rank, 20) for rank in range(SIZE)), "strided data")
    file.Set_view(0, MPI.INT, MPI.INT, "external32")
    file.Write_at_all(RANK * INTS, mine(21))
    file.Set_view(0, MPI.BYTE, MPI.BYTE, "native")
    raw = bytearray(4 * INTS)
    file.Read_at_all(RANK * INTS * 4, raw)
    swapped = array.array("i", bytes(raw))
    swapped.byteswap()
    check(swapped == mine(21), "external32 is big-endian")
    filetype.Free()


def sizes_and_settings(file):
    file.Set_size(12345)
    check(file.Get_size() == 12345, f"size {file.Get_size()}")
    file.Preallocate(20000)
    check(file.Get_size() == 20000, f"size {file.Get_size()} after Preallocate")
    file.Set_atomicity(True)
    check(file.Get_atomicity() is True, "atomicity")
    file.Set_atomicity(False)
    check(file.Get_amode() == BOTH, f"amode {file.Get_amode()}")
    group = file.Get_group()
    check(group.Get_size() == SIZE, "group")
    group.Free()
    info = file.Get_info()
    check(info.Get("romio_ds_read") is not None, "no hints")
    info.Free()


def errors(path):
    try:
        MPI.File.Open(COMM, path + ".missing", MPI.MODE_RDONLY)
        check(False, "a missing file was opened")
    except MPI.Exception as error:
        check(error.Get_error_class() == MPI.ERR_NO_SUCH_FILE, f"class {error.Get_error_class()} for a missing file")
    file = MPI.File.Open(COMM, path, MPI.MODE_RDONLY)
    try:
        file.Write_at(0, mine(0))
        check(False, "a file for reading was written")
    except MPI.Exception as error:
        check(error.Get_error_class() in (MPI.ERR_READ_ONLY, MPI.ERR_ACCESS), f"class {error.Get_error_class()} for a write")
    handle = MPI.File.fromhandle(file.handle)
    check(handle == file and handle.Get_size() == file.Get_size(), "the handle as a number")
    file.Close()
    check(file == MPI.FILE_NULL, "a closed file")


def main():
    path = os.path.join(sys.argv[1], "python.data")
    file = MPI.File.Open(COMM, path, BOTH)
    file.Set_view(0, MPI.INT, MPI.INT)
    explicit_offsets(file)
    pointers(file)
    views(file)
    sizes_and_settings(file)
    file.Close()
    errors(path)
    COMM.Barrier()
    if RANK == 0:
        MPI.File.Delete(path)
        check(not os.path.exists(path), "Delete leaves the file")
    total = COMM.allreduce(len(wrong))
    if RANK == 0 and total == 0:
        print("No Errors")
    sys.exit(1 if total else 0)


main()
