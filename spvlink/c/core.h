/* From stages to linked modules, for the Vulkan layer and for the library: what is asked, the cache,
 * the linker process, and a log. Nothing here knows Vulkan's headers.
 */
#ifndef SPVLINK_CORE_H
#define SPVLINK_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Who uses these files: the layer, or the library for engines. Each defines it. */
struct host {
    const char *line;     /* what lines of the log begin with */
    const char *variable; /* what the settings in the environment begin with */
    const char *file;     /* and those in vk_layer_settings.txt; NULL: that is not read */
};
extern const struct host host;

struct settings {
    bool usable;              /* there is a place for the cache */
    bool exact;               /* only changes that keep every bit (spvlink link --exact) */
    uint64_t wait_ns;         /* for one answer; 0: never wait */
    uint64_t wait_total_ns;   /* for all answers of this process */
    uint32_t wait_percent;    /* of the time since the layer was loaded, for all answers */
    bool wait_presenting;     /* also on a thread that has presented */
    uint32_t cache_mb, memory_mb, idle_s;
    char cache[PATH_SIZE];    /* folder of linked modules */
    char state[PATH_SIZE];    /* folder of the log */
    char runtime[PATH_SIZE];  /* folder of the socket, only ours */
    char socket[PATH_SIZE];   /* "": there is no place for one */
    char python[PATH_SIZE];   /* interpreter that has spvlink */
    char package[PATH_SIZE];  /* folder of that spvlink */
    char log[PATH_SIZE];      /* "", "stderr" or a file: a line for every pipeline */
    unsigned char identity[16]; /* which linker: changes when any file of it or spirv-val does */
};

const struct settings *settings(void);
/* A setting that the program gives, which counts where the environment has none; false: they have been
 * read, so it comes too late. */
bool settings_give(const char *name, const char *value);
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

/* -- declared.c, state.c: the pipeline's state, as far as a link asks for it ---------------------- */

#define MOST_PLACES 64
#define STATE_UNKNOWN 0xffffffffu

/* `mask`: components, bit n for RGBA[n]; `index`: of a colour output; of an attribute: the bits that an
 * unsigned integer of its format needs, 0: unknown, or 32 */
struct place {
    uint32_t location, index, mask;
};
struct places {
    uint32_t count;
    struct place at[MOST_PLACES];
};

enum { /* built-ins */
    ASKS_VIEWPORT = 1, ASKS_FACING = 2, ASKS_SAMPLES = 4, ASKS_VIEW = 8, ASKS_LAYER = 16
};

struct declared {        /* by a module */
    bool unread;         /* it is not clear, so it may ask for anything */
    bool finer;          /* it asks for places within a pixel */
    bool sized;          /* it touches the size of points */
    uint32_t stages;     /* VkShaderStageFlagBits of its entry points */
    uint32_t asks;
    struct places inputs, outputs;
};
struct declared *declared_new(const void *data, size_t size); /* to be freed; NULL: no memory */

enum { NO_TOPOLOGY, POINTS, LINES, TRIANGLES, PATCHES };

struct state { /* the fields of spvlink/state.py (PipelineState); numbers: STATE_UNKNOWN */
    bool outputs_known, discards, one_sample;
    uint32_t view_mask, culled, polygons, topology, viewports, patch_points;
    struct places outputs, attributes; /* in the order of Locations */
};

struct attachment { /* STATE_UNKNOWN: not known */
    uint32_t mask;     /* the components of its format that are written */
    uint32_t location; /* from which it takes them; STATE_UNKNOWN: none */
    uint32_t blends;
    uint32_t factors[4];    /* source and destination of colour, then of alpha */
    uint32_t operations[2]; /* of colour and alpha */
};

void state_unknown(struct state *state); /* all of it */
uint32_t format_components(uint32_t format);
uint32_t topology_class(uint32_t topology); /* of a VkPrimitiveTopology */
void state_outputs(struct state *state, uint32_t count, const struct attachment *attachments,
                   uint32_t alpha_to_coverage);
bool state_attribute(struct state *state, uint32_t location, uint32_t format);
void state_used(const struct state *state, const struct declared *const *found, uint32_t count,
                struct state *used);
void state_put(struct bytes *facts, const struct state *state);

/* -- blobs.c: shared bytes, and tables of them ---------------------------------------------------- */

/* The words of a shader module, or a layout as facts.c writes it. Shared and counted. */
struct blob {
    atomic_uint holds;
    bool opaque; /* made with something that we do not know */
    struct declared *declared; /* of a module; NULL: no memory */
    unsigned char digest[DIGEST];
    size_t size;
    uint32_t data[];
};

struct table;
struct blob *blob_new(const void *data, size_t size);
struct blob *blob_code(const void *data, size_t size); /* of a module */
void blob_drop(struct blob *blob);
struct table *table_new(void);
void table_free(struct table *table);
void table_put(struct table *table, uint64_t handle, struct blob *blob); /* takes the blob over */
struct blob *table_find(struct table *table, uint64_t handle);           /* to be dropped */
struct blob *table_take(struct table *table, uint64_t handle); /* out of it, to be dropped */
void table_remove(struct table *table, uint64_t handle);

/* -- facts.c, answer.c: what is asked and what comes back ----------------------------------------- */

struct constant { /* as VkSpecializationMapEntry */
    uint32_t id, offset;
    size_t size;
};
struct constants { /* as VkSpecializationInfo */
    uint32_t count;
    const struct constant *entries;
    size_t size;
    const void *data;
};

struct stage { /* of a pipeline, as the application gave it */
    uint32_t bit; /* VkShaderStageFlagBits */
    const char *entry;
    const struct constants *spec;
    struct blob *code; /* held */
};

struct chain {
    struct stage stages[MAX_STAGES];
    uint32_t count;
    struct blob *layout; /* held; NULL: not known */
    struct bytes descriptors; /* where they come from, beside the layout */
    struct state state;
    bool has_state;      /* else nothing is known of it */
    uint32_t gpu;        /* its row in spvlink/gpus.py; 0: any */
    bool exact;          /* beside the setting */
    bool open;           /* other stages may follow that are not known */
    bool half;           /* of pipelines: what stands before or behind is known by an interface */
};

uint32_t gpu_of_driver(uint32_t driver_id); /* VkDriverId; its row in spvlink/gpus.py; 0: any */
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

/* -- client.c: the linker process ---------------------------------------------------------------- */

/* NULL and the answer's bytes in `reply`, or why there is none: always, if it does not wait. */
const char *ask(const struct bytes *request, const unsigned char *key, bool wait,
                struct bytes *reply);

/* The same in two steps, with limits of the caller's (now_ns). A connection to be closed, or -1 and why
 * there is none; then the answer, as `ask` gives it. */
int ask_send(const struct bytes *request, const unsigned char *key, uint64_t reach_by,
             uint64_t send_by, const char **why);
const char *ask_receive(int fd, uint64_t deadline, struct bytes *reply);

void presents(void); /* this thread: a frame would be late if it waited */

#endif
