/* Devices: who is next, and the tables of each. */
#include "layer.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_rwlock_t devices_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct device *devices;

void *device_key(const void *dispatchable) { return *(void *const *)dispatchable; }

struct device *device_of(const void *dispatchable) {
    void *key = device_key(dispatchable);
    pthread_rwlock_rdlock(&devices_lock);
    struct device *device = devices;
    while (device != NULL && device->key != key)
        device = device->next;
    pthread_rwlock_unlock(&devices_lock);
    return device;
}

void device_free(struct device *device) {
    table_free(device->modules);
    table_free(device->set_layouts);
    table_free(device->layouts);
    table_free(device->passes);
    table_free(device->halves);
    table_free(device->refused);
    free(device);
}

struct device *device_new(PFN_vkGetDeviceProcAddr get, VkDevice handle, uint32_t gpu) {
    struct device *d = calloc(1, sizeof *d);
    if (d == NULL)
        return NULL;
    d->modules = table_new();
    d->set_layouts = table_new();
    d->layouts = table_new();
    d->passes = table_new();
    d->halves = table_new();
    d->refused = table_new();
    if (!d->modules || !d->set_layouts || !d->layouts || !d->passes || !d->halves || !d->refused) {
        device_free(d);
        return NULL;
    }
    d->key = device_key(handle);
    d->get = get;
    d->gpu = gpu;
#define NEXT(field, name) d->field = (void *)get(handle, name)
    NEXT(destroy_device, "vkDestroyDevice");
    NEXT(create_module, "vkCreateShaderModule");
    NEXT(destroy_module, "vkDestroyShaderModule");
    NEXT(create_set_layout, "vkCreateDescriptorSetLayout");
    NEXT(destroy_set_layout, "vkDestroyDescriptorSetLayout");
    NEXT(create_layout, "vkCreatePipelineLayout");
    NEXT(destroy_layout, "vkDestroyPipelineLayout");
    NEXT(create_pass, "vkCreateRenderPass");
    NEXT(create_pass_2, "vkCreateRenderPass2");
    if (d->create_pass_2 == NULL)
        NEXT(create_pass_2, "vkCreateRenderPass2KHR");
    NEXT(destroy_pass, "vkDestroyRenderPass");
    NEXT(create_pipelines, "vkCreateGraphicsPipelines");
    NEXT(destroy_pipeline, "vkDestroyPipeline");
    NEXT(create_shaders, "vkCreateShadersEXT");
    NEXT(destroy_shader, "vkDestroyShaderEXT");
    NEXT(present, "vkQueuePresentKHR");
#undef NEXT
    pthread_rwlock_wrlock(&devices_lock);
    d->next = devices;
    devices = d;
    pthread_rwlock_unlock(&devices_lock);
    return d;
}

void device_forget(struct device *device) {
    pthread_rwlock_wrlock(&devices_lock);
    for (struct device **at = &devices; *at != NULL; at = &(*at)->next) {
        if (*at == device) {
            *at = device->next;
            break;
        }
    }
    pthread_rwlock_unlock(&devices_lock);
}
