/* Pipelines with all kinds of fixed functions, through the layer's own entry points, for
 * tests/layer/test_layer_fixed.py. No linker process answers; what the layer would ask is left in the
 * cache. Each case has a specialization constant whose id is its number. Pointers that Vulkan ignores are
 * wild: to read them is to crash.
 *
 * usage: layer_fixed VERT.spv FRAG.spv; prints the name of every case.
 */
#include "layer_application.h"

#define WILD ((const void *)(uintptr_t)8)

static struct bytes codes[2];

/* -- the driver ------------------------------------------------------------------------------------ */

static void *dispatch; /* what a loader puts first into every handle */

static VkResult make_handle(void *p, const void *i, const void *a, void **out) {
    (void)p, (void)i, (void)a;
    *out = &dispatch;
    return VK_SUCCESS;
}
static VkResult make_instance(const void *i, const void *a, void **out) {
    return make_handle(NULL, i, a, out);
}
static VkResult make_other(void *d, const void *i, const void *a, uint64_t *out) {
    static uint64_t count;
    (void)d, (void)i, (void)a;
    *out = ++count;
    return VK_SUCCESS;
}
static VkResult make_pipelines(void *d, uint64_t cache, uint32_t count, const void *infos,
                               const void *a, uint64_t *out) {
    (void)cache;
    for (uint32_t i = 0; i < count; i++)
        make_other(d, infos, a, &out[i]);
    return VK_SUCCESS;
}
static void no_other(void *d, uint64_t it, const void *a) { (void)d, (void)it, (void)a; }
static void end(void *d, const void *a) { (void)d, (void)a; }

static PFN_vkVoidFunction driver_proc(void *handle, const char *name) {
    (void)handle;
    static const struct entry ALL[] = {
        {"vkCreateInstance", make_instance}, {"vkDestroyInstance", end},
        {"vkCreateDevice", make_handle}, {"vkDestroyDevice", end},
        {"vkCreateShaderModule", make_other}, {"vkDestroyShaderModule", no_other},
        {"vkCreateRenderPass", make_other}, {"vkCreateRenderPass2", make_other},
        {"vkDestroyRenderPass", no_other},
        {"vkCreatePipelineLayout", make_other}, {"vkDestroyPipelineLayout", no_other},
        {"vkCreateGraphicsPipelines", make_pipelines}, {"vkDestroyPipeline", no_other},
        {NULL, NULL}};
    return named(ALL, name);
}

/* -- a case ---------------------------------------------------------------------------------------- */

struct rendering_info { /* VkPipelineRenderingCreateInfo */
    VkBaseInStructure head;
    uint32_t view_mask, count;
    const VkFormat *formats;
    VkFormat depth, stencil;
};
struct location_info { /* VkRenderingAttachmentLocationInfo */
    VkBaseInStructure head;
    uint32_t count;
    const uint32_t *locations;
};

struct call {
    VkVertexInputAttributeDescription attributes[2];
    VkPipelineVertexInputStateCreateInfo vertices;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkPipelineViewportStateCreateInfo viewport;
    VkPipelineRasterizationStateCreateInfo raster;
    VkPipelineMultisampleStateCreateInfo samples;
    VkPipelineColorBlendAttachmentState blends[3];
    VkPipelineColorBlendStateCreateInfo blending;
    VkPipelineDynamicStateCreateInfo dynamic;
    VkDynamicState changing[8];
    VkFormat formats[3];
    struct rendering_info rendering;
    struct location_info locations;
    VkBaseInStructure extra;
    VkPipelineShaderStageCreateInfo stages[2];
    VkGraphicsPipelineLibraryCreateInfoEXT parts;
    VkGraphicsPipelineCreateInfo info;
};

static uint32_t case_number;

static void begin(struct call *c) {
    memset(c, 0, sizeof *c);
    c->attributes[0] = (VkVertexInputAttributeDescription){1, 0, VK_FORMAT_R32G32B32_SFLOAT, 0};
    c->attributes[1] = (VkVertexInputAttributeDescription){0, 0, VK_FORMAT_R8G8_UNORM, 0};
    c->vertices = (VkPipelineVertexInputStateCreateInfo){
        .sType = 19, .vertexAttributeDescriptionCount = 2,
        .pVertexAttributeDescriptions = c->attributes};
    c->assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    c->viewport.viewportCount = 1;
    c->raster.cullMode = VK_CULL_MODE_BACK_BIT;
    c->samples.rasterizationSamples = 1;
    for (int i = 0; i < 3; i++)
        c->blends[i].colorWriteMask = 15;
    c->blends[0].colorWriteMask = 7;
    c->blending = (VkPipelineColorBlendStateCreateInfo){.sType = 26, .attachmentCount = 2,
                                                        .pAttachments = c->blends};
    c->dynamic = (VkPipelineDynamicStateCreateInfo){27, NULL, 0, 0, c->changing};
    c->formats[0] = VK_FORMAT_R8G8B8A8_UNORM;
    c->formats[1] = VK_FORMAT_UNDEFINED;
    c->formats[2] = VK_FORMAT_R8_UNORM;
    c->rendering = (struct rendering_info){{(VkStructureType)1000044002, NULL}, 0, 2, c->formats,
                                           VK_FORMAT_UNDEFINED, VK_FORMAT_UNDEFINED};
    c->info = (VkGraphicsPipelineCreateInfo){
        .sType = 28, .pNext = &c->rendering, .stageCount = 2, .pStages = c->stages,
        .pVertexInputState = &c->vertices, .pInputAssemblyState = &c->assembly,
        .pViewportState = &c->viewport, .pRasterizationState = &c->raster,
        .pMultisampleState = &c->samples, .pColorBlendState = &c->blending,
        .pDynamicState = &c->dynamic, .basePipelineIndex = -1};
    for (int i = 0; i < 2; i++)
        c->stages[i] = (VkPipelineShaderStageCreateInfo){
            18, NULL, 0, i == 0 ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT, 0,
            "main", NULL};
}

