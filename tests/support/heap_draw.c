/* Draws two shaders whose uniform buffers come from a descriptor heap, on a real driver.
 *
 * usage: heap_draw VERT.spv FRAG.spv OUT MODE; writes 32 * 32 pixels of four floats to OUT. Exits 77
 * where no device has descriptor heaps. The vertex shader makes a triangle over all of it from
 * gl_VertexIndex. Buffers A and B of 256 bytes lie in the resource heap at the indices 0 and 1, and
 * their addresses in push data at the bytes 0 and 8. Set 0, binding 0 is, by MODE:
 *
 *     alike        A in both stages, by a constant offset into the heap
 *     apart        A in the vertex shader, B in the fragment shader
 *     push         A in both stages, by its address in push data
 *     push-apart   A and B, by their addresses
 *     inline       as alike, and modules are given inline
 *     direct       nothing is mapped: the modules use the heap themselves
 */
#include <vulkan/vulkan.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, BYTES = 256, HEAP = 1 << 20 };

static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkPhysicalDeviceDescriptorHeapPropertiesEXT limits = {
    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_HEAP_PROPERTIES_EXT};

#define CHECK(call)                                                                                \
    do {                                                                                           \
        VkResult result_ = (call);                                                                 \
        if (result_ != VK_SUCCESS) {                                                               \
            fprintf(stderr, "%s: %d\n", #call, result_);                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define PROC(name) ((PFN_##name)(void *)vkGetDeviceProcAddr(device, #name))

static void open_device(void) {
    VkApplicationInfo app = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_4};
    VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkInstance instance;
    CHECK(vkCreateInstance(&info, NULL, &instance));
    VkPhysicalDevice all[8];
    uint32_t count = 8;
    vkEnumeratePhysicalDevices(instance, &count, all);
    for (uint32_t i = 0; i < count && physical == NULL; i++) {
        static VkExtensionProperties names[1000];
        uint32_t many = 1000;
        vkEnumerateDeviceExtensionProperties(all[i], NULL, &many, names);
        for (uint32_t n = 0; n < many; n++)
            if (strcmp(names[n].extensionName, VK_EXT_DESCRIPTOR_HEAP_EXTENSION_NAME) == 0)
                physical = all[i];
    }
    if (physical == NULL)
        exit(77);
    VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              &limits};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    const char *extensions[] = {VK_EXT_DESCRIPTOR_HEAP_EXTENSION_NAME,
                                VK_KHR_SHADER_UNTYPED_POINTERS_EXTENSION_NAME};
    VkPhysicalDeviceShaderUntypedPointersFeaturesKHR untyped = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_UNTYPED_POINTERS_FEATURES_KHR, NULL, VK_TRUE};
    VkPhysicalDeviceDescriptorHeapFeaturesEXT heap = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_HEAP_FEATURES_EXT, &untyped, VK_TRUE, VK_FALSE};
    VkPhysicalDeviceVulkan14Features four = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_4_FEATURES, &heap, .maintenance5 = VK_TRUE};
    VkPhysicalDeviceVulkan13Features three = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &four, .dynamicRendering = VK_TRUE};
    VkPhysicalDeviceVulkan12Features two = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &three,
        .bufferDeviceAddress = VK_TRUE};
    float priority = 1;
    VkDeviceQueueCreateInfo wanted = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1,
                                      .pQueuePriorities = &priority};
    VkDeviceCreateInfo made = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &two,
                               .queueCreateInfoCount = 1, .pQueueCreateInfos = &wanted,
                               .enabledExtensionCount = 2, .ppEnabledExtensionNames = extensions};
    CHECK(vkCreateDevice(physical, &made, NULL, &device));
    vkGetDeviceQueue(device, 0, 0, &queue);
}

static VkDeviceMemory memory(VkMemoryRequirements needs) {
    VkPhysicalDeviceMemoryProperties kinds;
    VkFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t kind = 0;
    vkGetPhysicalDeviceMemoryProperties(physical, &kinds);
    while (!(needs.memoryTypeBits & 1u << kind) ||
           (kinds.memoryTypes[kind].propertyFlags & wanted) != wanted)
        kind++;
    VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, NULL,
                                       VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
    VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags, needs.size, kind};
    VkDeviceMemory made;
    CHECK(vkAllocateMemory(device, &info, NULL, &made));
    return made;
}

struct buffer {
    VkBuffer handle;
    VkDeviceAddress address;
    void *data;
};

