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

/* Set all of it to zero first: members that come later mean what they mean today if they are zero. */
typedef struct spvlink_pipeline {
    const spvlink_stage *stages; /* in any order */
    uint32_t stage_count;
    const spvlink_layout *layout; /* NULL: not known */
    int exact; /* only changes that keep every bit of every output */
    int open;  /* other stages may follow the last one, which are not known */
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