static void changes(struct call *c, int state) {
    c->changing[c->dynamic.dynamicStateCount++] = (VkDynamicState)state;
}

static void hang(struct call *c, const void **where, int type) {
    c->extra = (VkBaseInStructure){(VkStructureType)type, *where};
    *where = &c->extra;
}

static void create(struct call *c, const char *name) {
    uint32_t value = 0;
    VkSpecializationMapEntry entry = {case_number++, 0, sizeof value};
    VkSpecializationInfo constants = {1, &entry, sizeof value, &value};
    VkPipeline pipeline;
    for (uint32_t i = 0; i < 2; i++) {
        VkShaderModuleCreateInfo code = {16, NULL, 0, codes[i].size, (void *)codes[i].data};
        CALL(vkCreateShaderModule)(device, &code, NULL, &c->stages[i].module);
        c->stages[i].pSpecializationInfo = &constants;
    }
    CALL(vkCreateGraphicsPipelines)(device, VK_NULL_HANDLE, 1, &c->info, NULL, &pipeline);
    for (uint32_t i = 0; i < 2; i++)
        CALL(vkDestroyShaderModule)(device, c->stages[i].module, NULL);
    printf("%s\n", name);
}

#define CASE(name, change)                                                                         \
    do {                                                                                           \
        struct call c;                                                                             \
        begin(&c);                                                                                 \
        change;                                                                                    \
        create(&c, name);                                                                          \
    } while (0)

/* -- cases ----------------------------------------------------------------------------------------- */

static void fixed_functions(void) {
    uint32_t moved[] = {VK_ATTACHMENT_UNUSED, 0, 1};
    CASE("plain", );
    CASE("blending reads alpha", (c.blends[0].blendEnable = 1, c.blends[0].srcColorBlendFactor = 6));
    CASE("a second source", (c.blends[0].blendEnable = 1, c.blends[0].dstColorBlendFactor = 15));
    CASE("coverage", c.samples.alphaToCoverageEnable = 1);
    CASE("four samples", c.samples.rasterizationSamples = 4);
    CASE("sample locations", hang(&c, &c.samples.pNext, 1000143002));
    CASE("conservative", hang(&c, &c.raster.pNext, 1000101001));
    CASE("coarse", hang(&c, &c.viewport.pNext, 1000164000));
    CASE("depth clip control", hang(&c, &c.viewport.pNext, 1000355001));
    CASE("a shading rate", hang(&c, &c.info.pNext, 1000226001));
    CASE("one view", c.rendering.view_mask = 4);
    CASE("two views", c.rendering.view_mask = 3);
    CASE("the view is the device", c.info.flags = 8);
    CASE("points", c.assembly.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST);
    CASE("as lines", c.raster.polygonMode = VK_POLYGON_MODE_LINE);
    CASE("two viewports", c.viewport.viewportCount = 2);
    CASE("moved", (c.rendering.count = c.blending.attachmentCount = 3,
                   c.locations = (struct location_info){{(VkStructureType)1000232001, c.info.pNext},
                                                        3, moved},
                   c.info.pNext = &c.locations));
    CASE("external format", hang(&c, &c.info.pNext, 1000129005));
    CASE("unknown on blending", hang(&c, &c.blending.pNext, 1999999000));
    CASE("unknown on vertices", hang(&c, &c.vertices.pNext, 1999999000));
    CASE("unknown on assembly", hang(&c, &c.assembly.pNext, 1999999000));
    CASE("a Location twice", c.attributes[1].location = 1);
    CASE("nothing is given", (c.info.pNext = NULL, c.info.pVertexInputState = NULL,
                              c.info.pInputAssemblyState = NULL, c.info.pViewportState = NULL,
                              c.info.pRasterizationState = NULL, c.info.pMultisampleState = NULL,
                              c.info.pColorBlendState = NULL, c.info.pDynamicState = NULL));
}

