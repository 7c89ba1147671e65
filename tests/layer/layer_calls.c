/* What the layer hands to the driver for one call of the application after another, through the
 * layer's own entry points. The driver below makes nothing: it remembers what it was given, gives a
 * handle out again as soon as it is free, and refuses on demand.
 *
 * usage: layer_calls VERT.spv GEOM.spv FRAG.spv [PROBES]; prints a line for every case: its name,
 * then what became of it ("linked" or "untouched") and what else is worth to know. With PROBES these
 * are the cases: a file of lines "NAME PLACE:KIND:NUMBER:VALUE ..." (tests/layer/test_layer_state.py)
 */
#include "layer_heap.h"

#include <stdlib.h>

enum { DEVICES = 2, ROOM = 64, VERT = 0, GEOM = 1, FRAG = 2 };

/* -- the driver ------------------------------------------------------------------------------------ */

struct driver {
    void *dispatch; /* what a loader puts first into every handle */
    struct bytes modules[ROOM];
    uint64_t others;
    unsigned calls, refuse; /* refuse: so many calls from now on */
    VkResult refusal;
    const void *allocator, *pipeline_chain;
    struct given {
        const void *code, *chain;
        size_t size;
        bool kept; /* everything that `heaps` depends on a stage */
    } stages[ROOM]; /* of the last call */
    unsigned count, base_index;
};
static struct driver drivers[DEVICES];
static const void *module_allocator;
static struct bytes last; /* the code of the last shader object that it got */

static struct driver *driver_of(void *handle) { return handle; }

static VkResult make_instance(const void *i, const void *a, void **out) {
    (void)i, (void)a;
    *out = &drivers[0];
    return VK_SUCCESS;
}
static VkResult make_device(void *p, const void *i, const void *a, void **out) {
    static unsigned made;
    (void)p, (void)i, (void)a;
    *out = &drivers[made++];
    return VK_SUCCESS;
}
static void properties(void *p, VkPhysicalDeviceProperties2 *out) {
    (void)p;
    VkPhysicalDeviceDriverProperties *driver = out->pNext;
    const char *given = getenv("DRIVER_ID");
    driver->driverID = given == NULL ? 0 : (VkDriverId)atoi(given);
}
static VkResult make_module(void *d, const VkShaderModuleCreateInfo *i, const void *a,
                            uint64_t *out) {
    module_allocator = a;
    for (uint64_t n = 1; n < ROOM; n++)
        if (driver_of(d)->modules[n].data == NULL) {
            put(&driver_of(d)->modules[n], i->pCode, i->codeSize);
            *out = n;
            return VK_SUCCESS;
        }
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}
static void no_module(void *d, uint64_t it, const void *a) {
    (void)a;
    bytes_free(&driver_of(d)->modules[it]);
}
static VkResult make_other(void *d, const void *i, const void *a, uint64_t *out) {
    (void)i, (void)a;
    *out = ++driver_of(d)->others;
    return VK_SUCCESS;
}
static void no_other(void *d, uint64_t it, const void *a) { (void)d, (void)it, (void)a; }
static void end(void *d, const void *a) { (void)d, (void)a; }

static VkResult outcome(struct driver *driver, uint32_t count, uint64_t *out) {
    bool refuse = driver->refuse > 0;
    driver->calls++;
    driver->refuse -= refuse;
    for (uint32_t i = 0; i < count; i++)
        out[i] = refuse && i == 0 ? 0 : ++driver->others;
    return refuse ? driver->refusal : VK_SUCCESS;
}

/* Whether a stage has all that an application says of it with a mapping, whole. */
static bool keeps_all(const void *chain) {
    const struct heap_mapping *mapping = NULL;
    const struct stage_robustness *robustness = NULL;
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *size = NULL;
    const VkDebugUtilsObjectNameInfoEXT *name = NULL;
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext)
        switch ((int)at->sType) {
        case 1000135006: mapping = (const void *)at; break;
        case 1000068000: robustness = (const void *)at; break;
        case 1000225001: size = (const void *)at; break;
        case 1000128000: name = (const void *)at; break;
        default: break;
        }
    return mapping != NULL && mapping->count == 1 && mapping->entries->set == 2 &&
           robustness != NULL && robustness->uniform_buffers == 2 && robustness->images == 3 &&
           size != NULL && size->requiredSubgroupSize == 8 && name != NULL &&
           strcmp(name->pObjectName, "a stage") == 0;
}

