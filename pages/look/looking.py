"""What the networks make of a picture, cached by the content of both. Loads torch."""

import hashlib

import numpy as np
import streamlit as st

from core.checkpoints.picture_files import PictureNetwork, load_network
from core.inspection import picture_looks as looks
from core.inspection.offsets import Offsets, mean_by_offset
from core.models.patch_network import PatchNetwork
from core.models.picture_networks import ConvNetwork, Network
from core.paths import PICTURE_NETWORKS
from core.pictures.pictures import SIDE
from core.pictures.sample import Sample
from pages.look.data import Key, Picture, Said

MOST = 64  # pictures that something is kept of


def said(key: Key, picture: Picture) -> Said:
    """How likely each class is, by network."""
    return _said(key, picture.tobytes())


def said_when_shifted(key: Key, picture: Picture) -> Said:
    """(shifts, directions, classes), by network."""
    return _said_when_shifted(key, picture.tobytes())


def activations(key: Key, network: str, picture: Picture) -> looks.Activations:
    """Of one of the convolutional networks."""
    return _activations(key, network, picture.tobytes())


def occlusion(key: Key, network: str, picture: Picture, label: int) -> looks.Occlusion:
    """How likely a class still is with a part in black."""
    return _occlusion(key, network, picture.tobytes(), label)


def attention_maps(key: Key, network: str, picture: Picture) -> looks.AttentionMaps:
    """Where the class token looks, of the network of patches."""
    return _attention_maps(key, network, picture.tobytes())


def offsets(key: Key, network: str, sample: Sample) -> Offsets:
    """Mean attention by offset over the shipped digits."""
    content = hashlib.sha256(sample.pictures.tobytes()).hexdigest()
    return _offsets(key, network, content, sample)


@st.cache_resource(max_entries=1, show_spinner="Loading the networks")
def _loaded(key: Key) -> dict[str, PictureNetwork]:
    return {name: load_network(PICTURE_NETWORKS, name) for name, _ in key}


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _said(key: Key, raw: bytes) -> Said:
    networks = {name: found.network for name, found in _loaded(key).items()}
    return {**looks.said_of(networks, _picture(raw))}


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _said_when_shifted(key: Key, raw: bytes) -> Said:
    networks = {name: found.network for name, found in _loaded(key).items()}
    return {name: looks.said_when_shifted(one, _picture(raw)) for name, one in networks.items()}


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _activations(key: Key, network: str, raw: bytes) -> looks.Activations:
    return looks.activations(_convolutional(_network(key, network)), _picture(raw))


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _occlusion(key: Key, network: str, raw: bytes, label: int) -> looks.Occlusion:
    return looks.occlusion(_network(key, network), _picture(raw), label=label)


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _attention_maps(key: Key, network: str, raw: bytes) -> looks.AttentionMaps:
    return looks.attention_maps(_of_patches(_network(key, network)), _picture(raw))


@st.cache_resource(max_entries=2, show_spinner="Averaging attention")
def _offsets(key: Key, network: str, content: str, _sample: Sample) -> Offsets:
    return mean_by_offset(_of_patches(_network(key, network)), _sample.pictures)


def _network(key: Key, name: str) -> Network:
    return _loaded(key)[name].network


def _convolutional(network: Network) -> ConvNetwork:
    if not isinstance(network, ConvNetwork):
        raise ValueError("this network has no convolution")
    return network


def _of_patches(network: Network) -> PatchNetwork:
    if not isinstance(network, PatchNetwork):
        raise ValueError("this network has no attention")
    return network


def _picture(raw: bytes) -> Picture:
    return np.frombuffer(raw, np.uint8).reshape(SIDE, SIDE)
