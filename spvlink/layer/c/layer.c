/* Instances and hooks: who is next, and which functions are ours. */
#include "layer.h"
#include "numbers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const struct host host = {"spvlink layer", "VK_SPVLINK_STAGE_LINK_", "spvlink_stage_link."};

#define EXPORT __attribute__((visibility("default")))

struct instance {
    struct instance *next;
    void *key;
    PFN_vkGetInstanceProcAddr get;
    PFN_vkDestroyInstance destroy;
    PFN_vkGetPhysicalDeviceProperties2 properties; /* may be NULL */
};

static pthread_rwlock_t instances_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct instance *instances;

static struct instance *instance_of(const void *dispatchable) {
    void *key = device_key(dispatchable);
    pthread_rwlock_rdlock(&instances_lock);
    struct instance *instance = instances;
    while (instance != NULL && instance->key != key)
        instance = instance->next;
    pthread_rwlock_unlock(&instances_lock);
    return instance;
}

/* -- modules and layouts --------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice handle,
                                                    const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkShaderModule *module) {
    struct device *device = device_of(handle);
    VkResult result = device->create_module(handle, info, allocator, module);
    if (result == VK_SUCCESS) {
        struct blob *blob = blob_code(info->pCode, info->codeSize);
        static const int KNOWN[] = {ON_MODULE};
        if (blob != NULL)
            blob->opaque = !ONLY(info->pNext, KNOWN, "a module") || info->flags != 0;
        table_put(device->modules, (uint64_t)*module, blob);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_module(VkDevice handle, VkShaderModule module,
                                                 const VkAllocationCallbacks *allocator) {
    struct device *device = device_of(handle);
    if (module != VK_NULL_HANDLE) /* first: the driver may give the handle to another thread */
        table_remove(device->modules, (uint64_t)module);
    device->destroy_module(handle, module, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_set_layout(VkDevice handle,
                                                        const VkDescriptorSetLayoutCreateInfo *info,
                                                        const VkAllocationCallbacks *allocator,
                                                        VkDescriptorSetLayout *layout) {
    struct device *device = device_of(handle);
    VkResult result = device->create_set_layout(handle, info, allocator, layout);
    if (result == VK_SUCCESS)
        table_put(device->set_layouts, (uint64_t)*layout, set_layout_blob(info));
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_set_layout(VkDevice handle, VkDescriptorSetLayout layout,
                                                     const VkAllocationCallbacks *allocator) {
    struct device *device = device_of(handle);
    if (layout != VK_NULL_HANDLE)
        table_remove(device->set_layouts, (uint64_t)layout);
    device->destroy_set_layout(handle, layout, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_layout(VkDevice handle,
                                                    const VkPipelineLayoutCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkPipelineLayout *layout) {
    struct device *device = device_of(handle);
    VkResult result = device->create_layout(handle, info, allocator, layout);
    if (result == VK_SUCCESS) {
        struct blob *blob = layout_blob(device, info->setLayoutCount, info->pSetLayouts,
                                        info->pushConstantRangeCount, info->pPushConstantRanges);
        if (blob != NULL && !known_layout(info))
            blob->opaque = true;
        table_put(device->layouts, (uint64_t)*layout, blob);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_layout(VkDevice handle, VkPipelineLayout layout,
                                                 const VkAllocationCallbacks *allocator) {
    struct device *device = device_of(handle);
    if (layout != VK_NULL_HANDLE)
        table_remove(device->layouts, (uint64_t)layout);
    device->destroy_layout(handle, layout, allocator);
}

/* -- render passes --------------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL create_pass(VkDevice handle,
                                                  const VkRenderPassCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkRenderPass *pass) {
    struct device *device = device_of(handle);
    VkResult result = device->create_pass(handle, info, allocator, pass);
    if (result == VK_SUCCESS)
        table_put(device->passes, (uint64_t)*pass, pass_blob(info));
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pass_2(VkDevice handle,
                                                    const VkRenderPassCreateInfo2 *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkRenderPass *pass) {
    struct device *device = device_of(handle);
    VkResult result = device->create_pass_2(handle, info, allocator, pass);
    if (result == VK_SUCCESS)
        table_put(device->passes, (uint64_t)*pass, pass_2_blob(info));
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_pass(VkDevice handle, VkRenderPass pass,
                                               const VkAllocationCallbacks *allocator) {
    struct device *device = device_of(handle);
    if (pass != VK_NULL_HANDLE)
        table_remove(device->passes, (uint64_t)pass);
    device->destroy_pass(handle, pass, allocator);
}

/* -- queues ---------------------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL queue_present(VkQueue queue, const VkPresentInfoKHR *info) {
    presents();
    return device_of(queue)->present(queue, info);
}

/* -- devices --------------------------------------------------------------------------------------- */

/* The row of spvlink/gpus.py of a device's driver: 0, any, if the driver says nothing. */
static uint32_t gpu_of(VkPhysicalDevice physical) {
    struct instance *instance = instance_of(physical);
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    if (instance == NULL || instance->properties == NULL)
        return 0;
    instance->properties(physical, &properties);
    return gpu_of_driver((uint32_t)driver.driverID);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *handle) {
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link != NULL && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                             link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    if (link == NULL)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr get_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)(void *)get_instance(VK_NULL_HANDLE, "vkCreateDevice");
    if (create == NULL)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult result = create(physical, info, allocator, handle);
    if (result != VK_SUCCESS)
        return result;
    struct device *device = device_new(get, *handle, gpu_of(physical));
    if (device == NULL) {
        PFN_vkDestroyDevice destroy = (PFN_vkDestroyDevice)(void *)get(*handle, "vkDestroyDevice");
        destroy(*handle, allocator);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    log_flush(); /* a run without pipelines is a run, too */
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice handle,
                                                 const VkAllocationCallbacks *allocator) {
    if (handle == VK_NULL_HANDLE)
        return;
    struct device *device = device_of(handle);
    device_forget(device);
    device->destroy_device(handle, allocator);
    device_free(device);
}

/* -- instances ------------------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *handle) {
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link != NULL && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                             link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    if (link == NULL)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)(void *)get(VK_NULL_HANDLE, "vkCreateInstance");
    settings_given(info->pNext);
    struct instance *instance = calloc(1, sizeof *instance);
    VkResult result = VK_ERROR_INITIALIZATION_FAILED;
    if (create != NULL && instance != NULL)
        result = create(info, allocator, handle);
    if (result != VK_SUCCESS) {
        free(instance);
        return result;
    }
    instance->key = device_key(*handle);
    instance->get = get;
    instance->destroy = (PFN_vkDestroyInstance)(void *)get(*handle, "vkDestroyInstance");
    instance->properties = (PFN_vkGetPhysicalDeviceProperties2)(void *)get(
        *handle, "vkGetPhysicalDeviceProperties2");
    if (instance->properties == NULL)
        instance->properties = (PFN_vkGetPhysicalDeviceProperties2)(void *)get(
            *handle, "vkGetPhysicalDeviceProperties2KHR");
    pthread_rwlock_wrlock(&instances_lock);
    instance->next = instances;
    instances = instance;
    pthread_rwlock_unlock(&instances_lock);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance handle,
                                                   const VkAllocationCallbacks *allocator) {
    if (handle == VK_NULL_HANDLE)
        return;
    struct instance *instance = instance_of(handle);
    pthread_rwlock_wrlock(&instances_lock);
    for (struct instance **at = &instances; *at != NULL; at = &(*at)->next) {
        if (*at == instance) {
            *at = instance->next;
            break;
        }
    }
    pthread_rwlock_unlock(&instances_lock);
    instance->destroy(handle, allocator);
    free(instance);
}

/* -- who gets which function ----------------------------------------------------------------------- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice, const char *);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance, const char *);

struct hook {
    const char *name;
    PFN_vkVoidFunction function;
    enum { GLOBAL, INSTANCE, DEVICE, EXTENSION } level; /* extension: only if the next one has it */
};
#define HOOK(name, function, level) {name, (PFN_vkVoidFunction)(void *)(function), level}

static PFN_vkVoidFunction hook_named(const char *name, bool device_only, bool *extension) {
    static const struct hook HOOKS[] = {
        HOOK("vkGetInstanceProcAddr", get_instance_proc, GLOBAL),
        HOOK("vkCreateInstance", create_instance, GLOBAL),
        HOOK("vkDestroyInstance", destroy_instance, INSTANCE),
        HOOK("vkCreateDevice", create_device, INSTANCE),
        HOOK("vkGetDeviceProcAddr", get_device_proc, DEVICE),
        HOOK("vkDestroyDevice", destroy_device, DEVICE),
        HOOK("vkCreateShaderModule", create_module, DEVICE),
        HOOK("vkDestroyShaderModule", destroy_module, DEVICE),
        HOOK("vkCreateDescriptorSetLayout", create_set_layout, DEVICE),
        HOOK("vkDestroyDescriptorSetLayout", destroy_set_layout, DEVICE),
        HOOK("vkCreatePipelineLayout", create_layout, DEVICE),
        HOOK("vkDestroyPipelineLayout", destroy_layout, DEVICE),
        HOOK("vkCreateRenderPass", create_pass, DEVICE),
        HOOK("vkCreateRenderPass2", create_pass_2, EXTENSION),
        HOOK("vkCreateRenderPass2KHR", create_pass_2, EXTENSION),
        HOOK("vkDestroyRenderPass", destroy_pass, DEVICE),
        HOOK("vkCreateGraphicsPipelines", hook_create_pipelines, DEVICE),
        HOOK("vkDestroyPipeline", hook_destroy_pipeline, DEVICE),
        HOOK("vkQueuePresentKHR", queue_present, EXTENSION),
        HOOK("vkCreateShadersEXT", hook_create_shaders, EXTENSION),
    };
    for (size_t i = 0; i < sizeof HOOKS / sizeof *HOOKS; i++) {
        if (strcmp(HOOKS[i].name, name) == 0 && (!device_only || HOOKS[i].level >= DEVICE)) {
            *extension = HOOKS[i].level == EXTENSION;
            return HOOKS[i].function;
        }
    }
    return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice handle, const char *name) {
    bool extension = false;
    struct device *device = device_of(handle);
    PFN_vkVoidFunction hook = hook_named(name, true, &extension);
    if (hook != NULL && !extension)
        return hook;
    PFN_vkVoidFunction next = device == NULL ? NULL : device->get(handle, name);
    return next != NULL && hook != NULL ? hook : next;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance handle,
                                                                  const char *name) {
    bool extension = false;
    PFN_vkVoidFunction hook = hook_named(name, false, &extension);
    if (hook != NULL && !extension)
        return hook;
    struct instance *instance = handle == VK_NULL_HANDLE ? NULL : instance_of(handle);
    PFN_vkVoidFunction next = instance == NULL ? NULL : instance->get(handle, name);
    return next != NULL && hook != NULL ? hook : next;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *versions) {
    if (versions == NULL || versions->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
        versions->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    versions->loaderLayerInterfaceVersion = 2;
    versions->pfnGetInstanceProcAddr = get_instance_proc;
    versions->pfnGetDeviceProcAddr = get_device_proc;
    versions->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