static VkResult make_pipelines(void *d, uint64_t cache, uint32_t count,
                               const VkGraphicsPipelineCreateInfo *infos, const void *a,
                               uint64_t *out) {
    struct driver *driver = driver_of(d);
    (void)cache;
    driver->allocator = a;
    driver->count = 0;
    driver->pipeline_chain = infos->pNext;
    driver->base_index = (unsigned)infos[count - 1].basePipelineIndex;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t s = 0; s < infos[i].stageCount; s++) {
            const VkPipelineShaderStageCreateInfo *stage = &infos[i].pStages[s];
            const VkShaderModuleCreateInfo *code = stage->pNext;
            struct given *given = &driver->stages[driver->count++];
            *given = (struct given){NULL, stage->pNext, 0, keeps_all(stage->pNext)};
            while (code != NULL && code->sType != VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO)
                code = code->pNext;
            const struct bytes *module = &driver->modules[(uint64_t)stage->module];
            given->code = module->data != NULL || code == NULL ? (void *)module->data : code->pCode;
            given->size = module->data != NULL || code == NULL ? module->size : code->codeSize;
        }
    return outcome(driver, count, out);
}

static VkResult make_shaders(void *d, uint32_t count, const struct shader_info *infos,
                             const void *a, uint64_t *out) {
    struct driver *driver = driver_of(d);
    driver->allocator = a;
    driver->count = count;
    for (uint32_t i = 0; i < count; i++)
        driver->stages[i] =
            (struct given){infos[i].pCode, infos[i].pNext, infos[i].codeSize, false};
    bytes_free(&last);
    put(&last, infos[count - 1].pCode, infos[count - 1].codeSize);
    return outcome(driver, count, out);
}

static PFN_vkVoidFunction driver_proc(void *handle, const char *name) {
    (void)handle;
    static const struct entry ALL[] = {
        {"vkCreateInstance", make_instance}, {"vkDestroyInstance", end},
        {"vkGetPhysicalDeviceProperties2", properties},
        {"vkCreateDevice", make_device}, {"vkDestroyDevice", end},
        {"vkCreateShaderModule", make_module}, {"vkDestroyShaderModule", no_module},
        {"vkCreateDescriptorSetLayout", make_other}, {"vkDestroyDescriptorSetLayout", no_other},
        {"vkCreatePipelineLayout", make_other}, {"vkDestroyPipelineLayout", no_other},
        {"vkCreateGraphicsPipelines", make_pipelines}, {"vkDestroyPipeline", no_other},
        {"vkCreateShadersEXT", make_shaders}, {"vkDestroyShaderEXT", no_other},
        {NULL, NULL},
    };
    return named(ALL, name);
}

/* -- the application ------------------------------------------------------------------------------- */

static struct bytes codes[3];

struct call { /* everything that the application says for one pipeline; cases change parts of it */
    VkShaderModuleCreateInfo modules[2];
    VkPipelineShaderStageCreateInfo stages[2];
    VkDescriptorSetLayoutBinding binding;
    VkDescriptorSetLayoutCreateInfo set;
    VkPipelineLayoutCreateInfo layout;
    VkPipelineRasterizationStateCreateInfo raster;
    VkGraphicsPipelineCreateInfo info;
    VkBaseInStructure extra;     /* a structure to hang somewhere, of any type */
    VkBaseInStructure more;
    char room[64];               /* zeros: the rest of what an extra structure may have */
    uint64_t flags_2[3];         /* VkPipelineCreateFlags2CreateInfo */
    VkAllocationCallbacks allocator;
    VkResult result;
    VkPipeline pipelines[2];
    bool inlined, again, twice, no_layout;
};

struct piece { /* a structure to hang somewhere, of any type, and its first number */
    VkBaseInStructure head;
    uint32_t value, zeros[15];
};

