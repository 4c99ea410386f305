"""Checks an exported event log, or a proof of some of its events, without the service. Standard library only.

    python3 verify.py FILE [--head NOTE]... [--key KEY]...   Python 3.9 or later
    python3 verify.py check vectors                          checks the published test vectors

FILE is from `docket audit export log` or `docket audit prove`; `-` reads standard input. NOTE is a file with a head that
was kept earlier, KEY a verifier key that was kept earlier. Exit code: 0 it holds, 1 a breach, 2 unreadable input.
"""

import base64
import binascii
import hashlib
import json
import os
import re
import sys

MOST_BYTES = 16 * 1024 * 1024
MOST_DEPTH = 64
MOST_SAFE = 2**53 - 1


class Unreadable(Exception):
    """The input is neither a log nor a proof of the documented format, so nothing can be said about it."""


# --- JSON -------------------------------------------------------------------------------------------------------------


def parse_json(text, where):
    """Parses JSON that means the same to every program: no duplicate members, no number beyond a double."""

    def number(token):
        value = float(token)
        if value in (float("inf"), float("-inf")):
            raise Unreadable(f"{where} has a number that no double holds")
        # JSON numbers are doubles here, as they are to RFC 8785.
        return int(value) if value.is_integer() and abs(value) <= MOST_SAFE else value

    def constant(_token):
        raise Unreadable(f"{where} is not JSON")

    def members(pairs):
        value = dict(pairs)
        if len(value) != len(pairs):
            raise Unreadable(f"{where} has a member twice")
        return value

    try:
        return json.loads(
            text, parse_int=number, parse_float=number, parse_constant=constant, object_pairs_hook=members
        )
    except (ValueError, RecursionError):
        raise Unreadable(f"{where} is not JSON") from None


def canonical(value, where, depth=0):
    """RFC 8785. A lone surrogate is escaped, as the service does."""
    if depth > MOST_DEPTH:
        raise Unreadable(f"{where} is nested too deeply")
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item, where, depth + 1) for item in value) + "]"
    # By UTF-16 code units, as the RFC demands; the same as by characters if all are ASCII.
    plain = all(map(str.isascii, value))
    names = sorted(value) if plain else sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{quoted(name)}:{canonical(value[name], where, depth + 1)}" for name in names) + "}"


PLAIN = re.compile(r"[ !#-\[\]-~]*")
LONE = re.compile("[\ud800-\udfff]")


def quoted(text):
    if PLAIN.fullmatch(text):
        return f'"{text}"'
    escaped = json.dumps(text, ensure_ascii=False)
    return LONE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", escaped)


def number_text(value):
    """As JavaScript writes a double."""
    if isinstance(value, int):
        return str(value)
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if len(digits) <= point <= 21:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        text = digits[:point] + "." + digits[point:]
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        rest = "." + digits[1:] if len(digits) > 1 else ""
        text = f"{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + text


# --- Shapes -----------------------------------------------------------------------------------------------------------

HASH = re.compile(r"[0-9a-f]{64}")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_text(value):
    return isinstance(value, str)


def is_hash(value):
    return isinstance(value, str) and HASH.fullmatch(value) is not None


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_SAFE


def is_object(value):
    return isinstance(value, dict)


def is_hashes(value):
    return isinstance(value, list) and all(is_hash(item) for item in value)


def or_null(check):
    return lambda value: value is None or check(value)


def shaped(value, shape, where):
    """An object with exactly these members."""
    if not is_object(value):
        raise Unreadable(f"{where} is not an object")
    for name, check in shape.items():
        if name not in value:
            raise Unreadable(f"{where} has no {name}")
        if not check(value[name]):
            raise Unreadable(f"{where} has an unusable {name}")
    for name in value:
        if name not in shape:
            raise Unreadable(f"{where} has the unknown member {shown(name)}")
    return value


EVENT = {
    "stream": is_text,
    "revision": is_count,
    "position": is_text,
    "id": is_text,
    "type": is_text,
    "data": is_object,
    "metadata": is_object,
    "hash": is_hash,
}


# --- Hashes and the tree (RFC 6962, section 2.1) ----------------------------------------------------------------------


def sha256(content):
    return hashlib.sha256(content).digest()


def link_of(previous, event, where):
    """The hash that an event must have after the one before it in its stream."""
    covered = [event[name] for name in ("stream", "revision", "id", "type", "data", "metadata")]
    return sha256(canonical([previous, *covered], where).encode("utf-8")).hex()


