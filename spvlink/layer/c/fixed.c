/* What a pipeline says of its fixed functions and does not set while drawing, as facts
 * (spvlink/archive/states.py has the same of a recorded pipeline).
 *
 * Vulkan ignores many of these pointers, and what is ignored may be wild: nothing is read before it is
 * clear that it counts. A structure that is not known here makes what it stands on unknown.
 */
#include "pipelines.h"

enum { VERTEX_INPUT_PART = 1, OUTPUT_PART = 8, ALL_PARTS = 15, MOST_ATTACHMENTS = 32 };
enum { MESH_STAGES = 0x40 | 0x80, COARSE_FLAGS = 0x600000 };
enum { /* VkDynamicState */
    CULL_MODE = 1000267000, TOPOLOGY = 1000267002, VIEWPORTS = 1000267003,
    VERTEX_INPUT = 1000352000, POLYGON_MODE = 1000455004, COVERAGE = 1000455007,
    BLEND_ENABLE = 1000455010, EQUATION = 1000455011, WRITE_MASK = 1000455012,
    ADVANCED = 1000455018
};
enum { CONSERVATIVE = 1000101001, LOCATIONS = 1000232001 }; /* sTypes */

struct locations { /* VkRenderingAttachmentLocationInfo */
    VkStructureType sType;
    const void *pNext;
    uint32_t count;
    const uint32_t *locations;
};

/* Of these dynamic states none moves the only sample or makes fragments larger. */
static bool apart_from_samples(int dynamic) {
    static const int RANGES[][2] = {
        {0, 8}, {1000259000, 1000259000}, {1000267000, 1000267011}, {1000352000, 1000352000},
        {1000377000, 1000377004}, {1000381000, 1000381000}, {1000455003, 1000455004},
        {1000455007, 1000455012}, {1000455018, 1000455018}};
    for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES; i++)
        if (dynamic >= RANGES[i][0] && dynamic <= RANGES[i][1])
            return true;
    return false;
}

/* Whether a pNext has nothing but these. */
static bool has_only(const void *chain, const int *known, size_t count) {
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext)
        if (!among((int)at->sType, known, count))
            return false;
    return true;
}
#define HAS_ONLY(chain, known) has_only(chain, known, sizeof known / sizeof *known)

static VkFlags parts_of(const VkGraphicsPipelineCreateInfo *info) {
    const struct library_parts *parts = find(info->pNext, LIBRARY_PARTS);
    if (parts != NULL)
        return parts->flags & ALL_PARTS;
    return creation_flags(info) & IS_LIBRARY || from_libraries(info) ? 0 : ALL_PARTS;
}

static VkFlags stages_of(const VkGraphicsPipelineCreateInfo *info) {
    VkFlags stages = 0;
    for (uint32_t i = 0; i < info->stageCount; i++)
        stages |= info->pStages[i].stage;
    return stages;
}

/* -- before the first stage ------------------------------------------------------------------------- */

static void take_vertices(const VkGraphicsPipelineCreateInfo *info, struct state *state) {
    static const int KNOWN[] = {ON_VERTEX_INPUT_STATE};
    const VkPipelineInputAssemblyStateCreateInfo *assembly = info->pInputAssemblyState;
    const VkPipelineVertexInputStateCreateInfo *input =
        is_dynamic(info, VERTEX_INPUT) ? NULL : info->pVertexInputState;
    if (assembly != NULL && assembly->pNext == NULL && !is_dynamic(info, TOPOLOGY))
        state->topology = topology_class((uint32_t)assembly->topology);
    if (input == NULL || !HAS_ONLY(input->pNext, KNOWN))
        return;
    for (uint32_t i = 0; i < input->vertexAttributeDescriptionCount; i++) {
        const VkVertexInputAttributeDescription *one = &input->pVertexAttributeDescriptions[i];
        if (!state_attribute(state, one->location, (uint32_t)one->format)) {
            state->attributes.count = 0;
            return;
        }
    }
}

/* -- between the stages ------------------------------------------------------------------------------ */

