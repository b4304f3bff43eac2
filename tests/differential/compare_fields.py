"""Compares two listings of code objects, field by field.

    python compare_fields.py LIVE.jsonl READ.jsonl

Prints the first differences and the number of code objects and fields compared; the exit code is 1 if anything differs
or is missing on one side.
"""
import json
import sys

SHOWN = 20


def load(path):
    records = {}
    with open(path) as lines:
        for line in lines:
            record = json.loads(line)
            records[record["file"], record.get("code", 0)] = record
    return records


def main(live_path, read_path):
    live, read = load(live_path), load(read_path)
    differences = fields = 0
    for key in sorted(live.keys() | read.keys()):
        ours, theirs = read.get(key, {}), live.get(key, {})
        names = sorted(ours.keys() | theirs.keys())
        fields += len(names)
        different = [name for name in names if ours.get(name) != theirs.get(name)]
        if not different:
            continue
        differences += 1
        if differences <= SHOWN:
            print(key)
            for name in different:
                print("    %s: live %r, read %r" % (name, theirs.get(name), ours.get(name)))
    print("%d code objects, %d fields, %d code objects differ" % (len(live), fields, differences))
    return 1 if differences or not live else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
