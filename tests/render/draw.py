"""Draws a Scene with a list of stages and reads everything back.

One draw is one object of class `_Draw`: resources, layout, render pass, pipeline, commands,
read-back, in that order. All images stay in the GENERAL layout; all attachments are 32-bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import vulkan as vk
from numpy.typing import NDArray
from vulkan import ffi

from . import acceleration, formats
from .compare import CLEAR, CLEAR_DEPTH, Result
from .device import NEEDS, Device, Pool, get_device, new
from .reflect import FRAGMENT, TESS_EVALUATION, CannotDraw, Stage
from .rewrite import drawable
from .scene import (
    STAGE_FLAGS,
    VARIANTS,
    Binding,
    BufferData,
    Code,
    ImageData,
    SamplerData,
    Scene,
    make_scene,
    read_stages,
)

_GENERAL = vk.VK_IMAGE_LAYOUT_GENERAL
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


def draw(codes: Sequence[Code], scene: Scene | None = None) -> Result:
    """Draws the stages with the scene's inputs (by default one made from these very stages).

    Raises CannotDraw, or a vulkan error when the driver refuses the pipeline.
    """
    return _run(get_device(), codes, scene or make_scene(codes))


def _run(device: Device, codes: Sequence[Code], scene: Scene) -> Result:
    stages = read_stages(codes)
    for stage in stages:  # a driver may crash on what it does not offer
        for capability in sorted(stage.module.capabilities & NEEDS.keys()):
            if NEEDS[capability] not in device.offered:
                raise CannotDraw(f"the device does not offer {NEEDS[capability]}")
    with Pool(device) as pool:
        return _Draw(device, pool, stages, scene).run()


def draw_covering(
    codes: Sequence[Code], seed: int = 0, samples: int = 1, coverage: float = 0.1
) -> tuple[Scene, Result]:
    """The first scene variant whose picture covers enough, else the best one (is_good: False)."""
    best: tuple[Scene, Result] | None = None
    for variant in range(VARIANTS):
        scene = make_scene(codes, seed, variant, samples)
        result = draw(codes, scene)
        if result.is_good(coverage):
            return scene, result
        if best is None or _merit(result) > _merit(best[1]):
            best = scene, result
    assert best is not None
    return best


def _merit(result: Result) -> tuple[bool, float]:
    return result.distinct > 1, result.coverage


def messages(codes: Sequence[Code], scene: Scene) -> Counter[str]:
    """Ids of the validation layer's warnings and errors for the pipeline and its commands.

    The layer sees the modules as they are, not as `rewrite` makes them; nothing is executed.
    """
    device = get_device(validate=True)
    device.messages.clear()
    _run(device, codes, scene)
    return Counter(device.messages)


class _Draw:
    """All that belongs to one draw. Objects live as long as the pool."""

    def __init__(self, device: Device, pool: Pool, stages: list[Stage], scene: Scene) -> None:
        self.device, self.pool, self.stages, self.scene = device, pool, stages, scene
        self.uploads: list[tuple[Any, ImageData]] = []
        self.images: list[tuple[Any, int]] = []  # every image and its aspect
        self.sets: dict[int, Any] = {}
        self.readback: list[tuple[str, Any, NDArray[np.uint8]]] = []
        self.image_readback: list[tuple[str, Any, ImageData]] = []
        self.inputs: dict[int, tuple[Any, int]] = {}  # input attachments: index: (view, format)
        self.addresses: list[int] = []
        self._codes: list[bytes] = []
        self._structures: acceleration.Structures | None = None

    def run(self) -> Result:
        self._make_pointees()
        layouts = self._make_descriptors()
        self._make_attachments()
        self._make_render_pass()
        self._make_pipeline(layouts)
        return self._submit()

    # -- resources -------------------------------------------------------------------------

    def _make_pointees(self) -> None:
        """Buffers that are reached through device addresses, then the addresses in them."""
        made = []
        for number, data in enumerate(self.scene.pointees):
            usage = vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | _ADDRESS
            buffer, mapped = self.pool.buffer(len(data.data), usage, address=True)
            self.addresses.append(self.device.address(buffer))
            made.append(np.frombuffer(mapped, np.uint8))
            self.readback.append((f"pointee{number}", data, made[-1]))
        for data, memory in zip(self.scene.pointees, made):
            memory[:] = self._with_addresses(data)

    def _with_addresses(self, data: BufferData) -> NDArray[np.uint8]:
        if not data.pointers:
            return data.data
        filled = data.data.copy()
        for pointer in data.pointers:
            address = np.frombuffer(self.addresses[pointer.target].to_bytes(8, "little"), np.uint8)
            filled[pointer.offsets[:, None] + np.arange(8)] = address
        return filled

    def _make_descriptors(self) -> list[Any]:
        """Set layouts for sets 0 to the highest; fills the sets. Returns the layouts."""
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
                new.VkDescriptorBufferInfo(
                    buffer=self._buffer(binding, i)[0], range=_WHOLE_SIZE
                )
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
                views.append(
                    self.pool.make(vk.vkCreateBufferView, vk.vkDestroyBufferView, info)
                )
            return new.VkWriteDescriptorSet(pTexelBufferView=views, **common)
        infos = []
        for i in range(binding.count):
            view = self._image_view(binding, i) if binding.images else None
            sampler = self._sampler(binding.samplers[i]) if binding.samplers else None
            infos.append(
                new.VkDescriptorImageInfo(sampler=sampler, imageView=view, imageLayout=_GENERAL)
            )
        return new.VkWriteDescriptorSet(pImageInfo=infos, **common)

    def _acceleration_structure(self) -> Any:
        if self._structures is None:
            self._structures = acceleration.Structures(self.device, self.pool)
        return self._structures.top

    def _buffer(self, binding: Binding, index: int) -> tuple[Any, Any]:
        data = binding.buffers[index]
        buffer, mapped = self.pool.buffer(len(data.data), _KINDS[binding.kind][1])
        memory = np.frombuffer(mapped, np.uint8)
        memory[:] = self._with_addresses(data)
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
        aspect = _aspect(data.format)
        self.images.append((image, aspect))
        self.uploads.append((image, data))
        if binding.kind == "storage_image":
            name = f"image set{binding.set}.binding{binding.binding}[{index}]"
            self.image_readback.append((name, image, data))
        kinds = {0: (0, 4), 1: (1, 5), 2: (2, 2), 3: (3, 6)}
        view = self._view(
            image, data.format, kinds.get(data.dim, (1, 5))[data.arrayed], data.layers,
            len(data.levels),
        )
        if binding.kind == "input_attachment":
            self.inputs[binding.input_attachment + index] = (view, data.format)
        return view

    def _view(self, image: Any, format_: int, kind: int, layers: int = 1, levels: int = 1) -> Any:
        info = new.VkImageViewCreateInfo(
            image=image,
            viewType=kind,
            format=format_,
            subresourceRange=new.VkImageSubresourceRange(
                aspectMask=_aspect(format_), levelCount=levels, layerCount=layers
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

    # -- attachments -----------------------------------------------------------------------

    def _make_attachments(self) -> None:
        """self.attachments: (name, kind, image, view, format, samples), colours, depth, resolves."""
        self.attachments: list[tuple[str, str, Any, Any, int, int]] = []
        scene = self.scene
        for target in scene.targets:
            self._attach(f"color{target.location}", target.kind, scene.samples)
        self._attach("depth", "depth", scene.samples)
        if scene.samples > 1:
            for target in scene.targets:
                self._attach(f"color{target.location}", target.kind, 1)

    def _attach(self, name: str, kind: str, samples: int) -> None:
        format_ = formats.D32_SFLOAT if kind == "depth" else formats.TARGETS[kind]
        usage = vk.VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
        if kind == "depth":
            usage = vk.VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
        image = self.pool.image(
            imageType=1,
            format=format_,
            extent=new.VkExtent3D(self.scene.size, self.scene.size, 1),
            mipLevels=1,
            arrayLayers=1,
            samples=samples,
            usage=usage | vk.VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
        )
        view = self._view(image, format_, 1)
        self.attachments.append((name, kind, image, view, format_, samples))

    def _make_render_pass(self) -> None:
        scene = self.scene
        descriptions = [
            new.VkAttachmentDescription(
                format=format_,
                samples=samples,
                loadOp=vk.VK_ATTACHMENT_LOAD_OP_CLEAR,
                storeOp=vk.VK_ATTACHMENT_STORE_OP_STORE,
                stencilLoadOp=vk.VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                stencilStoreOp=vk.VK_ATTACHMENT_STORE_OP_DONT_CARE,
                finalLayout=_GENERAL,
            )
            for _, _, _, _, format_, samples in self.attachments
        ]
        views = [view for _, _, _, view, _, _ in self.attachments]
        colors = self._references({t.location: i for i, t in enumerate(scene.targets)})
        first = len(scene.targets) + 1
        resolves = self._references({t.location: first + i for i, t in enumerate(scene.targets)})
        inputs = {}
        for index, (view, format_) in sorted(self.inputs.items()):
            inputs[index] = len(descriptions)
            views.append(view)
            descriptions.append(
                new.VkAttachmentDescription(
                    format=format_, samples=1, initialLayout=_GENERAL, finalLayout=_GENERAL
                )
            )
        subpass = new.VkSubpassDescription(
            pInputAttachments=self._references(inputs),
            colorAttachmentCount=len(colors),
            pColorAttachments=colors,
            pResolveAttachments=resolves if scene.samples > 1 else None,
            pDepthStencilAttachment=new.VkAttachmentReference(
                attachment=len(scene.targets), layout=_GENERAL
            ),
        )
        info = new.VkRenderPassCreateInfo(pAttachments=descriptions, pSubpasses=[subpass])
        self.render_pass = self.pool.make(vk.vkCreateRenderPass, vk.vkDestroyRenderPass, info)
        self.framebuffer = self.pool.make(
            vk.vkCreateFramebuffer,
            vk.vkDestroyFramebuffer,
            new.VkFramebufferCreateInfo(
                renderPass=self.render_pass,
                pAttachments=views,
                width=scene.size,
                height=scene.size,
                layers=1,
            ),
        )
        self.color_count = len(colors)

    @staticmethod
    def _references(places: dict[int, int]) -> list[Any]:
        unused = vk.VK_ATTACHMENT_UNUSED
        return [
            new.VkAttachmentReference(attachment=places.get(i, unused), layout=_GENERAL)
            for i in range(max(places, default=-1) + 1)
        ]

    # -- pipeline --------------------------------------------------------------------------

    def _make_pipeline(self, set_layouts: list[Any]) -> None:
        ranges = [
            new.VkPushConstantRange(stageFlags=flag, size=size)
            for flag, size in self.scene.push_ranges
        ]
        info = new.VkPipelineLayoutCreateInfo(pSetLayouts=set_layouts, pPushConstantRanges=ranges)
        self.layout = self.pool.make(vk.vkCreatePipelineLayout, vk.vkDestroyPipelineLayout, info)
        tessellation = None
        if any(stage.model == TESS_EVALUATION for stage in self.stages):
            tessellation = new.VkPipelineTessellationStateCreateInfo(
                patchControlPoints=self.scene.patch_vertices
            )
        create = new.VkGraphicsPipelineCreateInfo(
            pStages=[self._stage(stage) for stage in self.stages],
            pVertexInputState=self._vertex_input(),
            pInputAssemblyState=new.VkPipelineInputAssemblyStateCreateInfo(
                topology=self.scene.topology
            ),
            pTessellationState=tessellation,
            **self._fixed_state(),
            layout=self.layout,
            renderPass=self.render_pass,
        )
        made = vk.vkCreateGraphicsPipelines(self.device.device, None, 1, [create], None)
        self.pipeline = made[0]
        self.pool.on_exit(vk.vkDestroyPipeline, self.pipeline)

    def _stage(self, stage: Stage) -> Any:
        code = stage.code
        if self.scene.exact and not self.device.validate:
            code = drawable(code, stage.module)
        self._codes.append(code)  # alive until the module is made
        info = new.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code)
        module = self.pool.make(vk.vkCreateShaderModule, vk.vkDestroyShaderModule, info)
        return new.VkPipelineShaderStageCreateInfo(
            stage=STAGE_FLAGS[stage.model], module=module, pName=stage.entry
        )

    def _vertex_input(self) -> Any:
        attributes, bindings = [], []
        for number, (location, (format_, data)) in enumerate(self.scene.attributes.items()):
            attributes.append(
                new.VkVertexInputAttributeDescription(
                    location=location, binding=number, format=format_
                )
            )
            bindings.append(
                new.VkVertexInputBindingDescription(binding=number, stride=data.shape[1])
            )
        return new.VkPipelineVertexInputStateCreateInfo(
            pVertexBindingDescriptions=bindings, pVertexAttributeDescriptions=attributes
        )

    def _fixed_state(self) -> dict[str, Any]:
        size = self.scene.size
        blend = new.VkPipelineColorBlendAttachmentState(colorWriteMask=15)
        if self.scene.dual_source:  # the second source shows only through a blend factor
            blend = new.VkPipelineColorBlendAttachmentState(
                blendEnable=1,
                srcColorBlendFactor=vk.VK_BLEND_FACTOR_SRC1_COLOR,
                dstColorBlendFactor=vk.VK_BLEND_FACTOR_ZERO,
                srcAlphaBlendFactor=vk.VK_BLEND_FACTOR_SRC1_ALPHA,
                dstAlphaBlendFactor=vk.VK_BLEND_FACTOR_ZERO,
                colorWriteMask=15,
            )
        viewport = new.VkViewport(width=size, height=size, maxDepth=1.0)
        scissor = new.VkRect2D(extent=new.VkExtent2D(size, size))
        return {
            "pViewportState": new.VkPipelineViewportStateCreateInfo(
                pViewports=[viewport], pScissors=[scissor]
            ),
            "pRasterizationState": new.VkPipelineRasterizationStateCreateInfo(
                depthClampEnable=1, cullMode=0, lineWidth=1.0
            ),
            "pMultisampleState": new.VkPipelineMultisampleStateCreateInfo(
                rasterizationSamples=self.scene.samples
            ),
            "pDepthStencilState": new.VkPipelineDepthStencilStateCreateInfo(
                depthTestEnable=1, depthWriteEnable=1, depthCompareOp=vk.VK_COMPARE_OP_ALWAYS
            ),
            "pColorBlendState": new.VkPipelineColorBlendStateCreateInfo(
                pAttachments=[blend] * self.color_count
            ),
        }

    # -- commands --------------------------------------------------------------------------

    def _submit(self) -> Result:
        device = self.device.device
        info = new.VkCommandBufferAllocateInfo(
            commandPool=self.device.commands, commandBufferCount=1
        )
        command = vk.vkAllocateCommandBuffers(device, info)[0]
        try:
            vk.vkBeginCommandBuffer(command, new.VkCommandBufferBeginInfo(flags=1))
            if self._structures is not None:
                self._structures.build(command, self._barrier)
            self._upload(command)
            self._render(command)
            copies = self._copy_out(command)
            vk.vkEndCommandBuffer(command)
            if self.device.validate:
                return Result()
            vk.vkQueueSubmit(
                self.device.queue, 1, [new.VkSubmitInfo(pCommandBuffers=[command])], None
            )
            vk.vkQueueWaitIdle(self.device.queue)
        finally:
            vk.vkFreeCommandBuffers(device, self.device.commands, 1, [command])
        return self._collect(copies)

    @staticmethod
    def _barrier(command: Any) -> None:
        """Everything before is visible to everything after."""
        barrier = new.VkMemoryBarrier(
            srcAccessMask=vk.VK_ACCESS_MEMORY_WRITE_BIT,
            dstAccessMask=vk.VK_ACCESS_MEMORY_READ_BIT | vk.VK_ACCESS_MEMORY_WRITE_BIT,
        )
        every = vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
        vk.vkCmdPipelineBarrier(command, every, every, 0, 1, [barrier], 0, None, 0, None)

    def _upload(self, command: Any) -> None:
        if not self.uploads:
            return
        barriers = [
            new.VkImageMemoryBarrier(
                dstAccessMask=vk.VK_ACCESS_MEMORY_WRITE_BIT,
                newLayout=_GENERAL,
                srcQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
                dstQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
                image=image,
                subresourceRange=new.VkImageSubresourceRange(
                    aspectMask=aspect,
                    levelCount=vk.VK_REMAINING_MIP_LEVELS,
                    layerCount=vk.VK_REMAINING_ARRAY_LAYERS,
                ),
            )
            for image, aspect in self.images
        ]
        every = vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
        vk.vkCmdPipelineBarrier(
            command, every, every, 0, 0, None, 0, None, len(barriers), barriers
        )
        total = sum(_aligned(len(level)) for _, data in self.uploads for level in data.levels)
        staging, mapped = self.pool.buffer(total, vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT)
        memory, at = np.frombuffer(mapped, np.uint8), 0
        for image, data in self.uploads:
            if data.samples > 1:
                self._clear_multisampled(command, image, data)
                continue
            for level, texels in enumerate(data.levels):
                memory[at : at + len(texels)] = texels
                region = _region(data, level, at)
                vk.vkCmdCopyBufferToImage(command, staging, image, _GENERAL, 1, [region])
                at += _aligned(len(texels))
        self._barrier(command)

    @staticmethod
    def _clear_multisampled(command: Any, image: Any, data: ImageData) -> None:
        """Texels of a multisampled image cannot be copied in: one colour has to do."""
        whole = new.VkImageSubresourceRange(
            aspectMask=_aspect(data.format), levelCount=1, layerCount=data.layers
        )
        if data.format == formats.D32_SFLOAT:
            value = new.VkClearDepthStencilValue(depth=data.clear[0])
            vk.vkCmdClearDepthStencilImage(command, image, _GENERAL, value, 1, [whole])
        else:
            color = new.VkClearColorValue(float32=list(data.clear))
            vk.vkCmdClearColorImage(command, image, _GENERAL, color, 1, [whole])

    def _render(self, command: Any) -> None:
        scene = self.scene
        clears = []
        for _, kind, _, _, _, _ in self.attachments:
            if kind == "depth":
                depth = new.VkClearDepthStencilValue(depth=CLEAR_DEPTH)
                clears.append(new.VkClearValue(depthStencil=depth))
            else:
                field = {"float": "float32", "int": "int32", "uint": "uint32"}[kind]
                color = new.VkClearColorValue(**{field: [CLEAR[kind]] * 4})
                clears.append(new.VkClearValue(color=color))
        begin = new.VkRenderPassBeginInfo(
            renderPass=self.render_pass,
            framebuffer=self.framebuffer,
            renderArea=new.VkRect2D(extent=new.VkExtent2D(scene.size, scene.size)),
            pClearValues=clears,
        )
        vk.vkCmdBeginRenderPass(command, begin, vk.VK_SUBPASS_CONTENTS_INLINE)
        vk.vkCmdBindPipeline(command, vk.VK_PIPELINE_BIND_POINT_GRAPHICS, self.pipeline)
        if self.sets:
            sets = [self.sets[number] for number in sorted(self.sets)]
            vk.vkCmdBindDescriptorSets(
                command,
                vk.VK_PIPELINE_BIND_POINT_GRAPHICS,
                self.layout,
                0,
                len(sets),
                sets,
                0,
                None,
            )
        for number, (_, data) in enumerate(scene.attributes.values()):
            usage = vk.VK_BUFFER_USAGE_VERTEX_BUFFER_BIT
            buffer, mapped = self.pool.buffer(data.size, usage)
            np.frombuffer(mapped, np.uint8)[:] = data.ravel()
            vk.vkCmdBindVertexBuffers(command, number, 1, [buffer], [0])
        self._push(command)
        vk.vkCmdDraw(command, scene.vertices, scene.instances, 0, 0)
        vk.vkCmdEndRenderPass(command)
        self._barrier(command)

    def _push(self, command: Any) -> None:
        """Ranges of several stages overlap: each part goes to all stages that have it."""
        start = 0
        data = self._with_addresses(self.scene.push).tobytes()
        for end in sorted({size for _, size in self.scene.push_ranges}):
            flags = 0
            for flag, size in self.scene.push_ranges:
                flags |= flag if size > start else 0
            values = ffi.from_buffer(data[start:end])
            vk.vkCmdPushConstants(command, self.layout, flags, start, end - start, values)
            start = end

    def _copy_out(self, command: Any) -> list[tuple[str, str, NDArray[np.uint8]]]:
        """(name, kind, the mapped bytes) of every single-sampled attachment and storage image."""
        copies = []
        size = self.scene.size
        for name, kind, image, _, format_, samples in self.attachments:
            if samples > 1:
                continue
            data = ImageData(format_, 1, False, (size, size, 1), 1, 1, [])
            total = size * size * formats.texel_bytes(format_)
            copies.append((name, kind, self._read_image(command, image, data, total)))
        for name, image, data in self.image_readback:
            total = sum(len(level) for level in data.levels)
            copies.append((name, "raw", self._read_image(command, image, data, total)))
        return copies

    def _read_image(self, command: Any, image: Any, data: ImageData, size: int) -> Any:
        buffer, mapped = self.pool.buffer(size, vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT)
        region = _region(data, 0, 0)
        vk.vkCmdCopyImageToBuffer(command, image, _GENERAL, buffer, 1, [region])
        return np.frombuffer(mapped, np.uint8)

    def _collect(self, copies: list[tuple[str, str, NDArray[np.uint8]]]) -> Result:
        result = Result()
        size = self.scene.size
        types = {"float": "f4", "int": "i4", "uint": "u4", "depth": "f4"}
        for name, kind, memory in copies:
            if kind == "raw":
                result.buffers[name] = memory.copy()
                continue
            array = memory.view(types[kind]).copy()
            shape = (size, size) if kind == "depth" else (size, size, 4)
            result.images[name] = array.reshape(shape)
        for name, data, memory in self.readback:
            copy = memory.copy()
            for pointer in data.pointers:  # addresses differ from draw to draw
                copy[pointer.offsets[:, None] + np.arange(8)] = 0
            result.buffers[name] = copy
        result.measure()
        return result


def _aspect(format_: int) -> int:
    if format_ == formats.D32_SFLOAT:
        return int(vk.VK_IMAGE_ASPECT_DEPTH_BIT)
    return int(vk.VK_IMAGE_ASPECT_COLOR_BIT)


def _aligned(size: int) -> int:
    return -(-size // 16) * 16


def _region(data: ImageData, level: int, at: int) -> Any:
    extent = [max(side >> level, 1) for side in data.extent]
    return new.VkBufferImageCopy(
        bufferOffset=at,
        imageSubresource=new.VkImageSubresourceLayers(
            aspectMask=_aspect(data.format), mipLevel=level, layerCount=data.layers
        ),
        imageExtent=new.VkExtent3D(*extent),
    )


__all__ = ["FRAGMENT", "CannotDraw", "draw", "draw_covering", "messages"]
