/* libspvlink: links the stages of a Vulkan pipeline before it is created. C99, no dependency.
 *
 *     spvlink_stage stages[2] = {
 *         {.stage = VK_SHADER_STAGE_VERTEX_BIT, .code = vs, .size = vs_bytes, .entry = "main"},
 *         {.stage = VK_SHADER_STAGE_FRAGMENT_BIT, .code = fs, .size = fs_bytes, .entry = "main"},
 *     };
 *     spvlink_pipeline pipeline = {.stages = stages, .stage_count = 2};
 *     const spvlink_result *linked = spvlink_link(&pipeline, 100);
 *     ... create shader modules of linked->code[0], linked->size[0], linked->code[1] ...
 *     spvlink_result_free(linked);
 *
 * A result always has a module for each stage: the linked one, or the one that was given. So a caller
 * needs no second way. Linked modules come from the memory of this process, from a folder that all
 * processes of this user share, or from linker processes, which the library starts and keeps. It
 * never links in the caller's process, and never waits for longer than it is told.
 *
 * All functions may be called by several threads at once. Linux only.
 */
#ifndef SPVLINK_H
#define SPVLINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(SPVLINK_BUILDING)
#define SPVLINK_API __attribute__((visibility("default")))
#else
#define SPVLINK_API
#endif

#define SPVLINK_MAX_STAGES 8

typedef enum spvlink_status {
    SPVLINK_LINKED = 1,      /* the modules are new */
    SPVLINK_UNCHANGED = 2,   /* there was nothing to gain */
    SPVLINK_NOT_LINKED = 3,  /* it cannot be linked; `reason` says why */
    SPVLINK_NOT_YET = 4,     /* no answer in time, or no linker process: the next call may have it */
    SPVLINK_BAD_ARGUMENT = 5 /* `reason` says which */
} spvlink_status;

/* SPIR-V whose digest is known. Make one for each module that several pipelines use: a call need not
 * go over its words again. */
typedef struct spvlink_module spvlink_module;
SPVLINK_API spvlink_module *spvlink_module_create(const void *code, size_t size); /* copies it */
SPVLINK_API void spvlink_module_destroy(spvlink_module *module); /* results keep what they need */

typedef struct spvlink_constant { /* a specialization constant */
    uint32_t id;
    uint32_t size; /* bytes of the value: 1, 2, 4 or 8; a bool has 4 */
    const void *value;
} spvlink_constant;

typedef struct spvlink_stage {
    uint32_t stage; /* VkShaderStageFlagBits */
    const spvlink_module *module; /* or NULL, and the words: */
    const void *code;
    size_t size; /* bytes */
    const char *entry; /* NULL: "main" */
    const spvlink_constant *constants;
    uint32_t constant_count;
} spvlink_stage;

typedef struct spvlink_binding { /* as VkDescriptorSetLayoutBinding, with its set */
    uint32_t set, binding, type, count, stages;
} spvlink_binding;

typedef struct spvlink_push_range { /* as VkPushConstantRange */
    uint32_t stages, offset, size;
} spvlink_push_range;

/* Of the pipeline layout: then a uniform buffer or a push constant may be read in a stage that did not
 * use it before. */
typedef struct spvlink_layout {
    const spvlink_binding *bindings;
    uint32_t binding_count;
    const spvlink_push_range *push_ranges;
    uint32_t push_range_count;
} spvlink_layout;

/* A number of an attachment that is not known, or is set while drawing. */
#define SPVLINK_UNKNOWN UINT32_MAX

typedef struct spvlink_attachment { /* as VkPipelineColorBlendAttachmentState, with its format */
    uint32_t format;     /* VkFormat; VK_FORMAT_UNDEFINED: the attachment does not exist */
    uint32_t write_mask; /* 0: nothing is written */
    uint32_t blend_enable;
    uint32_t src_color, dst_color, color_op; /* VkBlendFactor, VkBlendOp */
    uint32_t src_alpha, dst_alpha, alpha_op;
} spvlink_attachment;

typedef struct spvlink_attribute { /* of the vertex input */
    uint32_t location, format;
} spvlink_attribute;

