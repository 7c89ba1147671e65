/* Pipeline libraries that hold one half of the shaders: those before rasterization, or the fragment
 * shader. `spvlink layer warm` has linked those that were recorded, each by itself against the
 * frozen interface of all that it meets (spvlink/layer/libraries.py).
 *
 * The application's handle stays that of its own library. The linked one is kept beside it, for as
 * long. A pipeline is made from the linked ones if both halves are there and both were linked
 * against one interface: then they fit, whether or not they met when it was recorded. In any other
 * case it is made from the application's own, as without the layer. So no library has to know what
 * it will be joined with.
 */
#include "pipelines.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LIBRARIES 8
#define MOST_BEFORE 4 /* structures of a pNext before the one that names the libraries */

/* The data of a blob in device->halves. */
struct half {
    VkPipeline linked;
    VkFlags part;
    unsigned char interface[INTERFACE];
};

/* -- one library ----------------------------------------------------------------------------------- */

static bool is_half(const VkGraphicsPipelineCreateInfo *info) {
    VkFlags part = shader_parts(info) & SHADER_PARTS;
    return (creation_flags(info) & IS_LIBRARY) && part != 0 && part != SHADER_PARTS &&
           info->stageCount > 0 && find(info->pNext, LIBRARIES) == NULL;
}

/* A fragment shader has no rasterization state: it is that of the other half. */
static bool fit(const VkGraphicsPipelineCreateInfo *info) {
    bool fragment = info->pStages[0].stage == VK_SHADER_STAGE_FRAGMENT_BIT;
    return unfit_pipeline(info) == NULL && (fragment || unfit_state(info) == NULL) &&
           !(creation_flags(info) & DERIVATIVE); /* of another pipeline of the same call, maybe */
}

/* With its linked modules, if it was recorded. `interface` is what it is linked against. */
static VkPipeline half_create(struct device *device, VkDevice handle, VkPipelineCache cache,
                              const VkGraphicsPipelineCreateInfo *info, unsigned char *interface) {
    VkPipeline linked = VK_NULL_HANDLE;
    struct change *change = is_half(info) && fit(info) ? calloc(1, sizeof *change) : NULL;
    if (change == NULL)
        return linked;
    change->chain.half = true;
    if (take_stages(device, info, change) == NULL) {
        take_state(device, info, &change->chain);
        change->answer = chain_frozen(device, &change->chain, change->key);
    }
    if (change->answer != NULL) {
        VkGraphicsPipelineCreateInfo other = *info;
        other.pStages = change->stages;
        if (!make_stages(device, handle, change, info) ||
            device->create_pipelines(handle, cache, 1, &other, NULL, &linked) != VK_SUCCESS) {
            linked = VK_NULL_HANDLE;
            if (!(creation_flags(info) & FAIL_ON_COMPILE))
                chain_refused(device, change->key);
        }
        memcpy(interface, change->answer->reason, INTERFACE);
    }
    change_free(device, handle, change);
    return linked;
}

static void half_keep(struct device *device, VkDevice handle,
                      const VkGraphicsPipelineCreateInfo *info, VkPipeline library,
                      VkPipeline linked, const unsigned char *interface) {
    struct half half = {.linked = linked, .part = shader_parts(info)};
    struct blob *old = table_find(device->halves, (uint64_t)library);
    memcpy(half.interface, interface, INTERFACE);
    if (old != NULL) { /* a driver may give one handle for equal libraries */
        device->destroy_pipeline(handle, linked, NULL);
        memcpy(&half.linked, old->data, sizeof half.linked);
        blob_drop(old);
    }
    struct blob *blob = blob_new(&half, sizeof half);
    if (blob == NULL && old == NULL)
        device->destroy_pipeline(handle, linked, NULL);
    table_put(device->halves, (uint64_t)library, blob);
    log_add(FROZEN, 1);
    log_line("frozen: a library is kept in two versions, the linked one for interface %.8s",
             (const char *)interface);
}

VKAPI_ATTR void VKAPI_CALL hook_destroy_pipeline(VkDevice handle, VkPipeline pipeline,
                                                 const VkAllocationCallbacks *allocator) {
    struct device *device = device_of(handle);
    struct blob *blob = NULL;
    if (pipeline != VK_NULL_HANDLE) /* first: the driver may give the handle to another thread */
        blob = table_take(device->halves, (uint64_t)pipeline);
    if (blob != NULL) {
        struct half half;
        memcpy(&half, blob->data, sizeof half);
        device->destroy_pipeline(handle, half.linked, NULL);
        blob_drop(blob);
    }
    device->destroy_pipeline(handle, pipeline, allocator);
}

/* -- made from libraries --------------------------------------------------------------------------- */

struct feedback { /* VkPipelineCreationFeedbackCreateInfo */
    VkBaseInStructure head;
    void *pipeline;
    uint32_t count;
    void *stages;
};
union known { /* what may stand before the structure that names the libraries */
    VkBaseInStructure head;
    struct robustness robustness;
    struct binaries binaries;
    struct rendering rendering;
    struct feedback feedback;
    struct flags_2 flags;
    struct library_parts parts;
};

