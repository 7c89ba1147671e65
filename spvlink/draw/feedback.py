"""Transform feedback of one draw: the buffers captured into, byte counters, primitive counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import vulkan as vk
from numpy.typing import NDArray
from vulkan import ffi

from spvlink.draw.chain import Capture
from spvlink.draw.device import Device, ObjectPool, new

_BUFFER_USAGE, _COUNTER_USAGE = 0x800, 0x1000  # VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_*_BIT_EXT
_STREAM_QUERY = 1000028004  # VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT
_BYTES = 1 << 18  # of each buffer; what does not fit is not captured, and the query says so
FILL = 0xA5  # of every byte that nothing was captured into


class Feedback:
    """Call `reset` before the render pass, `begin` and `end` around the draw, then `collect`."""

    def __init__(self, device: Device, pool: ObjectPool, captures: list[Capture]) -> None:
        self.device = device
        self.captures = captures
        count = max(capture.buffer for capture in captures) + 1
        self.buffers: list[Any] = []
        self.memory: list[NDArray[np.uint8]] = []
        self.counters: list[Any] = []
        self.counts: list[NDArray[np.uint8]] = []
        for _ in range(count):
            buffer, mapped = pool.buffer(_BYTES, _BUFFER_USAGE)
            self.buffers.append(buffer)
            self.memory.append(np.frombuffer(mapped, np.uint8))
            self.memory[-1][:] = FILL
            counter, mapped = pool.buffer(4, _COUNTER_USAGE)
            self.counters.append(counter)
            self.counts.append(np.frombuffer(mapped, np.uint8))
            self.counts[-1][:] = 0
        self.streams = sorted({capture.stream for capture in captures})
        info = new.VkQueryPoolCreateInfo(queryType=_STREAM_QUERY, queryCount=len(self.streams))
        self.queries = pool.make(vk.vkCreateQueryPool, vk.vkDestroyQueryPool, info)

    def reset(self, command: Any) -> None:
        vk.vkCmdResetQueryPool(command, self.queries, 0, len(self.streams))

    def begin(self, command: Any) -> None:
        count = len(self.buffers)
        zeros = ffi.new("uint64_t[]", count)
        sizes = ffi.new("uint64_t[]", [_BYTES] * count)
        bind = self.device.function("vkCmdBindTransformFeedbackBuffersEXT")
        bind(command, 0, count, ffi.new("VkBuffer[]", self.buffers), zeros, sizes)
        query = self.device.function("vkCmdBeginQueryIndexedEXT")
        for number, stream in enumerate(self.streams):
            query(command, self.queries, number, 0, stream)
        start = self.device.function("vkCmdBeginTransformFeedbackEXT")
        start(command, 0, 0, ffi.NULL, ffi.NULL)

    def end(self, command: Any) -> None:
        count = len(self.counters)
        zeros = ffi.new("uint64_t[]", count)
        stop = self.device.function("vkCmdEndTransformFeedbackEXT")
        stop(command, 0, count, ffi.new("VkBuffer[]", self.counters), zeros)
        query = self.device.function("vkCmdEndQueryIndexedEXT")
        for number, stream in enumerate(self.streams):
            query(command, self.queries, number, stream)

    def collect(self) -> dict[str, NDArray[np.uint8]]:
        """Name -> bytes: each captured buffer, its byte counter, and per stream the primitives
        (written, needed) as two 64-bit numbers.
        """
        buffers: dict[str, NDArray[np.uint8]] = {}
        for capture in self.captures:
            buffers[f"feedback{capture.buffer}"] = self.memory[capture.buffer].copy()
            buffers[f"feedback{capture.buffer} counter"] = self.counts[capture.buffer].copy()
        size = 16 * len(self.streams)
        data = np.zeros(size, np.uint8)
        flags = vk.VK_QUERY_RESULT_64_BIT | vk.VK_QUERY_RESULT_WAIT_BIT
        get = self.device.function("vkGetQueryPoolResults")
        memory = ffi.from_buffer(data)
        get(self.device.device, self.queries, 0, len(self.streams), size, memory, 16, flags)
        for number, stream in enumerate(self.streams):
            buffers[f"feedback primitives of stream {stream}"] = data[16 * number :][:16].copy()
        return buffers