def leaf_of(event):
    content = canonical([event["stream"], event["revision"], event["hash"]], "a leaf")
    return sha256(b"\x00" + content.encode("utf-8"))


def node_of(left, right):
    return sha256(b"\x01" + left + right)


def grown(peaks, leaf):
    """Peaks are (hash, leaves, next): the complete subtrees, the smallest first. Trees of different sizes share what
    they have in common."""
    node, leaves = leaf, 1
    while peaks is not None and peaks[1] == leaves:
        node = node_of(peaks[0], node)
        leaves *= 2
        peaks = peaks[2]
    return (node, leaves, peaks)


def root_of(peaks):
    if peaks is None:
        return sha256(b"")
    root, _, peaks = peaks
    while peaks is not None:
        root = node_of(peaks[0], root)
        peaks = peaks[2]
    return root


def split_of(n):
    """The largest power of two below n, for n > 1."""
    return 1 << ((n - 1).bit_length() - 1)


def root_by_path(leaf, index, size, path):
    """The root that a leaf and its path lead to; None if the path has another length than the tree demands."""
    if index >= size:
        return None
    is_left = []
    start, end = 0, size
    while end - start > 1:
        middle = start + split_of(end - start)
        is_left.append(index < middle)
        if index < middle:
            end = middle
        else:
            start = middle
    if len(is_left) != len(path):
        return None
    node = leaf
    for left, sibling in zip(reversed(is_left), path):
        node = node_of(node, sibling) if left else node_of(sibling, node)
    return node


def is_beginning(before, after, path):
    """Whether the tree of `before`, (size, root), is the beginning of the tree of `after`."""
    if before[0] < 1 or before[0] > after[0]:
        return False
    # From the root down to the last complete subtree of the old tree: whether the sibling is new, that is on the right.
    is_new = []
    start, end = 0, after[0]
    while end != before[0]:
        middle = start + split_of(end - start)
        is_new.append(before[0] <= middle)
        if before[0] <= middle:
            end = middle
        else:
            start = middle
    # If that subtree is the whole old tree, the path omits it.
    nodes = [before[1], *path] if start == 0 else list(path)
    if len(nodes) != len(is_new) + 1:
        return False
    old = whole = nodes[0]
    for new, node in zip(reversed(is_new), nodes[1:]):
        whole, old = (node_of(whole, node), old) if new else (node_of(node, whole), node_of(node, old))
    return old == before[1] and whole == after[1]


# --- Ed25519 (RFC 8032, section 5.1.7) --------------------------------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def add(a, b):
    """Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, x*y = T/Z."""
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times_both(a, point, b, other):
    """a * point + b * other, in one pass over the bits of both."""
    both = add(point, other)
    total = (0, 1, 1, 0)
    for bit in range(max(a.bit_length(), b.bit_length()) - 1, -1, -1):
        total = add(total, total)
        in_a, in_b = a >> bit & 1, b >> bit & 1
        if in_a or in_b:
            total = add(total, both if in_a and in_b else point if in_a else other)
    return total


def x_of(y, sign):
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P != 0 or (x == 0 and sign == 1):
        return None
    return P - x if x & 1 != sign else x


def decoded(encoded):
    number = int.from_bytes(encoded, "little")
    y = number & ((1 << 255) - 1)
    x = x_of(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % P)


def encoded_point(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = x_of(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)


def ed25519_matches(public_key, message, signature):
    point = decoded(public_key)
    scalar = int.from_bytes(signature[32:], "little")
    if point is None or scalar >= ORDER:
        return False
    challenge = hashlib.sha512(signature[:32] + public_key + message).digest()
    challenge = int.from_bytes(challenge, "little") % ORDER
    negative = (P - point[0], point[1], point[2], P - point[3])
    return encoded_point(times_both(scalar, BASE, challenge, negative)) == signature[:32]


# --- Heads as signed notes (c2sp.org/signed-note, c2sp.org/tlog-checkpoint) --------------------------------------------

ORIGIN = "docket-log/"
NOTE = re.compile(
    r"docket-log/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\n([1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n\n"
    r"((?:— [^\s+]+ [A-Za-z0-9+/]+={0,2}\n){1,16})"
)
KEY = re.compile(r"docket-log/([0-9a-f-]{36})\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)")


def bytes_of(text, length):
    """The bytes of canonical base64 of this length; None for any other text."""
    try:
        content = base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error):
        return None
    return content if len(content) == length and base64.b64encode(content).decode("ascii") == text else None


