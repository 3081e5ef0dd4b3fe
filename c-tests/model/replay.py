"""Replays experiments of Feki's thesis (2022, chapter 5) as counts over the modelled lock server.

The counts come from real runs of the library on the stand-in; the seconds are counts times the costs below, which are
parameters and not measurements: a request of a lock is a round trip, a callback makes its holder flush and cancel, and
whoever asked waits. Aggregators work at the same time, so the counts are divided by their number, except that callbacks on
one server come one after the other. The speed of a server is not in the model, so that more aggregators never hurt.

Figures 21, 25 and 26 have the shuffle in them: there each rank is a group of its own, and in a cycle (as many windows as there
are aggregators) messages cost what the busiest rank has to send or to receive, one after the other. That column is `in turn`.
It is what makes static-cyclic slow: the windows of one of its cycles lie side by side in the file, so with large pieces one rank
sends them all, whereas an even division takes them from ranks all over the file, or from the aggregator itself. The thesis's own
figures fit: 30.86 s for 256 GiB are 8.3 GiB/s, about what one node of that machine sends. Nothing fails here for the time it takes.
"""
import collections
import pathlib
import re

import standins

RANKS, STRIPES, STRIPE = 8, 4, 65536
MORE_RANKS = (8, 12, 16)
COLUMNS = ("accesses", "enqueues", "callbacks", "dropped", "matched", "messages", "in turn")
PIECE = 1 << 20
TOGETHER = "romio_cb_write=enable"
# What the thesis says in words; figures 23, 24 and 27 are bandwidths, the others times.
THESIS = {
    "21": "time in the shuffle grows with the aggregators of static-cyclic, and falls to almost nothing for even",
    "22": "file access: even +70 % and more over static-cyclic (x4.3 for the smallest file), lock ahead +24 %",
    "23": "global best, stripe close behind, synchronicity without effect on both; cycle gains by asynchronous requests",
    "24": "best with half of the ranks as aggregators (97 GiB/s against 52 without lock ahead)",
    "25": "1-D: lock ahead 1.6 to 3.6 times as fast as even, 2.7 to 12.9 times as fast as static-cyclic",
    "26": "2-D: the same order; static-cyclic fails from 576 ranks on",
    "27": "individual 1-D: 1.8 to 3.4 times as fast; synchronous requests per element gain least",
    "28": "individual 2-D: 2.6 to 33.4 times as fast",
}


class Costs:
    def __init__(self, rpc, revocation, access, message):
        self.rpc, self.revocation, self.access, self.message = rpc, revocation, access, message

    def seconds(self, counts, writers):
        """Requests that nobody waits for cost nothing; callbacks of a server are one after the other."""
        requests = counts["enqueues"] - counts["speculated"]
        each = (requests * self.rpc + counts["accesses"] * self.access) / writers
        return each + counts["callbacks"] * self.revocation / min(STRIPES, writers) + counts["in turn"] * self.message