static void take_raster(const VkGraphicsPipelineCreateInfo *info, bool rasterizes,
                        struct state *state) {
    const VkPipelineRasterizationStateCreateInfo *raster = info->pRasterizationState;
    const VkPipelineViewportStateCreateInfo *viewport = rasterizes ? info->pViewportState : NULL;
    state->discards = !rasterizes;
    if (raster != NULL && !is_dynamic(info, CULL_MODE))
        state->culled = raster->cullMode;
    if (raster != NULL && !is_dynamic(info, POLYGON_MODE) && raster->polygonMode <= 2)
        state->polygons = (uint32_t)raster->polygonMode;
    if (viewport != NULL && viewport->viewportCount > 0 && !is_dynamic(info, VIEWPORTS))
        state->viewports = viewport->viewportCount;
}

/* One sample, in the middle, and fragments of one pixel. */
static bool one_sample(const VkGraphicsPipelineCreateInfo *info, const struct subpass *subpass) {
    static const int VIEWPORT[] = {1000087000, 1000098000, 1000205000, 1000355001, 1000582001};
    static const int COARSE[] = {1000044008, 1000226001, 1000326002, 1000611002};
    const VkPipelineMultisampleStateCreateInfo *samples = info->pMultisampleState;
    const VkPipelineRasterizationStateCreateInfo *raster = info->pRasterizationState;
    const VkPipelineDynamicStateCreateInfo *dynamic = info->pDynamicState;
    if (samples == NULL || samples->pNext != NULL || samples->rasterizationSamples != 1 ||
        creation_flags(info) & COARSE_FLAGS || (subpass != NULL && !subpass->plain))
        return false;
    for (uint32_t i = 0; dynamic != NULL && i < dynamic->dynamicStateCount; i++)
        if (!apart_from_samples((int)dynamic->pDynamicStates[i]))
            return false;
    for (const VkBaseInStructure *at = info->pNext; at != NULL; at = at->pNext)
        if (AMONG((int)at->sType, COARSE))
            return false;
    return (raster == NULL || find(raster->pNext, CONSERVATIVE) == NULL) &&
           (info->pViewportState == NULL || HAS_ONLY(info->pViewportState->pNext, VIEWPORT));
}

/* -- behind the last stage --------------------------------------------------------------------------- */

/* The components of each colour attachment; false: not known. */
static bool present(const VkGraphicsPipelineCreateInfo *info, const struct subpass *subpass,
                    uint32_t *count, uint32_t *components) {
    static const int ELSEWHERE[] = {1000129005, 1000452005, 1000628002};
    if (subpass != NULL) {
        *count = subpass->count;
        for (uint32_t i = 0; subpass->known && i < *count; i++)
            components[i] = subpass->colors[i];
        return subpass->known;
    }
    const struct rendering *rendering = find(info->pNext, RENDERING);
    if (rendering == NULL || rendering->count > MOST_ATTACHMENTS)
        return false;
    *count = rendering->count;
    if (*count > 0 && rendering->formats == NULL)
        return false;
    for (const VkBaseInStructure *at = info->pNext; at != NULL && *count > 0; at = at->pNext)
        if (AMONG((int)at->sType, ELSEWHERE))
            return false;
    for (uint32_t i = 0; i < *count; i++)
        components[i] = format_components((uint32_t)rendering->formats[i]);
    return true;
}

static void take_blending(const VkGraphicsPipelineCreateInfo *info,
                          const VkPipelineColorBlendAttachmentState *given,
                          struct attachment *to) {
    bool changes = is_dynamic(info, EQUATION) || is_dynamic(info, ADVANCED);
    if (given != NULL && !is_dynamic(info, WRITE_MASK))
        to->mask &= given->colorWriteMask;
    to->blends = given == NULL || is_dynamic(info, BLEND_ENABLE) ? STATE_UNKNOWN
                                                                  : given->blendEnable;
    for (int i = 0; i < 4; i++)
        to->factors[i] = STATE_UNKNOWN;
    to->operations[0] = to->operations[1] = changes ? (uint32_t)VK_BLEND_OP_ZERO_EXT : STATE_UNKNOWN;
    if (given == NULL || changes)
        return;
    to->factors[0] = (uint32_t)given->srcColorBlendFactor;
    to->factors[1] = (uint32_t)given->dstColorBlendFactor;
    to->factors[2] = (uint32_t)given->srcAlphaBlendFactor;
    to->factors[3] = (uint32_t)given->dstAlphaBlendFactor;
    to->operations[0] = (uint32_t)given->colorBlendOp;
    to->operations[1] = (uint32_t)given->alphaBlendOp;
}

