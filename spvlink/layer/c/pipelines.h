/* vkCreateGraphicsPipelines: what change.c has for pipelines.c (whole pipelines) and libraries.c (their
 * halves). */
#ifndef SPVLINK_PIPELINES_H
#define SPVLINK_PIPELINES_H

#include "layer.h"
#include "numbers.h"

enum { SHADER_PARTS = BEFORE_RASTERIZATION | FRAGMENT_PART };

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

struct binaries { /* VkPipelineBinaryInfoKHR */
    VkStructureType sType;
    const void *pNext;
    uint32_t count;
    const void *binaries;
};

struct mapping { /* VkShaderDescriptorSetAndBindingMappingInfoEXT */
    VkStructureType sType;
    const void *pNext;
    uint32_t count;
    const void *entries;
};

struct rendering { /* VkPipelineRenderingCreateInfo */
    VkBaseInStructure head;
    uint32_t view_mask, count;
    const VkFormat *formats;
    VkFormat depth, stencil;
};

#define MOST_COLORS 32
struct subpass { /* what pipelines take from it; `known`: its colours are */
    uint32_t view_mask, count, colors[MOST_COLORS]; /* components */
    bool known, plain;
};

/* What goes on with linked code in place of the application's, if it was given inline. */
#define MOST_EXTRAS 5
union stage_extra {
    VkBaseInStructure head;
    struct robustness robustness;
    struct mapping mapping;
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size;
    VkDebugUtilsObjectNameInfoEXT name;
    VkValidationFeaturesEXT validation;
};

/* One pipeline on its way: what replaces its stages. */
struct change {
    struct chain chain;
    struct answer *answer; /* NULL: not changed */
    unsigned char key[DIGEST];
    VkPipelineShaderStageCreateInfo stages[MAX_STAGES];
    VkShaderModule made[MAX_STAGES];
    VkShaderModuleCreateInfo inlines[MAX_STAGES];
    union stage_extra extras[MAX_STAGES][MOST_EXTRAS];
};

/* -- change.c: one pipeline ------------------------------------------------------------------------ */

bool from_libraries(const VkGraphicsPipelineCreateInfo *info);
uint64_t creation_flags(const VkGraphicsPipelineCreateInfo *info);
VkFlags shader_parts(const VkGraphicsPipelineCreateInfo *info);
const char *unfit_pipeline(const VkGraphicsPipelineCreateInfo *info);
const char *unfit_state(const VkGraphicsPipelineCreateInfo *info);
const char *take_stages(struct device *device, const VkGraphicsPipelineCreateInfo *info,
                        struct change *change);
bool make_stages(struct device *device, VkDevice handle, struct change *change,
                 const VkGraphicsPipelineCreateInfo *info);
bool is_dynamic(const VkGraphicsPipelineCreateInfo *info, int state);
void change_free(struct device *device, VkDevice handle, struct change *change);

/* -- fixed.c, passes.c: its state ------------------------------------------------------------------- */

void take_state(struct device *device, const VkGraphicsPipelineCreateInfo *info,
                struct chain *chain);
void find_subpass(struct device *device, VkRenderPass pass, uint32_t index, struct subpass *found);

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
