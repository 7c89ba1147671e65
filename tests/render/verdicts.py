"""What the validation layer says of pipelines: `python -m tests.render.verdicts IN.json OUT.json`.

IN: a list of {"codes": [files], "maintenance4": bool, "topology": VkPrimitiveTopology}; OUT:
{"limits": {...}, "said": [[VUIDs of errors] ...]}, with "the driver" among them if that refused
what the layer let pass. Nothing is drawn, and what the layer refuses the driver does not see.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import vulkan as vk
from vulkan import ffi
from vulkan._vulkan import lib

from spvlink.draw.device import Device, ObjectPool, new
from spvlink.draw.reflect import ReadStage
from spvlink.draw.scene import STAGE_FLAGS

TARGETS = 8
DRIVER = "the driver"
REFUSED = -1000011001  # VK_ERROR_VALIDATION_FAILED_EXT
ERROR = vk.VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT
VUID = re.compile(r"VUID-[A-Za-z0-9]+-[A-Za-z0-9_]+-[A-Za-z0-9]+")
CODE = "pCode-08737"  # spirv-val, which names its rule in the text


class Judge(Device):
    """A device of a layer that refuses what it complains of."""

    def _message(self, severity: int, kind: int, data: Any, user: Any) -> int:
        if severity < ERROR:
            return 0
        name = ffi.string(data.pMessageIdName).decode("utf-8", "replace")
        text = ffi.string(data.pMessage).decode("utf-8", "replace")
        if CODE in name:
            name = next((v for v in VUID.findall(text) if CODE not in v), name)
        self.messages.append(name)
        return 1


class Older(Judge):
    """The same without the feature maintenance4."""

    without = (*Judge.without, "maintenance4")


def limits(device: Device) -> dict[str, int]:
    """The numbers of VkPhysicalDeviceLimits, and of mesh shaders if the device has them."""
    found = vk.vkGetPhysicalDeviceProperties(device.physical).limits
    told = {name: getattr(found, name) for name in dir(found) if name.startswith("max")}
    if "VK_EXT_mesh_shader" in device.offered:
        mesh = ffi.new("VkPhysicalDeviceMeshShaderPropertiesEXT*")
        mesh.sType = vk.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_PROPERTIES_EXT
        top = ffi.new("VkPhysicalDeviceProperties2*")
        top.sType, top.pNext = vk.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, mesh
        lib.vkGetPhysicalDeviceProperties2(device.physical, top)
        told |= {name: getattr(mesh, name) for name in dir(mesh) if name.startswith("max")}
    return {name: value for name, value in told.items() if isinstance(value, int)}


def render_pass(device: Device, pool: ObjectPool) -> Any:
    format_ = vk.VK_FORMAT_R32G32B32A32_SFLOAT
    attachment = new.VkAttachmentDescription(
        format=format_,
        samples=1,
        loadOp=vk.VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        finalLayout=vk.VK_IMAGE_LAYOUT_GENERAL,
    )
    references = [
        new.VkAttachmentReference(attachment=n, layout=vk.VK_IMAGE_LAYOUT_GENERAL)
        for n in range(TARGETS)
    ]
    subpass = new.VkSubpassDescription(colorAttachmentCount=TARGETS, pColorAttachments=references)
    info = new.VkRenderPassCreateInfo(pAttachments=[attachment] * TARGETS, pSubpasses=[subpass])
    return pool.make(vk.vkCreateRenderPass, vk.vkDestroyRenderPass, info)


def said(device: Device, codes: list[bytes], topology: int) -> list[str]:
    """The errors of making this pipeline."""
    device.messages.clear()
    with ObjectPool(device) as pool:
        try:
            make(device, pool, codes, topology)
        except KeyError as error:  # the package knows no such result
            assert error.args == (REFUSED,) and device.messages
        except vk.VkError:  # the driver refuses what the layer let pass
            return [*device.messages, DRIVER]
    return sorted(set(device.messages))


def make(device: Device, pool: ObjectPool, codes: list[bytes], topology: int) -> None:
    stages = [ReadStage(code) for code in codes]
    made = []
    for stage in stages:
        info = new.VkShaderModuleCreateInfo(codeSize=len(stage.code), pCode=stage.code)
        module = pool.make(vk.vkCreateShaderModule, vk.vkDestroyShaderModule, info)
        made.append(
            new.VkPipelineShaderStageCreateInfo(
                stage=STAGE_FLAGS[stage.model], module=module, pName=stage.entry
            )
        )
    layout = pool.make(
        vk.vkCreatePipelineLayout, vk.vkDestroyPipelineLayout, new.VkPipelineLayoutCreateInfo()
    )
    blend = new.VkPipelineColorBlendAttachmentState(colorWriteMask=15)
    whole = new.VkRect2D(extent=new.VkExtent2D(16, 16))
    view = new.VkViewport(width=16.0, height=16.0, maxDepth=1.0)
    info = new.VkGraphicsPipelineCreateInfo(
        pStages=made,
        pVertexInputState=new.VkPipelineVertexInputStateCreateInfo(),
        pInputAssemblyState=new.VkPipelineInputAssemblyStateCreateInfo(topology=topology),
        pTessellationState=new.VkPipelineTessellationStateCreateInfo(patchControlPoints=3),
        pViewportState=new.VkPipelineViewportStateCreateInfo(pViewports=[view], pScissors=[whole]),
        pRasterizationState=new.VkPipelineRasterizationStateCreateInfo(lineWidth=1.0),
        pMultisampleState=new.VkPipelineMultisampleStateCreateInfo(rasterizationSamples=1),
        pColorBlendState=new.VkPipelineColorBlendStateCreateInfo(pAttachments=[blend] * TARGETS),
        layout=layout,
        renderPass=render_pass(device, pool),
    )
    pipeline = vk.vkCreateGraphicsPipelines(device.device, None, 1, [info], None)[0]
    pool.on_exit(vk.vkDestroyPipeline, pipeline)


def main(words: list[str]) -> int:
    rows = json.loads(Path(words[0]).read_text())
    devices = {True: Judge(validate=True), False: Older(validate=True)}
    for device in devices.values():  # the package calls back the last one that was made
        device.messages = devices[True].messages
    answers = []
    for row in rows:
        codes = [Path(file).read_bytes() for file in row["codes"]]
        answers.append(said(devices[row["maintenance4"]], codes, row["topology"]))
    told = {"limits": limits(devices[True]), "said": answers}
    Path(words[1]).write_text(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