class Note:
    def __init__(self, text, where):
        match = NOTE.fullmatch(text)
        signed = root = None
        if match:
            self.log_id, size, root64, signatures = match.groups()
            self.size, root = int(size), bytes_of(root64, 32)
            start = f"— {ORIGIN}{self.log_id} "
            ours = [line for line in signatures.split("\n") if line.startswith(start)]
            signed = bytes_of(ours[0].rsplit(" ", 1)[1], 68) if ours else None
        if root is None or signed is None or self.size > MOST_SAFE:
            raise Unreadable(f"{where} is not a signed head")
        self.root, self.key_hash, self.signature = root, signed[:4].hex(), signed[4:]

    def is_signed_by(self, key):
        if self.log_id != key.log_id or self.key_hash != key.hash:
            return False
        return is_signed(self.size, self.root, key, self.signature)


ED25519 = b"\x01"


class VerifierKey:
    def __init__(self, log_id, key):
        self.log_id, self.key = log_id, key
        self.hash = sha256(f"{ORIGIN}{log_id}\n".encode("utf-8", "surrogatepass") + ED25519 + key)[:4].hex()
        self.text = f"{ORIGIN}{log_id}+{self.hash}+{base64.b64encode(ED25519 + key).decode('ascii')}"


def parse_key(text, where):
    match = KEY.fullmatch(text)
    typed = bytes_of(match[3], 33) if match else None
    if typed is not None and typed[0] == 1 and UUID.fullmatch(match[1]):
        key = VerifierKey(match[1], typed[1:])
        if key.hash == match[2]:
            return key
    raise Unreadable(f"{where} is not a verifier key")


def is_signed(size, root, key, signature):
    text = f"{ORIGIN}{key.log_id}\n{size}\n{base64.b64encode(root).decode('ascii')}\n"
    return ed25519_matches(key.key, text.encode("utf-8", "surrogatepass"), signature)


def anchor_line(log_id, size, root, transaction):
    """What a transaction that anchors a head must say on the chain."""
    memo = f"docket-log {log_id} {size} {base64.b64encode(root).decode('ascii')}"
    return f'anchored: transaction {shown(transaction)} must have the memo "{memo}"'


NO_HEADS = (
    "WARNING: no heads: nothing proves that no stream was removed, added or moved. Compare a head that you kept: --head"
)
UNCOVERED = "nothing proves that no stream was removed, added or moved there"
TRUSTED = "The key is what the file says. Compare it with one that you kept: --key"


class Kept:
    """What was kept earlier, and is trusted instead of the file."""

    def __init__(self, heads=(), keys=()):
        self.heads, self.keys = list(heads), list(keys)

    def has(self, key):
        return not self.keys or any(kept.text == key.text for kept in self.keys)


# --- An exported log --------------------------------------------------------------------------------------------------

# A head is checked if at most so many events were recorded between its last one and itself.
WINDOW = 65_536

ID_NAMESPACE = bytes.fromhex("5a3a1c626ef74f8e9c370d2d2f2b7c11")


def id_of(command, event, index):
    """The id of an event (UUIDv5): of the command, the stream, the revision before the append, and the place in it."""
    name = f"{command}\n{event['stream']}\n{event['revision'] - 1 - index}\n{index}"
    # As UTF-8 with a replacement for a lone surrogate, as the service does.
    name = LONE.sub("\ufffd", name).encode("utf-8")
    content = bytearray(hashlib.sha1(ID_NAMESPACE + name).digest()[:16])
    content[6] = content[6] & 0x0F | 0x50
    content[8] = content[8] & 0x3F | 0x80
    text = content.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


HEADER = {
    "format": is_text,
    "version": is_count,
    "log_id": or_null(is_text),
    "exported_at": is_text,
    "head": or_null(is_text),
}
END = {"end": lambda value: value == "docket-log", "events": is_count, "root": is_hash, "signed_head": or_null(is_object)}
SIGNED_HEAD = {"note": is_text, "key": is_text}


