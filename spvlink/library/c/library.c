/* The functions of spvlink.h: facts of a pipeline, then this process's memory, the cache, the linker
 * process. What they share with the Vulkan layer is in core.h. */
#define SPVLINK_BUILDING
#include "spvlink.h"

#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define SEND_LIMIT (50 * MS) /* to hand over a request that nobody waits for */
#define SLOTS 4096           /* of the memory; a power of two */

const struct host host = {"spvlink", "SPVLINK_", NULL};

_Static_assert(SPVLINK_MAX_STAGES == MAX_STAGES, "a result has room for every stage");

/* -- modules --------------------------------------------------------------------------------------- */

static struct blob *blob_of(const spvlink_module *module) { return (struct blob *)(void *)module; }

static struct blob *keep(struct blob *blob) {
    atomic_fetch_add(&blob->holds, 1);
    return blob;
}

spvlink_module *spvlink_module_create(const void *code, size_t size) {
    bool good = code != NULL && size >= 20 && size % 4 == 0 && size <= MAX_FILE;
    return good ? (spvlink_module *)(void *)blob_code(code, size) : NULL;
}

void spvlink_module_destroy(spvlink_module *module) { blob_drop(blob_of(module)); }

/* -- results --------------------------------------------------------------------------------------- */

/* A result, and what its pointers point into. Shared and counted. */
struct kept {
    spvlink_result public; /* first */
    atomic_uint holds;
    struct kept *next; /* in its slot of the memory */
    unsigned char key[DIGEST];
    struct bytes from;                   /* the answer */
    struct blob *originals[MAX_STAGES]; /* where the modules are not new */
};

static void drop(struct kept *kept) {
    if (kept == NULL || atomic_fetch_sub(&kept->holds, 1) != 1)
        return;
    for (int i = 0; i < MAX_STAGES; i++)
        blob_drop(kept->originals[i]);
    bytes_free(&kept->from);
    free(kept);
}

void spvlink_result_free(const spvlink_result *result) {
    drop((struct kept *)(void *)(uintptr_t)result);
}

/* Of the modules that were given. `why` must outlive it, or stand in `from`. */
static struct kept *as_it_was(const struct chain *chain, spvlink_status status, const char *why) {
    struct kept *kept = calloc(1, sizeof *kept);
    if (kept == NULL)
        return NULL;
    atomic_init(&kept->holds, 1);
    kept->public.status = status;
    kept->public.reason = why;
    kept->public.stage_count = chain->count;
    for (uint32_t i = 0; i < chain->count; i++) {
        struct blob *code = chain->stages[i].code;
        kept->originals[i] = keep(code);
        kept->public.code[i] = code->data;
        kept->public.size[i] = code->size;
    }
    return kept;
}

/* What an answer says; it takes over its bytes. */
static struct kept *answered(const struct chain *chain, const unsigned char *key,
                             struct answer *answer) {
    spvlink_status status = answer->status == STATUS_LINKED            ? SPVLINK_LINKED
                            : answer->status == STATUS_NOTHING_TO_GAIN ? SPVLINK_UNCHANGED
                            : answer->status == STATUS_NOT_NOW         ? SPVLINK_NOT_YET
                                                                       : SPVLINK_NOT_LINKED;
    struct kept *kept = as_it_was(chain, status, answer->reason);
    if (kept == NULL) {
        answer_free(answer);
        return NULL;
    }
    for (uint32_t i = 0; status == SPVLINK_LINKED && i < chain->count; i++) {
        blob_drop(kept->originals[i]);
        kept->originals[i] = NULL;
        kept->public.code[i] = answer->code[i];
        kept->public.size[i] = answer->size[i];
    }
    memcpy(kept->public.components, answer->figures, sizeof kept->public.components);
    memcpy(kept->public.locations, answer->figures + 2, sizeof kept->public.locations);
    memcpy(kept->key, key, DIGEST);
    kept->from = answer->from;
    return kept;
}

/* -- the memory ------------------------------------------------------------------------------------ */

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER; /* what follows */
static struct kept *memory[SLOTS];
static uint64_t memory_size; /* bytes */

