# Prints each vehicle that a gateway has read, and the firmware it runs; Bench/fleet/records asks for it.
import json, sys

for number, path in enumerate(sys.argv[1:], 1):
    with open(path, encoding="utf-8") as file:
        for row in json.load(file).get("vehicles", []):
            print(f"gateway-{number}", row["vehicle"], row.get("firmware", {}).get("secondary", "?"))