static struct buffer buffer(VkDeviceSize size, VkBufferUsageFlags2 usage) {
    VkBufferUsageFlags2CreateInfo wide = {VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO, NULL,
                                          usage | VK_BUFFER_USAGE_2_SHADER_DEVICE_ADDRESS_BIT};
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &wide, .size = size};
    struct buffer made;
    VkMemoryRequirements needs;
    CHECK(vkCreateBuffer(device, &info, NULL, &made.handle));
    vkGetBufferMemoryRequirements(device, made.handle, &needs);
    VkDeviceMemory behind = memory(needs);
    CHECK(vkBindBufferMemory(device, made.handle, behind, 0));
    CHECK(vkMapMemory(device, behind, 0, VK_WHOLE_SIZE, 0, &made.data));
    VkBufferDeviceAddressInfo at = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, NULL,
                                    made.handle};
    made.address = vkGetBufferDeviceAddress(device, &at);
    return made;
}

static VkShaderModuleCreateInfo read_code(const char *path) {
    FILE *file = fopen(path, "rb");
    uint32_t *code = malloc(1 << 20);
    size_t size = file == NULL ? 0 : fread(code, 1, 1 << 20, file);
    if (size < 20)
        exit(2);
    fclose(file);
    return (VkShaderModuleCreateInfo){VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, NULL, 0, size,
                                      code};
}

static VkPipeline pipeline(char **paths, const char *mode) {
    VkPipelineShaderStageCreateInfo stages[2];
    VkShaderModuleCreateInfo codes[2];
    VkDescriptorSetAndBindingMappingEXT entries[2];
    VkShaderDescriptorSetAndBindingMappingInfoEXT mappings[2];
    bool apart = strstr(mode, "apart") != NULL, push = strstr(mode, "push") != NULL;
    for (int i = 0; i < 2; i++) {
        entries[i] = (VkDescriptorSetAndBindingMappingEXT){
            VK_STRUCTURE_TYPE_DESCRIPTOR_SET_AND_BINDING_MAPPING_EXT, .bindingCount = 1,
            .resourceMask = VK_SPIRV_RESOURCE_TYPE_UNIFORM_BUFFER_BIT_EXT};
        if (push) {
            entries[i].source = VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_ADDRESS_EXT;
            entries[i].sourceData.pushAddressOffset = apart ? 8 * (uint32_t)i : 0;
        } else {
            entries[i].source = VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_CONSTANT_OFFSET_EXT;
            entries[i].sourceData.constantOffset.heapOffset =
                apart && i == 1 ? (uint32_t)limits.bufferDescriptorSize : 0;
        }
        mappings[i] = (VkShaderDescriptorSetAndBindingMappingInfoEXT){
            VK_STRUCTURE_TYPE_SHADER_DESCRIPTOR_SET_AND_BINDING_MAPPING_INFO_EXT, NULL, 1,
            &entries[i]};
        codes[i] = read_code(paths[i]);
        stages[i] = (VkPipelineShaderStageCreateInfo){
            VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            strcmp(mode, "direct") == 0 ? NULL : &mappings[i], 0,
            i == 0 ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT, VK_NULL_HANDLE,
            "main", NULL};
        if (strcmp(mode, "inline") == 0) {
            codes[i].pNext = stages[i].pNext;
            stages[i].pNext = &codes[i];
        } else {
            CHECK(vkCreateShaderModule(device, &codes[i], NULL, &stages[i].module));
        }
    }
    VkFormat format = VK_FORMAT_R32G32B32A32_SFLOAT;
    VkPipelineCreateFlags2CreateInfo wide = {
        VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO, NULL,
        VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT};
    VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                               &wide, .colorAttachmentCount = 1,
                                               .pColorAttachmentFormats = &format};
    VkPipelineVertexInputStateCreateInfo input = {
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkViewport viewport = {0, 0, SIDE, SIDE, 0, 1};
    VkRect2D scissor = {{0, 0}, {SIDE, SIDE}};
    VkPipelineViewportStateCreateInfo views = {VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                               NULL, 0, 1, &viewport, 1, &scissor};
    VkPipelineRasterizationStateCreateInfo raster = {
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo samples = {
        VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO, .rasterizationSamples = 1};
    VkPipelineColorBlendAttachmentState all = {.colorWriteMask = 15};
    VkPipelineColorBlendStateCreateInfo blend = {
        VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, .attachmentCount = 1,
        .pAttachments = &all};
    VkGraphicsPipelineCreateInfo info = {
        VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering, 0, 2, stages, &input,
        &assembly, NULL, &views, &raster, &samples, NULL, &blend, .basePipelineIndex = -1};
    VkPipeline made;
    CHECK(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &made));
    return made;
}