static struct kept **slot_of(const unsigned char *key) {
    uint32_t number;
    memcpy(&number, key, sizeof number);
    return &memory[number % SLOTS];
}

static struct kept *remembered(const unsigned char *key) {
    pthread_mutex_lock(&memory_lock);
    struct kept *kept = *slot_of(key);
    while (kept != NULL && memcmp(kept->key, key, DIGEST) != 0)
        kept = kept->next;
    if (kept != NULL)
        atomic_fetch_add(&kept->holds, 1);
    pthread_mutex_unlock(&memory_lock);
    return kept;
}

static uint64_t size_of(const struct kept *kept) {
    uint64_t size = sizeof *kept + kept->from.size;
    for (int i = 0; i < MAX_STAGES; i++)
        size += kept->originals[i] != NULL ? kept->originals[i]->size : 0;
    return size;
}

/* What is full is emptied: no order of use has to be kept, and the folder has it all. */
static struct kept *forget_all(void) {
    struct kept *all = NULL;
    for (size_t i = 0; i < SLOTS; i++)
        while (memory[i] != NULL) {
            struct kept *one = memory[i];
            memory[i] = one->next;
            one->next = all;
            all = one;
        }
    memory_size = 0;
    return all;
}

static struct kept *remember(struct kept *kept) {
    struct kept *gone = NULL;
    uint64_t size = size_of(kept), most = (uint64_t)settings()->memory_mb << 20;
    if (kept->public.status == SPVLINK_NOT_YET || size > most)
        return kept;
    pthread_mutex_lock(&memory_lock);
    struct kept **slot = slot_of(kept->key), *twin = *slot;
    while (twin != NULL && memcmp(twin->key, kept->key, DIGEST) != 0)
        twin = twin->next;
    if (twin == NULL) {
        if (memory_size + size > most)
            gone = forget_all();
        atomic_fetch_add(&kept->holds, 1);
        kept->next = *slot;
        *slot = kept;
        memory_size += size;
    }
    pthread_mutex_unlock(&memory_lock);
    while (gone != NULL) {
        struct kept *next = gone->next;
        drop(gone);
        gone = next;
    }
    return kept;
}

/* -- a pipeline as a chain ------------------------------------------------------------------------- */

/* A chain, and what its constants point into. */
struct asked {
    struct chain chain;
    struct constants constants[MAX_STAGES];
    struct bytes entries[MAX_STAGES], values[MAX_STAGES];
    struct bytes facts;
    unsigned char key[DIGEST];
};

static void asked_free(struct asked *asked) {
    chain_free(&asked->chain);
    for (int i = 0; i < MAX_STAGES; i++) {
        bytes_free(&asked->entries[i]);
        bytes_free(&asked->values[i]);
    }
    bytes_free(&asked->facts);
}

static const char *take_constants(struct asked *asked, uint32_t at, const spvlink_stage *stage) {
    struct bytes *entries = &asked->entries[at], *values = &asked->values[at];
    for (uint32_t i = 0; i < stage->constant_count; i++) {
        const spvlink_constant *given = &stage->constants[i];
        struct constant one = {given->id, (uint32_t)values->size, given->size};
        if (given->value == NULL || (given->size != 1 && given->size != 2 && given->size != 4 &&
                                     given->size != 8))
            return "a constant without a value of 1, 2, 4 or 8 bytes";
        put(entries, &one, sizeof one);
        put(values, given->value, given->size);
    }
    if (entries->failed || values->failed)
        return "no memory";
    asked->constants[at] = (struct constants){stage->constant_count, (const void *)entries->data,
                                              values->size, values->data};
    asked->chain.stages[at].spec = &asked->constants[at];
    return NULL;
}

static const char *take_stage(struct asked *asked, const spvlink_stage *given) {
    uint32_t at = asked->chain.count;
    struct stage *stage = &asked->chain.stages[at];
    stage->bit = given->stage;
    stage->entry = given->entry != NULL ? given->entry : "main";
    if (given->module != NULL)
        stage->code = keep(blob_of(given->module));
    else if (given->code == NULL || given->size < 20 || given->size % 4 != 0 ||
             given->size > MAX_FILE)
        return "a stage without SPIR-V";
    else
        stage->code = blob_code(given->code, given->size);
    if (stage->code == NULL)
        return "no memory";
    asked->chain.count++;
    return take_constants(asked, at, given);
}