static void begin(struct call *c) {
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 2; i++) {
        const struct bytes *code = &codes[i == 0 ? VERT : FRAG];
        c->modules[i] = (VkShaderModuleCreateInfo){16, NULL, 0, code->size, (void *)code->data};
        c->stages[i] = (VkPipelineShaderStageCreateInfo){
            18, NULL, 0, i == 0 ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT,
            VK_NULL_HANDLE, "main", NULL};
    }
    c->binding = (VkDescriptorSetLayoutBinding){0, 6, 1, 0x11, NULL};
    c->set = (VkDescriptorSetLayoutCreateInfo){32, NULL, 0, 1, &c->binding};
    c->layout = (VkPipelineLayoutCreateInfo){30, NULL, 0, 1, NULL, 0, NULL};
    c->raster.sType = 23;
    c->info = (VkGraphicsPipelineCreateInfo){.sType = 28, .stageCount = 2,
                                             .pRasterizationState = &c->raster,
                                             .basePipelineIndex = -1};
}

static void create(struct call *c) {
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkGraphicsPipelineCreateInfo infos[2];
    CALL(vkCreateDescriptorSetLayout)(device, &c->set, NULL, &set);
    c->layout.pSetLayouts = &set;
    CALL(vkCreatePipelineLayout)(device, &c->layout, NULL, &layout);
    c->info.layout = c->no_layout ? VK_NULL_HANDLE : layout;
    for (int i = 0; i < 2; i++) {
        if (c->inlined) { /* before what hangs there already */
            c->modules[i].pNext = c->stages[i].pNext;
            c->stages[i].pNext = &c->modules[i];
        } else {
            CALL(vkCreateShaderModule)(device, &c->modules[i], NULL, &c->stages[i].module);
        }
    }
    c->info.pStages = c->stages;
    infos[0] = infos[1] = c->info;
    if (c->twice) {
        infos[1].flags |= VK_PIPELINE_CREATE_DERIVATIVE_BIT;
        infos[1].basePipelineIndex = 0;
    }
    for (int n = 0; n < 1 + c->again; n++)
        c->result = CALL(vkCreateGraphicsPipelines)(device, VK_NULL_HANDLE, 1 + c->twice, infos,
                                                    c->allocator.pUserData ? &c->allocator : NULL,
                                                    c->pipelines);
    for (int i = 0; i < 2 && !c->inlined; i++)
        CALL(vkDestroyShaderModule)(device, c->stages[i].module, NULL);
    CALL(vkDestroyPipelineLayout)(device, layout, NULL);
    CALL(vkDestroyDescriptorSetLayout)(device, set, NULL);
}

/* Whether the driver got other code than the application gave; looks at the last call. The code of
 * a module is gone by now, but that of every stage differs in size when it is linked. */
static const char *became(const struct driver *driver, const size_t *sizes, unsigned count) {
    for (unsigned i = 0; i < driver->count; i++)
        if (driver->stages[i].size != sizes[i % count])
            return "linked";
    return "untouched";
}

static void done(const char *name, struct call *c) {
    const struct driver *driver = (struct driver *)device;
    size_t sizes[2] = {c->modules[0].codeSize, c->modules[1].codeSize};
    printf("%s: %s\n", name, became(driver, sizes, 2));
}

/* -- pipelines ------------------------------------------------------------------------------------- */

static void hang(struct call *c, const void **where, int type) {
    c->extra = (VkBaseInStructure){(VkStructureType)type, NULL};
    *where = &c->extra;
}

static void flags_2(struct call *c, uint64_t flags) {
    VkBaseInStructure head = {(VkStructureType)1000470005, NULL};
    memcpy(c->flags_2, &head, sizeof head);
    c->flags_2[sizeof head / sizeof flags] = flags; /* 32-bit pointers take half of the room */
    c->info.pNext = c->flags_2;
}

/* -- where a structure or a flag may hang: name, then a change of the call */
#define CASE(name, change)                                                                         \
    do {                                                                                           \
        struct call c;                                                                             \
        begin(&c);                                                                                 \
        change;                                                                                    \
        create(&c);                                                                                \
        done(name, &c);                                                                            \
    } while (0)

