/* One pipeline or library of vkCreateGraphicsPipelines: whether its stages may be linked, and the
 * linked ones in their place. For pipelines.c and libraries.c.
 */
#include "pipelines.h"

#include <stdlib.h>
#include <string.h>

/* -- what may be linked ---------------------------------------------------------------------------- */

bool from_libraries(const VkGraphicsPipelineCreateInfo *info) {
    const VkPipelineLibraryCreateInfoKHR *libraries = find(info->pNext, LIBRARIES);
    return libraries != NULL && libraries->libraryCount > 0;
}

uint64_t creation_flags(const VkGraphicsPipelineCreateInfo *info) {
    const struct flags_2 *wide = find(info->pNext, FLAGS_2);
    return wide != NULL ? wide->flags : info->flags;
}

/* SHADER_PARTS that this call gives stages for. Without the structure that says it, a library gives
 * none, nor does what is made from libraries. */
VkFlags shader_parts(const VkGraphicsPipelineCreateInfo *info) {
    const struct library_parts *parts = find(info->pNext, LIBRARY_PARTS);
    if (parts != NULL)
        return parts->flags & SHADER_PARTS;
    return creation_flags(info) & IS_LIBRARY || from_libraries(info) ? 0 : SHADER_PARTS;
}

const char *unfit_pipeline(const VkGraphicsPipelineCreateInfo *info) {
    static const int KNOWN[] = {ON_PIPELINE};
    if (!ONLY(info->pNext, KNOWN, "a pipeline"))
        return "a structure that the layer does not know is on the pipeline";
    uint64_t flags = creation_flags(info);
    if (!only_flags(flags, PIPELINE_FLAGS, "a pipeline"))
        return "a creation flag that the layer does not know";
    const struct binaries *binaries = find(info->pNext, BINARIES);
    if (binaries != NULL && binaries->count > 0)
        return "its code comes from pipeline binaries";
    if (flags & DISABLE_OPTIMIZATION)
        return "the application wants it not optimized";
    if (info->stageCount > MAX_STAGES)
        return "more stages than the layer knows";
    return NULL;
}

bool is_dynamic(const VkGraphicsPipelineCreateInfo *info, int state) {
    const VkPipelineDynamicStateCreateInfo *dynamic = info->pDynamicState;
    for (uint32_t i = 0; dynamic != NULL && i < dynamic->dynamicStateCount; i++)
        if ((int)dynamic->pDynamicStates[i] == state)
            return true;
    return false;
}

static const char *unfit_dynamic(const VkPipelineDynamicStateCreateInfo *dynamic) {
    static const int KNOWN[] = {DYNAMIC_STATES};
    if (dynamic == NULL)
        return NULL;
    if (!only(dynamic->pNext, NULL, 0, "the dynamic state"))
        return "a structure that the layer does not know is on the dynamic state";
    for (uint32_t i = 0; i < dynamic->dynamicStateCount; i++) {
        if ((int)dynamic->pDynamicStates[i] == DYNAMIC_STREAM)
            return "a vertex stream other than the first may be rasterized";
        if (!AMONG((int)dynamic->pDynamicStates[i], KNOWN)) {
            log_unknown("dynamic state", (uint64_t)dynamic->pDynamicStates[i], "a pipeline");
            return "a dynamic state that the layer does not know";
        }
    }
    return NULL;
}

/* Another stream feeds the fragment shader from elsewhere. pRasterizationState may be anything if all of
 * it is dynamic; then it is taken for no more than that, since linking is right with and without
 * rasterization. What other fixed functions say, also that nothing is rasterized, is a fact for the
 * linker, or unknown (fixed.c); none of it makes a pipeline stay. */
const char *unfit_state(const VkGraphicsPipelineCreateInfo *info) {
    static const int KNOWN[] = {ON_RASTERIZATION_STATE};
    const VkPipelineRasterizationStateCreateInfo *state = info->pRasterizationState;
    const char *why = unfit_dynamic(info->pDynamicState);
    if (why != NULL || state == NULL)
        return why;
    if (!ONLY(state->pNext, KNOWN, "the rasterization state"))
        return "a structure that the layer does not know is on the rasterization state";
    const VkPipelineRasterizationStateStreamCreateInfoEXT *stream =
        find(state->pNext, RASTER_STREAM);
    if (stream != NULL && stream->rasterizationStream != 0)
        return "a vertex stream other than the first is rasterized";
    return NULL;
}

