"""A program that gives settings to a layer: VK_EXT_layer_settings.

    python -m tests.render.settings_program OUT.npz VERT.spv FRAG.spv LAYER NAME=TYPE:VALUE ...

Draws the pair, with an instance that switches LAYER on and gives it the settings; TYPE is bool, int
or string.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import vulkan as vk
from vulkan import ffi

from spvlink.draw import device as device_module
from spvlink.draw.device import Device, new
from tests.render.forms import draw_form

EXTENSION = "VK_EXT_layer_settings"
TYPES = {"bool": 0, "int": 2, "string": 7}  # VkLayerSettingTypeEXT: BOOL32, INT64, STRING


class _Device(Device):
    """One whose instance has layer settings in its pNext."""

    layer = ""
    wanted: list[str] = []  # noqa: RUF012  (set once, before the only device is made)

    def _make_instance(self) -> Any:
        offered = vk.vkEnumerateInstanceExtensionProperties(self.layer)
        assert EXTENSION in {extension.extensionName for extension in offered}
        self.alive = [ffi.new("char[]", self.layer.encode())]
        settings = ffi.new("VkLayerSettingEXT[]", len(self.wanted))
        for setting, words in zip(settings, self.wanted):
            name, _, rest = words.partition("=")
            kind, _, value = rest.partition(":")
            self.alive.append(ffi.new("char[]", name.encode()))
            setting.pLayerName, setting.pSettingName = self.alive[0], self.alive[-1]
            setting.type, setting.valueCount = TYPES[kind], 1
            if kind == "string":
                self.alive.append(ffi.new("char[]", value.encode()))
                values = ffi.new("char*[]", [self.alive[-1]])
            else:
                values = ffi.new("uint32_t*" if kind == "bool" else "int64_t*", int(value))
            self.alive.append(values)
            setting.pValues = values
        create = ffi.new("VkLayerSettingsCreateInfoEXT*")
        create.sType = 1000496000  # VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT
        create.settingCount, create.pSettings = len(self.wanted), settings
        self.alive += [settings, create]
        app = new.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 3, 0))
        info = new.VkInstanceCreateInfo(
            pNext=create,
            pApplicationInfo=app,
            ppEnabledLayerNames=[self.layer],
            ppEnabledExtensionNames=[EXTENSION],
        )
        return vk.vkCreateInstance(info, None)


def main(words: list[str]) -> int:
    out, vert, frag, _Device.layer, *_Device.wanted = words
    device = device_module._devices[False] = _Device(validate=False)
    result = draw_form(device, "monolithic", [Path(path).read_bytes() for path in (vert, frag)])
    np.savez(out, **result.images)
    vk.vkDestroyDevice(device.device, None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
