/* Where the descriptors of a chain come from, as words: behind the layout in the facts.
 *
 * A pipeline that uses descriptor heaps has no layout; each stage has a mapping, which says for a set
 * and binding which bytes of a heap, of push data or of memory stand behind it. The linker reads a
 * resource in another stage only where both map it alike. Only uniform buffers cross, so that is all
 * that is written of a mapping, and the members about samplers are left out.
 * spvlink/archive/mappings.py writes the same of a recorded pipeline.
 */
#include "pipelines.h"

#define UNKNOWN 0xffffffffu /* where it comes from is not known */
#define MOST_DATA 5

struct words { /* VkDescriptorMappingSourceDataEXT, as far as it is not about samplers */
    uint32_t at[MOST_DATA];
};
struct entry { /* VkDescriptorSetAndBindingMappingEXT */
    VkBaseInStructure head;
    uint32_t set, first, count;
    VkFlags resources;
    uint32_t source;
    union {
        struct words words;
        struct { /* the biggest of them: VkDescriptorMappingSourceIndirectIndexEXT */
            uint32_t before[5];
            const void *sampler;
            uint32_t behind[6];
        } whole;
    } data;
};
/* How many numbers a source has before those of samplers; 0: the source is not known. */
static uint32_t size_of(uint32_t source) {
    switch (source) {
    case FROM_PUSH_DATA:
    case FROM_PUSH_ADDRESS: return 1;
    case FROM_CONSTANT:
    case FROM_HEAP_DATA:
    case FROM_ADDRESS: return 2;
    case FROM_PUSH_INDEX:
    case FROM_INDEX_ARRAY: return 4;
    case FROM_INDEX: return 5;
    default: return 0;
    }
}

static const struct entry *entries_of(const struct mapping *mapping) { return mapping->entries; }

static bool is_buffer(const struct mapping *mapping, uint32_t n) {
    return entries_of(mapping)[n].resources & UNIFORM_BUFFERS;
}

/* stage, set, first binding, count, source, how many numbers, the numbers */
static void put_entry(struct bytes *words, VkFlags stage, const struct entry *entry) {
    uint32_t size = entry->head.pNext != NULL ? 0 : size_of(entry->source);
    put_u32(words, stage);
    put_u32(words, entry->set);
    put_u32(words, entry->first);
    put_u32(words, entry->count);
    put_u32(words, size == 0 ? UNKNOWN : entry->source);
    put_u32(words, size);
    put(words, entry->data.words.at, size * sizeof(uint32_t));
}

static uint32_t robustness(const void *chain, uint32_t otherwise) {
    const struct robustness *own = find(chain, ROBUSTNESS);
    return own != NULL ? own->uniform_buffers : otherwise;
}

/* Whether descriptors come from heaps; count, then an entry each; count, then (stage, what a uniform
 * buffer gives beyond its end) each, or nothing if the stages agree. */
void chain_descriptors(struct chain *chain, bool heap, const void *pipeline,
                       const void *const *stages) {
    struct bytes *words = &chain->descriptors;
    uint32_t count = 0, behind = robustness(pipeline, 0), some = 0;
    bool differ = false;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct mapping *mapping = find(stages[i], HEAP_MAPPING);
        uint32_t own = robustness(stages[i], behind);
        for (uint32_t n = 0; mapping != NULL && n < mapping->count; n++)
            count += is_buffer(mapping, n);
        some = i == 0 ? own : some;
        differ = differ || own != some;
    }
    put_u32(words, heap);
    put_u32(words, count);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct mapping *mapping = find(stages[i], HEAP_MAPPING);
        for (uint32_t n = 0; mapping != NULL && n < mapping->count; n++)
            if (is_buffer(mapping, n))
                put_entry(words, chain->stages[i].bit, &entries_of(mapping)[n]);
    }
    put_u32(words, differ ? chain->count : 0);
    for (uint32_t i = 0; differ && i < chain->count; i++) {
        put_u32(words, chain->stages[i].bit);
        put_u32(words, robustness(stages[i], behind));
    }
}
