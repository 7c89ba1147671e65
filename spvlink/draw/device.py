"""One Vulkan device per process, and a pool that frees what one draw made.

Without a number the device is Mesa's lavapipe (a CPU device): its results are the same on every
machine. Rasterizer threads are switched off, so that atomics and blending happen in one order and
two draws of the same inputs give the same bits. A number takes the device of that index, as
``vulkaninfo --summary`` counts them.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from typing import Any

import vulkan as vk
from vulkan import ffi
from vulkan._vulkan import lib

from spvlink.draw.reflect import CannotDraw

LAYER = "VK_LAYER_KHRONOS_validation"

# Extensions to enable where offered, with the struct that switches their features on.
EXTENSIONS: dict[str, str | None] = {
    "VK_EXT_mesh_shader": "VkPhysicalDeviceMeshShaderFeaturesEXT",
    "VK_EXT_transform_feedback": "VkPhysicalDeviceTransformFeedbackFeaturesEXT",
    "VK_KHR_fragment_shader_barycentric": "VkPhysicalDeviceFragmentShaderBarycentricFeaturesKHR",
    "VK_EXT_shader_atomic_float": "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT",
    "VK_EXT_shader_image_atomic_int64": "VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT",
    "VK_KHR_shader_clock": "VkPhysicalDeviceShaderClockFeaturesKHR",
    "VK_EXT_fragment_shader_interlock": "VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT",
    "VK_KHR_deferred_host_operations": None,
    "VK_KHR_acceleration_structure": "VkPhysicalDeviceAccelerationStructureFeaturesKHR",
    "VK_KHR_ray_query": "VkPhysicalDeviceRayQueryFeaturesKHR",
    "VK_EXT_shader_stencil_export": None,
    "VK_EXT_post_depth_coverage": None,
    "VK_EXT_shader_viewport_index_layer": None,
    "VK_KHR_workgroup_memory_explicit_layout": (
        "VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR"
    ),
}

# SPIR-V capability: the device extension or the feature that it needs.
NEEDS = {
    4436: "storageInputOutput16",
    4472: "VK_KHR_ray_query",
    5283: "VK_EXT_mesh_shader",
    5284: "VK_KHR_fragment_shader_barycentric",
}


class Structs:
    """The package's struct constructors, with everything made kept alive until `clear`.

    The package ties what a struct points at to the life of that struct; a struct in a list is
    copied into an array and dies, and with it the strings and arrays that the copy points at.
    """

    def __init__(self) -> None:
        self._alive: list[Any] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        constructor = getattr(vk, name)

        def make(*args: Any, **fields: Any) -> Any:
            item = constructor(*args, **fields)
            self._alive.append(item)
            return item

        return make

    def clear(self) -> None:
        self._alive.clear()


new = Structs()


class Device:
    """Instance, device and queue. `messages` collects validation message ids since `clear`."""

    extensions = EXTENSIONS
    # features that are left off: they depend on others which are not enabled here
    without: tuple[str, ...] = ("multiviewMeshShader", "primitiveFragmentShadingRateMeshShader")

    def __init__(self, validate: bool, number: int | None = None) -> None:
        os.environ.setdefault("LP_NUM_THREADS", "0")
        software = sorted(glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json"))
        if software and number is None:  # loading hardware drivers takes time
            os.environ.setdefault("VK_ICD_FILENAMES", software[0])
        self.number = number
        self.messages: list[str] = []
        self.validate = validate
        self.instance = self._make_instance()
        self.physical = self._choose()
        self.offered: set[str] = set()  # extensions, and features of NEEDS
        self.device = self._make_device()
        self.queue = vk.vkGetDeviceQueue(self.device, 0, 0)
        self.commands = vk.vkCreateCommandPool(
            self.device, new.VkCommandPoolCreateInfo(queueFamilyIndex=0), None
        )
        self.memory_types = vk.vkGetPhysicalDeviceMemoryProperties(self.physical)
        self._types: dict[tuple[int, bool], int] = {}

    def _make_instance(self) -> Any:
        version = vk.VK_MAKE_VERSION(1, 3, 0)
        app = new.VkApplicationInfo(pApplicationName="spvlink", apiVersion=version)
        if not self.validate:
            return vk.vkCreateInstance(new.VkInstanceCreateInfo(pApplicationInfo=app), None)
        offered = {layer.layerName for layer in vk.vkEnumerateInstanceLayerProperties()}
        if LAYER not in offered:
            raise CannotDraw(f"{LAYER} is not installed")
        info = new.VkInstanceCreateInfo(
            pApplicationInfo=app,
            ppEnabledLayerNames=[LAYER],
            ppEnabledExtensionNames=["VK_EXT_debug_utils"],
        )
        instance = vk.vkCreateInstance(info, None)
        messenger = new.VkDebugUtilsMessengerCreateInfoEXT(
            messageSeverity=vk.VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT
            | vk.VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
            messageType=vk.VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
            pfnUserCallback=self._message,
        )
        create = vk.vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT")
        self._messenger = create(instance, messenger, None)
        return instance

    def _message(self, severity: int, kind: int, data: Any, user: Any) -> int:
        self.messages.append(ffi.string(data.pMessageIdName).decode("utf-8", "replace"))
        if os.environ.get("RENDER_MESSAGES"):
            print(ffi.string(data.pMessage).decode("utf-8", "replace"))
        return 0

    def _choose(self) -> Any:
        devices = vk.vkEnumeratePhysicalDevices(self.instance)
        if self.number is not None:
            if self.number >= len(devices):
                raise CannotDraw(f"there is no device {self.number}, of {len(devices)}")
            return devices[self.number]
        cpu = vk.VK_PHYSICAL_DEVICE_TYPE_CPU
        for device in devices:
            if vk.vkGetPhysicalDeviceProperties(device).deviceType == cpu:
                return device
        raise CannotDraw("no software Vulkan device (run scripts/setup)")

    def _make_device(self) -> Any:
        properties = vk.vkEnumerateDeviceExtensionProperties(self.physical, None)
        offered = {extension.extensionName for extension in properties}
        structs = [
            "VkPhysicalDeviceVulkan11Features",
            "VkPhysicalDeviceVulkan12Features",
            "VkPhysicalDeviceVulkan13Features",
        ]
        names = []
        for name, struct in self.extensions.items():
            if name in offered:
                names.append(name)
                structs += [struct] if struct else []
        chain, keep = ffi.NULL, []
        for struct in structs:
            item = getattr(new, struct)()
            item.pNext = chain
            keep.append(item)  # a pointer to a struct does not keep it alive
            chain = ffi.cast("void*", ffi.addressof(item))
        features = ffi.new("VkPhysicalDeviceFeatures2*")
        features.sType = vk.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
        features.pNext = chain
        vk.vkGetPhysicalDeviceFeatures2(self.physical, features)
        for item in keep:
            for field in self.without:
                if hasattr(item, field):
                    setattr(item, field, 0)
            for feature in NEEDS.values():
                if getattr(item, feature, 0):
                    self.offered.add(feature)
        self.offered |= offered
        queue = new.VkDeviceQueueCreateInfo(queueFamilyIndex=0, pQueuePriorities=[1.0])
        info = new.VkDeviceCreateInfo(
            pNext=features, pQueueCreateInfos=[queue], ppEnabledExtensionNames=names
        )
        return vk.vkCreateDevice(self.physical, info, None)

    def address(self, buffer: Any) -> int:
        """The device address of a VkBuffer. The package's own wrapper returns its argument."""
        info = ffi.new("VkBufferDeviceAddressInfo*")
        info.sType = vk.VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO
        info.buffer = buffer
        return int(lib.vkGetBufferDeviceAddress(self.device, info))

    def function(self, name: str) -> Any:
        """A device-level extension function, as a C function pointer."""
        pointer = lib.vkGetDeviceProcAddr(self.device, name.encode())
        if pointer == ffi.NULL:
            raise CannotDraw(f"the device does not offer {name}")
        return ffi.cast(f"PFN_{name}", pointer)

    def memory_type(self, bits: int, host: bool) -> int:
        """An allowed memory type, host-visible and coherent if asked for."""
        if (bits, host) not in self._types:
            wanted = 0
            if host:
                wanted = (
                    vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                )
            for i in range(self.memory_types.memoryTypeCount):
                flags = self.memory_types.memoryTypes[i].propertyFlags
                if bits >> i & 1 and flags & wanted == wanted:
                    self._types[bits, host] = i
                    break
            else:
                raise CannotDraw("no suitable memory type")
        return self._types[bits, host]


