"""The resumable state: tensors and cursor in one file."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from core.checkpoints.state import load_state, save_state
from core.checkpoints.store import CheckpointError

TENSORS = {
    "model.a": torch.tensor([[1.0, -2.5], [3e-30, 4.0]]),
    "optimizer.0.0.step": torch.tensor(7.0),
}
META = {"cursor": {"step": 7, "pool": 1}, "seconds": 0.1}


def test_tensors_and_cursor_come_back_bit_for_bit(tmp_path: Path):
    save_state(tmp_path / "state", TENSORS, META)
    tensors, meta = load_state(tmp_path / "state")
    assert meta == META
    assert sorted(tensors) == sorted(TENSORS)
    for name, tensor in TENSORS.items():
        assert torch.equal(tensors[name], tensor)


def test_a_tensor_that_is_a_view_or_needs_a_gradient_is_stored(tmp_path: Path):
    whole = torch.arange(6.0).reshape(2, 3).requires_grad_()
    save_state(tmp_path / "state", {"turned": whole.T}, {})
    assert torch.equal(load_state(tmp_path / "state")[0]["turned"], whole.detach().T)


def test_a_file_without_a_cursor_is_no_state(tmp_path: Path):
    save_file(TENSORS, tmp_path / "state")
    with pytest.raises(CheckpointError, match=r"state: not a training state \('meta'\)"):
        load_state(tmp_path / "state")


def test_a_truncated_state_is_refused(tmp_path: Path):
    save_state(tmp_path / "state", TENSORS, META)
    (tmp_path / "state").write_bytes((tmp_path / "state").read_bytes()[:-1])
    with pytest.raises(CheckpointError, match="state: not a whole safetensors file"):
        load_state(tmp_path / "state")


def test_a_failed_save_keeps_the_old_state(tmp_path: Path):
    save_state(tmp_path / "state", TENSORS, META)
    with pytest.raises(TypeError, match="not JSON serializable"):
        save_state(tmp_path / "state", TENSORS, {"cursor": object()})
    shared = {"a": TENSORS["model.a"], "b": TENSORS["model.a"]}
    with pytest.raises(RuntimeError, match="share memory"):
        save_state(tmp_path / "state", shared, META)
    assert load_state(tmp_path / "state")[1] == META
    assert [p.name for p in tmp_path.iterdir()] == ["state"]
