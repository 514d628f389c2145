"""A `gymnasium.vector.VectorEnv` that plays its episodes on a `rhythm-vec serve` server.

It needs Python 3.10, gymnasium 1.1 and websockets 15, or later releases.

    from rhythm_vec import RemoteVectorEnv

    envs = RemoteVectorEnv(num_envs=1024, url="http://127.0.0.1:8000")
    observations, infos = envs.reset(seed=100)          # environment i plays seed 100 + i
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

docs/guides/step.md describes the arrays.
"""

from __future__ import annotations

import json
import struct
import threading
import time
import urllib.parse
from contextlib import ExitStack
from typing import Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np
from gymnasium.vector import AutoresetMode
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import ClientConnection, connect

from . import _world
from .batches import to_json
from .checks import check_integer
from .choices import to_seed_range
from .client import DEFAULT_URL, TOKEN_VARIABLE, check_timeout, checked_url, field_error, token_of
from .errors import RequestError, ServerUnavailableError
from .vector_base import MODES, Arrays, Beliefs, ProxyVectorEnv, check_beliefs, to_mode

ALIGNMENT = 8
#: Messages of up to this many bytes are sent without waiting for the server to read. Chosen by hand: a socket buffers more.
_BUFFERED = 2**14
#: The maximum seconds to wait for the server's close frame. Chosen by hand: closing needs no answer.
_CLOSE_S = 10.0
#: Server array names and their names in StepResult, where the two differ.
_NAMES = {"early_means": "first_half_means", "late_means": "second_half_means"}


class RemoteVectorEnv(ProxyVectorEnv):
    """A Gymnasium vector environment whose episodes a server steps in one batch.

    An action is an index of `action_names`. With `beliefs` it is {"action": index, "belief": [social, morning, work]},
    and v2 grades the last belief, v3 the beliefs from the third day on.

    Infos have the `seed` and `episode_number` of each environment's current episode. In the step that ends an
    episode they also have its `final_score`, its eight `components`, `belief_mae`, `early_mean`, `late_mean`,
    `episode_return` and `episode_length`. Each entry has a mask, such as `_seed`, as in Gymnasium. With
    AutoresetMode.SAME_STEP the entries of the finished episode are in `final_info`, with its `seed` and
    `episode_number`, and its last observations are in `final_obs`.

    Args:
        num_envs: the number of environments.
        url, token: as in `rhythm_vec.Client`.
        timeout_s: the maximum seconds that opening the connection and each call may take, sending included. A server that
            answers within them may have been stopped or silent meanwhile.
        autoreset_mode: NEXT_STEP by default, as in Gymnasium.
        beliefs: whether actions have beliefs; "digits" for the flat form.
        profiles: "sampled" (default), "discrete" or a profile's name.
        grader: "v1", "v2" (default) or "v3".
        seed_range: (low, size) of the allowed seeds; every u32 by default.
        observation: {"fields": [...], "one_hot": True, "scale": True, "history": True}, all optional.

    Raises:
        ServerUnavailableError: no server answered.
        RequestError: the server refused the request; the message says why.
        InputError: an invalid argument. StateError: a call that the current state does not allow.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        url: str = DEFAULT_URL,
        token: Optional[str] = None,
        timeout_s: float = 60.0,
        autoreset_mode: Union[AutoresetMode, str] = AutoresetMode.NEXT_STEP,
        beliefs: Beliefs = False,
        profiles: Optional[str] = None,
        grader: Optional[str] = None,
        seed_range: Optional[Tuple[int, int]] = None,
        observation: Optional[Mapping[str, Any]] = None,
    ) -> None:
        mode = to_mode(autoreset_mode)
        num_envs = check_integer("num_envs", num_envs, 1, _world.MAX_ENVS)
        has_beliefs = check_beliefs(beliefs)
        chosen_range = to_seed_range(seed_range)
        requested = {
            "num_envs": num_envs,
            "autoreset": MODES[mode],
            "profiles": profiles,
            "grader": grader,
            "seed_range": seed_range,
            "observation": observation,
        }
        self._socket = VecSocket(url, token, timeout_s)
        try:
            created = self._socket.create({name: value for name, value in requested.items() if value is not None})
        except BaseException:
            self._socket.close()
            raise
        self._set_up(num_envs, mode, has_beliefs, chosen_range)
        self.action_names = tuple(created["action_names"])
        self.world_digest = created["world_digest"]
        self.max_episode_steps = created["max_episode_steps"]
        self._set_spaces(created["observation_low"], created["observation_high"])

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the environment on the server."""
        self._socket.close()

    def _call(self, name: str, options: Mapping[str, Any], arrays: Arrays) -> Arrays:
        result = self._socket.call(name, options, arrays)
        return {_NAMES.get(theirs, theirs): array for theirs, array in result.items()}


