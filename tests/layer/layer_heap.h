/* VK_EXT_descriptor_heap, VK_KHR_pipeline_binary and VK_EXT_pipeline_robustness as an application has
 * them whose headers are newer than ours. Where ours have them, they are compared. */
#ifndef SPVLINK_LAYER_HEAP_H
#define SPVLINK_LAYER_HEAP_H

#include "layer_application.h"

enum { HEAP_SOURCES = 12 }; /* the last one does not exist */

struct sampler_part { /* behind the pointer of a sampler */
    uint32_t combined, heap_offset, push_offset, address_offset, index_stride, array_stride;
};
union heap_source { /* VkDescriptorMappingSourceDataEXT */
    struct { uint32_t heap_offset, array_stride; const void *sampler; uint32_t rest[2]; } constant;
    struct {
        uint32_t heap_offset, push_offset, index_stride, array_stride;
        const void *sampler;
        uint32_t rest[5];
    } push_index;
    struct {
        uint32_t heap_offset, push_offset, address_offset, index_stride, array_stride;
        const void *sampler;
        struct sampler_part rest;
    } index;
    struct {
        uint32_t heap_offset, push_offset, address_offset, index_stride;
        const void *sampler;
        uint32_t rest[5];
    } index_array;
    struct { uint32_t first, second; } two; /* heapData, indirectAddress */
    uint32_t one;                           /* pushDataOffset and its like */
};
struct heap_entry { /* VkDescriptorSetAndBindingMappingEXT */
    VkStructureType sType;
    const void *pNext;
    uint32_t set, first, count;
    VkFlags resources;
    int source;
    union heap_source data;
};
struct heap_mapping { /* VkShaderDescriptorSetAndBindingMappingInfoEXT */
    VkStructureType sType;
    const void *pNext;
    uint32_t count;
    const struct heap_entry *entries;
};
struct stage_robustness { /* VkPipelineRobustnessCreateInfo */
    VkStructureType sType;
    const void *pNext;
    int storage_buffers, uniform_buffers, vertex_inputs, images;
};

#ifdef VK_EXT_descriptor_heap
#define SAME(ours, member, theirs, other)                                                          \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, other), #member)
_Static_assert(sizeof(struct heap_entry) == sizeof(VkDescriptorSetAndBindingMappingEXT), "entry");
_Static_assert(sizeof(struct heap_mapping) ==
                   sizeof(VkShaderDescriptorSetAndBindingMappingInfoEXT), "mapping");
_Static_assert(sizeof(union heap_source) == sizeof(VkDescriptorMappingSourceDataEXT), "data");
SAME(struct heap_entry, resources, VkDescriptorSetAndBindingMappingEXT, resourceMask);
SAME(struct heap_entry, data, VkDescriptorSetAndBindingMappingEXT, sourceData);
SAME(struct heap_mapping, entries, VkShaderDescriptorSetAndBindingMappingInfoEXT, pMappings);
SAME(union heap_source, constant.array_stride, VkDescriptorMappingSourceDataEXT,
     constantOffset.heapArrayStride);
SAME(union heap_source, push_index.array_stride, VkDescriptorMappingSourceDataEXT,
     pushIndex.heapArrayStride);
SAME(union heap_source, index.array_stride, VkDescriptorMappingSourceDataEXT,
     indirectIndex.heapArrayStride);
SAME(union heap_source, index.sampler, VkDescriptorMappingSourceDataEXT,
     indirectIndex.pEmbeddedSampler);
SAME(union heap_source, index_array.index_stride, VkDescriptorMappingSourceDataEXT,
     indirectIndexArray.heapIndexStride);
SAME(union heap_source, two.second, VkDescriptorMappingSourceDataEXT, heapData.pushOffset);
SAME(union heap_source, two.second, VkDescriptorMappingSourceDataEXT,
     indirectAddress.addressOffset);
SAME(struct stage_robustness, uniform_buffers, VkPipelineRobustnessCreateInfo, uniformBuffers);
#endif

/* An entry for set 2, bindings 3 and 4. Numbers before those of a sampler are 8, 16, 24 ...; what is
 * said of a sampler is `other`, and nothing of it may count. */
static struct heap_entry heap_entry(int source, uint32_t other) {
    static const char sampler;
    struct heap_entry entry = {(VkStructureType)1000135005, NULL, 2, 3, 2, 0x20, source, {{0}}};
    union heap_source *data = &entry.data;
    memset(data, 0, sizeof *data);
    switch (source) {
    case 0:
        data->constant.heap_offset = 8, data->constant.array_stride = 16;
        data->constant.sampler = other ? &sampler : NULL, data->constant.rest[1] = other;
        break;
    case 1:
        data->push_index.heap_offset = 8, data->push_index.push_offset = 16;
        data->push_index.index_stride = 24, data->push_index.array_stride = 32;
        data->push_index.rest[0] = other;
        break;
    case 2:
        data->index.heap_offset = 8, data->index.push_offset = 16, data->index.address_offset = 24;
        data->index.index_stride = 32, data->index.array_stride = 40;
        data->index.sampler = other ? &sampler : NULL, data->index.rest.array_stride = other;
        break;
    case 3:
        data->index_array.heap_offset = 8, data->index_array.push_offset = 16;
        data->index_array.address_offset = 24, data->index_array.index_stride = 32;
        data->index_array.rest[4] = other;
        break;
    case 4:
    case 7: data->two.first = 8, data->two.second = 16; break;
    default: data->one = 8;
    }
    return entry;
}

#endif
