/* Pipeline libraries of half the shaders, through the layer's own entry points, over a driver that
 * makes nothing: it remembers which code a library has and what a pipeline is made from, counts
 * what is alive, and refuses on demand.
 *
 * usage: layer_libraries VERT.spv FRAG.spv OTHER.spv, whose linked versions, of the former two, are
 * in the cache; prints a line for every case
 */
#include "layer_application.h"

#include <stdlib.h>

enum { ROOM = 256, LIBRARY = 0x800, VERT = 0, FRAG = 1, OTHER = 2, MOST = 9 };

/* -- the driver ------------------------------------------------------------------------------------ */

static struct { /* by handle */
    unsigned alive; /* destroys that it takes */
    size_t size; /* of its code; 0: made from libraries */
    unsigned count;
    uint64_t made_from[MOST];
} pipelines[ROOM];
static size_t module_sizes[ROOM];
static struct bytes codes[3];
static uint64_t handles, same; /* same: the handle of each library of VERT from now on, if not 0 */
static unsigned refuse;        /* bit n: the call in n calls fails */
static unsigned before;        /* structures before the libraries in the last chain */

static VkResult make_handle(const void *i, const void *a, void **out) {
    static void *dispatch = &dispatch;
    (void)i, (void)a;
    *out = &dispatch;
    return VK_SUCCESS;
}
static VkResult make_device(void *p, const void *i, const void *a, void **out) {
    (void)p;
    return make_handle(i, a, out);
}
static void end(void *d, const void *a) { (void)d, (void)a; }
static VkResult make_module(void *d, const VkShaderModuleCreateInfo *i, const void *a,
                            uint64_t *out) {
    (void)d, (void)a;
    *out = ++handles;
    module_sizes[*out] = i->codeSize;
    return VK_SUCCESS;
}
static void nothing(void *d, uint64_t it, const void *a) { (void)d, (void)it, (void)a; }
static void no_pipeline(void *d, uint64_t it, const void *a) {
    (void)d, (void)a;
    if (it != 0 && pipelines[it].alive-- == 0)
        printf("destroyed twice: %d\n", (int)it);
}

static uint64_t one_pipeline(const VkGraphicsPipelineCreateInfo *info) {
    size_t size = info->stageCount > 0 ? module_sizes[(uint64_t)info->pStages[0].module] : 0;
    uint64_t it = size == codes[VERT].size && same != 0 ? same : ++handles;
    const VkPipelineLibraryCreateInfoKHR *libraries = info->pNext;
    pipelines[it].alive++;
    pipelines[it].size = size;
    for (before = 0; libraries != NULL && libraries->sType != 1000290000; before++)
        libraries = libraries->pNext;
    for (uint32_t i = 0; libraries != NULL && i < libraries->libraryCount; i++)
        pipelines[it].made_from[pipelines[it].count++] = (uint64_t)libraries->pLibraries[i];
    return it;
}
static VkResult make_pipelines(void *d, uint64_t cache, uint32_t count,
                               const VkGraphicsPipelineCreateInfo *infos, const void *a,
                               uint64_t *out) {
    bool fail = refuse & 1;
    (void)d, (void)cache, (void)a;
    refuse >>= 1;
    for (uint32_t i = 0; i < count; i++)
        out[i] = fail && i == 0 ? 0 : one_pipeline(&infos[i]);
    return fail ? VK_ERROR_UNKNOWN : VK_SUCCESS;
}

static PFN_vkVoidFunction driver_proc(void *handle, const char *name) {
    (void)handle;
    static const struct entry ALL[] = {
        {"vkCreateInstance", make_handle}, {"vkDestroyInstance", end},
        {"vkCreateDevice", make_device}, {"vkDestroyDevice", end},
        {"vkCreateShaderModule", make_module}, {"vkDestroyShaderModule", nothing},
        {"vkCreateGraphicsPipelines", make_pipelines}, {"vkDestroyPipeline", no_pipeline},
        {NULL, NULL},
    };
    return named(ALL, name);
}

/* -- the application ------------------------------------------------------------------------------- */