static void on_the_pipeline(void) {
    VkPipelineCreationFeedback whole, each[2];
    VkPipelineCreationFeedbackCreateInfo feedback = {1000192000, NULL, &whole, 2, each};
    struct piece binaries = {{(VkStructureType)1000483002, NULL}, 1, {0}};
    CASE("modules", );
    CASE("inline", c.inlined = true);
    CASE("flags 2", flags_2(&c, 0x800002));
    CASE("flags 2, pipeline binaries are captured", flags_2(&c, UINT64_C(1) << 31));
    CASE("flags 2, an execution graph", flags_2(&c, UINT64_C(1) << 32));
    CASE("flags 2, descriptor heaps", flags_2(&c, UINT64_C(1) << 36));
    CASE("pipeline binaries, none", hang(&c, &c.info.pNext, 1000483002));
    CASE("pipeline binaries", c.info.pNext = &binaries);
    CASE("something unknown on the pipeline", hang(&c, &c.info.pNext, 1999999000));
    CASE("robustness", hang(&c, &c.info.pNext, 1000068000));
    CASE("optimization disabled", c.info.flags = 1);
    CASE("a library that says nothing of its parts", c.info.flags = 0x800);
    CASE("link-time optimization", c.info.flags = 0x800400);
    CASE("feedback", c.info.pNext = &feedback);
    printf("feedback is handed on: %d\n", ((struct driver *)device)->pipeline_chain == &feedback);
    CASE("rasterizer discard", c.raster.rasterizerDiscardEnable = 1);
    CASE("provoking vertex", hang(&c, &c.raster.pNext, 1000254001));
    CASE("something unknown on the rasterizer", hang(&c, &c.raster.pNext, 1999999000));
    CASE("no rasterization state", c.info.pRasterizationState = NULL);
    CASE("no fragment shader", c.info.stageCount = 1);
}

static void on_stages_and_layouts(void) {
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {1000225001, NULL, 8};
    CASE("identifier", hang(&c, &c.stages[0].pNext, 1000462002));
    CASE("robustness of a stage", hang(&c, &c.stages[1].pNext, 1000068000));
    CASE("subgroup size", c.stages[1].pNext = &size);
    printf("size is handed on: %d\n", ((struct driver *)device)->stages[1].chain == &size);
    CASE("inline, subgroup size", (c.inlined = true, c.stages[1].pNext = &size));
    CASE("unknown stage flag", c.stages[0].flags = 0x100);
    CASE("module with a validation cache", hang(&c, &c.modules[0].pNext, 1000160001));
    CASE("module with something unknown", hang(&c, &c.modules[0].pNext, 1999999000));
    CASE("inline with something unknown",
         (c.inlined = true, hang(&c, &c.stages[0].pNext, 1999999000)));
    CASE("set layout with something unknown", hang(&c, &c.set.pNext, 1999999000));
    CASE("set layout for push descriptors", c.set.flags = 1);
    CASE("set layout of bindings that differ by stage", c.set.flags = 0x40);
    CASE("layout with something unknown", hang(&c, &c.layout.pNext, 1999999000));
    CASE("layout with an unknown flag", c.layout.flags = 0x100);
}

/* -- descriptor heaps ------------------------------------------------------------------------------ */

enum { SAME_ENTRY, OTHER_SAMPLER, OTHER_BINDING, WITH_MORE, NO_BUFFER };

static void heap(const char *name, int source, int way, bool inlined) {
    struct call c;
    struct heap_entry entries[2];
    struct heap_mapping mappings[2];
    struct stage_robustness robustness[2];
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {1000225001, NULL, 8};
    VkDebugUtilsObjectNameInfoEXT label = {1000128000, &size, VK_OBJECT_TYPE_UNKNOWN, 0, "a stage"};
    VkBaseInStructure bank = {(VkStructureType)1000580000, NULL};
    begin(&c);
    flags_2(&c, UINT64_C(1) << 36);
    c.inlined = inlined;
    c.no_layout = true;
    for (int i = 0; i < 2; i++) {
        entries[i] = heap_entry(source, way == OTHER_SAMPLER ? 77 * (uint32_t)i : 0);
        entries[i].first += way == OTHER_BINDING && i == 1;
        entries[i].pNext = way == WITH_MORE ? &bank : NULL;
        entries[i].resources = way == NO_BUFFER ? 0x1f : 0x20 | (uint32_t)i;
        robustness[i] = (struct stage_robustness){(VkStructureType)1000068000,
                                                  inlined ? (void *)&label : NULL, 1, 2, 3, 3};
        mappings[i] = (struct heap_mapping){(VkStructureType)1000135006, &robustness[i], 1,
                                            &entries[i]};
        c.stages[i].pNext = &mappings[i];
    }
    create(&c);
    done(name, &c);
}

