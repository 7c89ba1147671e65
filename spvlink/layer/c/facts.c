/* What the layer knows of a pipeline, as words: the key of the cache and the head of a request.
 *
 * Everything that the linked modules depend on is in here and nothing else is. Python reads it in
 * spvlink/layer/wire.py, which has the layout of the words too; change both, and FORMAT.
 */
#include "layer.h"
#include "numbers.h"

#include <string.h>

#define FORMAT 4
#define REQUEST 0x524c5053u /* "SPLR" */

/* -- layouts -------------------------------------------------------------------------------------- */

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

/* -- chains --------------------------------------------------------------------------------------- */

/* count, then (constantID, size, 8 bytes) each; what is no scalar is left to the driver */
static void put_specialization(struct bytes *facts, const VkSpecializationInfo *spec) {
    uint32_t count = 0, entries = spec == NULL ? 0 : spec->mapEntryCount;
    for (uint32_t i = 0; i < entries; i++)
        count += spec->pMapEntries[i].size <= 8;
    put_u32(facts, count);
    for (uint32_t i = 0; i < entries; i++) {
        const VkSpecializationMapEntry *entry = &spec->pMapEntries[i];
        unsigned char value[8] = {0};
        if (entry->size > sizeof value)
            continue;
        if (entry->size > 0)
            memcpy(value, (const char *)spec->pData + entry->offset, entry->size);
        put_u32(facts, entry->constantID);
        put_u32(facts, (uint32_t)entry->size);
        put(facts, value, sizeof value);
    }
}

bool chain_facts(const struct chain *chain, struct bytes *facts, unsigned char key[DIGEST]) {
    put_u32(facts, FORMAT);
    put(facts, settings()->identity, sizeof settings()->identity);
    put_u32(facts, settings()->exact);
    put_u32(facts, chain->half ? 2 : chain->open);
    put_u32(facts, chain->count);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stages[i];
        size_t length = strlen(stage->entry);
        put_u32(facts, (uint32_t)stage->bit);
        put_u32(facts, (uint32_t)length);
        put_padded(facts, stage->entry, length);
        put_specialization(facts, stage->spec);
        put_u32(facts, (uint32_t)stage->code->size);
        put(facts, stage->code->digest, DIGEST);
    }
    put_u32(facts, chain->layout != NULL);
    if (chain->layout != NULL)
        put(facts, chain->layout->data, chain->layout->size);
    put(facts, chain->descriptors.data, chain->descriptors.size);
    facts->failed |= chain->descriptors.failed;
    if (facts->failed)
        return false;
    blake2b(facts->data, facts->size, key, DIGEST);
    return true;
}

/* magic, bytes behind these two words, bytes of the facts, facts, the modules */
bool chain_request(const struct chain *chain, const struct bytes *facts, struct bytes *request) {
    size_t size = 4 + facts->size;
    for (uint32_t i = 0; i < chain->count; i++)
        size += chain->stages[i].code->size;
    if (size > MAX_FILE)
        return false;
    put_u32(request, REQUEST);
    put_u32(request, (uint32_t)size);
    put_u32(request, (uint32_t)facts->size);
    put(request, facts->data, facts->size);
    for (uint32_t i = 0; i < chain->count; i++)
        put(request, chain->stages[i].code->data, chain->stages[i].code->size);
    return !request->failed;
}

void chain_free(struct chain *chain) {
    for (uint32_t i = 0; i < chain->count; i++)
        blob_drop(chain->stages[i].code);
    blob_drop(chain->layout);
    bytes_free(&chain->descriptors);
    *chain = (struct chain){0};
}