/* What a pipeline is made from in place of the application's libraries. */
struct join {
    const VkBaseInStructure *chain;
    VkPipelineLibraryCreateInfoKHR libraries;
    VkPipeline made_from[MOST_LIBRARIES];
    union known before[MOST_BEFORE];
};

static size_t size_of(int type) {
    switch (type) {
    case RENDERING: return sizeof(struct rendering);
    case FEEDBACK: return sizeof(struct feedback);
    case FLAGS_2: return sizeof(struct flags_2);
    case LIBRARY_PARTS: return sizeof(struct library_parts);
    case ROBUSTNESS: return sizeof(struct robustness);
    case BINARIES: return sizeof(struct binaries);
    default: return 0;
    }
}

/* The chain again up to the libraries, with ours in their place. */
static bool copy_chain(struct join *join, const void *chain) {
    const VkBaseInStructure **link = &join->chain;
    uint32_t count = 0;
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext) {
        if ((int)at->sType == LIBRARIES) {
            memcpy(&join->libraries, at, sizeof join->libraries);
            join->libraries.pLibraries = join->made_from;
            *link = (const VkBaseInStructure *)&join->libraries;
            return true;
        }
        size_t size = size_of((int)at->sType);
        if (size == 0 || count == MOST_BEFORE)
            return false;
        union known *copy = &join->before[count++];
        memcpy(copy, at, size);
        *link = &copy->head;
        link = &copy->head.pNext;
    }
    return false;
}

/* Both halves of one interface, and the rest as it is. `some`: whether one has a linked version. */
static bool swap(struct device *device, struct join *join,
                 const VkPipelineLibraryCreateInfoKHR *given, bool *some) {
    struct half halves[2];
    uint32_t count = 0;
    bool fits = given->libraryCount <= MOST_LIBRARIES;
    for (uint32_t i = 0; i < given->libraryCount; i++) {
        struct blob *blob = table_find(device->halves, (uint64_t)given->pLibraries[i]);
        if (fits)
            join->made_from[i] = given->pLibraries[i];
        if (blob == NULL)
            continue;
        *some = true;
        fits = fits && !blob->opaque && count < 2;
        if (fits) {
            memcpy(&halves[count], blob->data, sizeof *halves);
            join->made_from[i] = halves[count++].linked;
        }
        blob_drop(blob);
    }
    return fits && count == 2 && halves[0].part != halves[1].part &&
           memcmp(halves[0].interface, halves[1].interface, INTERFACE) == 0;
}

static struct join *join_new(struct device *device, const VkGraphicsPipelineCreateInfo *info) {
    const VkPipelineLibraryCreateInfoKHR *given = find(info->pNext, LIBRARIES);
    struct join *join = given == NULL || given->libraryCount == 0 ? NULL : calloc(1, sizeof *join);
    bool some = false;
    if (join == NULL)
        return NULL;
    if (swap(device, join, given, &some) && unfit_pipeline(info) == NULL &&
        copy_chain(join, info->pNext))
        return join;
    free(join);
    if (some) {
        log_add(JOINED_AS_IT_WAS, 1);
        log_line("joined as it was: a half of another interface, or of none");
    }
    return NULL;
}

/* -- a call ---------------------------------------------------------------------------------------- */

struct aside { /* of each pipeline */
    VkPipeline linked;
    unsigned char interface[INTERFACE];
    struct join *join;
};

struct aside *libraries_begin(struct device *device, VkDevice handle, VkPipelineCache cache,
                              uint32_t count, const VkGraphicsPipelineCreateInfo *infos,
                              VkGraphicsPipelineCreateInfo *changed, bool *any) {
    struct aside *aside = calloc(count, sizeof *aside);
    for (uint32_t i = 0; aside != NULL && i < count; i++) {
        /* before the application's own: what a driver tells of its creation is of that one */
        aside[i].linked = half_create(device, handle, cache, &infos[i], aside[i].interface);
        aside[i].join = join_new(device, &infos[i]);
        if (aside[i].join != NULL) {
            changed[i].pNext = aside[i].join->chain;
            *any = true;
        }
    }
    return aside;
}

void libraries_end(struct device *device, VkDevice handle, struct aside *aside, uint32_t count,
                   const VkGraphicsPipelineCreateInfo *infos, const VkPipeline *pipelines,
                   bool as_changed) {
    for (uint32_t i = 0; aside != NULL && i < count; i++) {
        if (aside[i].linked != VK_NULL_HANDLE && pipelines[i] != VK_NULL_HANDLE)
            half_keep(device, handle, &infos[i], pipelines[i], aside[i].linked,
                      aside[i].interface);
        else if (aside[i].linked != VK_NULL_HANDLE)
            device->destroy_pipeline(handle, aside[i].linked, NULL);
        if (aside[i].join != NULL)
            log_add(as_changed ? JOINED : JOINED_AS_IT_WAS, 1);
        free(aside[i].join);
    }
    free(aside);
}