static void heaps(void) {
    char name[32];
    const struct driver *driver = (struct driver *)device;
    for (int source = 0; source < HEAP_SOURCES; source++) {
        snprintf(name, sizeof name, "heap, source %d", source);
        heap(name, source, SAME_ENTRY, false);
    }
    heap("heap, other samplers", 2, OTHER_SAMPLER, false);
    heap("heap, other bindings", 2, OTHER_BINDING, false);
    heap("heap, an entry with more", 2, WITH_MORE, false);
    heap("heap, no buffers", 2, NO_BUFFER, false);
    heap("heap, inline", 0, SAME_ENTRY, true);
    printf("all is handed on: %d %d\n", driver->stages[0].kept, driver->stages[1].kept);
}

/* -- refusals ------------------------------------------------------------------------------------- */

#define REFUSED(name, result_, flags_, also)                                                       \
    do {                                                                                           \
        struct driver *driver = (struct driver *)device;                                           \
        struct call c;                                                                             \
        begin(&c);                                                                                 \
        c.binding.binding = ++case_number; /* a key of its own */                                  \
        create(&c); /* linked, and in the cache */                                                 \
        begin(&c);                                                                                 \
        c.binding.binding = case_number;                                                           \
        c.info.flags = flags_;                                                                     \
        driver->refuse = 1;                                                                        \
        driver->refusal = result_;                                                                 \
        driver->calls = 0;                                                                         \
        also;                                                                                      \
        create(&c);                                                                                \
        size_t sizes[2] = {codes[VERT].size, codes[FRAG].size};                                    \
        printf("%s: %s, result %d, %d %d, %u calls, base %d\n", name, became(driver, sizes, 2),    \
               c.result, c.pipelines[0] != 0, c.pipelines[1] != 0, driver->calls,                  \
               (int)driver->base_index);                                                           \
        driver->refuse = 0;                                                                        \
    } while (0)

static void refusals(void) {
    unsigned case_number = 1;
    VkResult unknown = VK_ERROR_UNKNOWN, required = VK_PIPELINE_COMPILE_REQUIRED_EXT;
    REFUSED("refused once", unknown, 0, );
    REFUSED("refused, then again", unknown, 0, c.again = true);
    REFUSED("refused always", unknown, 0, driver->refuse = 9);
    REFUSED("derivatives", unknown, VK_PIPELINE_CREATE_ALLOW_DERIVATIVES_BIT, c.twice = true);
    REFUSED("compile required", required, 0x300, driver->refuse = 9);
    REFUSED("compile required, then compiled", required, 0x300, (driver->refuse = 2, c.again = true));
}

/* -- other matters --------------------------------------------------------------------------------- */

static void handles(void) {
    struct driver *driver = (struct driver *)device;
    CASE("allocator", c.allocator.pUserData = &c);
    printf("allocator is handed on: %d, modules of the layer have none: %d\n",
           driver->allocator != NULL, module_allocator == NULL);
    /* the handles of the cases before are free, and given out again: first for other code */
    CASE("other code behind an old handle",
         (c.modules[0].codeSize = codes[GEOM].size, c.modules[0].pCode = (void *)codes[GEOM].data));
    CASE("the first code behind it again", );
}

static void two_devices(VkDevice other) {
    struct call a, b;
    VkDevice first = device;
    VkShaderModule module[2];
    begin(&a);
    begin(&b);
    CALL(vkCreateShaderModule)(device, &a.modules[0], NULL, &module[0]);
    device = other;
    CALL(vkCreateShaderModule)(device, &a.modules[1], NULL, &module[1]); /* the other way round */
    printf("one handle on two devices: %d\n", module[0] == module[1]);
    create(&b);
    done("second device", &b);
    CALL(vkDestroyShaderModule)(device, module[1], NULL);
    device = first;
    create(&a);
    done("first device", &a);
    CALL(vkDestroyShaderModule)(device, module[0], NULL);
}

/* -- shader objects -------------------------------------------------------------------------------- */

struct object {
    int code;
    VkShaderStageFlagBits next;
    VkFlags flags;
};

