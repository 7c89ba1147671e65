/* VK_LAYER_SPVLINK_stage_link: what the files of this layer share.
 *
 * The layer stands between an application and the next layer or the driver. At pipeline creation it
 * writes down what it knows of the pipeline ("facts", facts.c), looks the linked modules up in a
 * folder (answer.c), asks the linker process when they are not there (client.c), and hands the
 * pipeline on with the new modules or as it was (pipelines.c, shaders.c). On any doubt: as it was.
 *
 * Locks: `devices` (layer.c), one mutex a handle table (objects.c), two in log.c. Each is held
 * for a few memory accesses, none while another one of the layer is taken, while the next layer is
 * called or while anybody is waited for. The one exception is log.c's writer, which holds its own
 * mutex over a write of some kilobytes to the cache of a disk.
 */
#ifndef SPVLINK_LAYER_H
#define SPVLINK_LAYER_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
#include <vulkan/vk_layer.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYER_NAME "VK_LAYER_SPVLINK_stage_link"
#define MAX_STAGES 8          /* of one pipeline: vertex to fragment are five, with mesh four */
#define MAX_FILE (64u << 20)  /* bytes of an answer: a guard against nonsense in a length */
#define DIGEST 32             /* bytes of a BLAKE2b-256 */
#define INTERFACE 64          /* characters of the name of a frozen interface */

/* -- bytes.c: a growing buffer, BLAKE2b, files, time ------------------------------------------- */

struct bytes {
    unsigned char *data;
    size_t size, room;
    bool failed; /* no memory: everything appended since then is missing */
};

void put(struct bytes *to, const void *data, size_t size);
void put_u32(struct bytes *to, uint32_t value);
void put_padded(struct bytes *to, const void *data, size_t size); /* zeros up to a multiple of 4 */
void bytes_free(struct bytes *of);

void blake2b(const void *data, size_t size, unsigned char *out, size_t out_size);
void hex(const unsigned char *data, size_t size, char *out); /* 2 * size + 1 chars */

bool read_file(int fd, struct bytes *into, size_t limit);
bool write_file(const char *path, const void *data, size_t size); /* complete, or not at all */
bool may_grow(uint64_t size); /* by the limit of the process on files */
void make_folders(char *path); /* every folder above the last "/" */
uint64_t now_ns(void);         /* monotonic */

/* -- settings.c: read once a process ----------------------------------------------------------- */

#define PATH_SIZE 1024

struct settings {
    bool usable;              /* there is a place for the cache */
    bool exact;               /* only changes that keep every bit (spvlink link --exact) */
    uint64_t wait_ns;         /* for one answer; 0: never wait */
    uint64_t wait_total_ns;   /* for all answers of this process */
    uint32_t wait_percent;    /* of the time since the layer was loaded, for all answers */
    bool wait_presenting;     /* also on a thread that has presented */
    uint32_t cache_mb, idle_s;
    char cache[PATH_SIZE];    /* folder of linked modules */
    char state[PATH_SIZE];    /* folder of the log */
    char runtime[PATH_SIZE];  /* folder of the socket, only ours */
    char socket[PATH_SIZE];   /* "": there is no place for one */
    char python[PATH_SIZE];   /* interpreter that has spvlink */
    char log[PATH_SIZE];      /* "", "stderr" or a file: a line for every pipeline */
    unsigned char identity[16]; /* which linker: changes when any file of it or spirv-val does */
};

/* What a VkInstanceCreateInfo says for this layer in its pNext. Settings are those of the process:
 * what is given after they were read comes too late. */
void settings_given(const void *chain);
const struct settings *settings(void);
bool identify(const char *package, const char *cache, unsigned char identity[16]);

/* -- log.c, runs.c: what was done, in numbers ----------------------------------------------------- */

enum counter {
    PIPELINES, /* with shaders; each is one of the five that follow */
    LINKED, NOTHING_TO_GAIN, PARTS, REFUSED, NOT_IN_TIME,
    WITHOUT_SHADERS, /* libraries without stages, and what is joined of libraries */
    FROZEN,          /* libraries of half the shaders that are kept in two versions */
    JOINED, JOINED_AS_IT_WAS, /* of such libraries: of the linked ones, or of the original ones */
    HITS, MISSES, COMPONENTS_BEFORE, COMPONENTS_AFTER, LOCATIONS_BEFORE, LOCATIONS_AFTER,
    NANOSECONDS, WAITED_NANOSECONDS, COUNTERS
};

