"""The other ways to give a pipeline to Vulkan: inline code, pipeline libraries, shader objects.

    python -m tests.render.forms FORM OUT.npz VERT.spv FRAG.spv [VERT.spv FRAG.spv ...]

draws every pair in one of FORMS with inputs made from the modules, and writes all images and
buffers to OUT.npz as `PAIR/NAME`. The tests of the Vulkan layer run it with and without the layer,
in processes of their own: layers are chosen when a process makes its instance.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import vulkan as vk
from vulkan import ffi

from spvlink.draw import device as device_module
from spvlink.draw.compare import CLEAR, CLEAR_DEPTH, Result
from spvlink.draw.device import Device, ObjectPool, get_device, new
from spvlink.draw.draw import Draw
from spvlink.draw.reflect import ReadStage
from spvlink.draw.resources import GENERAL
from spvlink.draw.rewrite import drawable
from spvlink.draw.scene import STAGE_FLAGS, VARIANTS, make_scene, read_stages

FORMS = ("monolithic", "inline", "library", "libraries", "shader-object", "unlinked-objects")
_LIBRARY = 0x800  # VK_PIPELINE_CREATE_LIBRARY_BIT_KHR
_PARTS = {"vertex-input": 1, "pre-rasterization": 2, "fragment": 4, "output": 8}
_LINK_STAGE = 1  # VK_SHADER_CREATE_LINK_STAGE_BIT_EXT
_SPIRV = 1  # VK_SHADER_CODE_TYPE_SPIRV_EXT
# What the forms need, beside what every draw needs.
device_module.EXTENSIONS.update(
    {
        "VK_KHR_pipeline_library": None,
        "VK_EXT_graphics_pipeline_library": ("VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT"),
        "VK_EXT_shader_object": "VkPhysicalDeviceShaderObjectFeaturesEXT",
    }
)


class FormDraw(Draw):
    """A draw in one of the forms; the monolithic one is that of the base class."""

    form = "monolithic"

    def _stage(self, stage: ReadStage) -> Any:
        if self.form not in ("inline", "library"):
            return super()._stage(stage)
        code = self._code(stage)
        info = new.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code)
        return new.VkPipelineShaderStageCreateInfo(
            pNext=info, stage=STAGE_FLAGS[stage.model], module=None, pName=stage.entry
        )

    def _code(self, stage: ReadStage) -> bytes:
        code = stage.code
        if self.scene.exact and not self.device.validate:
            code = drawable(code, stage.module)
        self.codes.append(code)
        return code

    def make_pipeline(self, set_layouts: list[Any]) -> None:
        if self.form in ("monolithic", "inline"):
            super().make_pipeline(set_layouts)
            return
        self.layout = self._pipeline_layout(set_layouts)
        if self.form.endswith("-object") or self.form.endswith("-objects"):
            self._make_shaders(set_layouts)
        else:
            self._make_libraries()

    def _ranges(self) -> list[Any]:
        return [
            new.VkPushConstantRange(stageFlags=flag, size=size)
            for flag, size in self.scene.push_ranges
        ]

    def _pipeline_layout(self, set_layouts: list[Any]) -> Any:
        info = new.VkPipelineLayoutCreateInfo(
            pSetLayouts=set_layouts, pPushConstantRanges=self._ranges()
        )
        return self.pool.make(vk.vkCreatePipelineLayout, vk.vkDestroyPipelineLayout, info)

    # -- libraries -------------------------------------------------------------------------

    def _make_libraries(self) -> None:
        """One library of all shader stages, or one of each part; then the pipeline of them."""
        both = [["vertex-input"], ["pre-rasterization", "fragment"], ["output"]]
        groups = both if self.form == "library" else [[part] for part in _PARTS]
        made = [self._library(group) for group in groups]
        handles = ffi.new("VkPipeline[]", made)
        # The package's struct wrapper takes no list of pipelines here.
        libraries = ffi.new("VkPipelineLibraryCreateInfoKHR*")
        libraries.sType = vk.VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR
        libraries.libraryCount, libraries.pLibraries = len(made), handles
        self.keep = (handles, libraries)
        self.pipeline = self._create(pNext=libraries, layout=self.layout)

    def _library(self, parts: list[str]) -> Any:
        flags = sum(_PARTS[part] for part in parts)
        library = new.VkGraphicsPipelineLibraryCreateInfoEXT(flags=flags)
        fields: dict[str, Any] = {"pNext": library, "flags": _LIBRARY}
        state = self._fixed_state()
        if "vertex-input" in parts:
            fields["pVertexInputState"] = self._vertex_input()
            fields["pInputAssemblyState"] = new.VkPipelineInputAssemblyStateCreateInfo(
                topology=self.scene.topology
            )
            return self._create(**fields)
        fields["renderPass"] = self.render_pass
        fields["pMultisampleState"] = state["pMultisampleState"]
        if "output" in parts:
            fields["pColorBlendState"] = state["pColorBlendState"]
            return self._create(**fields)
        wanted = []
        if "pre-rasterization" in parts:
            wanted += [s for s in self.stages if STAGE_FLAGS[s.model] != 16]
            fields["pViewportState"] = state["pViewportState"]
            fields["pRasterizationState"] = state["pRasterizationState"]
        if "fragment" in parts:
            wanted += [s for s in self.stages if STAGE_FLAGS[s.model] == 16]
            fields["pDepthStencilState"] = state["pDepthStencilState"]
        fields["pStages"] = [self._stage(stage) for stage in wanted]
        return self._create(**fields, layout=self.layout)

    def _create(self, **fields: Any) -> Any:
        create = new.VkGraphicsPipelineCreateInfo(**fields)
        made = vk.vkCreateGraphicsPipelines(self.device.device, None, 1, [create], None)
        self.pool.on_exit(vk.vkDestroyPipeline, made[0])
        return made[0]

    # -- shader objects --------------------------------------------------------------------

    def _make_shaders(self, set_layouts: list[Any]) -> None:
        flags = _LINK_STAGE if self.form == "shader-object" else 0
        ranges = self._ranges()
        after = [STAGE_FLAGS[stage.model] for stage in self.stages[1:]] + [0]
        infos = ffi.new("VkShaderCreateInfoEXT[]", len(self.stages))
        for info, stage, next_stage in zip(infos, self.stages, after):
            code = self._code(stage)
            info.sType = vk.VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT
            info.flags, info.stage, info.nextStage = flags, STAGE_FLAGS[stage.model], next_stage
            info.codeType, info.codeSize = _SPIRV, len(code)
            info.pCode = self._pointer(ffi.from_buffer(code))
            info.pName = self._pointer(ffi.new("char[]", stage.entry.encode()))
            info.setLayoutCount = len(set_layouts)
            info.pSetLayouts = self._pointer(ffi.new("VkDescriptorSetLayout[]", set_layouts))
            info.pushConstantRangeCount = len(ranges)
            info.pPushConstantRanges = self._pointer(ffi.new("VkPushConstantRange[]", ranges))
        self.shaders = ffi.new("VkShaderEXT[]", len(self.stages))
        handle = self.device.device
        result = self.device.function("vkCreateShadersEXT")(
            handle, len(self.stages), infos, ffi.NULL, self.shaders
        )
        assert result == 0, f"vkCreateShadersEXT gives {result}"
        destroy = self.device.function("vkDestroyShaderEXT")
        for shader in self.shaders:
            self.pool.on_exit(lambda _device, it, _none: destroy(handle, it, ffi.NULL), shader)

    def _pointer(self, data: Any) -> Any:
        self._alive = getattr(self, "_alive", [])
        self._alive.append(data)
        return data

    def _render(self, command: Any) -> None:
        if not self.form.endswith(("-object", "-objects")):
            super()._render(command)
            return
        self._begin_rendering(command)
        self._set_everything(command)
        bound = {STAGE_FLAGS[s.model]: shader for s, shader in zip(self.stages, self.shaders)}
        every = [1, 2, 4, 8, 16]  # what is not used must be bound as nothing
        if "VK_EXT_mesh_shader" in self.device.offered:
            every += [64, 128]
        flags = ffi.cast("VkShaderStageFlagBits*", stages := ffi.new("uint32_t[]", every))
        shaders = ffi.new("VkShaderEXT[]", [bound.get(flag, ffi.NULL) for flag in every])
        self.device.function("vkCmdBindShadersEXT")(command, len(stages), flags, shaders)
        if self.sets:
            sets = [self.sets[number] for number in sorted(self.sets)]
            graphics = vk.VK_PIPELINE_BIND_POINT_GRAPHICS
            vk.vkCmdBindDescriptorSets(command, graphics, self.layout, 0, len(sets), sets, 0, None)
        for number, (_, data) in enumerate(self.scene.attributes.values()):
            buffer, mapped = self.pool.buffer(data.size, vk.VK_BUFFER_USAGE_VERTEX_BUFFER_BIT)
            np.frombuffer(mapped, np.uint8)[:] = data.ravel()
            vk.vkCmdBindVertexBuffers(command, number, 1, [buffer], [0])
        self._push(command)
        vk.vkCmdDraw(command, self.scene.vertices, self.scene.instances, 0, 0)
        vk.vkCmdEndRendering(command)
        self._barrier(command)

    def _begin_rendering(self, command: Any) -> None:
        colors, depth = [], None
        for _, kind, image, view, _, _ in self.attachments:
            if kind == "depth":
                clear = new.VkClearValue(depthStencil=new.VkClearDepthStencilValue(CLEAR_DEPTH))
            else:
                field = {"float": "float32", "int": "int32", "uint": "uint32"}[kind]
                color = new.VkClearColorValue(**{field: [CLEAR[kind]] * 4})
                clear = new.VkClearValue(color=color)
            self._to_general(command, image, kind)
            attachment = new.VkRenderingAttachmentInfo(
                imageView=view,
                imageLayout=GENERAL,
                loadOp=vk.VK_ATTACHMENT_LOAD_OP_CLEAR,
                storeOp=vk.VK_ATTACHMENT_STORE_OP_STORE,
                clearValue=clear,
            )
            if kind == "depth":
                depth = attachment
            else:
                colors.append(attachment)
        size = self.scene.size
        info = new.VkRenderingInfo(
            renderArea=new.VkRect2D(extent=new.VkExtent2D(size, size)),
            layerCount=1,
            pColorAttachments=colors,
            pDepthAttachment=depth,
        )
        vk.vkCmdBeginRendering(command, info)

    def _to_general(self, command: Any, image: Any, kind: str) -> None:
        mask = vk.VK_IMAGE_ASPECT_DEPTH_BIT if kind == "depth" else vk.VK_IMAGE_ASPECT_COLOR_BIT
        barrier = new.VkImageMemoryBarrier(
            dstAccessMask=vk.VK_ACCESS_MEMORY_WRITE_BIT,
            newLayout=GENERAL,
            srcQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
            dstQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
            image=image,
            subresourceRange=new.VkImageSubresourceRange(
                aspectMask=mask, levelCount=1, layerCount=1
            ),
        )
        every = vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
        vk.vkCmdPipelineBarrier(command, every, every, 0, 0, None, 0, None, 1, [barrier])

    def _set_everything(self, command: Any) -> None:
        """Shader objects have no pipeline: commands set all of `_fixed_state`."""
        size, colors = self.scene.size, len(self.scene.targets)

        def set_(name: str, *values: Any) -> None:
            self.device.function(f"vkCmdSet{name}")(command, *values)

        viewport = ffi.new("VkViewport*", {"width": size, "height": size, "maxDepth": 1.0})
        scissor = ffi.new("VkRect2D*", {"extent": {"width": size, "height": size}})
        set_("ViewportWithCount", 1, viewport)
        set_("ScissorWithCount", 1, scissor)
        for name in (
            "RasterizerDiscardEnable", "PrimitiveRestartEnable", "DepthBiasEnable",
            "DepthBoundsTestEnable", "StencilTestEnable", "AlphaToCoverageEnableEXT",
            "AlphaToOneEnableEXT", "LogicOpEnableEXT", "CullMode", "PolygonModeEXT", "FrontFace",
        ):  # fmt: skip
            set_(name, 0)
        for name in ("DepthTestEnable", "DepthWriteEnable", "DepthClampEnableEXT"):
            set_(name, 1)
        set_("DepthCompareOp", vk.VK_COMPARE_OP_ALWAYS)
        set_("PrimitiveTopology", self.scene.topology)
        set_("RasterizationSamplesEXT", self.scene.samples)
        set_("SampleMaskEXT", self.scene.samples, ffi.new("uint32_t*", 0xFFFFFFFF))
        if colors:
            set_("ColorBlendEnableEXT", 0, colors, ffi.new("VkBool32[]", colors))
            set_("ColorWriteMaskEXT", 0, colors, ffi.new("VkFlags[]", [15] * colors))
        self._set_vertex_input(command)

    def _set_vertex_input(self, command: Any) -> None:
        attributes = self.scene.attributes
        bindings = ffi.new("VkVertexInputBindingDescription2EXT[]", max(len(attributes), 1))
        described = ffi.new("VkVertexInputAttributeDescription2EXT[]", max(len(attributes), 1))
        for number, (location, (format_, data)) in enumerate(attributes.items()):
            bindings[number].sType = vk.VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT
            bindings[number].binding, bindings[number].stride = number, data.shape[1]
            bindings[number].divisor = 1
            one = described[number]
            one.sType = vk.VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT
            one.location, one.binding, one.format = location, number, format_
        self.device.function("vkCmdSetVertexInputEXT")(
            command, len(attributes), bindings, len(attributes), described
        )


def draw_form(device: Device, form: str, codes: list[bytes]) -> Result:
    """The first scene variant that covers enough; the draws of all forms choose alike, since they
    draw the same."""
    stages = read_stages(codes)
    result = Result()
    for variant in range(VARIANTS):
        with ObjectPool(device) as pool:
            draw = FormDraw(device, pool, stages, make_scene(codes, variant=variant))
            draw.form = form
            result = draw.run()
        if device.validate or result.is_good():
            break
    return result


def main(words: list[str]) -> int:
    form, out, *paths = words
    assert form in FORMS, f"{form}: there are {', '.join(FORMS)}"
    device = get_device(validate=bool(os.environ.get("RENDER_VALIDATE")))
    device.messages.clear()
    arrays: dict[str, Any] = {}
    for number in range(0, len(paths), 2):
        codes = [Path(path).read_bytes() for path in paths[number : number + 2]]
        result = draw_form(device, form, codes)
        arrays[f"{number // 2}/good"] = np.array(result.is_good())
        for name, array in (*result.images.items(), *result.buffers.items()):
            arrays[f"{number // 2}/{name}"] = array
    arrays["messages"] = np.array(sorted(device.messages))
    np.savez(out, **arrays)
    vk.vkDestroyDevice(device.device, None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
