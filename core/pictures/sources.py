"""The sets of pictures at hand, by name: drawn ones always, files where a folder holds them."""

from core.paths import pictures_folder
from core.pictures.drawn import drawn_digits
from core.pictures.npz_file import ENDING, read_npz
from core.pictures.pictures import Pictures

DRAWN = "drawn"
DIGITS = "digits"  # the file that assets/make_digits.py writes


def sources() -> tuple[str, ...]:
    """Names for `load_pictures`: drawn, digits where they were made, then other files by name."""
    folder = pictures_folder()
    files = [path for path in folder.glob(f"[!.]*{ENDING}") if path.is_file()]
    found = sorted(path.stem for path in files if path.stem.isprintable())
    digits = tuple(name for name in found if name == DIGITS)
    others = tuple(name for name in found if name not in {DRAWN, DIGITS})
    return (DRAWN, *digits, *others)


def load_pictures(name: str) -> Pictures:
    """The set of this name. Raises ValueError in one sentence for an unknown name or a bad file."""
    known = sources()
    if name not in known:
        made = "" if DIGITS in known else "; python assets/make_digits.py makes digits"
        raise ValueError(f"no pictures named {name!r:.60}; at hand: {', '.join(known)}{made}")
    if name == DRAWN:
        return drawn_digits()
    return read_npz(pictures_folder() / f"{name}{ENDING}")