#define RUN_MAGIC "SPVLRUN1"
#define TEXT_SIZE 200
#define SUMS (COUNTERS + 96)

struct sum {              /* a number by its name */
    uint64_t value;
    char text[TEXT_SIZE]; /* "linked", "passed_through REASON", "event TEXT", "unknown WHAT"; "": the end */
};

struct run { /* as it is in a file; spvlink/layer/log.py reads it */
    char magic[8];
    int64_t pid, touched; /* the latter in ns since 1970 */
    char program[40];
    struct sum sums[SUMS];
};

void log_add(enum counter counter, uint64_t amount);
void log_pipeline(enum counter outcome, const char *reason); /* NULL: it was linked */
void log_unknown(const char *kind, uint64_t number, const char *where); /* not in numbers.h */
void log_event(const char *text);                            /* something went wrong around us */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_flush(void); /* at the end of each call that counted anything */
void run_add(struct run *to, const char *text, uint64_t value);
void run_write(const struct run *from); /* into the file of this process */

/* -- objects.c: what handles stand for --------------------------------------------------------- */

/* The words of a shader module, or a layout as facts.c writes it. Shared and counted. */
struct blob {
    atomic_uint holds;
    bool opaque; /* made with something that we do not know */
    unsigned char digest[DIGEST];
    size_t size;
    uint32_t data[];
};

/* Whether a number, or all structures of a pNext, are among those that are known (numbers.h). What is
 * not is counted, with `where`, which says what has it. */
bool among(int number, const int *known, size_t count);
bool only(const void *chain, const int *known, size_t count, const char *where);
#define AMONG(number, known) among(number, known, sizeof known / sizeof *known)
#define ONLY(chain, known, where) only(chain, known, sizeof known / sizeof *known, where)

const void *find(const void *chain, int type); /* the structure of a pNext, or NULL */

struct robustness { /* VkPipelineRobustnessCreateInfo */
    VkStructureType sType;
    const void *pNext;
    uint32_t storage_buffers, uniform_buffers, vertex_inputs, images;
};

struct table;
struct blob *blob_new(const void *data, size_t size);
void blob_drop(struct blob *blob);
struct table *table_new(void);
void table_free(struct table *table);
void table_put(struct table *table, uint64_t handle, struct blob *blob); /* takes the blob over */
struct blob *table_find(struct table *table, uint64_t handle);           /* to be dropped */
struct blob *table_take(struct table *table, uint64_t handle); /* out of it, to be dropped */
void table_remove(struct table *table, uint64_t handle);

/* -- shader objects: younger than the headers that we want to build with ------------------------ */

typedef uint64_t Shader; /* VkShaderEXT */
struct shader_info {     /* VkShaderCreateInfoEXT */
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    VkShaderStageFlagBits stage;
    VkShaderStageFlags nextStage;
    uint32_t codeType;
    size_t codeSize;
    const void *pCode;
    const char *pName;
    uint32_t setLayoutCount;
    const VkDescriptorSetLayout *pSetLayouts;
    uint32_t pushConstantRangeCount;
    const VkPushConstantRange *pPushConstantRanges;
    const VkSpecializationInfo *pSpecializationInfo;
};
typedef VkResult(VKAPI_PTR *create_shaders_fn)(VkDevice, uint32_t, const struct shader_info *,
                                               const VkAllocationCallbacks *, Shader *);
typedef void(VKAPI_PTR *destroy_shader_fn)(VkDevice, Shader, const VkAllocationCallbacks *);

/* -- layer.c: instances and devices ------------------------------------------------------------ */

struct device {
    struct device *next;
    void *key; /* the loader's dispatch table: the same for everything made from the device */
    PFN_vkGetDeviceProcAddr get;
    PFN_vkDestroyDevice destroy_device;
    PFN_vkCreateShaderModule create_module;
    PFN_vkDestroyShaderModule destroy_module;
    PFN_vkCreateDescriptorSetLayout create_set_layout;
    PFN_vkDestroyDescriptorSetLayout destroy_set_layout;
    PFN_vkCreatePipelineLayout create_layout;
    PFN_vkDestroyPipelineLayout destroy_layout;
    PFN_vkCreateGraphicsPipelines create_pipelines;
    PFN_vkDestroyPipeline destroy_pipeline;
    create_shaders_fn create_shaders;
    destroy_shader_fn destroy_shader;
    PFN_vkQueuePresentKHR present;
    struct table *modules, *set_layouts, *layouts;
    struct table *halves;  /* libraries that are kept in two versions (libraries.c) */
    struct table *refused; /* by the first 8 bytes of the key: linked modules the driver refused */
};