/* The stage for the chain; its code is held. */
static const char *take_stage(struct device *device, const VkPipelineShaderStageCreateInfo *info,
                              struct stage *stage) {
    static const int KNOWN[] = {ON_STAGES};
    if (find(info->pNext, IDENTIFIER) != NULL)
        return "a stage that is given by an identifier of its code";
    bool known = ONLY(info->pNext, KNOWN, "a stage");
    if (!only_flags(info->flags, STAGE_FLAGS, "a stage") || !known)
        return "a stage with a structure or flag that the layer does not know";
    *stage = (struct stage){info->stage, info->pName, (const void *)info->pSpecializationInfo, NULL};
    if (info->module != VK_NULL_HANDLE) {
        stage->code = table_find(device->modules, (uint64_t)info->module);
    } else {
        const VkShaderModuleCreateInfo *code =
            find(info->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
        if (code != NULL && code->flags == 0)
            stage->code = blob_code(code->pCode, code->codeSize);
    }
    if (stage->code == NULL)
        return "a shader module that the layer did not see";
    return stage->code->opaque ? "a shader module made with something unknown" : NULL;
}

/* -- its stages ------------------------------------------------------------------------------------ */

/* The stage's pNext again, with the linked code in place of the application's. What is about that code
 * alone (a validation cache) has no meaning for this one. */
static const void *inline_chain(struct change *change, uint32_t i, const void *chain) {
    static const struct { int type; size_t size; } KEPT[MOST_EXTRAS] = {
        {ROBUSTNESS, sizeof(struct robustness)},
        {HEAP_MAPPING, sizeof(struct mapping)},
        {SUBGROUP_SIZE, sizeof(VkPipelineShaderStageRequiredSubgroupSizeCreateInfo)},
        {OBJECT_NAME, sizeof(VkDebugUtilsObjectNameInfoEXT)},
        {VALIDATION, sizeof(VkValidationFeaturesEXT)},
    };
    VkShaderModuleCreateInfo *code = &change->inlines[i];
    *code = (VkShaderModuleCreateInfo){VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, NULL, 0,
                                       change->answer->size[i], change->answer->code[i]};
    for (size_t n = 0; n < MOST_EXTRAS; n++) {
        const void *given = find(chain, KEPT[n].type);
        union stage_extra *copy = &change->extras[i][n];
        if (given == NULL)
            continue;
        memcpy(copy, given, KEPT[n].size);
        copy->head.pNext = code->pNext;
        code->pNext = copy;
    }
    return code;
}

bool make_stages(struct device *device, VkDevice handle, struct change *change,
                 const VkGraphicsPipelineCreateInfo *info) {
    for (uint32_t i = 0; i < info->stageCount; i++) {
        change->stages[i] = info->pStages[i];
        if (info->pStages[i].module == VK_NULL_HANDLE) {
            change->stages[i].pNext = inline_chain(change, i, info->pStages[i].pNext);
            continue;
        }
        VkShaderModuleCreateInfo code = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, NULL, 0,
                                         change->answer->size[i], change->answer->code[i]};
        if (device->create_module(handle, &code, NULL, &change->made[i]) != VK_SUCCESS) {
            change->made[i] = VK_NULL_HANDLE;
            return false;
        }
        change->stages[i].module = change->made[i];
    }
    return true;
}

void change_free(struct device *device, VkDevice handle, struct change *change) {
    for (uint32_t i = 0; i < MAX_STAGES; i++)
        if (change->made[i] != VK_NULL_HANDLE)
            device->destroy_module(handle, change->made[i], NULL);
    chain_free(&change->chain);
    if (change->answer != NULL)
        answer_free(change->answer);
    free(change->answer);
    free(change);
}

/* All stages and the layout, of at most MAX_STAGES. */
const char *take_stages(struct device *device, const VkGraphicsPipelineCreateInfo *info,
                        struct change *change) {
    struct chain *chain = &change->chain;
    const char *why = NULL;
    chain->gpu = device->gpu;
    while (why == NULL && chain->count < info->stageCount) {
        why = take_stage(device, &info->pStages[chain->count], &chain->stages[chain->count]);
        chain->count++;
    }
    if (why != NULL)
        return why;
    const void *extras[MAX_STAGES];
    bool heap = creation_flags(info) & IN_HEAP; /* then there is no layout */
    for (uint32_t i = 0; i < chain->count; i++)
        extras[i] = info->pStages[i].pNext;
    chain_descriptors(chain, heap, info->pNext, extras);
    if (!heap)
        chain->layout = table_find(device->layouts, (uint64_t)info->layout);
    return NULL;
}
