/* Layouts as words, and which structures of a pNext are known. */
#include "layer.h"
#include "numbers.h"

bool among(int number, const int *known, size_t count) {
    size_t i = 0;
    while (i < count && number != known[i])
        i++;
    return i < count;
}

bool only(const void *chain, const int *known, size_t count, const char *where) {
    bool all = true;
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext)
        if (!among((int)at->sType, known, count)) {
            log_unknown("sType", (uint64_t)at->sType, where);
            all = false;
        }
    return all;
}

const void *find(const void *chain, int type) {
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext)
        if ((int)at->sType == type)
            return at;
    return NULL;
}

static struct blob *blob_of(struct bytes *words, bool opaque) {
    struct blob *blob = words->failed ? NULL : blob_new(words->data, words->size);
    if (blob != NULL)
        blob->opaque = opaque;
    bytes_free(words);
    return blob;
}

/* count, then (binding, descriptorType, descriptorCount, stageFlags) each */
struct blob *set_layout_blob(const VkDescriptorSetLayoutCreateInfo *info) {
    static const int KNOWN[] = {ON_SET_LAYOUT};
    struct bytes words = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->bindingCount; i++)
        count += info->pBindings[i].descriptorCount > 0; /* 0: no stage may touch it */
    put_u32(&words, count);
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];
        if (binding->descriptorCount == 0)
            continue;
        put_u32(&words, binding->binding);
        put_u32(&words, (uint32_t)binding->descriptorType);
        put_u32(&words, binding->descriptorCount);
        put_u32(&words, binding->stageFlags);
    }
    return blob_of(&words,
                   !ONLY(info->pNext, KNOWN, "a set layout") ||
                       (info->flags & ~(VkFlags)SET_FLAGS));
}

bool known_layout(const VkPipelineLayoutCreateInfo *info) {
    return only(info->pNext, NULL, 0, "a pipeline layout") &&
           !(info->flags & ~(VkFlags)LAYOUT_FLAGS);
}

/* set count, then (set, its blob) each; range count, then (stageFlags, offset, size) each */
struct blob *layout_blob(struct device *device, uint32_t set_count,
                         const VkDescriptorSetLayout *sets, uint32_t range_count,
                         const VkPushConstantRange *ranges) {
    struct bytes words = {0};
    uint32_t known = 0;
    bool opaque = false;
    for (uint32_t i = 0; i < set_count; i++)
        known += sets[i] != VK_NULL_HANDLE; /* null: a set of another pipeline library */
    put_u32(&words, known);
    for (uint32_t i = 0; i < set_count; i++) {
        if (sets[i] == VK_NULL_HANDLE)
            continue;
        struct blob *set = table_find(device->set_layouts, (uint64_t)sets[i]);
        if (set == NULL || set->opaque)
            opaque = true;
        else {
            put_u32(&words, i);
            put(&words, set->data, set->size);
        }
        blob_drop(set);
    }
    put_u32(&words, range_count);
    for (uint32_t i = 0; i < range_count; i++) {
        put_u32(&words, ranges[i].stageFlags);
        put_u32(&words, ranges[i].offset);
        put_u32(&words, ranges[i].size);
    }
    return blob_of(&words, opaque);
}
