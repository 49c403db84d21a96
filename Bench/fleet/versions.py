# Prints each vehicle that a gateway has read, with its firmware version; used by Bench/fleet/records.
import json, sys

for number, path in enumerate(sys.argv[1:], 1):
    with open(path, encoding="utf-8") as file:
        for row in json.load(file).get("vehicles", []):
            print(f"gateway-{number}", row["vehicle"], row.get("firmware", {}).get("secondary", "?"))
