/* vkCreateShadersEXT: shader objects created with VK_SHADER_CREATE_LINK_STAGE_BIT_EXT in one call
 * are one chain. They must be bound together (VUID-vkCmdDraw, linked shaders), so what they say to
 * each other is nobody else's. Unlinked shader objects meet others at draw time: untouched, and so
 * is what a chain says to one that may follow it.
 */
#include "layer.h"
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

enum { GRAPHICS = 0xdf }; /* of VkShaderStageFlagBits */

static const char ALONE[] = "there is nothing to link: one shader object";

static bool same_layout(const struct shader_info *a, const struct shader_info *b) {
    return a->setLayoutCount == b->setLayoutCount &&
           a->pushConstantRangeCount == b->pushConstantRangeCount &&
           (a->setLayoutCount == 0 || memcmp(a->pSetLayouts, b->pSetLayouts,
                                             a->setLayoutCount * sizeof *a->pSetLayouts) == 0) &&
           (a->pushConstantRangeCount == 0 ||
            memcmp(a->pPushConstantRanges, b->pPushConstantRanges,
                   a->pushConstantRangeCount * sizeof *a->pPushConstantRanges) == 0);
}

/* Whether nothing can be bound that takes from this shader. */
static bool is_last(const struct shader_info *info) {
    return info->stage == VK_SHADER_STAGE_FRAGMENT_BIT || info->nextStage == 0;
}

/* The linked stages of the call as a chain; `at[i]` is the number of stage i among the infos. */
static const char *take_chain(struct device *device, uint32_t count,
                              const struct shader_info *infos, struct chain *chain, uint32_t *at) {
    static const int KNOWN[] = {ON_SHADER};
    const struct shader_info *first = NULL;
    const void *extras[MAX_STAGES];
    bool same = true, heap = false;
    chain->open = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct shader_info *info = &infos[i];
        if (!(info->flags & LINK_STAGE))
            continue;
        bool known = ONLY(info->pNext, KNOWN, "a shader object");
        if (!only_flags(info->flags, SHADER_FLAGS, "a shader object") || !known)
            return "a shader object with a structure or flag that the layer does not know";
        if (info->codeType != SPIRV)
            return "a shader object from a binary";
        if (chain->count == MAX_STAGES)
            return "more stages than the layer knows";
        struct blob *code = blob_code(info->pCode, info->codeSize);
        if (code == NULL)
            return "no memory";
        at[chain->count] = i;
        extras[chain->count] = info->pNext;
        heap = heap || (info->flags & SHADER_IN_HEAP);
        chain->stages[chain->count++] =
            (struct stage){info->stage, info->pName, (const void *)info->pSpecializationInfo, code};
        first = first == NULL ? info : first;
        same = same && same_layout(first, info);
        chain->open = chain->open && !is_last(info);
    }
    if (chain->count < 2 && chain->open)
        return ALONE;
    chain_descriptors(chain, heap, NULL, extras);
    if (same && !heap)
        chain->layout = layout_blob(device, first->setLayoutCount, first->pSetLayouts,
                                    first->pushConstantRangeCount, first->pPushConstantRanges);
    return NULL;
}

static void destroy_all(struct device *device, VkDevice handle, uint32_t count, Shader *shaders,
                        const VkAllocationCallbacks *allocator) {
    for (uint32_t i = 0; i < count; i++) {
        if (shaders[i] != 0)
            device->destroy_shader(handle, shaders[i], allocator);
        shaders[i] = 0;
    }
}

static VkResult create(struct device *device, VkDevice handle, uint32_t count,
                       const struct shader_info *infos, const struct chain *chain,
                       const uint32_t *at, const struct answer *answer, const unsigned char *key,
                       const VkAllocationCallbacks *allocator, Shader *shaders) {
    struct shader_info *changed = calloc(count, sizeof *changed);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (changed != NULL) {
        memcpy(changed, infos, count * sizeof *changed);
        for (uint32_t i = 0; i < chain->count; i++) {
            changed[at[i]].pCode = answer->code[i];
            changed[at[i]].codeSize = answer->size[i];
        }
        memset(shaders, 0, count * sizeof *shaders); /* a driver may leave what comes after */
        result = device->create_shaders(handle, count, changed, allocator, shaders);
        free(changed);
        if (result == VK_SUCCESS) {
            chain_linked(chain, answer);
            return result;
        }
        destroy_all(device, handle, count, shaders, allocator);
    }
    result = device->create_shaders(handle, count, infos, allocator, shaders);
    if (result == VK_SUCCESS)
        chain_refused(device, key);
    log_pipeline(REFUSED, "the driver refused the linked modules");
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL hook_create_shaders(VkDevice handle, uint32_t count,
                                                   const struct shader_info *infos,
                                                   const VkAllocationCallbacks *allocator,
                                                   Shader *shaders) {
    uint64_t begin = now_ns(), ours;
    struct device *device = device_of(handle);
    struct chain chain = {.gpu = device->gpu};
    struct answer *answer = NULL;
    uint32_t at[MAX_STAGES], linked = 0;
    unsigned char key[DIGEST];
    for (uint32_t i = 0; i < count; i++) {
        linked += (infos[i].flags & LINK_STAGE) != 0;
        if (!(infos[i].flags & LINK_STAGE) && (infos[i].stage & GRAPHICS))
            log_pipeline(PARTS, "a shader object that is not linked to others");
    }
    const char *why = linked == 0 ? NULL : take_chain(device, count, infos, &chain, at);
    if (why != NULL)
        log_pipeline(why == ALONE ? PARTS : REFUSED, why);
    else if (linked > 0)
        answer = chain_link(device, &chain, true, key);
    ours = now_ns() - begin;
    VkResult result;
    if (answer != NULL) {
        result = create(device, handle, count, infos, &chain, at, answer, key, allocator, shaders);
        answer_free(answer);
        free(answer);
    } else {
        result = device->create_shaders(handle, count, infos, allocator, shaders);
    }
    chain_free(&chain);
    log_add(NANOSECONDS, ours);
    log_flush();
    return result;
}