class LogCheck:
    """Checks a log event by event. Keeps one hash for each stream and each head, and the last roots."""

    def __init__(self, kept, report):
        self.kept, self.report = kept, report
        self.streams, self.keys, self.heads = {}, {}, {}
        self.peaks, self.size, self.position = None, 0, ""
        self.recent = [None]
        # How many of the first events are not about heads, for the sizes of the recent roots; how many a head covers.
        self.others, self.other_count, self.others_covered = [0], 0, 0
        self.log_id = self.header_log_id = self.newest_head = self.newest_key = self.anchor = None
        self.roots_differ = False

    def whole(self, rule, expected, found):
        self.report(rule, None, None, expected, found)

    def about_kept(self, rule, expected, found):
        self.report(rule, "log-head", None, expected, found)

    def summary(self):
        """What holds if nothing was reported."""
        counts = [(self.size, "event"), (len(self.streams), "stream"), (len(self.heads), "head")]
        counts = ", ".join(counted(count, noun) for count, noun in counts)
        lines = [f"ok {counts}: hashes, revisions, heads and signatures hold; root {root_of(self.peaks).hex()}"]
        uncovered = self.other_count - self.others_covered
        if self.size > 0 and not self.heads:
            lines.append(NO_HEADS)
        elif uncovered > 0:
            lines.append(f"WARNING: {counted(uncovered, 'event')} after the newest head: {UNCOVERED}")
        if self.newest_key:
            lines.append(f"the first {counted(self.newest_head[0], 'event')} are signed by {self.newest_key.text}")
            if not self.kept.keys:
                lines.append(TRUSTED)
        if self.anchor:
            lines.append(anchor_line(self.log_id, *self.anchor))
        return "\n".join(lines)

    def header(self, value):
        header = shaped(value, HEADER, "line 1")
        if header["version"] != 1:
            raise Unreadable(f"version {header['version']} of the format is unknown")
        self.header_log_id = header["log_id"]

    def event(self, value, where):
        event = shaped(value, EVENT, where)
        stream, revision, given = event["stream"], event["revision"], event["hash"]

        def breach(rule, expected, found):
            self.report(rule, stream, revision, expected, found)

        last, previous, last_index = self.streams.get(stream, (-1, "", -1))
        if revision != last + 1:
            breach("revisions_contiguous", f"revision {last + 1}", f"revision {revision}")
        link = link_of(previous, event, where)
        # After a gap the hash before it is unknown, and the gap is the breach.
        if link != given and revision == last + 1:
            breach("hash_matches", link, given)
        # In UTF-16 order, as the service compares.
        position = event["position"].encode("utf-16-be", "surrogatepass")
        if not position > self.position.encode("utf-16-be", "surrogatepass"):
            breach("positions_contiguous", f"a position after {self.position}", event["position"])
        index = self.index_of(event, last_index, breach) if revision == last + 1 else None
        self.streams[stream] = (revision, given, index)
        self.position = event["position"]
        if stream == "log-identity" and event["type"] == "LogFounded":
            log_id = event["data"].get("logId")
            if not is_text(log_id) or not UUID.fullmatch(log_id):
                breach("schema_fits", "a UUID as logId", "other data")
            elif self.log_id is None:
                self.log_id = log_id
        if stream == "log-head":
            self.head_event(event["type"], event["data"], breach)
        self.peaks = grown(self.peaks, leaf_of(event))
        self.size += 1
        self.other_count += stream != "log-head"
        if len(self.recent) < WINDOW:
            self.recent.append(self.peaks)
            self.others.append(self.other_count)
        else:
            self.recent[self.size % WINDOW] = self.peaks
            self.others[self.size % WINDOW] = self.other_count
        for kept in self.kept.heads:
            if kept.size == self.size and kept.root != root_of(self.peaks):
                expected = f"root {kept.root.hex()} of {kept.size} events"
                self.about_kept("head_kept_matches", expected, root_of(self.peaks).hex())

    def index_of(self, event, previous, breach):
        """The event's place in its append, which only its id proves: -1 if the next event begins another, None if it is
        not known."""
        command = event["metadata"].get("commandId")
        # Earlier versions did not record it.
        if not is_text(command):
            return -1
        for index in (0, (-1 if previous is None else previous) + 1):
            if id_of(command, event, index) == event["id"]:
                return index
        if previous is not None:
            breach("event_id_recomputable", id_of(command, event, 0), event["id"])
        return None

    def head_event(self, kind, data, breach):
        def fits(shape):
            fit = all(name in data and check(data[name]) for name, check in shape.items())
            if not fit:
                breach("schema_fits", f"a {kind} of the documented form", "other data")
            return fit

        if kind == "LogHeadKeyIntroduced":
            if fits({"masterVersion": is_count, "publicKey": lambda value: bytes_of(value, 32) is not None}):
                self.introduced(data, breach)
        elif kind == "LogHeadRecorded":
            if fits({"size": is_count, "root": is_hash, "masterVersion": is_count, "signature": is_text}):
                self.recorded(data, breach)
        elif kind == "LogHeadAnchored" and fits(
            {"size": is_count, "root": is_hash, "transaction": is_text}
        ):
            root = self.heads.get(data["size"], "no head of this size")
            if root != data["root"]:
                breach("anchor_names_head", root, data["root"])
            else:
                self.anchor = (data["size"], bytes.fromhex(root), data["transaction"])

    def introduced(self, data, breach):
        version = data["masterVersion"]
        key = VerifierKey(self.log_id or "", bytes_of(data["publicKey"], 32))
        known = self.keys.get(version)
        if known and known.key != key.key:
            text = base64.b64encode(known.key).decode("ascii")
            breach("head_key_known", f"one key of version {version}: {text}", data["publicKey"])
        if not self.kept.has(key):
            breach("head_key_kept", "a key given with --key", key.text)
        self.keys[version] = key

    def recorded(self, data, breach):
        size, root, version = data["size"], data["root"], data["masterVersion"]
        newest = self.newest_head[0] if self.newest_head else 0
        if size <= newest:
            breach("head_size_rises", f"more than {newest} events", f"{size} events")
        # Whatever differs at one head differs at each later one.
        expected = root if self.roots_differ else self.root_at(size)
        if expected != root:
            self.roots_differ = True
            breach("head_root_matches", expected, root)
        key, signature = self.keys.get(version), bytes_of(data["signature"], 64)
        if key is None:
            breach("head_key_known", "a key that was introduced before", f"version {version}")
        elif signature is None or not is_signed(size, bytes.fromhex(root), key, signature):
            breach("head_signature_valid", f"a signature by the key of version {version}", data["signature"])
        self.heads[size] = root
        # Of a size that is no longer known the root was reported.
        self.others_covered = self.others[size % WINDOW] if size % WINDOW < len(self.others) else 0
        self.newest_head, self.newest_key = (size, root, data["signature"]), key

    def root_at(self, size):
        if size > self.size:
            return f"at most {self.size} events"
        if self.size - size >= WINDOW:
            return f"a head at most {WINDOW} events old"
        return root_of(self.recent[size % WINDOW]).hex()

    def end(self, value):
        """`value` is the last line; None if there is none."""
        for kept in self.kept.heads:
            if kept.size > self.size:
                self.about_kept("head_kept_matches", f"at least {kept.size} events", f"{self.size} events")
            keys = self.kept.keys or self.keys.values()
            if kept.log_id != self.log_id or not any(kept.is_signed_by(key) for key in keys):
                expected = f"a kept head of log {named(self.log_id)} signed by a known key"
                self.about_kept("head_kept_signed", expected, f"log {kept.log_id}")
        if self.header_log_id != self.log_id:
            self.whole("export_complete", f"log {named(self.log_id)}", f"log {named(self.header_log_id)}")
        if value is None:
            self.whole("export_complete", "a last line with the number of events", "none: the file was cut")
            return
        end = shaped(value, END, "the last line")
        root = root_of(self.peaks).hex()
        if end["events"] != self.size:
            self.whole("export_complete", f"{end['events']} events", f"{self.size} events")
        if end["root"] != root:
            self.whole("export_complete", f"root {end['root']}", f"root {root}")
        note, newest = None, self.newest_head
        same = newest is None
        if end["signed_head"] is not None:
            claimed = shaped(end["signed_head"], SIGNED_HEAD, "signed_head")
            note = Note(claimed["note"], "signed_head")
            key = parse_key(claimed["key"], "the key of signed_head")
            signature = base64.b64encode(note.signature).decode("ascii")
            same = (note.size, note.root.hex(), signature) == newest and note.log_id == self.log_id
            same = same and note.key_hash == key.hash and (self.newest_key is None or self.newest_key.text == key.text)
        if not same:
            expected = f"the newest head, of {newest[0] if newest else 0} events"
            self.whole("export_complete", expected, f"one of {note.size if note else 0} events")


