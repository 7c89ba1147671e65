/* What a test program does in place of the loader and of an application: a layer over a driver of
 * its own, and modules from files. Each program includes it once. */
#pragma once

#include "layer.h"

#include <stdio.h>
#include <string.h>

VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *versions);
static VkNegotiateLayerInterface layer = {LAYER_NEGOTIATE_INTERFACE_STRUCT, NULL, 2, 0, 0, 0};
static VkDevice device; /* whose functions CALL means */

#define CALL(name) ((PFN_##name)(void *)layer.pfnGetDeviceProcAddr(device, #name))

struct entry { const char *name; void *function; };

/* One of the entries, the last of which has no name. */
static PFN_vkVoidFunction named(const struct entry *entries, const char *name) {
    for (; entries->name != NULL; entries++)
        if (strcmp(entries->name, name) == 0)
            return (PFN_vkVoidFunction)entries->function;
    return NULL;
}

static VkInstance open_instance(PFN_vkVoidFunction (*driver)(void *, const char *)) {
    vkNegotiateLoaderLayerInterfaceVersion(&layer);
    VkLayerInstanceLink below = {NULL, (PFN_vkGetInstanceProcAddr)(void *)driver, NULL};
    VkLayerInstanceCreateInfo link = {VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO, NULL,
                                      VK_LAYER_LINK_INFO, {&below}};
    VkInstanceCreateInfo info = {.sType = 1, .pNext = &link};
    VkInstance instance;
    ((PFN_vkCreateInstance)(void *)layer.pfnGetInstanceProcAddr(NULL, "vkCreateInstance"))(
        &info, NULL, &instance);
    return instance;
}

static VkDevice open_device(VkInstance instance, PFN_vkVoidFunction (*driver)(void *, const char *)) {
    VkLayerDeviceLink below = {NULL, (PFN_vkGetInstanceProcAddr)(void *)driver,
                               (PFN_vkGetDeviceProcAddr)(void *)driver};
    VkLayerDeviceCreateInfo link = {VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, NULL,
                                    VK_LAYER_LINK_INFO, {&below}};
    VkDeviceCreateInfo info = {.sType = 3, .pNext = &link};
    VkDevice made;
    ((PFN_vkCreateDevice)(void *)layer.pfnGetInstanceProcAddr(instance, "vkCreateDevice"))(
        (VkPhysicalDevice)instance, &info, NULL, &made);
    return made;
}

static void close_device(VkDevice it) {
    ((PFN_vkDestroyDevice)(void *)layer.pfnGetDeviceProcAddr(it, "vkDestroyDevice"))(it, NULL);
}

static void close_instance(VkInstance it) {
    ((PFN_vkDestroyInstance)(void *)layer.pfnGetInstanceProcAddr(it, "vkDestroyInstance"))(it, NULL);
}

static void load(const char *path, struct bytes *into) {
    char part[4096];
    FILE *file = fopen(path, "rb");
    for (size_t got; file != NULL && (got = fread(part, 1, sizeof part, file)) > 0;)
        put(into, part, got);
    if (file != NULL)
        fclose(file);
}
