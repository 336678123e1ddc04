"""Hostile sets and uploads of pictures: bytes, with what has to be said of them.

Run as a program it reads all of them in this process, which then has little memory, and prints a
line of JSON for each.
"""

import io
import json
import resource
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from core.pictures.npz_file import read_npz
from core.pictures.picture_file import read_picture

LIMIT = 2 * 10**9  # numpy and its threads map half of it
Case = tuple[bytes, str]


def arrays(**changed: Any) -> dict[str, Any]:
    """The six of a small whole file, four pictures of two classes a part, some changed."""
    labels = np.array([[0], [1], [0], [1]], np.uint8)
    whole: dict[str, Any] = {}
    for part in ("train", "val", "test"):
        whole[f"{part}_images"] = np.zeros((4, 28, 28), np.uint8)
        whole[f"{part}_labels"] = labels
    return whole | changed


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def said(shape: str, dtype: str = "'|u1'", order: str = "False", data: bytes = b"") -> bytes:
    """An array whose header says what it likes."""
    return headed(f"{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape}, }}\n", data)


def headed(header: str, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def members(**changed: bytes | None) -> dict[str, bytes]:
    whole: dict[str, bytes | None] = {name: npy(array) for name, array in arrays().items()}
    kept = whole | changed
    return {f"{name}.npy": data for name, data in kept.items() if data is not None}


def npz(**changed: Any) -> bytes:
    """A file with other arrays."""
    return packed(members(**{name: npy(array) for name, array in changed.items()}))


def raw(**changed: bytes | None) -> bytes:
    """A file with other bytes as arrays."""
    return packed(members(**changed))


def patched(data: bytes, offset: int, form: str, *values: int) -> bytes:
    """The file with other numbers in it; an offset below 0 counts from the end."""
    start = offset if offset >= 0 else len(data) + offset
    new = struct.pack(form, *values)
    return data[:start] + new + data[start + len(new) :]


def in_directory(field: int, form: str, value: int, data: bytes | None = None) -> bytes:
    """The file with another number in the first entry of its directory."""
    data = data or WHOLE
    return patched(data, data.index(b"PK\1\2") + field, form, value)


def with_long_end() -> bytes:
    """A file whose end is said to stand elsewhere, for sizes of more than 4 GB."""
    locator = b"PK\6\7" + b"\0" * 16
    (n_bytes,) = struct.unpack("<L", WHOLE[-10:-6])
    return patched(WHOLE[:-22] + locator + WHOLE[-22:], -10, "<L", n_bytes + len(locator))


def too_many(n: int = 200_001) -> bytes:
    """A file that claims so many pictures to train on, in every place where it says a size."""
    claimed = said(f"({n}, 28, 28)")
    data = raw(train_images=claimed, train_labels=npy(np.arange(n) % 2))
    return in_directory(24, "<L", len(claimed) + n * 28 * 28, data)


def shape(*sizes: int) -> Any:
    return np.zeros(sizes, np.uint8)


WHOLE = packed(members())
PAST = f"({10**9}, 28, 28)"
NPZ: dict[str, Case] = {
    "nothing": (b"", "no directory of an archive"),
    "text": (b"train_images: all of them\n" * 40, "no directory of an archive"),
    "one array alone": (npy(shape(4, 28, 28)), "no directory of an archive"),
    "cut off": (WHOLE[:-400], "no directory of an archive"),
    "only its end": (WHOLE[-22:], "not where it says"),
    "its beginning is missing": (WHOLE[500:], "not where it says"),
    "something behind it": (WHOLE + b"\0" * 4, "no directory of an archive"),
    "65,535 members claimed": (patched(WHOLE, -12, "<H", 65_535), "claims 65,535 members"),
    "a directory of 4 GB claimed": (patched(WHOLE, -10, "<L", 2**32 - 1), "claims 6 members in"),
    "a directory elsewhere": (patched(WHOLE, -6, "<L", 10**9), "not where it says"),
    "many members": (
        packed(members() | {f"{n}.npy": b"" for n in range(60)}),
        "claims 66 members",
    ),
    "the long form of an end": (with_long_end(), "zip64"),
    "a size of 4 GB claimed": (in_directory(24, "<L", 2**32 - 1), "train_images"),
    "a size claimed too small": (in_directory(24, "<L", 500), "not a whole"),
    "a size claimed too large": (in_directory(24, "<L", 5_000), "claims the shape"),
    "encrypted": (in_directory(8, "<H", 1), "is encrypted"),
    "packed by nobody knows what": (in_directory(10, "<H", 99), "is encrypted or packed"),
    "packed by lzma": (packed(members(), zipfile.ZIP_LZMA), "packed in a way"),
    "a member beyond the file": (in_directory(42, "<L", 2**31), "not a whole"),
    "another check sum": (in_directory(16, "<L", 7), "not a whole"),
    "broken numbers": (patched(WHOLE, 60, "<8B", *range(8)), "not a whole"),
    "a part is missing": (raw(val_images=None), "val_images is missing"),
    "labels are missing": (raw(test_labels=None), "test_labels is missing"),
    "no ending in the names": (
        packed({name.removesuffix(".npy"): data for name, data in members().items()}),
        "train_images is missing",
    ),
    "pickled labels": (npz(train_labels=np.array([{}, 1, 2, 3], object)), "'|O'"),
    "a pickle of its own": (raw(train_labels=b"\x80\4cos\nsystem\n"), "no array of numpy"),
    "an empty member": (raw(train_images=b""), "no array of numpy"),
    "another version": (raw(train_images=b"\x93NUMPY\7\0\x10\0" + b" " * 16), "no array of numpy"),
    "a long header": (raw(train_images=headed(" " * 5_000)), "with a short header"),
    "code as a header": (raw(train_images=headed("__import__('os').abort()")), "has a header that"),
    "brackets as a header": (raw(train_images=headed("(" * 1_000)), "has a header that"),
    "a billion pictures claimed": (raw(train_images=said(PAST)), "claims the shape"),
    "a size of many digits": (raw(train_images=said(f"(1{'0' * 70},)")), "claims the shape"),
    "negative sizes": (raw(train_images=said("(-4, 28, 28)")), "has a header that"),
    "numbers with parts": (npz(train_images=np.zeros((4, 28, 28))), "'<f8'; whole numbers"),
    "texts": (npz(train_labels=np.array(["a", "b", "c", "d"])), "'<U1'"),
    "records": (
        raw(train_labels=said("(4,)", "[('a', '|u1')]", data=b"\0" * 4)),
        "has a header that",
    ),
    "pictures of 16 bits": (npz(train_images=np.zeros((4, 28, 28), np.uint16)), "uint8 is needed"),
    "colour": (npz(train_images=shape(4, 28, 28, 3)), "in colour; grey"),
    "larger pictures": (npz(val_images=shape(4, 64, 64)), "(4, 64, 64); (n, 28, 28)"),
    "pictures in a row": (npz(val_images=shape(4, 784)), "(4, 784); (n, 28, 28)"),
    "no axis": (npz(val_images=shape()), "(); (n, 28, 28)"),
    "no picture": (npz(test_images=shape(0, 28, 28), test_labels=shape(0, 1)), "test has 0"),
    "too few labels": (npz(test_labels=shape(3, 1)), "4 pictures and labels of the shape (3, 1)"),
    "several labels a picture": (npz(train_labels=shape(4, 14)), "of the shape (4, 14)"),
    "a negative label": (npz(train_labels=np.array([0, 1, -1, 0])), "run from -1 to 1"),
    "a label of 2 to the 60": (npz(train_labels=np.array([0, 1, 2**60, 0])), "run from 0 to 1152"),
    "21 classes": (npz(val_labels=np.array([0, 1, 20, 0])), "at most 20"),
    "one class": (
        npz(**{f"{part}_labels": shape(4, 1) for part in ("train", "val", "test")}),
        "at least 2 classes",
    ),
    "a class that is never trained": (npz(test_labels=np.array([0, 1, 2, 0])), "class 2"),
    "more pictures than are read": (too_many(), "200,009 pictures; at most 200,000"),
    "fewer pictures than are claimed": (too_many(200_000 - 8), "not a whole"),
}


def with_doubled(data: bytes) -> bytes:
    """A file that holds one member twice under the same name."""
    file = io.BytesIO(data)
    with zipfile.ZipFile(file, "a") as archive:
        info = zipfile.ZipInfo("test_images.nqy")
        archive.writestr(info, npy(shape(4, 28, 28)))
    return file.getvalue().replace(b"test_images.nqy", b"test_images.npy")


NPZ["a member twice"] = (with_doubled(WHOLE), "have the same name")


def image(form: str, size: tuple[int, int] = (64, 64), mode: str = "L", **options: Any) -> bytes:
    """A square on a plain ground, as a file."""
    picture = Image.new(mode, size, 0)
    if min(size) > 8:
        picture.paste(Image.new(mode, (size[0] // 3, size[1] // 3), 255), (8, 8))
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))


def png(width: int, height: int, *chunks: bytes, depth: int = 8, colour: int = 0) -> bytes:
    head = struct.pack(">LLBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunks) + chunk(b"IEND", b"")


def jpeg_claiming(width: int, height: int) -> bytes:
    return patched(JPEG, JPEG.index(b"\xff\xc0") + 5, ">HH", height, width)


def scanned(n: int) -> bytes:
    """A progressive JPEG that goes over its picture again and again."""
    data = image("JPEG", (400, 400), progressive=True)
    last = data.rindex(b"\xff\xda")
    return data[:last] + data[last:-2] * n + b"\xff\xd9"


PNG, JPEG, GIF, BMP = (image(form) for form in ("PNG", "JPEG", "GIF", "BMP"))
BLACK = chunk(b"IDAT", zlib.compress(b"\0" * 65 * 64))
NONE, LARGE, BLANK = "not a whole picture", "points; at most", "nothing stands out"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'
UPLOADS: dict[str, Case] = {
    "nothing": (b"", NONE),
    "text": (b"a seven, as I write it\n" * 9, NONE),
    "zeros": (bytes(5_000), NONE),
    "too many bytes": (PNG + bytes(8_000_000), "bytes; at most 8,000,000"),
    "SVG that asks for a file": (SVG, NONE),
    "PDF": (b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF", NONE),
    "PostScript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", NONE),
    "TIFF": (image("TIFF"), NONE),
    "WEBP": (image("WEBP", mode="RGB"), NONE),
    "PPM": (image("PPM"), NONE),
    "ICO": (image("ICO"), NONE),
    "TGA": (image("TGA"), NONE),
    "an archive": (WHOLE, NONE),
    "a page of HTML": (b"<html><script>alert(1)</script></html>", NONE),
    "PNG's first bytes": (PNG[:8], NONE),
    "PNG cut in its header": (PNG[:20], NONE),
    "PNG cut in its points": (PNG[: len(PNG) // 2], NONE),
    "PNG without points": (png(64, 64), NONE),
    "PNG of broken points": (png(64, 64, chunk(b"IDAT", b"\x78\x9c" + bytes(90))), NONE),
    "PNG with a wrong check sum": (patched(PNG, 29, ">L", 7), NONE),
    "PNG of 0 x 0": (png(0, 0, BLACK), NONE),
    "PNG of 2 to the 31 a side": (png(2**31 - 1, 2**31 - 1, BLACK), NONE),
    "PNG of 30,000 x 30,000": (png(30_000, 30_000, BLACK), NONE),
    "PNG of 9,000 x 9,000": (png(9_000, 9_000, BLACK), LARGE),
    "PNG of 11,000 x 100": (png(11_000, 100, BLACK), LARGE),
    "PNG of a depth of 5": (png(64, 64, BLACK, depth=5), NONE),
    "PNG of a colour of 9": (png(64, 64, BLACK, colour=9), NONE),
    "PNG with a text that swells": (
        png(64, 64, chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(90_000_000))), BLACK),
        NONE,
    ),
    "PNG that is black": (png(64, 64, BLACK), BLANK),
    "JPEG's first bytes": (JPEG[:3], NONE),
    "JPEG cut in its points": (JPEG[: len(JPEG) // 2], NONE),
    "JPEG of 65,000 x 65,000": (jpeg_claiming(65_000, 65_000), NONE),
    "JPEG of 8,000 x 8,000": (jpeg_claiming(8_000, 8_000), LARGE),
    "JPEG of 0 x 64": (jpeg_claiming(0, 64), NONE),
    "JPEG of endless scans": (scanned(200), "goes over its picture more than 64 times"),
    "JPEG that is grey": (image("JPEG", (8, 8)), BLANK),
    "GIF's first bytes": (GIF[:6], NONE),
    "GIF cut in its points": (GIF[: len(GIF) // 2], NONE),
    "GIF of 65,535 x 65,535": (patched(GIF, 6, "<HH", 65_535, 65_535), NONE),
    "GIF of 8,000 x 8,000": (patched(GIF, 6, "<HH", 8_000, 8_000), LARGE),
    "GIF without a frame": (GIF[:13] + b";", NONE),
    "BMP's first bytes": (BMP[:10], NONE),
    "BMP cut in its points": (BMP[: len(BMP) // 2], NONE),
    "BMP of 9,000 x 9,000": (patched(BMP, 18, "<ll", 9_000, 9_000), LARGE),
    "BMP of a negative width": (patched(BMP, 18, "<ll", -64, 64), NONE),
    "BMP with a header of 4 GB": (patched(BMP, 14, "<L", 2**32 - 1), NONE),
    "one point": (image("PNG", (1, 1)), BLANK),
    "all white": (image("BMP", (5, 5)).replace(b"\0\0\0\0\0", b"\xff" * 5), NONE),
}


def _outcome(read: Callable[[], object]) -> dict[str, str]:
    try:
        read()
    except BaseException as error:  # noqa: BLE001 - which of them it is, is asked
        return {"kind": type(error).__name__, "said": str(error)}
    return {"kind": "read", "said": ""}


def main(folder: Path) -> None:
    """Read all cases; {of: npz or upload, name, kind of the error, what it says} a line."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    for name, (data, _) in NPZ.items():
        path = folder / "set.npz"
        path.write_bytes(data)
        outcome = _outcome(lambda path=path: read_npz(path))
        print(json.dumps({"of": "npz", "name": name, **outcome}), flush=True)
    for name, (data, _) in UPLOADS.items():
        outcome = _outcome(lambda data=data: read_picture(data))
        print(json.dumps({"of": "upload", "name": name, **outcome}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