# --- A proof ----------------------------------------------------------------------------------------------------------

PROOF = {
    "format": lambda value: value == "docket-proof",
    "version": lambda value: is_count(value) and value == 1,
    "log_id": lambda value: is_text(value) and UUID.fullmatch(value) is not None,
    "kind": lambda value: value in ("event", "request"),
    "events": lambda value: isinstance(value, list) and len(value) > 0,
    "head": is_object,
    "anchor": or_null(is_object),
}
PROVEN = {**EVENT, "index": is_count, "previous_hash": is_text, "path": is_hashes}
ANCHOR = {
    "size": is_count,
    "root": is_hash,
    "consistency": is_hashes,
    "transaction": is_text,
    "slot": is_count,
    "block_time": or_null(is_text),
}


def nodes_of(hashes):
    return [bytes.fromhex(item) for item in hashes]


def check_proof(value, kept, report):
    """Reports what does not hold, and returns what is proven otherwise."""
    proof = shaped(value, PROOF, "the proof")
    signed_head = shaped(proof["head"], SIGNED_HEAD, "head")
    note = Note(signed_head["note"], "the note of head")
    key = parse_key(signed_head["key"], "the key of head")

    def whole(rule, expected, found):
        report(rule, None, None, expected, found)

    events = [shaped(event, PROVEN, f"event {step}") for step, event in enumerate(proof["events"])]
    if proof["kind"] == "event" and len(events) != 1:
        raise Unreadable("the proof of one event has several")
    check_proven(events, proof["kind"] == "request", note, report)

    if note.log_id != proof["log_id"] or not note.is_signed_by(key):
        expected = f"a head of log {proof['log_id']} signed by the key beside it"
        whole("head_signature_valid", expected, f"a head of log {note.log_id}")
    if not kept.has(key):
        whole("head_key_kept", "a key given with --key", key.text)
    heads, anchor = [(note.size, note.root)], proof["anchor"]
    if anchor is not None:
        shaped(anchor, ANCHOR, "anchor")
        heads.append((anchor["size"], bytes.fromhex(anchor["root"])))
        if not is_beginning(heads[0], heads[1], nodes_of(anchor["consistency"])):
            expected = f"a tree that begins with the head's {note.size} events"
            whole("anchor_consistent", expected, f"root {anchor['root']}")
    for head in kept.heads:
        same = next((root for size, root in heads if size == head.size), None)
        if same is None:
            raise Unreadable(
                f"--head is of {head.size} events and the proof's head of {note.size}: only an exported log relates them"
            )
        if head.log_id != note.log_id or head.root != same:
            report("head_kept_matches", "log-head", None, f"root {head.root.hex()}", f"root {same.hex()}")
    lines = [
        f"ok {counted(len(events), 'event')} of {shown(events[0]['stream'])}: "
        f"in the first {note.size} events of log {note.log_id}",
        f"root {note.root.hex()}, signed by {key.text}",
    ]
    if not kept.keys:
        lines.append(TRUSTED)
    if anchor is not None:
        lines.append(anchor_line(note.log_id, *heads[1], anchor["transaction"]))
    return "\n".join(lines)


