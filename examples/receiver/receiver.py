"""Receives callbacks: verifies each, acknowledges it at once, and processes each delivery once. Standard library only.

    SIGNING_KEYS='KEY_ID:SECRET' python3 receiver.py       Python 3.8 or later
    python3 receiver.py check vectors.json                 checks the published test vectors

POST /v2/wallet/keys returned KEY_ID and SECRET. During a rotation, name both keys: 'NEW_ID:NEW,OLD_ID:OLD'.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
MOST_BYTES = 16 * 1024 * 1024
# Retries of one delivery continue for 18 hours, and the operator of the service may redeliver later.
REMEMBERED_SECONDS = 7 * 24 * 3600


def distrust(headers, body, keys, now):
    """Returns why a delivery must not be trusted, or None if it is valid.

    `body` is the bytes from the wire, because JSON that was parsed and serialized again has other bytes. Checks
    `webhook-signature` if it is present, since it also covers the time and carries a signature by either key during a
    rotation; otherwise `X-Service-Signature`, which covers only the body. Header names are in lower case; `keys` is
    {id: secret}.
    """
    standard = "webhook-signature" in headers
    sent_at = headers.get("webhook-timestamp" if standard else "x-service-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,15}", sent_at) or abs(now - int(sent_at)) > TOLERANCE_SECONDS:
        return "stale"
    authentic = standard_matches(headers, sent_at, body, keys) if standard else service_matches(headers, body, keys)
    if not authentic:
        return "signature"
    # The header is not signed, but the body is: the deduplication key must be the same in both.
    key = idempotency_key_in(body)
    return None if isinstance(key, str) and key == headers.get("idempotency-key") else "idempotency_key"


def digest(secret, message):
    # The secret's 64 hexadecimal characters are the key themselves: do not decode them.
    return hmac.new(secret.encode("utf-8"), message, hashlib.sha256)


def same(a, b):
    # Compares in constant time, so that the duration does not reveal where two values differ.
    return hmac.compare_digest(a.encode("utf-8"), b.encode("utf-8"))


def service_matches(headers, body, keys):
    secret = keys.get(headers.get("x-service-signature-key-id", ""))
    if secret is None:
        return False
    return same(headers.get("x-service-signature", ""), "sha256=" + digest(secret, body).hexdigest())


def standard_matches(headers, sent_at, body, keys):
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode("utf-8") + body
    signatures = headers["webhook-signature"].split(" ")
    for secret in keys.values():
        expected = "v1," + base64.b64encode(digest(secret, signed).digest()).decode("ascii")
        if any(same(signature, expected) for signature in signatures):
            return True
    return False


def idempotency_key_in(body):
    try:
        return json.loads(body)["webhook"]["idempotency_key"]
    except (ValueError, KeyError, TypeError):
        return None


class Taken:
    """The deliveries that have arrived. Memory is enough for an example. In production, write the key and the work in
    one database transaction and acknowledge only after it: an acknowledged delivery is not sent again."""

    def __init__(self):
        self._lock = threading.Lock()
        self._at = {}

    def first(self, key):
        now = time.time()
        with self._lock:
            # Keys are in order of arrival.
            for old in [old for old, at in self._at.items() if now - at > REMEMBERED_SECONDS]:
                del self._at[old]
            first = key not in self._at
            self._at[key] = now
            return first


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    keys = {}
    taken = Taken()

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > MOST_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reason = distrust(headers, body, self.keys, time.time())
        if reason is not None:
            return self.answer(401, reason)
        delivery = json.loads(body)
        first = self.taken.first(delivery["webhook"]["idempotency_key"])
        self.answer(204)
        if first:
            take(delivery)

    def answer(self, status, text=""):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode("ascii"))
        self.wfile.flush()

    def log_message(self, *arguments):
        """Suppresses the log line of each request."""


def take(delivery):
    """The work: called once for each delivery, after it has been acknowledged."""
    print("took", delivery["webhook"]["idempotency_key"], flush=True)


def read_keys(text):
    keys = {}
    for pair in text.split(","):
        match = re.fullmatch(r"([^:]+):([0-9a-f]{64})", pair.strip())
        if not match:
            sys.exit("SIGNING_KEYS is KEY_ID:SECRET[,KEY_ID:SECRET]")
        keys[match[1]] = match[2]
    return keys


def check_vectors(file):
    """Checks the published vectors; returns how many give an unexpected result."""
    with open(file, encoding="utf-8") as text:
        vectors = json.load(text)["vectors"]
    wrong = 0
    for vector in vectors:
        reason = distrust(vector["headers"], vector["body"].encode("utf-8"), vector["keys"], vector["now"])
        right = reason == vector["refused"]
        wrong += not right
        print("ok" if right else "WRONG", f"{vector['name']}: {reason or 'accepted'}")
    return wrong


def main():
    if sys.argv[1:2] == ["check"]:
        sys.exit(1 if check_vectors(sys.argv[2]) else 0)
    Receiver.keys = read_keys(os.environ.get("SIGNING_KEYS", ""))
    host, port = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "9000"))
    server = ThreadingHTTPServer((host, port), Receiver)
    print(f"listening on {host}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
