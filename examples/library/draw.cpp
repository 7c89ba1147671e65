// Creates one pipeline, its stages linked by libspvlink, and draws with it into a file.
//
// usage: draw [--as-they-are] OUT.ppm     (in a folder that has sail.vert.spv and sail.frag.spv)
#include <spvlink.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

static const uint32_t SIDE = 128;

static void check(bool good, const char *what) {
    if (!good) {
        std::fprintf(stderr, "draw: %s\n", what);
        std::exit(1);
    }
}

static void check(VkResult result, const char *what) { check(result == VK_SUCCESS, what); }

static std::vector<char> read(const char *path) {
    std::ifstream in(path, std::ios::binary);
    check(in.good(), path);
    return {std::istreambuf_iterator<char>(in), {}};
}

// -- the pipeline: this is all that spvlink has to do with ---------------------------------------

struct Stages {
    VkShaderModule modules[2];
};

static VkShaderModule moduleOf(VkDevice device, const void *code, size_t size) {
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = size;
    info.pCode = static_cast<const uint32_t *>(code);
    VkShaderModule module;
    check(vkCreateShaderModule(device, &info, nullptr, &module), "vkCreateShaderModule");
    return module;
}

static Stages linkedStages(VkDevice device, const std::vector<char> &vertex,
                           const std::vector<char> &fragment, uint32_t waitMs) {
    spvlink_stage stages[2] = {};
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].code = vertex.data();
    stages[0].size = vertex.size();
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].code = fragment.data();
    stages[1].size = fragment.size();
    spvlink_layout layout = {}; // this pipeline has no descriptors and no push constants
    spvlink_pipeline pipeline = {};
    pipeline.stages = stages;
    pipeline.stage_count = 2;
    pipeline.layout = &layout;
    const spvlink_result *linked = spvlink_link(&pipeline, waitMs);
    check(linked != nullptr, "no memory");
    std::printf("%s: %u -> %u Locations %s\n",
                linked->status == SPVLINK_LINKED ? "linked" : "as they were", linked->locations[0],
                linked->locations[1], linked->reason);
    Stages made; // the linked modules, or the ones that were given
    for (int i = 0; i < 2; i++)
        made.modules[i] = moduleOf(device, linked->code[i], linked->size[i]);
    spvlink_result_free(linked);
    return made;
}

// -- what any Vulkan program needs to draw one triangle into a buffer ----------------------------

struct Gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
};