/* How many variables of a module have a Location. */
static unsigned locations(const struct bytes *code) {
    unsigned count = 0;
    for (size_t at = 20; at + 16 <= code->size;) {
        uint32_t words[3];
        memcpy(words, code->data + at, sizeof words);
        count += (words[0] & 0xffff) == 71 && words[2] == 30; /* OpDecorate, Location */
        at += 4 * (words[0] >> 16);
    }
    return count;
}

static void objects(const char *name, unsigned count, const struct object *of, const void *chain,
                    unsigned refuse) {
    static const VkShaderStageFlagBits STAGES[] = {0x1, 0x8, 0x10};
    struct driver *driver = (struct driver *)device;
    struct shader_info infos[3] = {0};
    Shader shaders[3];
    size_t sizes[3];
    for (unsigned i = 0; i < count; i++) {
        const struct bytes *code = &codes[of[i].code];
        infos[i].sType = (VkStructureType)1000482002;
        infos[i].pNext = chain;
        infos[i].flags = of[i].flags;
        infos[i].stage = STAGES[of[i].code];
        infos[i].nextStage = of[i].next;
        infos[i].codeType = 1;
        infos[i].codeSize = sizes[i] = code->size;
        infos[i].pCode = code->data;
        infos[i].pName = "main";
    }
    driver->calls = 0;
    driver->refuse = refuse;
    driver->refusal = VK_ERROR_UNKNOWN;
    create_shaders_fn call =
        (create_shaders_fn)(void *)layer.pfnGetDeviceProcAddr(device, "vkCreateShadersEXT");
    VkResult result = call(device, count, infos, NULL, shaders);
    printf("objects, %s: %s, result %d, %u calls, %u Locations at the end\n", name,
           became(driver, sizes, count), result, driver->calls, locations(&last));
    driver->refuse = 0;
}

static void shader_objects(void) {
    VkBaseInStructure unknown = {(VkStructureType)1999999000, NULL};
    struct object all[] = {{VERT, 0x8, 1}, {GEOM, 0x10, 1}, {FRAG, 0, 1}};
    struct object closed[] = {{VERT, 0x8, 1}, {GEOM, 0, 1}};
    struct object in_heap[] = {{VERT, 0x8, 0x401}, {GEOM, 0x10, 0x401}, {FRAG, 0, 0x401}};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {1000225001, NULL, 8};
    struct heap_entry entries[2] = {heap_entry(0, 0), heap_entry(1, 0)};
    struct heap_mapping mapping = {(VkStructureType)1000135006, NULL, 1, &entries[0]};
    struct heap_mapping other = {(VkStructureType)1000135006, NULL, 1, &entries[1]};
    struct object no_flag[] = {{VERT, 0x8, 0}, {GEOM, 0x10, 0}, {FRAG, 0, 0}};
    objects("all stages", 3, all, NULL, 0);
    objects("a fragment shader of its own follows", 2, all, NULL, 0);
    objects("a vertex shader of its own stands before", 2, all + 1, NULL, 0);
    objects("nothing follows", 2, closed, NULL, 0);
    objects("not linked", 3, no_flag, NULL, 0);
    objects("one that others follow", 1, all, NULL, 0);
    objects("one that nothing follows", 1, &(struct object){VERT, 0, 1}, NULL, 0);
    objects("with something unknown", 3, all, &unknown, 0);
    objects("in a heap", 3, in_heap, &mapping, 0);
    objects("in a heap, mapped otherwise", 3, in_heap, &other, 0);
    objects("a subgroup size", 3, all, &size, 0);
    objects("refused once", 3, all, NULL, 1);
    objects("refused before", 3, all, NULL, 0);
}

/* -- probes: what a file asks for ------------------------------------------------------------------ */

/* Fixed functions, by their names in an archive. */
static const struct { const char *name; size_t at; } STATES[] = {
#define STATE(name, member) {name, offsetof(VkGraphicsPipelineCreateInfo, member)}
    STATE("vertexInputState", pVertexInputState), STATE("viewportState", pViewportState),
    STATE("inputAssemblyState", pInputAssemblyState), STATE("tessellationState", pTessellationState),
    STATE("multisampleState", pMultisampleState), STATE("colorBlendState", pColorBlendState),
    STATE("depthStencilState", pDepthStencilState),
};