static uint32_t next_set(const spvlink_layout *layout, uint32_t from) {
    uint32_t next = UINT32_MAX;
    for (uint32_t i = 0; i < layout->binding_count; i++)
        if (layout->bindings[i].set >= from && layout->bindings[i].set < next)
            next = layout->bindings[i].set;
    return next;
}

/* set count, then (set, count, (binding, type, count, stages) each) each; range count, then (stages,
 * offset, size) each: as the layer writes it (layouts.c) */
static struct blob *layout_of(const spvlink_layout *layout) {
    struct bytes sets = {0}, words = {0};
    uint32_t count = 0;
    for (uint32_t set = next_set(layout, 0); set != UINT32_MAX; set = next_set(layout, set + 1)) {
        uint32_t inside = 0;
        for (uint32_t i = 0; i < layout->binding_count; i++)
            inside += layout->bindings[i].set == set && layout->bindings[i].count > 0;
        put_u32(&sets, set);
        put_u32(&sets, inside);
        for (uint32_t i = 0; i < layout->binding_count; i++) {
            const spvlink_binding *one = &layout->bindings[i];
            uint32_t four[] = {one->binding, one->type, one->count, one->stages};
            if (one->set == set && one->count > 0)
                put(&sets, four, sizeof four);
        }
        count++;
    }
    put_u32(&words, count);
    put(&words, sets.data, sets.size);
    put_u32(&words, layout->push_range_count);
    for (uint32_t i = 0; i < layout->push_range_count; i++) {
        const spvlink_push_range *range = &layout->push_ranges[i];
        uint32_t three[] = {range->stages, range->offset, range->size};
        put(&words, three, sizeof three);
    }
    struct blob *blob = sets.failed || words.failed ? NULL : blob_new(words.data, words.size);
    bytes_free(&sets);
    bytes_free(&words);
    return blob;
}

/* -- the state (spvlink/state.py reads the same from JSON) ---------------------------------------- */

static struct attachment attachment_of(const spvlink_state *state, uint32_t at) {
    const spvlink_attachment *given = &state->attachments[at];
    const uint32_t *locations = state->attachment_locations;
    struct attachment made = {
        .mask = given->format == SPVLINK_UNKNOWN ? 15 : format_components(given->format),
        .location = locations != NULL ? locations[at] : at,
        .blends = given->blend_enable,
        .factors = {given->src_color, given->dst_color, given->src_alpha, given->dst_alpha},
        .operations = {given->color_op, given->alpha_op}};
    made.mask &= given->write_mask;
    return made;
}

static void take_attachments(const spvlink_state *given, struct state *state) {
    struct attachment made[MOST_PLACES];
    if (given->attachment_count > MOST_PLACES)
        return;
    for (uint32_t i = 0; i < given->attachment_count; i++)
        made[i] = attachment_of(given, i);
    state_outputs(state, given->attachment_count, made, given->alpha_to_coverage);
}

static void take_attributes(const spvlink_state *given, struct state *state) {
    for (uint32_t i = 0; i < given->attribute_count; i++) {
        const spvlink_attribute *one = &given->attributes[i];
        if (!state_attribute(state, one->location, one->format)) {
            state->attributes.count = 0; /* two of one Location, or too many: not known */
            return;
        }
    }
}

