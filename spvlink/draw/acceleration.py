"""Acceleration structures for shaders with ray queries: one of each level, a few fixed triangles.

The package's wrappers do not cover this extension well, so the C interface is called directly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import vulkan as vk
from vulkan import ffi

from spvlink.draw.device import Device, ObjectPool

_STORAGE = 0x100000  # VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR
_BUILD_INPUT = 0x80000  # ..._ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR
_ADDRESS = 0x20000  # VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT
_SCRATCH = 0x20  # VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
_TOP, _BOTTOM = 0, 1  # VkAccelerationStructureTypeKHR
_TRIANGLES, _INSTANCES = 0, 2  # VkGeometryTypeKHR
_TRIANGLE_COUNT = 64
_RGB32_SFLOAT = 106


class Structures:
    """Both levels; `top` is the VkAccelerationStructureKHR to bind, after `build`."""

    def __init__(self, device: Device, pool: ObjectPool) -> None:
        self.device, self.pool = device, pool
        self._keep: list[Any] = []
        corners = np.random.default_rng(7).uniform(-1.0, 1.0, (_TRIANGLE_COUNT * 3, 3))
        vertices = self._input(corners.astype("f4").tobytes())
        self.bottom, self._bottom_build = self._make(_BOTTOM, _TRIANGLE_COUNT, vertices)
        instance = np.zeros(16, np.uint32)
        instance[:12] = np.eye(3, 4, dtype="f4").ravel().view(np.uint32)
        instance[12] = 0xFF << 24  # mask, and index 0
        instance[14:].view(np.uint64)[0] = self._address_of(self.bottom)
        instances = self._input(instance.tobytes())
        self.top, self._top_build = self._make(_TOP, 1, instances)

    def build(self, command: Any, barrier: Callable[[Any], None]) -> None:
        build = self.device.function("vkCmdBuildAccelerationStructuresKHR")
        for info, count in (self._bottom_build, self._top_build):
            ranges = ffi.new("VkAccelerationStructureBuildRangeInfoKHR*")
            ranges.primitiveCount = count
            pointers = ffi.new("VkAccelerationStructureBuildRangeInfoKHR*[1]", [ranges])
            self._keep += [ranges, pointers]
            build(command, 1, info, pointers)
            barrier(command)

    def _input(self, data: bytes) -> int:
        buffer, mapped = self.pool.buffer(len(data), _BUILD_INPUT | _ADDRESS, address=True)
        mapped[:] = data
        return self.device.address(buffer)

    def _address_of(self, structure: Any) -> int:
        info = ffi.new("VkAccelerationStructureDeviceAddressInfoKHR*")
        info.sType = vk.VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR
        info.accelerationStructure = structure
        get = self.device.function("vkGetAccelerationStructureDeviceAddressKHR")
        return int(get(self.device.device, info))

    def _make(self, level: int, count: int, address: int) -> tuple[Any, tuple[Any, int]]:
        """(structure, what `build` needs)"""
        geometry = ffi.new("VkAccelerationStructureGeometryKHR*")
        geometry.sType = vk.VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR
        geometry.flags = 1  # opaque
        if level == _BOTTOM:
            geometry.geometryType = _TRIANGLES
            data = geometry.geometry.triangles
            data.sType = vk.VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR
            data.vertexFormat = _RGB32_SFLOAT
            data.vertexData.deviceAddress = address
            data.vertexStride = 12
            data.maxVertex = count * 3 - 1
            data.indexType = 1000165000  # VK_INDEX_TYPE_NONE_KHR
        else:
            geometry.geometryType = _INSTANCES
            data = geometry.geometry.instances
            data.sType = vk.VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR
            data.data.deviceAddress = address
        info = ffi.new("VkAccelerationStructureBuildGeometryInfoKHR*")
        info.sType = vk.VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR
        info.type = level
        info.geometryCount = 1
        info.pGeometries = geometry
        self._keep += [geometry, info]
        sizes = ffi.new("VkAccelerationStructureBuildSizesInfoKHR*")
        sizes.sType = vk.VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR
        measure = self.device.function("vkGetAccelerationStructureBuildSizesKHR")
        measure(self.device.device, 1, info, ffi.new("uint32_t*", count), sizes)
        structure = self._create(level, sizes.accelerationStructureSize)
        info.dstAccelerationStructure = structure
        size = max(sizes.buildScratchSize, 16)
        scratch, _ = self.pool.buffer(size, _SCRATCH | _ADDRESS, address=True)
        info.scratchData.deviceAddress = self.device.address(scratch)
        return structure, (info, count)

    def _create(self, level: int, size: int) -> Any:
        buffer, _ = self.pool.buffer(size, _STORAGE | _ADDRESS, address=True)
        info = ffi.new("VkAccelerationStructureCreateInfoKHR*")
        info.sType = vk.VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR
        info.buffer, info.size, info.type = buffer, size, level
        made = ffi.new("VkAccelerationStructureKHR*")
        create = self.device.function("vkCreateAccelerationStructureKHR")
        if create(self.device.device, info, ffi.NULL, made):
            raise RuntimeError("vkCreateAccelerationStructureKHR failed")
        destroy = self.device.function("vkDestroyAccelerationStructureKHR")
        self.pool.on_exit(lambda device, handle, _: destroy(device, handle, ffi.NULL), made[0])
        return made[0]