static void dynamic_states(void) {
    CASE("write mask changes", changes(&c, 1000455012));
    CASE("blending changes", (changes(&c, 1000455010), changes(&c, 1000455011)));
    CASE("coverage changes", changes(&c, 1000455007));
    CASE("samples change", changes(&c, 1000455005));
    CASE("culling changes", changes(&c, 1000267000));
    CASE("topology changes", changes(&c, 1000267002));
    CASE("viewports change", changes(&c, 1000267003));
    CASE("polygons change", changes(&c, 1000455004));
    CASE("vertices change", (changes(&c, 1000352000), c.info.pVertexInputState = WILD));
    CASE("all blending changes", (changes(&c, 1000455010), changes(&c, 1000455011),
                                  changes(&c, 1000455012), c.blending.pAttachments = WILD));
}

static void ignored(void) {
    VkFlags shaders = 0x2 | 0x4;
    CASE("no colours", (c.rendering.count = 0, c.info.pColorBlendState = WILD));
    CASE("discard", (c.raster.rasterizerDiscardEnable = 1, c.info.stageCount = 1,
                     c.info.pViewportState = WILD, c.info.pMultisampleState = WILD,
                     c.info.pColorBlendState = WILD));
    CASE("discard before a fragment shader",
         (c.raster.rasterizerDiscardEnable = 1, c.info.pViewportState = WILD,
          c.info.pMultisampleState = WILD, c.info.pColorBlendState = WILD));
    CASE("discard changes", (c.raster.rasterizerDiscardEnable = 1, changes(&c, 1000377001)));
    CASE("shaders alone",
         (c.parts = (VkGraphicsPipelineLibraryCreateInfoEXT){(VkStructureType)1000320002,
                                                             c.info.pNext, shaders},
          c.info.pNext = &c.parts, c.info.flags = 0x800, c.info.pVertexInputState = WILD,
          c.info.pInputAssemblyState = WILD, c.info.pColorBlendState = WILD,
          c.info.pMultisampleState = WILD, c.rendering.formats = WILD));
    CASE("mesh", (c.stages[0].stage = (VkShaderStageFlagBits)0x80,
                  c.info.pVertexInputState = WILD, c.info.pInputAssemblyState = WILD));
}

static void render_passes(void) {
    VkAttachmentDescription attachments[] = {{.format = VK_FORMAT_R8G8_UNORM},
                                             {.format = VK_FORMAT_R8G8B8A8_UNORM}};
    VkAttachmentReference colors[] = {{1, 0}, {VK_ATTACHMENT_UNUSED, 0}, {0, 0}};
    VkSubpassDescription subpasses[] = {
        {.colorAttachmentCount = 2, .pColorAttachments = colors},
        {.colorAttachmentCount = 3, .pColorAttachments = colors},
        {.colorAttachmentCount = 0}};
    uint32_t masks[] = {3, 2, 0};
    VkRenderPassMultiviewCreateInfo views = {.sType = 1000053000, .subpassCount = 3,
                                             .pViewMasks = masks};
    VkRenderPassCreateInfo info = {38, &views, 0, 2, attachments, 3, subpasses, 0, NULL};
    VkBaseInStructure unknown = {(VkStructureType)1999999000, NULL};
    VkAttachmentDescription2 attachments_2[] = {{.sType = 1000109000, .format = 16},
                                                {.sType = 1000109000, .format = 37}};
    VkAttachmentReference2 colors_2[] = {{.sType = 1000109001, .attachment = VK_ATTACHMENT_UNUSED},
                                         {.sType = 1000109001, .attachment = 0}};
    VkSubpassDescription2 subpass_2 = {.sType = 1000109002, .viewMask = 8,
                                       .colorAttachmentCount = 2, .pColorAttachments = colors_2};
    VkRenderPassCreateInfo2 info_2 = {.sType = 1000109004, .attachmentCount = 2,
                                      .pAttachments = attachments_2, .subpassCount = 1,
                                      .pSubpasses = &subpass_2};
    VkRenderPass pass, other, strange;
    CALL(vkCreateRenderPass)(device, &info, NULL, &pass);
    CALL(vkCreateRenderPass2)(device, &info_2, NULL, &other);
    info.pNext = &unknown;
    CALL(vkCreateRenderPass)(device, &info, NULL, &strange);
    CASE("pass", c.info.renderPass = pass);
    CASE("second subpass", (c.info.renderPass = pass, c.info.subpass = 1,
                            c.blending.attachmentCount = 3));
    CASE("third subpass", (c.info.renderPass = pass, c.info.subpass = 2,
                           c.info.pColorBlendState = WILD));
    CASE("no such subpass", (c.info.renderPass = pass, c.info.subpass = 7));
    CASE("pass 2", c.info.renderPass = other);
    CASE("a pass with something unknown", c.info.renderPass = strange);
    CALL(vkDestroyRenderPass)(device, pass, NULL);
    CASE("a pass that is gone", c.info.renderPass = pass);
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    for (int i = 0; i < 2; i++)
        load(words[i + 1], &codes[i]);
    VkInstance instance = open_instance(driver_proc);
    device = open_device(instance, driver_proc);
    fixed_functions();
    dynamic_states();
    ignored();
    render_passes();
    close_device(device);
    close_instance(instance);
    for (int i = 0; i < 2; i++)
        bytes_free(&codes[i]);
    return 0;
}
