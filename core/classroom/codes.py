"""Codes of a class, its teacher's code, and the token by which a pupil is known.

None of them says who somebody is. Their letters cannot be taken for one another, and without vowels
they spell no word. Of a teacher's code the server keeps a salted hash, of a token a hash.
"""

import hashlib
import hmac
import re
import secrets

LETTERS = "BCDFGHJKMNPRSTWXYZ"  # without vowels, L (1, I), Q (O) and V (U)
N_LETTERS, N_TEACHER, GROUP = 6, 12, 4
ITERATIONS = 20_000  # about 50 bits stand behind it, and a class is gone after days
N_TOKEN_BYTES = 12
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16}")
_CODE = re.compile(f"[{LETTERS}]{{{N_LETTERS}}}")


def new_code() -> str:
    """Six letters that a room reads from a wall: 18⁶, 34 million of them."""
    return "".join(secrets.choice(LETTERS) for _ in range(N_LETTERS))


def new_teacher_code() -> str:
    """Twelve letters in three groups: 18¹², more than 10¹⁵ of them."""
    letters = [secrets.choice(LETTERS) for _ in range(N_TEACHER)]
    groups = [letters[start : start + GROUP] for start in range(0, N_TEACHER, GROUP)]
    return "-".join("".join(group) for group in groups)


def tidy(code: str) -> str:
    """A code as it is compared: small letters, spaces and hyphens are forgiven."""
    return re.sub(r"[\s-]", "", code).upper()


def check_code(code: str) -> str:
    """The tidy code of a class. Raises ValueError for what cannot be one."""
    tidied = tidy(code)
    if _CODE.fullmatch(tidied) is None:
        raise ValueError(
            f"{code[:40]!r} is no code of a class: {N_LETTERS} letters are needed, none of them a "
            "vowel, L, Q or V"
        )
    return tidied


def new_pupil() -> str:
    """A token for somebody's own address."""
    return secrets.token_urlsafe(N_TOKEN_BYTES)


def is_token(text: str) -> bool:
    """Whether a text has the form of a token."""
    return _TOKEN.fullmatch(text) is not None


def hashed_pupil(token: str) -> str:
    """What is kept of a token. Raises ValueError for what is none."""
    if not is_token(token):
        raise ValueError("the address holds no token of a pupil: open the link of the class again")
    return hashlib.sha256(f"pupil {token}".encode()).hexdigest()[:32]


def key_of(teacher_code: str, salt: bytes) -> bytes:
    """What a teacher's code opens: PBKDF2 of it."""
    return hashlib.pbkdf2_hmac("sha256", tidy(teacher_code).encode(), salt, ITERATIONS)


def kept_of(key: bytes) -> bytes:
    """What the server keeps of a key, so that its file opens nothing."""
    return hashlib.sha256(key).digest()


def fits(key: bytes, kept: bytes) -> bool:
    """Whether a key is the one of which that is kept; compared in constant time."""
    return hmac.compare_digest(kept_of(key), kept)