def check_proven(events, is_whole, head, report):
    for step, event in enumerate(events):
        stream, revision, previous = event["stream"], event["revision"], event["previous_hash"]

        def breach(rule, expected, found, stream=stream, revision=revision):
            report(rule, stream, revision, expected, found)

        before = events[step - 1] if step > 0 else None
        first = events[0]["stream"]
        if is_whole and (revision != step or stream != first):
            breach("revisions_contiguous", f"{shown(first)} {step}", f"{shown(stream)} {revision}")
        if previous != "" and not is_hash(previous):
            raise Unreadable(f"event {step} has an unusable previous_hash")
        expected = before["hash"] if before else "" if revision == 0 else previous
        link = link_of(expected, event, f"event {step}")
        if previous != expected:
            breach("hash_matches", f"previous hash {expected}", previous)
        elif link != event["hash"]:
            breach("hash_matches", link, event["hash"])
        if before and event["index"] <= before["index"]:
            breach("inclusion_proven", f"an index after {before['index']}", str(event["index"]))
        root = root_by_path(leaf_of(event), event["index"], head.size, nodes_of(event["path"]))
        if root != head.root:
            breach("inclusion_proven", f"root {head.root.hex()}", f"root {root.hex()}" if root else "no path")


# --- Input and output -------------------------------------------------------------------------------------------------


