/* vkCreateGraphicsPipelines: what pipelines.c (whole pipelines) and libraries.c (their halves)
 * share. */
#ifndef SPVLINK_PIPELINES_H
#define SPVLINK_PIPELINES_H

#include "layer.h"

/* sTypes by number: some are younger than the headers that we want to build with */
enum {
    DEBUG_NAME = 1000128000, SUBGROUP_SIZE = 1000225001, FLAGS_2 = 1000470005,
    RENDERING = 1000044002, FEEDBACK = 1000192000, LIBRARIES = 1000290000,
    LIBRARY_PARTS = 1000320002, DISCARD_RECTANGLE = 1000099001, SHADING_RATE = 1000226001,
    SAMPLE_COUNT_AMD = 1000044008, ROBUSTNESS = 1000068000, ATTACHMENT_LOCATIONS = 1000232001,
    INPUT_INDICES = 1000232002, RASTER_STREAM = 1000028002, VALIDATION_CACHE = 1000160001,
    RASTER_ORDER_AMD = 1000018000, CONSERVATIVE = 1000101001, DEPTH_CLIP = 1000102001,
    PROVOKING_VERTEX = 1000254001, LINES = 1000259001, DEPTH_BIAS = 1000283001,
};
enum {
    DISABLE_OPTIMIZATION = 0x1, DERIVATIVE = 0x4, FAIL_ON_COMPILE = 0x100, IS_LIBRARY = 0x800,
    SHADER_PARTS = 0x6, /* pre-rasterization and fragment shader, of VkGraphicsPipelineLibraryFlagsEXT */
    COMPILE_REQUIRED = 1000297000, /* a VkResult */
    KNOWN_STAGE_FLAGS = 0x3, /* subgroup sizes: linking moves no subgroup operation */
};

struct flags_2 { /* VkPipelineCreateFlags2CreateInfo */
    VkStructureType sType;
    const void *pNext;
    uint64_t flags;
};

struct library_parts { /* VkGraphicsPipelineLibraryCreateInfoEXT */
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
};

/* One pipeline on its way: what replaces its stages. */
struct change {
    struct chain chain;
    struct answer *answer; /* NULL: not changed */
    unsigned char key[DIGEST];
    VkPipelineShaderStageCreateInfo stages[MAX_STAGES];
    VkShaderModule made[MAX_STAGES];
    VkShaderModuleCreateInfo inlines[MAX_STAGES];
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo sizes[MAX_STAGES];
};

const void *find(const void *chain, int type);
uint64_t creation_flags(const VkGraphicsPipelineCreateInfo *info);
VkFlags shader_parts(const VkGraphicsPipelineCreateInfo *info);
const char *unfit_pipeline(const VkGraphicsPipelineCreateInfo *info);
const char *unfit_state(const VkGraphicsPipelineCreateInfo *info);
const char *take_stages(struct device *device, const VkGraphicsPipelineCreateInfo *info,
                        struct change *change);
bool make_stages(struct device *device, VkDevice handle, struct change *change,
                 const VkGraphicsPipelineCreateInfo *info);
void change_free(struct device *device, VkDevice handle, struct change *change);

/* -- libraries.c ----------------------------------------------------------------------------------- */

/* What is beside the pipelines of one call: linked libraries, and what is made from such. NULL:
 * nothing, or no memory. `any`: `changed` is to be created in place of `infos`. */
struct aside;
struct aside *libraries_begin(struct device *device, VkDevice handle, VkPipelineCache cache,
                              uint32_t count, const VkGraphicsPipelineCreateInfo *infos,
                              VkGraphicsPipelineCreateInfo *changed, bool *any);
void libraries_end(struct device *device, VkDevice handle, struct aside *aside, uint32_t count,
                   const VkGraphicsPipelineCreateInfo *infos, const VkPipeline *pipelines,
                   bool as_changed);

#endif
