"""Draws a Scene with a list of stages and reads everything back.

One draw is one object of class `Draw`: resources, layout, render pass, pipeline, commands,
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

from spvlink.draw import formats
from spvlink.draw.compare import CLEAR, CLEAR_DEPTH, Result
from spvlink.draw.device import NEEDS, Device, ObjectPool, get_device, new
from spvlink.draw.feedback import FILL, Feedback
from spvlink.draw.reflect import TESS_EVALUATION, CannotDraw, ReadStage, parse
from spvlink.draw.resources import GENERAL, Resources, aligned, aspect, region
from spvlink.draw.rewrite import drawable
from spvlink.draw.scene import (
    STAGE_FLAGS,
    VARIANTS,
    Code,
    ImageData,
    Scene,
    make_scene,
    read_stages,
)
from spvlink.draw.widen import STORAGE_INPUT_OUTPUT_16, widened


def draw(codes: Sequence[Code], scene: Scene | None = None, number: int | None = None) -> Result:
    """Draws the stages with the scene's inputs (by default one made from these very stages), on
    lavapipe or the device of this number.

    Raises CannotDraw, or a vulkan error when the driver refuses the pipeline.
    """
    return _run(get_device(number=number), codes, scene or make_scene(codes))


def _run(device: Device, codes: Sequence[Code], scene: Scene) -> Result:
    stages = read_stages(codes)
    refuse_unoffered(device, stages)
    with ObjectPool(device) as pool:
        return Draw(device, pool, stages, scene).run()


def refuse_unoffered(device: Device, stages: Sequence[ReadStage]) -> None:
    """Raises CannotDraw for a capability that the device lacks: a driver may crash on it."""
    for stage in stages:
        for capability in sorted(stage.module.capabilities & NEEDS.keys()):
            if capability == STORAGE_INPUT_OUTPUT_16:
                continue  # `widen` stands in
            if NEEDS[capability] not in device.offered:
                raise CannotDraw(f"the device does not offer {NEEDS[capability]}")


def draw_covering(
    codes: Sequence[Code], seed: int = 0, samples: int = 1, coverage: float = 0.1,
    number: int | None = None,
) -> tuple[Scene, Result]:  # fmt: skip
    """The first scene variant whose picture covers enough, else the best one (is_good: False)."""
    best: tuple[Scene, Result] | None = None
    for variant in range(VARIANTS):
        scene = make_scene(codes, seed, variant, samples)
        result = draw(codes, scene, number)
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


# (x, y, width, height) as shares of the picture: the first is all of it
_VIEWPORTS = (
    (0.0, 0.0, 1.0, 1.0),
    (0.0, 0.0, 0.5, 1.0),
    (0.5, 0.0, 0.5, 0.5),
    (0.25, 0.5, 0.75, 0.5),
)


class Draw(Resources):
    """All that belongs to one draw. Objects live as long as the pool."""

    def run(self) -> Result:
        self.make_pointees()
        layouts = self.make_descriptors()
        self.make_attachments()
        self.make_render_pass()
        self._make_framebuffer()
        self.make_pipeline(layouts)
        self.feedback: Feedback | None = None
        if self.scene.captures:
            self.feedback = Feedback(self.device, self.pool, self.scene.captures)
        return self._submit()

    # -- attachments -----------------------------------------------------------------------

    def make_attachments(self) -> None:
        """self.attachments: (name, kind, image, view, format, samples); colours first."""
        self.attachments: list[tuple[str, str, Any, Any, int, int]] = []
        scene = self.scene
        for target in scene.targets:
            self.attach(f"color{target.location}", target.kind, scene.samples)
        self.attach("depth", "depth", scene.samples)
        if scene.samples > 1:
            for target in scene.targets:
                self.attach(f"color{target.location}", target.kind, 1)

    def attach(self, name: str, kind: str, samples: int) -> None:
        format_ = formats.D32_SFLOAT if kind == "depth" else formats.TARGETS[kind]
        usage = vk.VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
        if kind == "depth":
            usage = vk.VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
        image = self.pool.image(
            imageType=1,
            format=format_,
            extent=new.VkExtent3D(self.scene.size, self.scene.size, 1),
            mipLevels=1,
            arrayLayers=self.scene.layers,
            samples=samples,
            usage=usage | vk.VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
        )
        layers = self.scene.layers
        view = self.view(image, format_, 5 if layers > 1 else 1, layers)
        self.attachments.append((name, kind, image, view, format_, samples))

    def make_render_pass(self) -> None:
        scene = self.scene
        descriptions = [
            new.VkAttachmentDescription(
                format=format_,
                samples=samples,
                loadOp=vk.VK_ATTACHMENT_LOAD_OP_CLEAR,
                storeOp=vk.VK_ATTACHMENT_STORE_OP_STORE,
                stencilLoadOp=vk.VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                stencilStoreOp=vk.VK_ATTACHMENT_STORE_OP_DONT_CARE,
                finalLayout=GENERAL,
            )
            for _, _, _, _, format_, samples in self.attachments
        ]
        colors = self._references({t.location: i for i, t in enumerate(scene.targets)})
        first = len(scene.targets) + 1
        resolves = self._references({t.location: first + i for i, t in enumerate(scene.targets)})
        inputs = {}
        for index, (_, format_) in sorted(self.inputs.items()):
            inputs[index] = len(descriptions)
            descriptions.append(
                new.VkAttachmentDescription(
                    format=format_, samples=1, initialLayout=GENERAL, finalLayout=GENERAL
                )
            )
        subpass = new.VkSubpassDescription(
            pInputAttachments=self._references(inputs),
            colorAttachmentCount=len(colors),
            pColorAttachments=colors,
            pResolveAttachments=resolves if scene.samples > 1 else None,
            pDepthStencilAttachment=new.VkAttachmentReference(
                attachment=len(scene.targets), layout=GENERAL
            ),
        )
        info = new.VkRenderPassCreateInfo(pAttachments=descriptions, pSubpasses=[subpass])
        self.render_pass = self.pool.make(vk.vkCreateRenderPass, vk.vkDestroyRenderPass, info)
        self.color_count = len(colors)

    def _make_framebuffer(self) -> None:
        scene = self.scene
        views = [view for _, _, _, view, _, _ in self.attachments]
        views += [view for _, (view, _) in sorted(self.inputs.items())]
        self.framebuffer = self.pool.make(
            vk.vkCreateFramebuffer,
            vk.vkDestroyFramebuffer,
            new.VkFramebufferCreateInfo(
                renderPass=self.render_pass,
                pAttachments=views,
                width=scene.size,
                height=scene.size,
                layers=scene.layers,
            ),
        )

    @staticmethod
    def _references(places: dict[int, int]) -> list[Any]:
        unused = vk.VK_ATTACHMENT_UNUSED
        return [
            new.VkAttachmentReference(attachment=places.get(i, unused), layout=GENERAL)
            for i in range(max(places, default=-1) + 1)
        ]

    # -- pipeline --------------------------------------------------------------------------

    def make_pipeline(self, set_layouts: list[Any]) -> None:
        self.pipeline = self.made(self.create_info(set_layouts))

    def create_info(self, set_layouts: list[Any]) -> dict[str, Any]:
        """The fields of a VkGraphicsPipelineCreateInfo."""
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
        fetch: dict[str, Any] = {}
        if self.scene.groups == (0, 0, 0):
            fetch["pVertexInputState"] = self._vertex_input()
            fetch["pInputAssemblyState"] = new.VkPipelineInputAssemblyStateCreateInfo(
                topology=self.scene.topology
            )
        return {
            "pStages": [self._stage(stage) for stage in self.stages],
            **fetch,
            "pTessellationState": tessellation,
            **self._fixed_state(),
            "layout": self.layout,
            "renderPass": self.render_pass,
        }

    def made(self, fields: dict[str, Any]) -> Any:
        """The pipeline."""
        create = new.VkGraphicsPipelineCreateInfo(**fields)
        pipeline = vk.vkCreateGraphicsPipelines(self.device.device, None, 1, [create], None)[0]
        self.pool.on_exit(vk.vkDestroyPipeline, pipeline)
        return pipeline

    def _stage(self, stage: ReadStage) -> Any:
        code, module = stage.code, stage.module
        if STORAGE_INPUT_OUTPUT_16 in module.capabilities:
            if NEEDS[STORAGE_INPUT_OUTPUT_16] not in self.device.offered:
                code = widened(code)
                module = parse(code)
        if self.scene.exact and not self.device.validate:
            code = drawable(code, module)
        self.codes.append(code)  # alive until the module is made
        info = new.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code)
        made = self.pool.make(vk.vkCreateShaderModule, vk.vkDestroyShaderModule, info)
        return new.VkPipelineShaderStageCreateInfo(
            stage=STAGE_FLAGS[stage.model],
            module=made,
            pName=stage.entry,
            pSpecializationInfo=self._specialization(stage.model),
        )

    def _specialization(self, model: int) -> Any:
        values = {id: word for (of, id), word in self.scene.spec.items() if of == model}
        if not values:
            return None
        data = np.array(list(values.values()), "u4").tobytes()
        entries = [
            new.VkSpecializationMapEntry(constantID=id, offset=4 * number, size=4)
            for number, id in enumerate(values)
        ]
        self.codes.append(data)  # alive until the pipeline is made
        return new.VkSpecializationInfo(
            pMapEntries=entries, dataSize=len(data), pData=ffi.from_buffer(data)
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
        viewports = [
            new.VkViewport(x=x * size, y=y * size, width=w * size, height=h * size, maxDepth=1.0)
            for x, y, w, h in _VIEWPORTS[: self.scene.viewports]
        ]
        scissor = new.VkRect2D(extent=new.VkExtent2D(size, size))
        return {
            "pViewportState": new.VkPipelineViewportStateCreateInfo(
                pViewports=viewports, pScissors=[scissor] * len(viewports)
            ),
            "pRasterizationState": new.VkPipelineRasterizationStateCreateInfo(
                depthClampEnable=1,
                rasterizerDiscardEnable=int(self.scene.discard),
                cullMode=0,
                lineWidth=1.0,
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
            if self.structures is not None:
                self.structures.build(command, self._barrier)
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
                newLayout=GENERAL,
                srcQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
                dstQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
                image=image,
                subresourceRange=new.VkImageSubresourceRange(
                    aspectMask=mask,
                    levelCount=vk.VK_REMAINING_MIP_LEVELS,
                    layerCount=vk.VK_REMAINING_ARRAY_LAYERS,
                ),
            )
            for image, mask in self.images
        ]
        every = vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
        vk.vkCmdPipelineBarrier(command, every, every, 0, 0, None, 0, None, len(barriers), barriers)
        total = sum(aligned(len(level)) for _, data in self.uploads for level in data.levels)
        staging, mapped = self.pool.buffer(total, vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT)
        memory, at = np.frombuffer(mapped, np.uint8), 0
        for image, data in self.uploads:
            if data.samples > 1:
                self._clear_multisampled(command, image, data)
                continue
            for level, texels in enumerate(data.levels):
                memory[at : at + len(texels)] = texels
                copy = region(data, level, at)
                vk.vkCmdCopyBufferToImage(command, staging, image, GENERAL, 1, [copy])
                at += aligned(len(texels))
        self._barrier(command)

    @staticmethod
    def _clear_multisampled(command: Any, image: Any, data: ImageData) -> None:
        """Texels of a multisampled image cannot be copied in: one colour has to do."""
        whole = new.VkImageSubresourceRange(
            aspectMask=aspect(data.format), levelCount=1, layerCount=data.layers
        )
        if data.format == formats.D32_SFLOAT:
            value = new.VkClearDepthStencilValue(depth=data.clear[0])
            vk.vkCmdClearDepthStencilImage(command, image, GENERAL, value, 1, [whole])
        else:
            color = new.VkClearColorValue(float32=list(data.clear))
            vk.vkCmdClearColorImage(command, image, GENERAL, color, 1, [whole])

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
        if self.feedback is not None:
            self.feedback.reset(command)
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
        if self.feedback is not None:
            self.feedback.begin(command)
        if scene.groups != (0, 0, 0):
            self.device.function("vkCmdDrawMeshTasksEXT")(command, *scene.groups)
        else:
            vk.vkCmdDraw(command, scene.vertices, scene.instances, 0, 0)
        if self.feedback is not None:
            self.feedback.end(command)
        vk.vkCmdEndRenderPass(command)
        self._barrier(command)

    def _push(self, command: Any) -> None:
        """Ranges of several stages overlap: each part goes to all stages that have it."""
        start = 0
        data = self.with_addresses(self.scene.push).tobytes()
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
        scene = self.scene
        size = scene.size
        for name, kind, image, _, format_, samples in self.attachments:
            if samples > 1:
                continue
            data = ImageData(format_, 1, False, (size, size, 1), scene.layers, 1, [])
            total = scene.layers * size * size * formats.texel_bytes(format_)
            copies.append((name, kind, self._read_image(command, image, data, total)))
        for name, image, data in self.image_readback:
            total = sum(len(level) for level in data.levels)
            copies.append((name, "raw", self._read_image(command, image, data, total)))
        return copies

    def _read_image(self, command: Any, image: Any, data: ImageData, size: int) -> Any:
        buffer, mapped = self.pool.buffer(size, vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT)
        copy = region(data, 0, 0)
        vk.vkCmdCopyImageToBuffer(command, image, GENERAL, buffer, 1, [copy])
        return np.frombuffer(mapped, np.uint8)

    def _collect(self, copies: list[tuple[str, str, NDArray[np.uint8]]]) -> Result:
        result = Result(discarded=self.scene.discard, thin=self.scene.thin)
        size = self.scene.size
        height = size * self.scene.layers  # one layer below the other
        types = {"float": "f4", "int": "i4", "uint": "u4", "depth": "f4"}
        for name, kind, memory in copies:
            if kind == "raw":
                result.buffers[name] = memory.copy()
                continue
            array = memory.view(types[kind]).copy()
            shape = (height, size) if kind == "depth" else (height, size, 4)
            result.images[name] = array.reshape(shape)
        for name, data, memory in self.readback:
            copy = memory.copy()
            for pointer in data.pointers:  # addresses differ from draw to draw
                copy[pointer.offsets[:, None] + np.arange(8)] = 0
            result.buffers[name] = copy
        if self.feedback is not None:
            self._collect_feedback(result, self.feedback.collect())
        result.measure()
        return result

    @staticmethod
    def _collect_feedback(result: Result, buffers: dict[str, NDArray[np.uint8]]) -> None:
        result.buffers.update(buffers)
        result.captured = 0
        for name, data in buffers.items():
            if "primitives" in name:
                result.captured += int(data.view(np.uint64)[0])
            elif "counter" not in name:
                words = np.unique(data.view(np.uint32))
                result.captured_values += int((words != FILL * 0x01010101).sum())
