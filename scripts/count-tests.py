#!/usr/bin/env python3
"""Counts the tests in the output of `swift test` and says which were skipped, and why.

usage: count-tests.py LOG STATUS

Exits with 0 only if STATUS is 0, at least one test ran, and none failed.
"""
import re
import sys


def main() -> int:
    log, status = open(sys.argv[1], encoding="utf-8", errors="replace").read(), int(sys.argv[2])
    # ✔ Test "A name" passed after 0.001 seconds.   ✘ Test … failed after …   ➜ Test … skipped: "reason"
    name = r'[^\w"`\n]*Test ((?:"(?:[^"\\]|\\.)*")|(?:\S+\(.*?\)))'
    passed = set(re.findall(rf"^{name}(?: with \d+ test cases?)? passed after", log, re.M))
    failed = set(re.findall(rf"^{name}(?: with \d+ test cases?)? failed after", log, re.M))
    skipped = dict(re.findall(rf'^{name} skipped(?:: "?(.*?)"?)?\.?$', log, re.M))
    total = re.findall(r"Test run with (\d+) tests?", log)
    print()
    for test, reason in sorted(skipped.items()):
        print(f"skipped: {test}{': ' + reason if reason else ''}")
    for test in sorted(failed):
        print(f"failed: {test}")
        # What was expected, and up to four lines that say more.
        for issue in re.findall(rf"^[^\n]*Test {re.escape(test)} recorded an issue.*(?:\n↳.*){{0,4}}", log, re.M):
            print("    " + issue.replace("\n", "\n        "))
    failures = len(failed)
    if status != 0 and failures == 0:
        print(f"The test process ended with status {status}: it crashed, or a test outside the count failed.")
        failures = 1
    ran = max(int(total[-1]) - failures - len(skipped), len(passed)) if total else len(passed)
    print(f"{ran} passed, {failures} failed, {len(skipped)} skipped")
    return 0 if status == 0 and failures == 0 and ran > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
