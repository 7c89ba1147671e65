"""Buffers, images, samplers and acceleration structures of one draw, and their descriptors.

All images stay in the GENERAL layout: nothing here is about speed on real hardware.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import vulkan as vk
from numpy.typing import NDArray

from spvlink.draw import acceleration, formats
from spvlink.draw.device import Device, ObjectPool, new
from spvlink.draw.reflect import ReadStage
from spvlink.draw.scene import Binding, BufferData, ImageData, SamplerData, Scene

GENERAL = vk.VK_IMAGE_LAYOUT_GENERAL
_TRANSFER = vk.VK_IMAGE_USAGE_TRANSFER_SRC_BIT | vk.VK_IMAGE_USAGE_TRANSFER_DST_BIT
_ACCELERATION_DESCRIPTOR = 1000150000  # VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR
_WHOLE_SIZE = 2**64 - 1
_ADDRESS = 0x20000  # VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, which the package lacks
_KINDS = {  # kind of binding: (descriptor type, usage of its buffer or image)
    "uniform": (vk.VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, vk.VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT),
    "storage": (vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT),
    "uniform_texel": (
        vk.VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
        vk.VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT,
    ),
    "storage_texel": (
        vk.VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
        vk.VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT,
    ),
    "sampler": (vk.VK_DESCRIPTOR_TYPE_SAMPLER, 0),
    "sampled": (vk.VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, vk.VK_IMAGE_USAGE_SAMPLED_BIT),
    "combined": (vk.VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, vk.VK_IMAGE_USAGE_SAMPLED_BIT),
    "storage_image": (vk.VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, vk.VK_IMAGE_USAGE_STORAGE_BIT),
    "acceleration": (_ACCELERATION_DESCRIPTOR, 0),
    "input_attachment": (
        vk.VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT,
        vk.VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT,
    ),
}


class Resources:
    """What the scene's bindings become; `sets` and `uploads` are for the command buffer."""

    def __init__(
        self, device: Device, pool: ObjectPool, stages: list[ReadStage], scene: Scene
    ) -> None:
        self.device, self.pool, self.stages, self.scene = device, pool, stages, scene
        self.uploads: list[tuple[Any, ImageData]] = []
        self.images: list[tuple[Any, int]] = []  # every image and its aspect
        self.sets: dict[int, Any] = {}
        self.readback: list[tuple[str, Any, NDArray[np.uint8]]] = []
        self.image_readback: list[tuple[str, Any, ImageData]] = []
        self.inputs: dict[int, tuple[Any, int]] = {}  # input attachments: index: (view, format)
        self.addresses: list[int] = []
        self.codes: list[bytes] = []
        self.structures: acceleration.Structures | None = None

    # -- resources -------------------------------------------------------------------------

    def make_pointees(self) -> None:
        """Buffers that are reached through device addresses, then the addresses in them."""
        made = []
        for number, data in enumerate(self.scene.pointees):
            usage = vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | _ADDRESS
            buffer, mapped = self.pool.buffer(len(data.data), usage, address=True)
            self.addresses.append(self.device.address(buffer))
            made.append(np.frombuffer(mapped, np.uint8))
            self.readback.append((f"pointee{number}", data, made[-1]))
        for data, memory in zip(self.scene.pointees, made):
            memory[:] = self.with_addresses(data)

    def with_addresses(self, data: BufferData) -> NDArray[np.uint8]:
        if not data.pointers:
            return data.data
        filled = data.data.copy()
        for pointer in data.pointers:
            address = np.frombuffer(self.addresses[pointer.target].to_bytes(8, "little"), np.uint8)
            filled[pointer.offsets[:, None] + np.arange(8)] = address
        return filled

    def make_layouts(self) -> list[Any]:
        """Set layouts for sets 0 to the highest."""
        bindings = self.scene.bindings
        layouts = []
        for number in range(max((b.set for b in bindings), default=-1) + 1):
            entries = [
                new.VkDescriptorSetLayoutBinding(
                    binding=b.binding,
                    descriptorType=_KINDS[b.kind][0],
                    descriptorCount=b.count,
                    stageFlags=b.stages,
                )
                for b in bindings
                if b.set == number
            ]
            info = new.VkDescriptorSetLayoutCreateInfo(pBindings=entries)
            layouts.append(
                self.pool.make(
                    vk.vkCreateDescriptorSetLayout, vk.vkDestroyDescriptorSetLayout, info
                )
            )
        return layouts

    def make_descriptors(self) -> list[Any]:
        """Fills the sets. Returns their layouts."""
        bindings, layouts = self.scene.bindings, self.make_layouts()
        if not bindings:
            return layouts
        sizes: Counter[int] = Counter()
        for b in bindings:
            sizes[_KINDS[b.kind][0]] += b.count
        pool = self.pool.make(
            vk.vkCreateDescriptorPool,
            vk.vkDestroyDescriptorPool,
            new.VkDescriptorPoolCreateInfo(
                maxSets=len(layouts),
                pPoolSizes=[
                    new.VkDescriptorPoolSize(type=kind, descriptorCount=count)
                    for kind, count in sizes.items()
                ],
            ),
        )
        allocate = new.VkDescriptorSetAllocateInfo(descriptorPool=pool, pSetLayouts=layouts)
        made = vk.vkAllocateDescriptorSets(self.device.device, allocate)
        self.sets = {number: made[number] for number in range(len(layouts))}
        writes = [self._write(binding) for binding in bindings]
        vk.vkUpdateDescriptorSets(self.device.device, len(writes), writes, 0, None)
        return layouts

    def _write(self, binding: Binding) -> Any:
        common = {
            "dstSet": self.sets[binding.set],
            "dstBinding": binding.binding,
            "descriptorCount": binding.count,
            "descriptorType": _KINDS[binding.kind][0],
        }
        if binding.kind in ("uniform", "storage"):
            infos = [
                new.VkDescriptorBufferInfo(buffer=self._buffer(binding, i)[0], range=_WHOLE_SIZE)
                for i in range(binding.count)
            ]
            return new.VkWriteDescriptorSet(pBufferInfo=infos, **common)
        if binding.kind == "acceleration":
            structures = [self._acceleration_structure() for _ in range(binding.count)]
            info = new.VkWriteDescriptorSetAccelerationStructureKHR(
                pAccelerationStructures=structures
            )
            return new.VkWriteDescriptorSet(pNext=info, **common)
        if binding.kind in ("uniform_texel", "storage_texel"):
            views = []
            for i, data in enumerate(binding.buffers):
                info = new.VkBufferViewCreateInfo(
                    buffer=self._buffer(binding, i)[0], format=data.format, range=_WHOLE_SIZE
                )
                views.append(self.pool.make(vk.vkCreateBufferView, vk.vkDestroyBufferView, info))
            return new.VkWriteDescriptorSet(pTexelBufferView=views, **common)
        infos = []
        for i in range(binding.count):
            view = self._image_view(binding, i) if binding.images else None
            sampler = self._sampler(binding.samplers[i]) if binding.samplers else None
            infos.append(
                new.VkDescriptorImageInfo(sampler=sampler, imageView=view, imageLayout=GENERAL)
            )
        return new.VkWriteDescriptorSet(pImageInfo=infos, **common)

    def _acceleration_structure(self) -> Any:
        if self.structures is None:
            self.structures = acceleration.Structures(self.device, self.pool)
        return self.structures.top

    def _buffer(self, binding: Binding, index: int) -> tuple[Any, Any]:
        data = binding.buffers[index]
        buffer, mapped = self.pool.buffer(len(data.data), _KINDS[binding.kind][1])
        memory = np.frombuffer(mapped, np.uint8)
        memory[:] = self.with_addresses(data)
        if binding.kind in ("storage", "storage_texel"):
            name = f"set{binding.set}.binding{binding.binding}[{index}]"
            self.readback.append((name, data, memory))
        return buffer, memory

    def _image_view(self, binding: Binding, index: int) -> Any:
        data = binding.images[index]
        image = self.pool.image(
            flags=vk.VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT if data.dim == 3 else 0,
            imageType={0: 0, 2: 2}.get(data.dim, 1),
            format=data.format,
            extent=new.VkExtent3D(*data.extent),
            mipLevels=len(data.levels),
            arrayLayers=data.layers,
            samples=data.samples,
            usage=_KINDS[binding.kind][1] | _TRANSFER,
        )
        self.images.append((image, aspect(data.format)))
        self.uploads.append((image, data))
        if binding.kind == "storage_image":
            name = f"image set{binding.set}.binding{binding.binding}[{index}]"
            self.image_readback.append((name, image, data))
        kinds = {0: (0, 4), 1: (1, 5), 2: (2, 2), 3: (3, 6)}
        view = self.view(
            image,
            data.format,
            kinds.get(data.dim, (1, 5))[data.arrayed],
            data.layers,
            len(data.levels),
        )
        if binding.kind == "input_attachment":
            self.inputs[binding.input_attachment + index] = (view, data.format)
        return view

    def view(self, image: Any, format_: int, kind: int, layers: int = 1, levels: int = 1) -> Any:
        info = new.VkImageViewCreateInfo(
            image=image,
            viewType=kind,
            format=format_,
            subresourceRange=new.VkImageSubresourceRange(
                aspectMask=aspect(format_), levelCount=levels, layerCount=layers
            ),
        )
        return self.pool.make(vk.vkCreateImageView, vk.vkDestroyImageView, info)

    def _sampler(self, data: SamplerData) -> Any:
        mode = vk.VK_FILTER_LINEAR if data.linear else vk.VK_FILTER_NEAREST
        info = new.VkSamplerCreateInfo(
            magFilter=mode,
            minFilter=mode,
            mipmapMode=int(data.linear),
            addressModeU=vk.VK_SAMPLER_ADDRESS_MODE_REPEAT,
            addressModeV=vk.VK_SAMPLER_ADDRESS_MODE_REPEAT,
            addressModeW=vk.VK_SAMPLER_ADDRESS_MODE_REPEAT,
            compareEnable=int(data.compare),
            compareOp=vk.VK_COMPARE_OP_LESS_OR_EQUAL,
            maxLod=16.0,
        )
        return self.pool.make(vk.vkCreateSampler, vk.vkDestroySampler, info)


def aspect(format_: int) -> int:
    if format_ == formats.D32_SFLOAT:
        return int(vk.VK_IMAGE_ASPECT_DEPTH_BIT)
    return int(vk.VK_IMAGE_ASPECT_COLOR_BIT)


def aligned(size: int) -> int:
    return -(-size // 16) * 16


def region(data: ImageData, level: int, at: int) -> Any:
    extent = [max(side >> level, 1) for side in data.extent]
    return new.VkBufferImageCopy(
        bufferOffset=at,
        imageSubresource=new.VkImageSubresourceLayers(
            aspectMask=aspect(data.format), mipLevel=level, layerCount=data.layers
        ),
        imageExtent=new.VkExtent3D(*extent),
    )