struct parts { /* VkGraphicsPipelineLibraryCreateInfoEXT, and what may depend on it */
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
};

static void describe(int which, VkFlags flags, VkShaderModule module, struct parts *parts,
                     VkPipelineShaderStageCreateInfo *stage, VkGraphicsPipelineCreateInfo *info) {
    *parts = (struct parts){1000320002, NULL, which == VERT ? 2 : 4};
    *stage = (VkPipelineShaderStageCreateInfo){
        18, NULL, 0, which == VERT ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT,
        module, "main", NULL};
    *info = (VkGraphicsPipelineCreateInfo){.sType = 28, .pNext = parts, .flags = LIBRARY | flags,
                                           .stageCount = 1, .pStages = stage};
}

static VkShaderModule module_of(int which) {
    VkShaderModuleCreateInfo code = {16, NULL, 0, codes[which].size, (void *)codes[which].data};
    VkShaderModule module;
    CALL(vkCreateShaderModule)(device, &code, NULL, &module);
    return module;
}

static VkPipeline library(int which, VkFlags flags) {
    struct parts parts;
    VkPipelineShaderStageCreateInfo stage;
    VkGraphicsPipelineCreateInfo info;
    VkPipeline made = VK_NULL_HANDLE;
    VkShaderModule module = module_of(which);
    describe(which, flags, module, &parts, &stage, &info);
    CALL(vkCreateGraphicsPipelines)(device, VK_NULL_HANDLE, 1, &info, NULL, &made);
    CALL(vkDestroyShaderModule)(device, module, NULL);
    return made;
}

/* What the driver was given for the last pipeline, the application's modules as V, F and O. */
static void say(const char *name, VkResult result, VkPipeline it) {
    printf("%s: ", name);
    for (unsigned i = 0; i < pipelines[(uint64_t)it].count; i++) {
        size_t size = pipelines[pipelines[(uint64_t)it].made_from[i]].size;
        int which = 0;
        while (which < 3 && codes[which].size != size)
            which++;
        printf("%s ", size == 0 ? "-" : which < 3 ? (const char *[]){"V", "F", "O"}[which] : "linked");
    }
    printf("%d behind %u\n", (int)result, before);
}

static void join_of(const char *name, const void *more, const void *last, uint32_t count,
                    const VkPipeline *made_from) {
    VkPipelineLibraryCreateInfoKHR libraries = {1000290000, last, count, made_from};
    VkBaseInStructure *end = (VkBaseInStructure *)more;
    VkGraphicsPipelineCreateInfo info = {.sType = 28, .pNext = more != NULL ? more : &libraries};
    VkPipeline made = VK_NULL_HANDLE;
    while (end != NULL && end->pNext != NULL)
        end = (VkBaseInStructure *)end->pNext;
    if (end != NULL)
        end->pNext = (const VkBaseInStructure *)&libraries;
    VkResult result =
        CALL(vkCreateGraphicsPipelines)(device, VK_NULL_HANDLE, 1, &info, NULL, &made);
    say(name, result, made);
    if (end != NULL)
        end->pNext = NULL;
    CALL(vkDestroyPipeline)(device, made, NULL);
}

static unsigned alive(void) {
    unsigned count = 0;
    for (int i = 0; i < ROOM; i++)
        count += pipelines[i].alive > 0;
    return count;
}

static void destroy(VkPipeline it) { CALL(vkDestroyPipeline)(device, it, NULL); }

/* -- cases ----------------------------------------------------------------------------------------- */