/* The blending that counts: it is read only if there is an attachment, and not all is dynamic. */
static const VkPipelineColorBlendStateCreateInfo *
blending_of(const VkGraphicsPipelineCreateInfo *info, uint32_t count, const uint32_t *components) {
    bool some = false, all_dynamic =
        is_dynamic(info, BLEND_ENABLE) && is_dynamic(info, WRITE_MASK) &&
        (is_dynamic(info, EQUATION) || is_dynamic(info, ADVANCED));
    for (uint32_t i = 0; i < count; i++)
        some = some || components[i] != 0;
    return some && !all_dynamic ? info->pColorBlendState : NULL;
}

static void take_outputs(const VkGraphicsPipelineCreateInfo *info, const struct subpass *subpass,
                         struct state *state) {
    static const int KNOWN[] = {ON_COLOR_BLEND_STATE};
    struct attachment made[MOST_ATTACHMENTS];
    uint32_t count = 0, components[MOST_ATTACHMENTS], coverage = STATE_UNKNOWN;
    const VkPipelineMultisampleStateCreateInfo *samples = info->pMultisampleState;
    const struct locations *moved = find(info->pNext, LOCATIONS);
    if (!present(info, subpass, &count, components) || (moved != NULL && moved->count != count))
        return;
    const VkPipelineColorBlendStateCreateInfo *blending = blending_of(info, count, components);
    if (blending != NULL && !HAS_ONLY(blending->pNext, KNOWN))
        return;
    for (uint32_t i = 0; i < count; i++) {
        bool given = blending != NULL && i < blending->attachmentCount &&
                     blending->pAttachments != NULL;
        made[i].mask = components[i];
        made[i].location = moved == NULL || moved->locations == NULL ? i : moved->locations[i];
        take_blending(info, given ? &blending->pAttachments[i] : NULL, &made[i]);
    }
    if (samples != NULL && !is_dynamic(info, COVERAGE))
        coverage = samples->alphaToCoverageEnable;
    state_outputs(state, count, made, coverage);
}

/* -- all of it ---------------------------------------------------------------------------------------- */

/* Of half of a pipeline only what that half alone decides: the formats of vertices, or of attachments if
 * the output part is in it. */
void take_state(struct device *device, const VkGraphicsPipelineCreateInfo *info,
                struct chain *chain) {
    struct state *state = &chain->state;
    const VkPipelineRasterizationStateCreateInfo *raster = NULL;
    const VkPipelineTessellationStateCreateInfo *patches = info->pTessellationState;
    const struct rendering *rendering = find(info->pNext, RENDERING);
    struct subpass inside, *subpass = NULL;
    VkFlags parts = parts_of(info), stages = stages_of(info);
    state_unknown(state);
    chain->has_state = true;
    if (info->renderPass != VK_NULL_HANDLE) {
        subpass = &inside;
        find_subpass(device, info->renderPass, info->subpass, subpass);
    }
    if (parts & BEFORE_RASTERIZATION)
        raster = info->pRasterizationState;
    bool rasterizes = raster == NULL || !raster->rasterizerDiscardEnable ||
                      is_dynamic(info, DYNAMIC_DISCARD);
    if (parts & VERTEX_INPUT_PART && !(stages & MESH_STAGES))
        take_vertices(info, state);
    if (parts & OUTPUT_PART && rasterizes)
        take_outputs(info, subpass, state);
    if (chain->half) {
        state->topology = NO_TOPOLOGY;
        return;
    }
    take_raster(info, rasterizes, state);
    if (parts & OUTPUT_PART && rasterizes)
        state->one_sample = one_sample(info, subpass);
    state->view_mask = subpass != NULL ? subpass->view_mask
                                       : rendering != NULL ? rendering->view_mask : 0;
    if (state->view_mask == 0 && creation_flags(info) & VIEW_FROM_DEVICE)
        state->view_mask = STATE_UNKNOWN;
    if (stages & VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT && patches != NULL &&
        !is_dynamic(info, DYNAMIC_PATCH))
        state->patch_points = patches->patchControlPoints;
}