def in_turn(log, writers):
    """Messages that cannot be under way at the same time: the busiest rank's of each cycle."""
    cycles = collections.defaultdict(collections.Counter)
    for line in log:
        if found := re.match(r"client (\d+): message to (\d+) about window (\d+)", line):
            cycle = cycles[int(found[3]) // writers]
            cycle["from", found[1]] += 1
            cycle["to", found[2]] += 1
    return sum(max(cycle.values()) for cycle in cycles.values())


class Replay:
    def __init__(self, library, build, costs):
        self.library, self.built, self.costs = pathlib.Path(library).resolve(), standins.build(build), costs

    def row(self, label, kind, hints, writers, ranks=RANKS):
        layout = f"striping_factor={STRIPES}:striping_unit={STRIPE}"
        _, counts, log = standins.run(self.built, self.library, kind, ranks, f"{hints}:{layout}", size=PIECE, times=2)
        counts["in turn"] = in_turn(log, writers)
        seconds = self.costs.seconds(counts, writers)
        numbers = "".join(f"{counts[name]:>10}" for name in COLUMNS)
        print(f"  {label:<44}{numbers}{seconds * 1e3:>11.2f}", flush=True)
        return seconds

    def head(self, figure, what):
        print(f"\nfigure {figure}: {what}\n  thesis: {THESIS[figure]}")
        names = "".join(f"{name:>10}" for name in COLUMNS)
        print(f"  {'':<44}{names}{'model ms':>11}")

    def shuffle(self):
        self.head("21", "the shuffle, 1-D")
        for partitioning in ("static_cyclic", "even"):
            for number in (2, STRIPES, RANKS):
                hints = f"mpiio_rs_partitioning={partitioning}:cb_nodes={number}:mpiio_rs_layers=1:{TOGETHER}"
                self.row(f"{partitioning}, {number} aggregators", "1d", hints, number)

    def whole(self, figure, kind, what):
        """The three implementations with more and more ranks, shuffle included."""
        self.head(figure, what)
        for ranks in MORE_RANKS:
            alone = f"mpiio_rs_layers=1:{TOGETHER}"
            ways = (("static-cyclic", f"mpiio_rs_partitioning=static_cyclic:cb_nodes={STRIPES}", STRIPES),
                    ("even", f"mpiio_rs_partitioning=even:cb_nodes={STRIPES}", STRIPES),
                    ("even + lock ahead", "mpiio_rs_lock_ahead=global", ranks // 2))
            cyclic, even, ahead = (self.row(f"{ranks} ranks, {name}, {writers} aggregators", kind, f"{hints}:{alone}", writers, ranks)
                                   for name, hints, writers in ways)
            print(f"      lock ahead {even / ahead:.2f} times as fast as even, {cyclic / ahead:.2f} times as fast as static-cyclic")

    def compare(self, figure, kind, what):
        self.head(figure, what)
        cyclic = self.row("static-cyclic, aggregators = stripes", kind, f"mpiio_rs_partitioning=static_cyclic:cb_nodes={STRIPES}:{TOGETHER}", STRIPES)
        even = self.row("even, aggregators = stripes", kind, f"mpiio_rs_partitioning=even:cb_nodes={STRIPES}:{TOGETHER}", STRIPES)
        ahead = self.row("even + lock ahead (global), half the ranks", kind, f"mpiio_rs_lock_ahead=global:{TOGETHER}", RANKS // 2)
        print(f"  even / static-cyclic = {even / cyclic:.2f}, lock ahead / static-cyclic = {ahead / cyclic:.2f}, even / lock ahead = {even / ahead:.2f}")

    def schemes(self):
        self.head("23", "the three ways to ask ahead, 1-D and 2-D")
        for kind in ("1d", "2d"):
            for scheme in ("global", "stripe", "cycle"):
                for requests in ("asynchronous", "synchronous"):
                    hints = f"mpiio_rs_lock_ahead={scheme}:mpiio_rs_lock_ahead_requests={requests}:{TOGETHER}"
                    self.row(f"{kind} {scheme}, {requests}", kind, hints, RANKS // 2)

    def aggregators(self):
        self.head("24", "aggregators from the stripe count to all ranks, 1-D")
        for number in (STRIPES, 6, RANKS):
            self.row(f"even, {number} aggregators", "1d", f"mpiio_rs_partitioning=even:cb_nodes={number}:{TOGETHER}", number)
            self.row(f"even + lock ahead, {number} aggregators", "1d", f"mpiio_rs_lock_ahead=global:cb_nodes={number}:{TOGETHER}", number)

    def individual(self, figure, kind, what):
        self.head(figure, what)
        plain = self.row("without", kind, "mpiio_rs_lock_ahead=off", RANKS)
        for scheme in ("element", "view"):
            for requests in ("asynchronous", "synchronous"):
                hints = f"mpiio_rs_lock_ahead_individual={scheme}:mpiio_rs_lock_ahead_requests={requests}"
                seconds = self.row(f"{scheme}, {requests}", kind, hints, RANKS)
                print(f"      {plain / seconds:.2f} times as fast")


def main(arguments):
    costs = Costs(arguments.rpc * 1e-6, arguments.revocation * 1e-6, arguments.access * 1e-6, arguments.message * 1e-6)
    replay = Replay(arguments.library, arguments.build, costs)
    print(__doc__)
    print(f"{RANKS} ranks, each a client node; {STRIPES} servers, stripes of {STRIPE} bytes, {PIECE} bytes for each rank, written twice")
    print(f"costs: request {arguments.rpc} us, callback {arguments.revocation} us, access {arguments.access} us, message {arguments.message} us")
    replay.shuffle()
    replay.compare("22", "1d", "file access with as many aggregators as stripes")
    replay.schemes()
    replay.aggregators()
    replay.whole("25", "1d", "whole calls, 1-D")
    replay.whole("26", "2d", "whole calls, 2-D")
    replay.individual("27", "alone1d", "each rank for itself, 1-D")
    replay.individual("28", "alone2d", "each rank for itself, 2-D")