def encode_frame(kind: str, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Encodes a message with arrays: little-endian, each array at a multiple of eight bytes."""
    little = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for name, a in arrays.items()}
    specs = [{"name": name, "dtype": a.dtype.name, "shape": a.shape} for name, a in little.items()]
    header = json.dumps({"type": kind, "data": data, "arrays": specs}, default=to_json).encode()
    header += b" " * (-(4 + len(header)) % ALIGNMENT)
    parts = [struct.pack("<I", len(header)), header]
    for array in little.values():
        parts += [array.tobytes(), bytes(-array.nbytes % ALIGNMENT)]
    return b"".join(parts)


def decode_frame(frame: bytes) -> Tuple[str, Arrays]:
    """Decodes a message. Returns its type and copies of its arrays."""
    (length,) = struct.unpack_from("<I", frame)
    offset = 4 + length
    header = json.loads(frame[4:offset])
    arrays: Arrays = {}
    for spec in header["arrays"]:
        dtype = np.dtype(spec["dtype"]).newbyteorder("<")
        count = int(np.prod(spec["shape"], dtype=np.int64))
        values = np.frombuffer(frame, dtype, count, offset).reshape(spec["shape"])
        arrays[spec["name"]] = values.astype(dtype.newbyteorder("="))
        offset += -(-values.nbytes // ALIGNMENT) * ALIGNMENT
    return header["type"], arrays


class VecSocket:
    """The WebSocket of one vector environment. The server sends one answer per message.

    Opening takes at most `timeout_s`, and so does sending a message and receiving its answer. After a request that failed
    or was interrupted the socket is closed: a late answer would count as the answer to the next message.
    """

    def __init__(self, url: str, token: Optional[str], timeout_s: float) -> None:
        self._url = checked_url(url)
        self._timeout_s = check_timeout(timeout_s)
        token = token_of(token)
        self._exit_stack = ExitStack()
        self._connection = self._open({} if token is None else {"Authorization": f"Bearer {token}"})

    def create(self, data: Mapping[str, Any]) -> Dict[str, Any]:
        """Creates the environment. Returns its spaces and names."""
        answer = self._request(json.dumps({"type": "create", "data": data}, default=to_json))
        return self._data_of(answer)

    def call(self, kind: str, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Arrays:
        """Sends a reset or a step. Returns the arrays of its result."""
        answer = self._request(encode_frame(kind, data, arrays))
        if isinstance(answer, str):
            self._data_of(answer)  # raises: a text is an error, since results are binary
        return decode_frame(answer)[1]  # type: ignore[arg-type]

    def close(self) -> None:
        self._exit_stack.close()

    def _open(self, headers: Dict[str, str]) -> ClientConnection:
        parts = urllib.parse.urlsplit(self._url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        try:
            connection = connect(
                f"{scheme}://{parts.netloc}{parts.path}/v1/vec",
                additional_headers=headers,
                compression=None,
                max_size=None,
                open_timeout=self._timeout_s,
                close_timeout=min(self._timeout_s, _CLOSE_S),
                ping_interval=None,  # pings would end the connection to a server that stops for less than `timeout_s`
                proxy=None,
            )
            return self._exit_stack.enter_context(connection)
        except (OSError, InvalidHandshake) as error:
            raise ServerUnavailableError(
                f"Expected a rhythm-vec server at {self._url}, got {type(error).__name__}: {error}. "
                "Start one with `npx rhythm-vec serve`, or pass the url= of a running one, "
                f"and the token= or {TOKEN_VARIABLE} with its token."
            ) from error

    def _request(self, message: Union[str, bytes]) -> Union[str, bytes]:
        connection = self._connection
        deadline = time.monotonic() + self._timeout_s
        # `send` has no time limit of its own: it waits while the server does not read.
        limit = threading.Timer(self._timeout_s, connection.close_socket)
        limit.daemon = True
        try:
            if len(message) > _BUFFERED:
                limit.start()
            connection.send(message)
            return connection.recv(timeout=deadline - time.monotonic())
        except BaseException as error:
            connection.close_socket()
            if not isinstance(error, (OSError, WebSocketException)):
                raise
            late = time.monotonic() >= deadline
            got = f"none within {self._timeout_s:g} s" if late else f"{type(error).__name__}: {error}"
            remedy = "Raise timeout_s, or open" if late else "Open"
            raise ServerUnavailableError(
                f"Expected an answer from {self._url}, got {got}. The episodes are lost. {remedy} another environment."
            ) from error
        finally:
            limit.cancel()

    def _data_of(self, answer: Union[str, bytes]) -> Dict[str, Any]:
        """Returns the data of a text message. Raises RequestError if the message is an error."""
        message = json.loads(answer)
        data: Dict[str, Any] = message["data"]
        if message["type"] == "error":
            errors = "; ".join(field_error(each) for each in data.get("errors", []))
            text = f"{data['message']}: {errors}" if errors and errors != data["message"] else data["message"]
            raise RequestError(data["code"], text)
        return data