struct device *device_of(const void *dispatchable);

/* -- facts.c, descriptors.c, answer.c: what is asked and what comes back --------------------------------------- */

struct stage { /* of a pipeline, as the application gave it */
    VkShaderStageFlagBits bit;
    const char *entry;
    const VkSpecializationInfo *spec;
    struct blob *code; /* held */
};

struct chain {
    struct stage stages[MAX_STAGES];
    uint32_t count;
    struct blob *layout; /* held; NULL: not known */
    struct bytes descriptors; /* where they come from, beside the layout: descriptors.c */
    bool open;           /* other stages may follow that are not known */
    bool half;           /* of pipelines: what stands before or behind is known by an interface */
};

bool known_layout(const VkPipelineLayoutCreateInfo *info);
struct blob *set_layout_blob(const VkDescriptorSetLayoutCreateInfo *info);
struct blob *layout_blob(struct device *device, uint32_t set_count,
                         const VkDescriptorSetLayout *sets, uint32_t range_count,
                         const VkPushConstantRange *ranges);
void chain_descriptors(struct chain *chain, bool heap, const void *pipeline,
                       const void *const *stages); /* their pNext */
bool chain_facts(const struct chain *chain, struct bytes *facts, unsigned char key[DIGEST]);
bool chain_request(const struct chain *chain, const struct bytes *facts, struct bytes *request);
void chain_free(struct chain *chain);

enum status {
    STATUS_LINKED = 1, STATUS_PASSED_THROUGH = 2, STATUS_NOT_NOW = 3, STATUS_NOTHING_TO_GAIN = 4,
    STATUS_FROZEN = 5 /* half of pipelines, linked against an interface */
};

struct answer { /* points into `from` */
    enum status status;
    uint32_t figures[4]; /* components before, after; Locations before, after */
    const char *reason;  /* why it was passed through, or an interface's name; ends with a zero */
    const uint32_t *code[MAX_STAGES];
    uint32_t size[MAX_STAGES];
    struct bytes from;
};

bool answer_read(struct answer *answer, const struct chain *chain, const unsigned char *key);
bool answer_cached(struct answer *answer, const struct chain *chain, const unsigned char *key);
bool answer_there(const unsigned char *key); /* a file in the cache; it may be damaged */
void answer_free(struct answer *answer);

/* Linked modules for a chain, or NULL with the pipeline counted as what it is. The
 * answer is the caller's, to be freed. */
struct answer *chain_link(struct device *device, struct chain *chain, bool may_wait,
                          unsigned char key[DIGEST]);
struct answer *chain_frozen(struct device *device, struct chain *half,
                            unsigned char key[DIGEST]); /* from the cache, or NULL */
void chain_foresee(struct device *device, const struct chain *chain); /* asks, and does not wait */
void chain_linked(const struct chain *chain, const struct answer *answer);
void chain_refused(struct device *device, const unsigned char *key);

/* -- client.c: the linker process ---------------------------------------------------------------- */

/* NULL and the answer's bytes in `reply`, or why there is none: always, if it does not wait. */
const char *ask(const struct bytes *request, const unsigned char *key, bool wait,
                struct bytes *reply);

void presents(void); /* this thread: a frame would be late if it waited */

/* -- the hooks ------------------------------------------------------------------------------------ */

VKAPI_ATTR VkResult VKAPI_CALL hook_create_pipelines(VkDevice, VkPipelineCache, uint32_t,
                                                     const VkGraphicsPipelineCreateInfo *,
                                                     const VkAllocationCallbacks *, VkPipeline *);
VKAPI_ATTR void VKAPI_CALL hook_destroy_pipeline(VkDevice, VkPipeline,
                                                 const VkAllocationCallbacks *);
VKAPI_ATTR VkResult VKAPI_CALL hook_create_shaders(VkDevice, uint32_t, const struct shader_info *,
                                                   const VkAllocationCallbacks *, Shader *);

#endif
