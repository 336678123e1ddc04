"""The small files of a job's folder."""

from pathlib import Path

from core.jobs.folder import LOG, TAIL_BYTES, log_tail


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path):
    assert log_tail(tmp_path) == []
    (tmp_path / LOG).write_text("".join(f"line {i}\n" for i in range(20_000)), encoding="utf-8")
    assert (tmp_path / LOG).stat().st_size > TAIL_BYTES
    assert log_tail(tmp_path, n_lines=3) == ["line 19997", "line 19998", "line 19999"]
    assert len(log_tail(tmp_path, n_lines=10**6)) < 20_000
    (tmp_path / LOG).write_bytes(b"whole\ncut \xe2\x82")
    assert log_tail(tmp_path) == ["whole", "cut \ufffd"]