_devices: dict[tuple[bool, int | None], Device] = {}


def get_device(validate: bool = False, number: int | None = None) -> Device:
    """A device of this process, made once; one with the validation layer is another device."""
    if (validate, number) not in _devices:
        _devices[validate, number] = Device(validate, number)
    return _devices[validate, number]


class ObjectPool:
    """Makes Vulkan objects and destroys them, last made first, when the block ends."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._destroy: list[tuple[Callable[..., None], Any]] = []

    def __enter__(self) -> ObjectPool:
        return self

    def __exit__(self, *_: object) -> None:
        for function, handle in reversed(self._destroy):
            function(self.device.device, handle, None)
        new.clear()

    def make(self, create: Callable[..., Any], destroy: Callable[..., None], info: Any) -> Any:
        handle = create(self.device.device, info, None)
        self.on_exit(destroy, handle)
        return handle

    def on_exit(self, destroy: Callable[..., None], handle: Any) -> None:
        """destroy(device, handle, None) will be called."""
        self._destroy.append((destroy, handle))

    def buffer(self, size: int, usage: int, address: bool = False) -> tuple[Any, Any]:
        """(VkBuffer, a writable mapping of its memory)"""
        device = self.device.device
        info = new.VkBufferCreateInfo(size=size, usage=usage)
        buffer = self.make(vk.vkCreateBuffer, vk.vkDestroyBuffer, info)
        needs = vk.vkGetBufferMemoryRequirements(device, buffer)
        flags = None
        if address:
            flags = new.VkMemoryAllocateFlagsInfo(flags=2)
        allocate = new.VkMemoryAllocateInfo(
            pNext=flags,
            allocationSize=needs.size,
            memoryTypeIndex=self.device.memory_type(needs.memoryTypeBits, True),
        )
        memory = self.make(vk.vkAllocateMemory, vk.vkFreeMemory, allocate)
        vk.vkBindBufferMemory(device, buffer, memory, 0)
        return buffer, vk.vkMapMemory(device, memory, 0, size, 0)

    def image(self, **info: Any) -> Any:
        device = self.device.device
        image = self.make(vk.vkCreateImage, vk.vkDestroyImage, new.VkImageCreateInfo(**info))
        needs = vk.vkGetImageMemoryRequirements(device, image)
        allocate = new.VkMemoryAllocateInfo(
            allocationSize=needs.size,
            memoryTypeIndex=self.device.memory_type(needs.memoryTypeBits, False),
        )
        memory = self.make(vk.vkAllocateMemory, vk.vkFreeMemory, allocate)
        vk.vkBindImageMemory(device, image, memory, 0)
        return image
