/* Which threads wait: pipelines created before and after a present, on the thread that presented and
 * on another one, over a driver that makes nothing.
 *
 * usage: layer_present VERT.spv FRAG.spv; prints a line for every pipeline
 */
#include "layer_application.h"

#include <pthread.h>

static void *dispatch = &dispatch; /* what a loader puts first into every handle */
static uint64_t handles;
static unsigned modules; /* that the layer made of linked code */
static struct bytes codes[2];

static VkResult make_handle(const void *i, const void *a, void **out) {
    (void)i, (void)a;
    *out = &dispatch;
    return VK_SUCCESS;
}
static VkResult make_device(void *p, const void *i, const void *a, void **out) {
    (void)p;
    return make_handle(i, a, out);
}
static void end(void *d, const void *a) { (void)d, (void)a; }
static VkResult make_module(void *d, const void *i, const void *a, uint64_t *out) {
    (void)d, (void)i, (void)a;
    modules++;
    *out = ++handles;
    return VK_SUCCESS;
}
static void nothing(void *d, uint64_t it, const void *a) { (void)d, (void)it, (void)a; }
static VkResult make_pipelines(void *d, uint64_t cache, uint32_t count, const void *infos,
                               const void *a, uint64_t *out) {
    (void)d, (void)cache, (void)count, (void)infos, (void)a;
    *out = ++handles;
    return VK_SUCCESS;
}
static VkResult no_present(void *q, const void *i) {
    (void)q, (void)i;
    return VK_SUBOPTIMAL_KHR; /* to see that it comes back */
}
static PFN_vkVoidFunction driver_proc(void *handle, const char *name) {
    (void)handle;
    static const struct entry ALL[] = {
        {"vkCreateInstance", make_handle}, {"vkDestroyInstance", end},
        {"vkCreateDevice", make_device}, {"vkDestroyDevice", end},
        {"vkCreateShaderModule", make_module}, {"vkDestroyShaderModule", nothing},
        {"vkCreateGraphicsPipelines", make_pipelines}, {"vkDestroyPipeline", nothing},
        {"vkQueuePresentKHR", no_present}, {NULL, NULL},
    };
    return named(ALL, name);
}

/* One that nobody has asked for before: its specialization is new. */
static void *pipeline(void *name) {
    static uint32_t number;
    VkSpecializationMapEntry entry = {0, 0, sizeof number};
    VkSpecializationInfo spec = {1, &entry, sizeof number, &number};
    VkPipelineShaderStageCreateInfo stages[2];
    VkGraphicsPipelineCreateInfo info = {.sType = 28, .stageCount = 2, .pStages = stages};
    VkPipeline made;
    number++;
    for (int i = 0; i < 2; i++) {
        VkShaderModuleCreateInfo code = {16, NULL, 0, codes[i].size, (void *)codes[i].data};
        VkShaderModule module;
        CALL(vkCreateShaderModule)(device, &code, NULL, &module);
        stages[i] = (VkPipelineShaderStageCreateInfo){18, NULL, 0, i == 0 ? 0x1 : 0x10, module,
                                                      "main", i == 0 ? &spec : NULL};
    }
    unsigned before = modules;
    CALL(vkCreateGraphicsPipelines)(device, VK_NULL_HANDLE, 1, &info, NULL, &made);
    printf("%s: %s\n", (const char *)name, modules == before ? "not waited for" : "linked");
    return NULL;
}

static void elsewhere(char *name) {
    pthread_t thread;
    pthread_create(&thread, NULL, pipeline, name);
    pthread_join(thread, NULL);
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    for (int i = 0; i < 2; i++)
        load(words[i + 1], &codes[i]);
    VkInstance instance = open_instance(driver_proc);
    device = open_device(instance, driver_proc);
    pipeline("before the first frame");
    PFN_vkQueuePresentKHR present = CALL(vkQueuePresentKHR);
    printf("presented: %d\n", (int)present((VkQueue)device, NULL));
    pipeline("on the thread that presents");
    elsewhere("on another one");
    close_device(device);
    close_instance(instance);
    for (int i = 0; i < 2; i++)
        bytes_free(&codes[i]);
    return 0;
}
