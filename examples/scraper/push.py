"""Parses saved court reports with juriscraper and pushes them to the service. See README.md.

    DOCKET_URL=https://dockets.example DOCKET_TOKEN=dkt_push_… python3 push.py --court cand reports/*.html
"""

import argparse
import datetime
import gzip
import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from juriscraper.pacer import (
    ACMSDocketReport,
    AppellateDocketReport,
    DocketHistoryReport,
    DocketReport,
)

REPORTS = {
    "docket": DocketReport,
    "history": DocketHistoryReport,
    "appellate": AppellateDocketReport,
    "acms": ACMSDocketReport,
}
# A docket may take the service a while; it works on one body for 90 seconds at most.
TIMEOUT_SECONDS = 120
ATTEMPTS = 6


class NotPushed(Exception):
    """This report was not accepted. Its text says why."""


def decode(saved: bytes) -> str:
    """Courts that do not write UTF-8 write Windows-1252. A letter that is replaced would be sold as the court's text."""
    try:
        return saved.decode("utf-8")
    except UnicodeDecodeError:
        return saved.decode("cp1252", errors="replace")


def parse(path: pathlib.Path, kind: str, court: str) -> dict:
    report = REPORTS[kind](court)
    report._parse_text(decode(path.read_bytes()))
    data = report.data
    if not data.get("docket_number"):
        raise NotPushed("juriscraper found no docket in it")
    return data


def saved_at(path: pathlib.Path) -> str:
    """When the court was read: when the report was saved."""
    return datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.timezone.utc).isoformat()


def push(url: str, token: str, docket: dict, asked_at: str, partial: bool) -> dict:
    """Sends one docket until the service has it. Repeating is safe: what is recorded already changes nothing."""
    query = urllib.parse.urlencode({"asked_at": asked_at, "partial": "true" if partial else "false"})
    request = urllib.request.Request(
        f"{url.rstrip('/')}/ingest/dockets?{query}",
        # Dates become ISO strings.
        data=gzip.compress(json.dumps(docket, default=str).encode()),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        },
        method="POST",
    )
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            retry_after = error.headers.get("Retry-After", "")
            if error.code in (429, 502, 503, 504) and attempt < ATTEMPTS:
                time.sleep(min(int(retry_after), 60) if retry_after.isdigit() else 2**attempt)
                continue
            raise NotPushed(reason(error)) from None
        except OSError as error:
            if attempt == ATTEMPTS:
                raise NotPushed(f"the service cannot be reached: {error}") from None
            time.sleep(2**attempt)
    raise AssertionError("unreachable")


def reason(error: urllib.error.HTTPError) -> str:
    try:
        problem = json.load(error)["error"]
        return f"{error.code} {problem['code']}: {problem['message']} {problem['details']['hint']}"
    except (ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Push saved court reports as juriscraper parses them.")
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE", help="saved reports of one court")
    parser.add_argument("--court", required=True, help="the court's code at PACER, e.g. cand")
    parser.add_argument("--report", choices=REPORTS, default="docket", help="kind of the reports (default: docket)")
    parser.add_argument("--partial", action="store_true", help="the reports lack entries, e.g. a range of dates")
    options = parser.parse_args()
    url, token = os.environ.get("DOCKET_URL"), os.environ.get("DOCKET_TOKEN")
    if not url or not token:
        parser.error("set DOCKET_URL and DOCKET_TOKEN")
    failed = 0
    for path in options.files:
        try:
            docket = parse(path, options.report, options.court)
            (result,) = push(url, token, docket, saved_at(path), options.partial)["results"]
            if result["outcome"] == "refused":
                raise NotPushed(result["why"])
        except NotPushed as error:
            failed += 1
            print(f"{path}: {error}", file=sys.stderr)
            continue
        except Exception as error:  # A page that juriscraper cannot parse must not stop the others.
            failed += 1
            print(f"{path}: juriscraper failed: {error!r}", file=sys.stderr)
            continue
        counts = f"{result.get('new_filings', 0)} new, {result.get('revised', 0)} revised"
        print(f"{path}: {result['court_code']} {result['case_number']} {result['outcome']}, {counts}", flush=True)
        for left_out in result.get("skipped", []):
            print(f"{path}: skipped {left_out['where']}: {left_out['why']}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
