/* vkCreateGraphicsPipelines: which pipelines may be linked, and creating them so or as they were.
 *
 * A pipeline is linked if all of its stages are in one VkGraphicsPipelineCreateInfo, given as
 * modules that we saw or inline, and if nothing depends on it that we do not know. If there is no
 * fragment shader among them, then there is none, and nobody reads what the last stage writes.
 * Parts of pipelines (libraries of one stage) are shared, and pipelines made from libraries have no
 * stages.
 */
#include "pipelines.h"

#include <stdlib.h>
#include <string.h>

/* Whether others may be joined to its stages, that are not known. */
static const char *part_of_others(const VkGraphicsPipelineCreateInfo *info) {
    if (shader_parts(info) != SHADER_PARTS)
        return from_libraries(info) ? "stages that are joined with pipeline libraries"
                                    : "a pipeline library that does not hold all stages";
    return from_libraries(info) ? "made from pipeline libraries" : NULL;
}

/* -- one pipeline ---------------------------------------------------------------------------------- */

/* What is to be linked. NULL: the pipeline goes on as it is, and that has been counted. */
static struct change *change_of(struct device *device, VkDevice handle,
                                const VkGraphicsPipelineCreateInfo *info) {
    if (shader_parts(info) == 0 || info->stageCount == 0) {
        log_add(WITHOUT_SHADERS, 1);
        return NULL;
    }
    const char *part = part_of_others(info), *why = part != NULL ? part : unfit_pipeline(info);
    why = why != NULL ? why : unfit_state(info);
    struct change *change = why != NULL ? NULL : calloc(1, sizeof *change);
    if (change == NULL) {
        log_pipeline(part != NULL ? PARTS : REFUSED, why != NULL ? why : "no memory");
        return NULL;
    }
    why = take_stages(device, info, change);
    if (why == NULL)
        return change;
    log_pipeline(REFUSED, why);
    change_free(device, handle, change);
    return NULL;
}

/* With its linked modules, or NULL as above. */
static struct change *linked(struct device *device, VkDevice handle, struct change *change,
                             const VkGraphicsPipelineCreateInfo *info) {
    /* who forbids the driver to compile has no time for us either */
    bool may_wait = !(creation_flags(info) & FAIL_ON_COMPILE);
    change->answer = chain_link(device, &change->chain, may_wait, change->key);
    if (change->answer != NULL && make_stages(device, handle, change, info))
        return change;
    if (change->answer != NULL) {
        chain_refused(device, change->key);
        log_pipeline(REFUSED, "the driver refused the linked modules");
    }
    change_free(device, handle, change);
    return NULL;
}

/* All that are missing are asked for before the first is waited for. */
static void ask_for_all(struct device *device, struct change **changes, uint32_t count) {
    uint32_t many = 0;
    for (uint32_t i = 0; i < count; i++)
        many += changes[i] != NULL;
    for (uint32_t i = 0; many > 1 && i < count; i++)
        if (changes[i] != NULL)
            chain_foresee(device, &changes[i]->chain);
}

/* -- the hook -------------------------------------------------------------------------------------- */

/* The driver said no. Was it because of us? Everything again, as if the layer were not there. */
static VkResult create_again(struct device *device, VkDevice handle, VkPipelineCache cache,
                             uint32_t count, const VkGraphicsPipelineCreateInfo *infos,
                             const VkAllocationCallbacks *allocator, VkPipeline *pipelines) {
    for (uint32_t i = 0; i < count; i++) {
        if (pipelines[i] != VK_NULL_HANDLE)
            device->destroy_pipeline(handle, pipelines[i], allocator);
        pipelines[i] = VK_NULL_HANDLE;
    }
    return device->create_pipelines(handle, cache, count, infos, allocator, pipelines);
}

static void count_linked(struct change **changes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (changes[i] != NULL)
            chain_linked(&changes[i]->chain, changes[i]->answer);
}

