"""python -m attack: run campaigns within a time; status 1 where one of them found anything."""

import argparse
import os
import secrets
import sys
from pathlib import Path

from attack.campaigns import CAMPAIGNS
from attack.plants import PLANT, PLANTS
from attack.running import run_all, table

HOME = Path(__file__).parents[1] / "build" / "attack"


def main(arguments: list[str] | None = None) -> int:
    """Attack, and say what came of it."""
    parser = argparse.ArgumentParser("attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, metavar="M", help="for all campaigns (10)")
    parser.add_argument("--only", nargs="+", choices=CAMPAIGNS, default=list(CAMPAIGNS), metavar="CAMPAIGN")
    parser.add_argument("--seed", type=int, help="of all that is drawn (a new one)")
    parser.add_argument(
        "--rounds", type=_rounds, metavar="N|A-B", help="as many of each campaign, or those from A to B"
    )
    parser.add_argument("--plant", choices=PLANTS, help="attack code with this bug, which has to be found")
    parser.add_argument("--home", type=Path, default=HOME, help="where findings are saved (build/attack)")
    parsed = parser.parse_args(arguments)
    seed = secrets.randbelow(10**9) if parsed.seed is None else parsed.seed
    os.environ[PLANT] = parsed.plant or ""
    print(f"attack: seed {seed}, {', '.join(parsed.only)}", file=sys.stderr, flush=True)
    tallies = run_all(parsed.only, seed, 60 * parsed.minutes, parsed.rounds, parsed.home)
    print(table(tallies))
    return int(any(tally.findings for tally in tallies))


def _rounds(text: str) -> range:
    first, dash, last = text.partition("-")
    return range(int(first), int(last) + 1) if dash else range(int(first))


if __name__ == "__main__":
    sys.exit(main())