def shown(text):
    """A text from the file, safe for a terminal."""
    return text if re.fullmatch(r"[!-~]{1,200}", text) else json.dumps(text[:200])


def named(log_id):
    return "none" if log_id is None else log_id


def counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 'es' if noun == 'breach' else 's'}"


def lines_of(source):
    """Lines of UTF-8 without their ends."""
    while True:
        line = source.readline(MOST_BYTES + 1)
        if line == b"":
            return
        if len(line) > MOST_BYTES:
            raise Unreadable(f"a line has over {MOST_BYTES} bytes")
        try:
            yield line[:-1].decode("utf-8") if line.endswith(b"\n") else line.decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable("the input is not UTF-8") from None


def is_log_header(line):
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return is_object(value) and value.get("format") == "docket-log"


def check(source, kept, report):
    """Checks a file of either kind and returns what holds if nothing was reported."""
    lines = lines_of(source)
    first = next(lines, None)
    if first is None:
        raise Unreadable("the input is empty")
    if not is_log_header(first):
        texts, length = [first], len(first)
        for line in lines:
            texts.append(line)
            length += len(line) + 1
            if length > MOST_BYTES:
                raise Unreadable("the input is neither an exported log nor a proof")
        return check_proof(parse_json("\n".join(texts), "the proof"), kept, report)
    log = LogCheck(kept, report)
    log.header(parse_json(first, "line 1"))
    end = None
    for number, line in enumerate(lines, 2):
        where = f"line {number}"
        if end is not None:
            raise Unreadable(f"{where} follows the last line")
        value = parse_json(line, where)
        if is_object(value) and "end" in value:
            end = value
        else:
            log.event(value, where)
    log.end(end)
    return log.summary()


def read_note(path):
    with open(path, encoding="utf-8", newline="") as file:
        try:
            # An editor may have changed the ends of lines.
            return Note(file.read().replace("\r\n", "\n").rstrip() + "\n", shown(path))
        except UnicodeDecodeError:
            raise Unreadable(f"{shown(path)} is not a signed head") from None


def check_vectors(folder):
    """Checks the published vectors; returns how many give another result than expected."""
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
        vectors = json.load(file)["vectors"]
    wrong = 0
    for vector in vectors:
        found = []
        try:
            kept = Kept(
                [read_note(os.path.join(folder, vector["head"]))] if "head" in vector else [],
                [parse_key(vector["key"], "key")] if "key" in vector else [],
            )
            with open(os.path.join(folder, vector["file"]), "rb") as file:
                check(file, kept, lambda rule, stream, revision, *_: found.append((rule, stream, revision)))
            code = 1 if found else 0
        except Unreadable:
            code, found = 2, []
        expected = [(breach["rule"], breach["stream"], breach["revision"]) for breach in vector["breaches"]]
        right = (code, found) == (vector["exit"], expected)
        wrong += not right
        print("ok" if right else "WRONG", f"{vector['file']}: {code} {' '.join(rule for rule, *_ in found)}")
    return wrong


USAGE = "usage: verify.py FILE [--head NOTE]... [--key KEY]...   or: verify.py check FOLDER"


def main(arguments):
    if not arguments or arguments[0].startswith("--"):
        raise Unreadable(USAGE)
    file, options = arguments[0], arguments[1:]
    if file == "check":
        return 1 if check_vectors(options[0] if options else "vectors") else 0
    kept = Kept()
    if len(options) % 2 == 1:
        raise Unreadable(USAGE)
    for name, value in zip(options[::2], options[1::2]):
        if name == "--head":
            kept.heads.append(read_note(value))
        elif name == "--key":
            kept.keys.append(parse_key(value, "--key"))
        else:
            raise Unreadable(USAGE)
    breaches = 0

    def report(rule, stream, revision, expected, found):
        nonlocal breaches
        breaches += 1
        place = f"{'-' if stream is None else shown(stream)} {'-' if revision is None else revision}"
        print(f"breach {rule} {place}: expected {shown(expected)}, found {shown(found)}")

    if file == "-":
        result = check(sys.stdin.buffer, kept, report)
    else:
        with open(file, "rb") as source:
            result = check(source, kept, report)
    print(result if breaches == 0 else counted(breaches, "breach"))
    return 0 if breaches == 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        # The reader left; without this, Python reports that once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (Unreadable, OSError) as error:
        print(f"unreadable: {error}", file=sys.stderr)
        sys.exit(2)
