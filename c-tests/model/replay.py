"""Replays experiments of Feki's thesis (2022, chapter 5) as counts over the modelled lock server.

The counts come from real runs of the library on the stand-in. The seconds are counts times costs, which are parameters. Unless
given they are the thesis's own, as far as it tells: 16 GiB written by 32 aggregators in 0.54 s are 1.05 ms for each stripe of
1 MiB; even division without lock ahead takes 70 % longer (0.64 ms for a lock that is taken away and 0.1 for one that is asked
for); a shuffle of 256 GiB in 30.86 s is 118 us for each stripe if one rank at a time sends, which is 8.3 GiB/s, about what one node
of that machine can; and 97 GiB/s at best are three stripes at a time on each of the 32 servers.

Writers work at the same time, but no server at more stripes than that, and locks of a server are taken away one after the
other. In figures 21, 25 and 26 each rank is a group of its own, and in a cycle (as many windows as there are aggregators)
messages cost what the busiest rank has to send or to receive: the column `in turn`. That is what makes static-cyclic slow. The
windows of one of its cycles lie side by side in the file, so with large pieces one rank sends them all, whereas an even division
takes them from ranks all over the file, or from the aggregator itself. Nothing fails here for the time it takes.
"""
import collections
import pathlib
import re

import standins

RANKS, STRIPES, STRIPE = 8, 4, 65536
MORE_RANKS = (8, 12, 16)
COLUMNS = ("accesses", "enqueues", "callbacks", "dropped", "matched", "messages", "in turn")
PIECE = 1 << 20
TIMES = 2
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
    def __init__(self, rpc, revocation, access, message, at_once):
        self.rpc, self.revocation, self.access, self.message, self.at_once = rpc, revocation, access, message, at_once

    def seconds(self, counts, stripes, writers, servers=STRIPES):
        """For so many stripes of data. Requests that nobody waits for cost nothing."""
        requests = counts["enqueues"] - counts["speculated"]
        locks = requests * self.rpc / writers + counts["callbacks"] * self.revocation / min(servers, writers)
        return stripes * self.access / min(writers, servers * self.at_once) + locks + counts["in turn"] * self.message


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
        _, counts, log = standins.run(self.built, self.library, kind, ranks, f"{hints}:{layout}", size=PIECE, times=TIMES,
                                      environment={"MODEL_SERVICE": "200"})
        counts["in turn"] = in_turn(log, writers)
        seconds = self.costs.seconds(counts, TIMES * ranks * PIECE // STRIPE, writers)
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

    def projected(self):
        """Figure 25 at the size of the thesis, by what the counts above show: static-cyclic sends all windows of a cycle in turn,
        even division and lock ahead one; even division loses a lock with each access, the others none."""
        servers, each = 32, 256
        print(f"  by the same rules with {servers} servers, {each} stripes for each rank:")
        for ranks in (64, 256, 1024):
            stripes, half = ranks * each, max(ranks // 2, servers)
            counts = collections.Counter
            cycles = stripes // servers
            cyclic = self.costs.seconds(counts({"in turn": stripes}), stripes, servers, servers)
            even = self.costs.seconds(counts({"in turn": cycles, "enqueues": stripes, "callbacks": stripes}), stripes, servers, servers)
            ahead = self.costs.seconds(counts({"in turn": stripes // half}), stripes, half, servers)
            print(f"  {ranks:>6} ranks: static-cyclic {cyclic:.1f} s, even {even:.1f} s, lock ahead {ahead:.1f} s: "
                  f"{even / ahead:.2f} times as fast as even, {cyclic / ahead:.2f} times as fast as static-cyclic")

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
    costs = Costs(arguments.rpc * 1e-6, arguments.revocation * 1e-6, arguments.access * 1e-6, arguments.message * 1e-6, arguments.at_once)
    replay = Replay(arguments.library, arguments.build, costs)
    print(__doc__)
    print(f"{RANKS} ranks, each a client node; {STRIPES} servers, stripes of {STRIPE} bytes, {PIECE} bytes for each rank, written {TIMES} times")
    print(f"costs: request {arguments.rpc} us, callback {arguments.revocation} us, stripe {arguments.access} us, "
          f"{arguments.at_once:g} at a time on a server, message {arguments.message} us")
    replay.shuffle()
    replay.compare("22", "1d", "file access with as many aggregators as stripes")
    replay.schemes()
    replay.aggregators()
    replay.whole("25", "1d", "whole calls, 1-D")
    replay.projected()
    replay.whole("26", "2d", "whole calls, 2-D")
    replay.individual("27", "alone1d", "each rank for itself, 1-D")
    replay.individual("28", "alone2d", "each rank for itself, 2-D")