static void joins(void) {
    VkPipeline v = library(VERT, 0), f = library(FRAG, 0), o = library(OTHER, 0);
    VkPipeline w = library(VERT, 0);
    VkPipeline pair[] = {v, f}, other[] = {v, o}, two[] = {v, w}, three[] = {v, w, f};
    VkPipeline many[MOST] = {v, f, o, o, o, o, o, o, o};
    uint64_t flags[3] = {1000470005, 0, 0}, room[8] = {1000044002};
    VkBaseInStructure unknown = {(VkStructureType)1999999000, NULL};
    join_of("both halves", NULL, NULL, 2, pair);
    join_of("one half", NULL, NULL, 1, pair);
    join_of("an unknown partner", NULL, NULL, 2, other);
    join_of("two of one side", NULL, NULL, 2, two);
    join_of("three halves", NULL, NULL, 3, three);
    join_of("too many", NULL, NULL, MOST, many);
    memcpy(room, &(VkBaseInStructure){(VkStructureType)1000044002, (void *)flags}, 16);
    join_of("behind others", room, NULL, 2, pair);
    join_of("before something unknown", NULL, &unknown, 2, pair);
    join_of("behind something unknown", &unknown, NULL, 2, pair);
    refuse = 1;
    join_of("refused", NULL, NULL, 2, pair);
    refuse = 3;
    join_of("refused always", NULL, NULL, 2, pair);
    join_of("and again", NULL, NULL, 2, pair);
    printf("alive: %u\n", alive()); /* three linked ones beside four */
    destroy(v), destroy(f), destroy(o), destroy(w);
    destroy(VK_NULL_HANDLE);
    printf("left: %u\n", alive());
}

static void of_libraries(void) {
    VkPipeline pair[] = {library(VERT, 0x4), library(FRAG, 0)};
    join_of("a derivative", NULL, NULL, 2, pair);
    destroy(pair[0]);
    pair[0] = library(VERT, 0x1);
    join_of("not optimized", NULL, NULL, 2, pair);
    destroy(pair[0]);
    refuse = 2; /* the second: the application's own */
    pair[0] = library(VERT, 0);
    printf("the own one is refused: %d, alive: %u\n", pair[0] != 0, alive());
    refuse = 1; /* the first: the linked one */
    pair[0] = library(VERT, 0);
    join_of("the linked one is refused", NULL, NULL, 2, pair);
    destroy(pair[0]);
    pair[0] = library(VERT, 0); /* it is not tried again in this process */
    join_of("after that", NULL, NULL, 2, pair);
    destroy(pair[0]), destroy(pair[1]);
    printf("left by libraries: %u\n", alive());
}

static void in_one_call(void) {
    struct parts parts[2];
    VkPipelineShaderStageCreateInfo stages[2];
    VkGraphicsPipelineCreateInfo infos[2];
    VkPipeline made[2];
    VkShaderModule module[2] = {module_of(VERT), module_of(FRAG)};
    for (int i = 0; i < 2; i++)
        describe(i, 0, module[i], &parts[i], &stages[i], &infos[i]);
    CALL(vkCreateGraphicsPipelines)(device, VK_NULL_HANDLE, 2, infos, NULL, made);
    join_of("made in one call", NULL, NULL, 2, made);
    destroy(made[0]), destroy(made[1]);
    refuse = 4; /* two linked ones, then the call itself: the first of two is refused */
    CALL(vkCreateGraphicsPipelines)(device, VK_NULL_HANDLE, 2, infos, NULL, made);
    printf("one of two is refused: %d %d, alive: %u\n", made[0] != 0, made[1] != 0, alive());
    destroy(made[1]);
    printf("left by calls: %u\n", alive());
}

/* A driver may give one handle for equal libraries, and take as many destroys. */
static void one_handle(void) {
    VkPipeline f = library(FRAG, 0);
    VkPipeline v[2];
    same = ROOM - 1;
    for (int i = 0; i < 2; i++)
        v[i] = library(VERT, 0);
    printf("one handle: %d\n", v[0] == v[1]);
    VkPipeline pair[] = {v[0], f};
    destroy(v[1]);
    join_of("after one of two destroys", NULL, NULL, 2, pair);
    same = 0;
    destroy(v[0]), destroy(f);
    printf("left by one handle: %u\n", alive());
}

int main(int count, char **words) {
    if (count != 4)
        return 2;
    for (int i = 0; i < 3; i++)
        load(words[i + 1], &codes[i]);
    VkInstance instance = open_instance(driver_proc);
    device = open_device(instance, driver_proc);
    joins();
    in_one_call();
    one_handle();
    of_libraries();
    close_device(device);
    close_instance(instance);
    for (int i = 0; i < 3; i++)
        bytes_free(&codes[i]);
    return 0;
}
