/* VK_LAYER_SPVLINK_stage_link: what the files of this layer share.
 *
 * The layer stands between an application and the next layer or the driver. At pipeline creation it
 * writes down what it knows of the pipeline ("facts", facts.c), looks the linked modules up in a
 * folder (answer.c), asks the linker process when they are not there (client.c), and hands the
 * pipeline on with the new modules or as it was (pipelines.c, shaders.c). On any doubt: as it was.
 *
 * Locks: the lists of devices (devices.c) and instances (layer.c), one mutex a table (blobs.c), two in
 * log.c, and one for the thread that starts a linker process (client.c). Each is held
 * for a few memory accesses, none while another one of the layer is taken, while the next layer is
 * called or while anybody is waited for. The one exception is log.c's writer, which holds its own
 * mutex over a write of some kilobytes to the cache of a disk.
 */
#ifndef SPVLINK_LAYER_H
#define SPVLINK_LAYER_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
#include <vulkan/vk_layer.h>

#include "core.h"

#define LAYER_NAME "VK_LAYER_SPVLINK_stage_link"
_Static_assert(sizeof(struct constants) == sizeof(VkSpecializationInfo) &&
                   sizeof(struct constant) == sizeof(VkSpecializationMapEntry),
               "constants are handed on as Vulkan has them");

/* -- given.c, layouts.c: what Vulkan's structures say ----------------------------------------------- */

/* What a VkInstanceCreateInfo says for this layer in its pNext. Settings are those of the process:
 * what is given after they were read comes too late. */
void settings_given(const void *chain);
/* Whether a number, or all structures of a pNext, are among those that are known (numbers.h). What is
 * not is counted, with `where`, which says what has it. */
bool among(int number, const int *known, size_t count);
bool only(const void *chain, const int *known, size_t count, const char *where);
bool only_flags(uint64_t flags, uint64_t known, const char *where);
#define AMONG(number, known) among(number, known, sizeof known / sizeof *known)
#define ONLY(chain, known, where) only(chain, known, sizeof known / sizeof *known, where)

const void *find(const void *chain, int type); /* the structure of a pNext, or NULL */

struct robustness { /* VkPipelineRobustnessCreateInfo */
    VkStructureType sType;
    const void *pNext;
    uint32_t storage_buffers, uniform_buffers, vertex_inputs, images;
};

/* -- shader objects: younger than the headers that we want to build with ------------------------ */

typedef uint64_t Shader; /* VkShaderEXT */
struct shader_info {     /* VkShaderCreateInfoEXT */
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    VkShaderStageFlagBits stage;
    VkShaderStageFlags nextStage;
    uint32_t codeType;
    size_t codeSize;
    const void *pCode;
    const char *pName;
    uint32_t setLayoutCount;
    const VkDescriptorSetLayout *pSetLayouts;
    uint32_t pushConstantRangeCount;
    const VkPushConstantRange *pPushConstantRanges;
    const VkSpecializationInfo *pSpecializationInfo;
};
typedef VkResult(VKAPI_PTR *create_shaders_fn)(VkDevice, uint32_t, const struct shader_info *,
                                               const VkAllocationCallbacks *, Shader *);
typedef void(VKAPI_PTR *destroy_shader_fn)(VkDevice, Shader, const VkAllocationCallbacks *);

/* -- devices.c ------------------------------------------------------------------------------------ */

struct device {
    struct device *next;
    void *key; /* the loader's dispatch table: the same for everything made from the device */
    uint32_t gpu; /* what the modules are for: a row of spvlink/gpus.py */
    PFN_vkGetDeviceProcAddr get;
    PFN_vkDestroyDevice destroy_device;
    PFN_vkCreateShaderModule create_module;
    PFN_vkDestroyShaderModule destroy_module;
    PFN_vkCreateDescriptorSetLayout create_set_layout;
    PFN_vkDestroyDescriptorSetLayout destroy_set_layout;
    PFN_vkCreatePipelineLayout create_layout;
    PFN_vkDestroyPipelineLayout destroy_layout;
    PFN_vkCreateRenderPass create_pass;
    PFN_vkCreateRenderPass2 create_pass_2;
    PFN_vkDestroyRenderPass destroy_pass;
    PFN_vkCreateGraphicsPipelines create_pipelines;
    PFN_vkDestroyPipeline destroy_pipeline;
    create_shaders_fn create_shaders;
    destroy_shader_fn destroy_shader;
    PFN_vkQueuePresentKHR present;
    struct table *modules, *set_layouts, *layouts, *passes;
    struct table *halves;  /* libraries that are kept in two versions (libraries.c) */
    struct table *refused; /* by the first 8 bytes of the key: linked modules the driver refused */
};

void *device_key(const void *dispatchable);
struct device *device_of(const void *dispatchable);
struct device *device_new(PFN_vkGetDeviceProcAddr get, VkDevice handle,
                          uint32_t gpu); /* NULL: no memory */
void device_forget(struct device *device); /* device_of does not find it any more */
void device_free(struct device *device);

/* -- layouts.c, passes.c, descriptors.c: what is asked -------------------------------------------- */

bool known_layout(const VkPipelineLayoutCreateInfo *info);
struct blob *set_layout_blob(const VkDescriptorSetLayoutCreateInfo *info);
struct blob *layout_blob(struct device *device, uint32_t set_count,
                         const VkDescriptorSetLayout *sets, uint32_t range_count,
                         const VkPushConstantRange *ranges);
struct blob *pass_blob(const VkRenderPassCreateInfo *info);
struct blob *pass_2_blob(const VkRenderPassCreateInfo2 *info);
void chain_descriptors(struct chain *chain, bool heap, const void *pipeline,
                       const void *const *stages); /* their pNext */
/* -- chain.c: from stages to linked modules -------------------------------------------------------- */

/* Linked modules for a chain, or NULL with the pipeline counted as what it is. The
 * answer is the caller's, to be freed. */
struct answer *chain_link(struct device *device, struct chain *chain, bool may_wait,
                          unsigned char key[DIGEST]);
struct answer *chain_frozen(struct device *device, struct chain *half,
                            unsigned char key[DIGEST]); /* from the cache, or NULL */
void chain_foresee(struct device *device, const struct chain *chain); /* asks, and does not wait */
void chain_linked(const struct chain *chain, const struct answer *answer);
void chain_refused(struct device *device, const unsigned char *key);

/* -- the hooks ------------------------------------------------------------------------------------ */

VKAPI_ATTR VkResult VKAPI_CALL hook_create_pipelines(VkDevice, VkPipelineCache, uint32_t,
                                                     const VkGraphicsPipelineCreateInfo *,
                                                     const VkAllocationCallbacks *, VkPipeline *);
VKAPI_ATTR void VKAPI_CALL hook_destroy_pipeline(VkDevice, VkPipeline,
                                                 const VkAllocationCallbacks *);
VKAPI_ATTR VkResult VKAPI_CALL hook_create_shaders(VkDevice, uint32_t, const struct shader_info *,
                                                   const VkAllocationCallbacks *, Shader *);

#endif