static Gpu openGpu() {
    Gpu gpu;
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo instance{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    instance.pApplicationInfo = &application;
    check(vkCreateInstance(&instance, nullptr, &gpu.instance), "no Vulkan");
    uint32_t count = 1;
    VkResult found = vkEnumeratePhysicalDevices(gpu.instance, &count, &gpu.physical);
    check((found == VK_SUCCESS || found == VK_INCOMPLETE) && count == 1, "no Vulkan device");
    float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueCount = 1; // family 0 can draw on every device that we know
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceVulkan13Features features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    features.dynamicRendering = VK_TRUE;
    VkDeviceCreateInfo device{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    device.pNext = &features;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    check(vkCreateDevice(gpu.physical, &device, nullptr, &gpu.device), "no device of Vulkan 1.3");
    vkGetDeviceQueue(gpu.device, 0, 0, &gpu.queue);
    return gpu;
}

static VkDeviceMemory memoryFor(const Gpu &gpu, const VkMemoryRequirements &needs,
                                VkMemoryPropertyFlags flags) {
    VkPhysicalDeviceMemoryProperties all;
    vkGetPhysicalDeviceMemoryProperties(gpu.physical, &all);
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.allocationSize = needs.size;
    while (!(needs.memoryTypeBits >> info.memoryTypeIndex & 1) ||
           (all.memoryTypes[info.memoryTypeIndex].propertyFlags & flags) != flags)
        check(++info.memoryTypeIndex < all.memoryTypeCount, "no memory of this kind");
    VkDeviceMemory memory;
    check(vkAllocateMemory(gpu.device, &info, nullptr, &memory), "no memory");
    return memory;
}

static VkPipeline createPipeline(const Gpu &gpu, const Stages &stages, VkPipelineLayout layout) {
    VkPipelineShaderStageCreateInfo shaders[2] = {};
    for (int i = 0; i < 2; i++) {
        shaders[i].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        shaders[i].stage = i == 0 ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT;
        shaders[i].module = stages.modules[i];
        shaders[i].pName = "main";
    }
    VkPipelineVertexInputStateCreateInfo input{
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly{
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkViewport viewport{0, 0, SIDE, SIDE, 0, 1};
    VkRect2D scissor{{0, 0}, {SIDE, SIDE}};
    VkPipelineViewportStateCreateInfo view{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    view.viewportCount = view.scissorCount = 1;
    view.pViewports = &viewport;
    view.pScissors = &scissor;
    VkPipelineRasterizationStateCreateInfo raster{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{
        VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState target{};
    target.colorWriteMask = 0xf;
    VkPipelineColorBlendStateCreateInfo blend{
        VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blend.attachmentCount = 1;
    blend.pAttachments = &target;
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
    rendering.colorAttachmentCount = 1;
    rendering.pColorAttachmentFormats = &format;
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.pNext = &rendering;
    info.stageCount = 2;
    info.pStages = shaders;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &view;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.layout = layout;
    VkPipeline pipeline;
    check(vkCreateGraphicsPipelines(gpu.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
          "vkCreateGraphicsPipelines");
    return pipeline;
}

static std::vector<uint8_t> draw(const Gpu &gpu, VkPipeline pipeline) {
    VkImageCreateInfo imageInfo{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    imageInfo.imageType = VK_IMAGE_TYPE_2D;
    imageInfo.format = VK_FORMAT_R8G8B8A8_UNORM;
    imageInfo.extent = {SIDE, SIDE, 1};
    imageInfo.mipLevels = imageInfo.arrayLayers = 1;
    imageInfo.samples = VK_SAMPLE_COUNT_1_BIT;
    imageInfo.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    VkImage image;
    check(vkCreateImage(gpu.device, &imageInfo, nullptr, &image), "vkCreateImage");
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(gpu.device, image, &needs);
    VkDeviceMemory imageMemory = memoryFor(gpu, needs, 0);
    vkBindImageMemory(gpu.device, image, imageMemory, 0);
    VkImageViewCreateInfo viewInfo{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    viewInfo.image = image;
    viewInfo.viewType = VK_IMAGE_VIEW_TYPE_2D;
    viewInfo.format = imageInfo.format;
    viewInfo.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkImageView view;
    check(vkCreateImageView(gpu.device, &viewInfo, nullptr, &view), "vkCreateImageView");

    VkBufferCreateInfo bufferInfo{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    bufferInfo.size = SIDE * SIDE * 4;
    bufferInfo.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer;
    check(vkCreateBuffer(gpu.device, &bufferInfo, nullptr, &buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(gpu.device, buffer, &needs);
    VkDeviceMemory memory = memoryFor(
        gpu, needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    vkBindBufferMemory(gpu.device, buffer, memory, 0);

    VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    check(vkCreateCommandPool(gpu.device, &poolInfo, nullptr, &pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands;
    check(vkAllocateCommandBuffers(gpu.device, &allocate, &commands), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    vkBeginCommandBuffer(commands, &begin);
    VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.image = image;
    barrier.subresourceRange = viewInfo.subresourceRange;
    barrier.newLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    barrier.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, 0, 0, nullptr, 0, nullptr, 1,
                         &barrier);
    VkRenderingAttachmentInfo target{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    target.imageView = view;
    target.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    target.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    target.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    VkRenderingInfo rendering{VK_STRUCTURE_TYPE_RENDERING_INFO};
    rendering.renderArea = {{0, 0}, {SIDE, SIDE}};
    rendering.layerCount = rendering.colorAttachmentCount = 1;
    rendering.pColorAttachments = &target;
    vkCmdBeginRendering(commands, &rendering);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    barrier.oldLayout = barrier.newLayout;
    barrier.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    barrier.srcAccessMask = barrier.dstAccessMask;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    VkBufferImageCopy copy{};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = imageInfo.extent;
    vkCmdCopyImageToBuffer(commands, image, barrier.newLayout, buffer, 1, &copy);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    check(vkQueueSubmit(gpu.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(gpu.queue), "vkQueueWaitIdle");

    void *mapped;
    check(vkMapMemory(gpu.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    std::vector<uint8_t> pixels(bufferInfo.size);
    std::memcpy(pixels.data(), mapped, pixels.size());
    vkDestroyCommandPool(gpu.device, pool, nullptr);
    vkDestroyBuffer(gpu.device, buffer, nullptr);
    vkFreeMemory(gpu.device, memory, nullptr);
    vkDestroyImageView(gpu.device, view, nullptr);
    vkDestroyImage(gpu.device, image, nullptr);
    vkFreeMemory(gpu.device, imageMemory, nullptr);
    return pixels;
}

int main(int argc, char **argv) {
    bool plain = argc > 1 && std::string(argv[1]) == "--as-they-are";
    check(argc == (plain ? 3 : 2), "usage: draw [--as-they-are] OUT.ppm");
    std::vector<char> vertex = read("sail.vert.spv"), fragment = read("sail.frag.spv");
    Gpu gpu = openGpu();
    Stages stages;
    if (plain)
        stages = {{moduleOf(gpu.device, vertex.data(), vertex.size()),
                   moduleOf(gpu.device, fragment.data(), fragment.size())}};
    else // a loading screen has the time; a frame would say 0
        stages = linkedStages(gpu.device, vertex, fragment, 10000);
    VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    VkPipelineLayout layout;
    check(vkCreatePipelineLayout(gpu.device, &layoutInfo, nullptr, &layout), "no layout");
    VkPipeline pipeline = createPipeline(gpu, stages, layout);
    std::vector<uint8_t> pixels = draw(gpu, pipeline);
    std::ofstream out(argv[argc - 1], std::ios::binary);
    out << "P6 " << SIDE << ' ' << SIDE << " 255\n";
    for (size_t i = 0; i < pixels.size(); i += 4)
        out.write(reinterpret_cast<const char *>(&pixels[i]), 3);
    check(out.good(), "cannot write the picture");
    vkDestroyPipeline(gpu.device, pipeline, nullptr);
    vkDestroyPipelineLayout(gpu.device, layout, nullptr);
    for (VkShaderModule module : stages.modules)
        vkDestroyShaderModule(gpu.device, module, nullptr);
    vkDestroyDevice(gpu.device, nullptr);
    vkDestroyInstance(gpu.instance, nullptr);
}