/* `first` are the pipelines of linked modules, `second` those of the original ones. */
static void count_refused(struct device *device, struct change **changes, uint32_t count,
                          VkResult result, const VkPipeline *first, const VkPipeline *second) {
    for (uint32_t i = 0; i < count; i++) {
        if (changes[i] == NULL)
            continue;
        const char *why = "created again as it was, since another of the same call failed";
        enum counter outcome = REFUSED;
        if (result == VK_PIPELINE_COMPILE_REQUIRED_EXT) {
            why = "the application wants nothing compiled, and the linked one is not";
            outcome = NOT_IN_TIME;
        } else if (first[i] == VK_NULL_HANDLE && second[i] != VK_NULL_HANDLE) {
            chain_refused(device, changes[i]->key);
            why = "the driver refused the linked modules";
        } else if (first[i] == VK_NULL_HANDLE) {
            why = "the driver refused it, linked and as it was";
        }
        log_pipeline(outcome, why);
    }
}

/* Pipelines of one call, some of them changed; `as_changed`: whether they are made so. */
static VkResult create(struct device *device, VkDevice handle, VkPipelineCache cache,
                       uint32_t count, const VkGraphicsPipelineCreateInfo *infos,
                       const VkGraphicsPipelineCreateInfo *changed, struct change **changes,
                       const VkAllocationCallbacks *allocator, VkPipeline *pipelines,
                       bool *as_changed) {
    VkResult result =
        device->create_pipelines(handle, cache, count, changed, allocator, pipelines);
    *as_changed = result == VK_SUCCESS;
    if (*as_changed) {
        count_linked(changes, count);
        return result;
    }
    VkPipeline *first = calloc(count, sizeof *first);
    if (first != NULL)
        memcpy(first, pipelines, count * sizeof *first);
    VkResult again =
        create_again(device, handle, cache, count, infos, allocator, pipelines);
    count_refused(device, changes, count, result, first != NULL ? first : pipelines, pipelines);
    free(first);
    return again;
}

VKAPI_ATTR VkResult VKAPI_CALL hook_create_pipelines(VkDevice handle, VkPipelineCache cache,
                                                     uint32_t count,
                                                     const VkGraphicsPipelineCreateInfo *infos,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkPipeline *pipelines) {
    uint64_t begin = now_ns(), ours;
    struct device *device = device_of(handle);
    struct change **changes = calloc(count, sizeof *changes);
    VkGraphicsPipelineCreateInfo *changed = calloc(count, sizeof *changed);
    bool any = false, as_changed = false;
    memset(pipelines, 0, count * sizeof *pipelines); /* what a failure leaves there is looked at */
    bool room = changes != NULL && changed != NULL;
    for (uint32_t i = 0; room && i < count; i++) {
        changed[i] = infos[i];
        changes[i] = change_of(device, handle, &infos[i]);
    }
    if (room)
        ask_for_all(device, changes, count);
    struct aside *aside =
        room ? libraries_begin(device, handle, cache, count, infos, changed, &any) : NULL;
    for (uint32_t i = 0; room && i < count; i++) {
        if (changes[i] != NULL)
            changes[i] = linked(device, handle, changes[i], &infos[i]);
        if (changes[i] != NULL) {
            changed[i].pStages = changes[i]->stages;
            any = true;
        }
    }
    ours = now_ns() - begin;
    VkResult result =
        any ? create(device, handle, cache, count, infos, changed, changes, allocator, pipelines,
                     &as_changed)
            : device->create_pipelines(handle, cache, count, infos, allocator, pipelines);
    begin = now_ns();
    libraries_end(device, handle, aside, count, infos, pipelines, as_changed);
    for (uint32_t i = 0; any && i < count; i++)
        if (changes[i] != NULL)
            change_free(device, handle, changes[i]);
    free(changed);
    free(changes);
    log_add(NANOSECONDS, ours + now_ns() - begin);
    log_flush();
    return result;
}