static const char *take_state(const spvlink_state *given, struct state *state) {
    uint32_t known = given->known;
    state_unknown(state);
    if (known & SPVLINK_KNOWN_ATTACHMENTS && given->attachment_count > 0 &&
        given->attachments == NULL)
        return "a state without its attachments";
    if (known & SPVLINK_KNOWN_ATTRIBUTES && given->attribute_count > 0 && given->attributes == NULL)
        return "a state without its attributes";
    if (known & SPVLINK_KNOWN_ATTACHMENTS)
        take_attachments(given, state);
    if (known & SPVLINK_KNOWN_ATTRIBUTES)
        take_attributes(given, state);
    state->discards = known & SPVLINK_KNOWN_DISCARD && given->rasterizer_discard != 0;
    state->one_sample =
        known & SPVLINK_KNOWN_SAMPLES && given->samples == 1 && given->samples_moved == 0;
    if (known & SPVLINK_KNOWN_VIEW_MASK)
        state->view_mask = given->view_mask;
    if (known & SPVLINK_KNOWN_CULL_MODE)
        state->culled = given->cull_mode;
    if (known & SPVLINK_KNOWN_POLYGON_MODE && given->polygon_mode <= 2)
        state->polygons = given->polygon_mode;
    if (known & SPVLINK_KNOWN_TOPOLOGY)
        state->topology = topology_class(given->topology);
    if (known & SPVLINK_KNOWN_VIEWPORTS && given->viewports > 0)
        state->viewports = given->viewports;
    if (known & SPVLINK_KNOWN_PATCH && given->patch_control_points > 0)
        state->patch_points = given->patch_control_points;
    return NULL;
}

/* NULL, or which argument is bad. */
static const char *take(struct asked *asked, const spvlink_pipeline *pipeline) {
    static const unsigned char PLAIN[12] = {0}; /* no heap, no mappings, robustness alike */
    const char *why = NULL;
    if (pipeline->stages == NULL || pipeline->stage_count == 0)
        return "a pipeline without stages";
    if (pipeline->stage_count > MAX_STAGES)
        return "more stages than a pipeline has";
    for (uint32_t i = 0; why == NULL && i < pipeline->stage_count; i++)
        why = take_stage(asked, &pipeline->stages[i]);
    if (why != NULL)
        return why;
    asked->chain.exact = pipeline->exact != 0;
    asked->chain.open = pipeline->open != 0;
    asked->chain.gpu = gpu_of_driver(pipeline->driver_id);
    put(&asked->chain.descriptors, PLAIN, sizeof PLAIN);
    if (pipeline->layout != NULL) {
        asked->chain.layout = layout_of(pipeline->layout);
        if (asked->chain.layout == NULL)
            return "no memory";
    }
    if (pipeline->state != NULL) {
        asked->chain.has_state = true;
        why = take_state(pipeline->state, &asked->chain.state);
        if (why != NULL)
            return why;
    }
    return chain_facts(&asked->chain, &asked->facts, asked->key) ? NULL : "no memory";
}

/* -- linking --------------------------------------------------------------------------------------- */

struct spvlink_request {
    struct asked asked;
    struct kept *kept; /* the result, if it is there */
    int fd;            /* a linker process that works on it; -1: none */
};

static void count(const struct kept *kept) {
    const spvlink_result *r = &kept->public;
    if (r->status == SPVLINK_LINKED) {
        log_pipeline(LINKED, NULL);
        log_add(COMPONENTS_BEFORE, r->components[0]);
        log_add(COMPONENTS_AFTER, r->components[1]);
        log_add(LOCATIONS_BEFORE, r->locations[0]);
        log_add(LOCATIONS_AFTER, r->locations[1]);
        log_line("linked: %u -> %u components in %u -> %u Locations", r->components[0],
                 r->components[1], r->locations[0], r->locations[1]);
    } else {
        enum counter outcome = r->status == SPVLINK_UNCHANGED ? NOTHING_TO_GAIN
                               : r->status == SPVLINK_NOT_YET ? NOT_IN_TIME
                                                              : REFUSED;
        log_pipeline(outcome, r->reason);
    }
}

/* The result, if it is there without the linker process; NULL with a bad pipeline or no memory, too:
 * `why` says which. */
static struct kept *at_hand(struct asked *asked, const spvlink_pipeline *pipeline,
                            const char **why) {
    struct answer answer = {0};
    *why = take(asked, pipeline);
    if (*why != NULL)
        return as_it_was(&asked->chain, SPVLINK_BAD_ARGUMENT, *why);
    struct kept *kept = remembered(asked->key);
    if (kept != NULL)
        return kept;
    if (!settings()->usable) {
        *why = "no folder for the cache";
        return as_it_was(&asked->chain, SPVLINK_NOT_LINKED, *why);
    }
    if (!answer_cached(&answer, &asked->chain, asked->key))
        return NULL;
    log_add(HITS, 1);
    kept = answered(&asked->chain, asked->key, &answer);
    return kept == NULL ? NULL : remember(kept);
}

