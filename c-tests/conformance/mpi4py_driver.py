"""Runs mpi4py's tests of files on every rank and tells each test's end in a line of the file JOURNAL.rank.

The first lines name the tests that will run, so that those behind a crash are missed. Where NO_SKIPS is set, mpi4py's list of
tests that fail with the MPI at hand is forgotten.
"""
import os
import sys
import unittest

sys.path.insert(0, os.environ["TESTS"])

from mpi4py import MPI  # noqa: E402
import mpiunittest  # noqa: E402

if os.environ["NO_SKIPS"]:
    mpiunittest.skipMPI = lambda *_: (lambda test: test)


class Journal(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.file = open(f"{os.environ['JOURNAL']}.{MPI.COMM_WORLD.Get_rank()}", "w", encoding="utf-8")

    def write(self, word, test, reason=""):
        print(word, test.id(), " ".join(str(reason).split())[:200], sep="\t", file=self.file, flush=True)

    def addSuccess(self, test):
        self.write("pass", test)

    def addSkip(self, test, reason):
        self.write("skip", test, reason)

    def addFailure(self, test, err):
        self.write("fail", test, err[1])

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err:
            self.addFailure(test, err)


def each(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from each(item)
        else:
            yield item


journal = Journal()
tests = unittest.defaultTestLoader.loadTestsFromNames(["test_io", "test_file"])
for test in each(tests):
    journal.write("plan", test)
tests.run(journal)