/* The pNext of a place; `state` stands for a fixed function. */
static const void **chain_of(struct call *c, VkPipelineDynamicStateCreateInfo *dynamic,
                             struct piece *state, const char *place) {
    if (strcmp(place, "pipeline") == 0)
        return &c->info.pNext;
    if (strcmp(place, "stages") == 0)
        return &c->stages[1].pNext;
    if (strcmp(place, "rasterizationState") == 0)
        return &c->raster.pNext;
    if (strcmp(place, "module") == 0)
        return &c->modules[1].pNext;
    if (strcmp(place, "setLayout") == 0)
        return &c->set.pNext;
    if (strcmp(place, "layout") == 0)
        return &c->layout.pNext;
    if (strcmp(place, "dynamicState") == 0) {
        c->info.pDynamicState = dynamic;
        return &dynamic->pNext;
    }
    for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++)
        if (strcmp(place, STATES[i].name) == 0)
            memcpy((char *)&c->info + STATES[i].at, &(void *){state}, sizeof(void *));
    return (const void **)&state->head.pNext;
}

static VkFlags *flags_of(struct call *c, const char *place) {
    return strcmp(place, "pipeline") == 0    ? &c->info.flags
           : strcmp(place, "stages") == 0    ? &c->stages[1].flags
           : strcmp(place, "setLayout") == 0 ? &c->set.flags
                                             : &c->layout.flags;
}

static void probe(char *line) {
    enum { MOST = 4 };
    struct call c;
    struct piece pieces[MOST] = {0}, states[MOST] = {0};
    VkDynamicState changing[MOST];
    VkPipelineDynamicStateCreateInfo dynamic = {27, NULL, 0, 0, changing};
    const char *name = strtok(line, " \n");
    begin(&c);
    for (int i = 0; i < MOST; i++) {
        char place[32], kind[16];
        const char *item = strtok(NULL, " \n");
        unsigned long long number;
        unsigned value;
        if (item == NULL || sscanf(item, "%31[^:]:%15[^:]:%llu:%u", place, kind, &number, &value) != 4)
            break;
        if (strcmp(kind, "structure") == 0) {
            const void **chain = chain_of(&c, &dynamic, &states[i], place);
            pieces[i] = (struct piece){{(VkStructureType)number, *chain}, value, {value}};
            *chain = &pieces[i];
        } else if (strcmp(kind, "flags") == 0) {
            *flags_of(&c, place) = (VkFlags)number;
        } else if (strcmp(kind, "flags2") == 0) {
            flags_2(&c, number);
        } else if (strcmp(kind, "changing") == 0) {
            changing[dynamic.dynamicStateCount++] = (VkDynamicState)number;
            c.info.pDynamicState = &dynamic;
        } else if (strcmp(kind, "discard") == 0) {
            c.raster.rasterizerDiscardEnable = (VkBool32)number;
        } else if (strcmp(kind, "count") == 0) {
            c.info.stageCount = (uint32_t)number;
        } else if (strcmp(kind, "none") == 0) {
            c.info.pRasterizationState = NULL;
        }
    }
    create(&c);
    done(name, &c);
}

static void probes(const char *path) {
    struct bytes text = {0};
    load(path, &text);
    put(&text, "", 1);
    for (char *line = (char *)text.data, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        probe(line);
    }
    bytes_free(&text);
}

/* -- all together ---------------------------------------------------------------------------------- */

int main(int count, char **words) {
    if (count != 4 && count != 5)
        return 2;
    for (int i = 0; i < 3; i++)
        load(words[i + 1], &codes[i]);
    for (int i = 0; i < DEVICES; i++)
        drivers[i].dispatch = &drivers[i];
    VkInstance instance = open_instance(driver_proc);
    VkDevice first = open_device(instance, driver_proc);
    VkDevice second = open_device(instance, driver_proc);
    device = first;
    if (count == 5) {
        probes(words[4]);
    } else {
        on_the_pipeline();
        on_stages_and_layouts();
        heaps();
        refusals();
        handles();
        two_devices(second);
        shader_objects();
    }
    close_device(first);
    close_device(second);
    close_instance(instance);
    for (int i = 0; i < 3; i++)
        bytes_free(&codes[i]);
    bytes_free(&last);
    return 0;
}
