/* Threads that create pipelines at once, through the layer's own entry points, with a driver below
 * that does nothing: built with a sanitizer, so that races and leaks are the layer's own.
 *
 * usage: layer_threads THREADS PIPELINES VERT.spv FRAG.spv; prints how many pipelines were made
 */
#include "layer_application.h"

#include <pthread.h>
#include <stdlib.h>

static void *dispatch = &dispatch; /* what a loader puts first into every handle */
static atomic_ulong handles = 1;
static atomic_ulong created;
static atomic_long modules;
static unsigned long refuse_after; /* calls; four fifths of all */

static VkResult make(uint64_t *out) {
    *out = atomic_fetch_add(&handles, 1);
    return VK_SUCCESS;
}

static VkResult null_instance(const void *i, const void *a, void **out) {
    (void)i, (void)a;
    *out = &dispatch;
    return VK_SUCCESS;
}
static VkResult null_device(void *p, const void *i, const void *a, void **out) {
    (void)p, (void)i, (void)a;
    *out = &dispatch;
    return VK_SUCCESS;
}
static VkResult null_create(void *d, const void *i, const void *a, uint64_t *out) {
    (void)d, (void)i, (void)a;
    return make(out);
}
static VkResult null_module(void *d, const void *i, const void *a, uint64_t *out) {
    (void)d, (void)i, (void)a;
    atomic_fetch_add(&modules, 1);
    return make(out);
}
static void null_no_module(void *d, uint64_t it, const void *a) {
    (void)d, (void)it, (void)a;
    atomic_fetch_sub(&modules, 1);
}
static void null_destroy(void *d, uint64_t it, const void *a) { (void)d, (void)it, (void)a; }
static void null_end(void *d, const void *a) { (void)d, (void)a; }
/* late calls are refused now and then, so that the originals are tried again */
static VkResult null_pipelines(void *d, uint64_t c, uint32_t count, const void *i, const void *a,
                               uint64_t *out) {
    (void)d, (void)c, (void)i, (void)a;
    unsigned long call = atomic_fetch_add(&created, 1);
    bool refuse = call > refuse_after && call % 7 == 0;
    for (uint32_t n = 0; n < count; n++)
        out[n] = refuse && n == 0 ? 0 : atomic_fetch_add(&handles, 1);
    return refuse ? VK_ERROR_UNKNOWN : VK_SUCCESS;
}

static PFN_vkVoidFunction null_proc(void *handle, const char *name) {
    (void)handle;
    static const struct entry ALL[] = {
        {"vkCreateInstance", null_instance}, {"vkDestroyInstance", null_end},
        {"vkCreateDevice", null_device}, {"vkDestroyDevice", null_end},
        {"vkCreateShaderModule", null_module}, {"vkDestroyShaderModule", null_no_module},
        {"vkCreateDescriptorSetLayout", null_create},
        {"vkDestroyDescriptorSetLayout", null_destroy}, {"vkCreatePipelineLayout", null_create},
        {"vkDestroyPipelineLayout", null_destroy}, {"vkCreateGraphicsPipelines", null_pipelines},
        {"vkDestroyPipeline", null_destroy},
        {NULL, NULL},
    };
    return named(ALL, name);
}

static long each;
static struct bytes codes[2];

#define GET(name) PFN_##name name = CALL(name)

static void *work(void *unused) {
    GET(vkCreateShaderModule);
    GET(vkDestroyShaderModule);
    GET(vkCreateDescriptorSetLayout);
    GET(vkDestroyDescriptorSetLayout);
    GET(vkCreatePipelineLayout);
    GET(vkDestroyPipelineLayout);
    GET(vkCreateGraphicsPipelines);
    for (long n = 0; n < each; n++) {
        VkDescriptorSetLayoutBinding binding = {0, 6, 1 + (uint32_t)(n % 3), 0x11, NULL};
        VkDescriptorSetLayoutCreateInfo set_info = {32, NULL, 0, 1, &binding};
        VkDescriptorSetLayout set;
        vkCreateDescriptorSetLayout(device, &set_info, NULL, &set);
        VkPipelineLayoutCreateInfo layout_info = {30, NULL, 0, 1, &set, 0, NULL};
        VkPipelineLayout layout;
        vkCreatePipelineLayout(device, &layout_info, NULL, &layout);
        VkPipelineShaderStageCreateInfo stages[2] = {0};
        for (int i = 0; i < 2; i++) {
            VkShaderModuleCreateInfo info = {16, NULL, 0, codes[i].size, (void *)codes[i].data};
            stages[i] = (VkPipelineShaderStageCreateInfo){18, NULL, 0, i ? 0x10 : 1, 0, "main", 0};
            vkCreateShaderModule(device, &info, NULL, &stages[i].module);
        }
        VkGraphicsPipelineCreateInfo infos[2] = {{.sType = 28, .stageCount = 2, .pStages = stages,
                                                  .layout = layout}};
        infos[1] = infos[0];
        VkPipeline pipelines[2];
        vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 2, infos, NULL, pipelines);
        for (int i = 0; i < 2; i++)
            vkDestroyShaderModule(device, stages[i].module, NULL);
        vkDestroyPipelineLayout(device, layout, NULL);
        vkDestroyDescriptorSetLayout(device, set, NULL);
    }
    return unused;
}

int main(int count, char **words) {
    if (count != 5)
        return 2;
    pthread_t threads[16];
    int many = atoi(words[1]);
    each = atol(words[2]) / many / 2;
    refuse_after = (unsigned long)each * (unsigned long)many * 4 / 5;
    load(words[3], &codes[0]);
    load(words[4], &codes[1]);
    VkInstance instance = open_instance(null_proc);
    device = open_device(instance, null_proc);
    for (int i = 0; i < many; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < many; i++)
        pthread_join(threads[i], NULL);
    close_device(device);
    close_instance(instance);
    bytes_free(&codes[0]);
    bytes_free(&codes[1]);
    printf("%ld pipelines, %ld modules left\n", each * many * 2, atomic_load(&modules));
    return atomic_load(&modules) != 0;
}