typedef enum spvlink_known { /* which members of a state count */
    SPVLINK_KNOWN_ATTACHMENTS = 0x1, /* attachments, and alpha_to_coverage */
    SPVLINK_KNOWN_DISCARD = 0x2,
    SPVLINK_KNOWN_SAMPLES = 0x4, /* samples, and samples_moved */
    SPVLINK_KNOWN_VIEW_MASK = 0x8,
    SPVLINK_KNOWN_CULL_MODE = 0x10,
    SPVLINK_KNOWN_POLYGON_MODE = 0x20,
    SPVLINK_KNOWN_TOPOLOGY = 0x40,
    SPVLINK_KNOWN_VIEWPORTS = 0x80,
    SPVLINK_KNOWN_ATTRIBUTES = 0x100,
    SPVLINK_KNOWN_PATCH = 0x200
} spvlink_known;

/* The fixed functions, in Vulkan's numbers. `known` has a bit for each member that is known and not
 * set while drawing; the other members are not read, so a state of zeros says nothing. Pipelines
 * that differ only in state that their modules do not ask for are one. */
typedef struct spvlink_state {
    uint32_t known;
    const spvlink_attachment *attachments; /* all colour attachments, in order */
    uint32_t attachment_count;
    const uint32_t *attachment_locations; /* as VkRenderingAttachmentLocationInfo; NULL: in order */
    uint32_t alpha_to_coverage;           /* SPVLINK_UNKNOWN: not known */
    uint32_t rasterizer_discard;
    uint32_t samples;
    uint32_t samples_moved; /* custom sample locations, conservative rasterization, a shading rate
                             * or a density map: 0 if there is none of these */
    uint32_t view_mask;     /* 0: no multiview */
    uint32_t cull_mode, polygon_mode, topology, viewports, patch_control_points;
    const spvlink_attribute *attributes;
    uint32_t attribute_count;
} spvlink_state;

/* Set all of it to zero first: members that come later mean what they mean today if they are zero. */
typedef struct spvlink_pipeline {
    const spvlink_stage *stages; /* in any order */
    uint32_t stage_count;
    const spvlink_layout *layout; /* NULL: not known */
    int exact; /* only changes that keep every bit of every output */
    int open;  /* other stages may follow the last one, which are not known */
    const spvlink_state *state; /* NULL: not known */
    uint32_t driver_id; /* VkDriverId of the device, as `spvlink link --for` has it; 0: any */
} spvlink_pipeline;

typedef struct spvlink_result {
    spvlink_status status;
    const char *reason; /* why it is not linked; "" if it is */
    uint32_t stage_count;
    const uint32_t *code[SPVLINK_MAX_STAGES]; /* of each stage, in the order that they were given */
    size_t size[SPVLINK_MAX_STAGES];          /* bytes */
    uint32_t components[2], locations[2];     /* of all interfaces: before and after */
} spvlink_result;

/* Link, and wait for at most so many milliseconds. NULL: no memory, or a bad pipeline pointer. */
SPVLINK_API const spvlink_result *spvlink_link(const spvlink_pipeline *pipeline, uint32_t wait_ms);
SPVLINK_API void spvlink_result_free(const spvlink_result *result);

/* The same in two steps. `spvlink_begin` sends the request and does not wait. The request may be
 * waited for with poll() or epoll on `spvlink_request_fd`: it is readable when the answer comes; -1:
 * there is nothing to wait for. `spvlink_end` gives the result and frees the request. */
typedef struct spvlink_request spvlink_request;
SPVLINK_API spvlink_request *spvlink_begin(const spvlink_pipeline *pipeline);
SPVLINK_API int spvlink_request_fd(const spvlink_request *request);
SPVLINK_API const spvlink_result *spvlink_end(spvlink_request *request, uint32_t wait_ms);

/* Settings, before the first link; 0: too late, or there is no such setting.
 *
 *     cache_dir   folder of linked modules (default: XDG_CACHE_HOME/spvlink/linked)
 *     cache_mb    its size in MB (default 256)
 *     memory_mb   how much of it this process keeps in memory (default 64)
 *     python      interpreter that runs the linker processes (default: the one that built this)
 *     package     the spvlink package that they use
 *     idle_s      seconds after which a linker process that nobody asks ends (default 60)
 *     exact       "1": every pipeline is linked as with `exact`
 *     log         "stderr" or a file: a line for each pipeline
 *
 * SPVLINK_CACHE_DIR and so on in the environment win. */
SPVLINK_API int spvlink_set(const char *name, const char *value);

#ifdef __cplusplus
}
#endif
#endif