/* Asks; -1 and why if nobody works on it now. */
static int send_request(const struct asked *asked, uint64_t reach_by, uint64_t send_by,
                        const char **why) {
    struct bytes request = {0};
    int fd = -1;
    *why = "too big for the linker";
    if (chain_request(&asked->chain, &asked->facts, &request))
        fd = ask_send(&request, asked->key, reach_by, send_by, why);
    bytes_free(&request);
    return fd;
}

/* The answer of a linker process. Closes the connection. */
static struct kept *hear(struct asked *asked, int fd, uint64_t deadline) {
    struct answer answer = {0};
    const char *why = ask_receive(fd, deadline, &answer.from);
    close(fd);
    if (why == NULL && answer_read(&answer, &asked->chain, asked->key)) {
        struct kept *kept = answered(&asked->chain, asked->key, &answer);
        return kept == NULL ? NULL : remember(kept);
    }
    if (why == NULL) {
        why = "nonsense from the linker process";
        log_event(why);
    }
    answer_free(&answer);
    return as_it_was(&asked->chain, SPVLINK_NOT_YET, why);
}

spvlink_request *spvlink_begin(const spvlink_pipeline *pipeline) {
    const char *why;
    spvlink_request *request = pipeline == NULL ? NULL : calloc(1, sizeof *request);
    if (request == NULL)
        return NULL;
    request->fd = -1;
    request->kept = at_hand(&request->asked, pipeline, &why);
    if (request->kept == NULL) {
        uint64_t now = now_ns();
        log_add(MISSES, 1);
        request->fd = send_request(&request->asked, now, now + SEND_LIMIT, &why);
    }
    return request;
}

int spvlink_request_fd(const spvlink_request *request) {
    return request == NULL ? -1 : request->fd;
}

const spvlink_result *spvlink_end(spvlink_request *request, uint32_t wait_ms) {
    if (request == NULL)
        return NULL;
    uint64_t deadline = now_ns() + wait_ms * MS;
    struct asked *asked = &request->asked;
    struct kept *kept = request->kept;
    bool miss = kept == NULL;
    const char *why = "not linked yet: the linker process is being started";
    if (miss && request->fd < 0 && wait_ms > 0) /* it was being started, or could not be reached */
        request->fd = send_request(asked, deadline, deadline, &why);
    if (miss && request->fd >= 0)
        kept = hear(asked, request->fd, deadline);
    else if (miss)
        kept = as_it_was(&asked->chain, SPVLINK_NOT_YET, why);
    if (kept != NULL)
        count(kept);
    if (miss)
        log_flush(); /* a file is written: not for each hit */
    asked_free(asked);
    free(request);
    return kept == NULL ? NULL : &kept->public;
}

const spvlink_result *spvlink_link(const spvlink_pipeline *pipeline, uint32_t wait_ms) {
    struct asked asked = {0};
    const char *why;
    if (pipeline == NULL)
        return NULL;
    uint64_t begin = now_ns(), deadline = begin + wait_ms * MS;
    struct kept *kept = at_hand(&asked, pipeline, &why);
    bool miss = kept == NULL;
    if (miss) {
        log_add(MISSES, 1);
        int fd = send_request(&asked, deadline, wait_ms > 0 ? deadline : begin + SEND_LIMIT, &why);
        kept = fd >= 0 ? hear(&asked, fd, deadline)
                       : as_it_was(&asked.chain, SPVLINK_NOT_YET, why);
    }
    if (kept != NULL)
        count(kept);
    if (miss)
        log_flush();
    asked_free(&asked);
    return kept == NULL ? NULL : &kept->public;
}

int spvlink_set(const char *name, const char *value) {
    static const char *const NAMES[] = {"cache_dir", "cache_mb", "memory_mb", "python",
                                        "package",   "idle_s",   "exact",     "log"};
    for (size_t i = 0; name != NULL && value != NULL && i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(NAMES[i], name) == 0)
            return settings_give(name, value);
    return 0;
}