static VkImage image(VkImageView *view) {
    VkImageCreateInfo info = {
        VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, NULL, 0, VK_IMAGE_TYPE_2D,
        VK_FORMAT_R32G32B32A32_SFLOAT, {SIDE, SIDE, 1}, 1, 1, 1, VK_IMAGE_TILING_OPTIMAL,
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkImage made;
    VkMemoryRequirements needs;
    CHECK(vkCreateImage(device, &info, NULL, &made));
    vkGetImageMemoryRequirements(device, made, &needs);
    CHECK(vkBindImageMemory(device, made, memory(needs), 0));
    VkImageViewCreateInfo look = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, NULL, 0, made,
                                  VK_IMAGE_VIEW_TYPE_2D, VK_FORMAT_R32G32B32A32_SFLOAT, {0},
                                  {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    CHECK(vkCreateImageView(device, &look, NULL, view));
    return made;
}

static void barrier(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to) {
    VkImageMemoryBarrier change = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, NULL,
                                   VK_ACCESS_MEMORY_WRITE_BIT,
                                   VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT, from, to,
                                   VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, image,
                                   {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &change);
}

static void draw(VkCommandBuffer commands, VkPipeline made, VkImageView view,
                 const struct buffer *heap, const struct buffer *buffers) {
    VkRenderingAttachmentInfo colour = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                        .imageView = view,
                                        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    VkRenderingInfo rendering = {VK_STRUCTURE_TYPE_RENDERING_INFO,
                                 .renderArea = {{0, 0}, {SIDE, SIDE}}, .layerCount = 1,
                                 .colorAttachmentCount = 1, .pColorAttachments = &colour};
    VkBindHeapInfoEXT bind = {VK_STRUCTURE_TYPE_BIND_HEAP_INFO_EXT, NULL, {heap->address, HEAP},
                              HEAP - limits.minResourceHeapReservedRange,
                              limits.minResourceHeapReservedRange};
    VkDeviceAddress addresses[2] = {buffers[0].address, buffers[1].address};
    VkPushDataInfoEXT push = {VK_STRUCTURE_TYPE_PUSH_DATA_INFO_EXT, NULL, 0,
                              {addresses, sizeof addresses}};
    vkCmdBeginRendering(commands, &rendering);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, made);
    PROC(vkCmdBindResourceHeapEXT)(commands, &bind);
    PROC(vkCmdPushDataEXT)(commands, &push);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
}

static void write_heap(const struct buffer *heap, const struct buffer *buffers) {
    for (int i = 0; i < 2; i++) {
        VkDeviceAddressRangeEXT range = {buffers[i].address, BYTES};
        VkResourceDescriptorInfoEXT what = {VK_STRUCTURE_TYPE_RESOURCE_DESCRIPTOR_INFO_EXT, NULL,
                                            VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
                                            {.pAddressRange = &range}};
        size_t size = (size_t)limits.bufferDescriptorSize;
        VkHostAddressRangeEXT where = {(char *)heap->data + size * (size_t)i, size};
        CHECK(PROC(vkWriteResourceDescriptorsEXT)(device, 1, &what, &where));
    }
}

int main(int count, char **words) {
    if (count != 5)
        return 2;
    open_device();
    struct buffer heap = buffer(HEAP, VK_BUFFER_USAGE_2_DESCRIPTOR_HEAP_BIT_EXT);
    struct buffer out = buffer(SIDE * SIDE * 16, VK_BUFFER_USAGE_2_TRANSFER_DST_BIT), buffers[2];
    for (int i = 0; i < 2; i++) {
        buffers[i] = buffer(BYTES, VK_BUFFER_USAGE_2_UNIFORM_BUFFER_BIT);
        for (int n = 0; n < BYTES / 4; n++)
            ((float *)buffers[i].data)[n] = (float)(n + 1) / (i == 0 ? 64.0f : 100.0f);
    }
    write_heap(&heap, buffers);
    VkImageView view;
    VkImage target = image(&view);
    VkPipeline made = pipeline(words + 1, words[4]);
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
    VkCommandBufferAllocateInfo one = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, NULL, pool,
                                       VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &one, &commands));
    VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    barrier(commands, target, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    draw(commands, made, view, &heap, buffers);
    barrier(commands, target, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
    VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                              .imageExtent = {SIDE, SIDE, 1}};
    vkCmdCopyImageToBuffer(commands, target, VK_IMAGE_LAYOUT_GENERAL, out.handle, 1, &copy);
    CHECK(vkEndCommandBuffer(commands));
    VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(queue));
    FILE *file = fopen(words[3], "wb");
    if (file == NULL || fwrite(out.data, 16, SIDE * SIDE, file) != SIDE * SIDE)
        return 1;
    return fclose(file);
}
