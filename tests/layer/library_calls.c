/* An engine that uses libspvlink, for tests/layer/test_library.py.
 *
 *     library_calls ACTION FILE...   VERTEX.spv FRAGMENT.spv [ANOTHER.frag.spv ...]
 *
 * It prints a line for each result: status, Locations before and after, digest-free sizes, reason;
 * and writes the modules to OUT.N (the variable OUT).
 */
#include "spvlink.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { VERT = 0x1, FRAG = 0x10, THREADS = 8, WAIT = 20000, MOST = 400 };

static struct file {
    unsigned char *data;
    size_t size;
} files[MOST];
static int count;

static void load(const char *path) {
    FILE *in = fopen(path, "rb");
    struct file *file = &files[count++];
    if (in == NULL || count > MOST || fseek(in, 0, SEEK_END) != 0)
        abort();
    file->size = (size_t)ftell(in);
    file->data = malloc(file->size);
    rewind(in);
    if (file->data == NULL || fread(file->data, 1, file->size, in) != file->size)
        abort();
    fclose(in);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void show(const spvlink_result *result) {
    static int number;
    const char *out = getenv("OUT");
    if (result == NULL) {
        puts("nothing");
        return;
    }
    printf("%d %u -> %u", (int)result->status, (unsigned)result->locations[0],
           (unsigned)result->locations[1]);
    for (uint32_t i = 0; i < result->stage_count; i++) {
        char path[4096];
        printf(" %u", (unsigned)result->size[i]);
        if (out == NULL)
            continue;
        snprintf(path, sizeof path, "%s.%d", out, number++);
        FILE *file = fopen(path, "wb");
        if (file == NULL || fwrite(result->code[i], 1, result->size[i], file) != result->size[i])
            abort();
        fclose(file);
    }
    printf(" %s\n", result->reason);
}

static spvlink_stage stages[2];
static spvlink_pipeline pair(int fragment) {
    spvlink_pipeline pipeline;
    memset(&pipeline, 0, sizeof pipeline);
    memset(stages, 0, sizeof stages);
    stages[0].stage = VERT;
    stages[0].code = files[0].data;
    stages[0].size = files[0].size;
    stages[1].stage = FRAG;
    stages[1].code = files[fragment].data;
    stages[1].size = files[fragment].size;
    pipeline.stages = stages;
    pipeline.stage_count = 2;
    return pipeline;
}

static void link_it(uint32_t wait) {
    spvlink_pipeline pipeline = pair(1);
    const spvlink_result *result = spvlink_link(&pipeline, wait);
    show(result);
    spvlink_result_free(result);
}

/* Modules by handles; the result outlives them, and is the same object the second time. */
static void handles(void) {
    spvlink_pipeline pipeline = pair(1);
    spvlink_module *modules[2];
    for (int i = 0; i < 2; i++) {
        modules[i] = spvlink_module_create(files[i].data, files[i].size);
        stages[i].module = modules[i];
        stages[i].code = NULL;
        stages[i].size = 0;
    }
    const spvlink_result *first = spvlink_link(&pipeline, WAIT);
    const spvlink_result *second = spvlink_link(&pipeline, 0);
    printf("%s\n", first == second ? "the same" : "another");
    for (int i = 0; i < 2; i++)
        spvlink_module_destroy(modules[i]);
    spvlink_result_free(first);
    show(second);
    spvlink_result_free(second);
}

static void in_two_steps(void) {
    spvlink_pipeline pipeline = pair(1);
    spvlink_request *request = spvlink_begin(&pipeline);
    int fd = spvlink_request_fd(request);
    struct pollfd one;
    one.fd = fd;
    one.events = POLLIN;
    printf("%s\n", fd < 0 ? "nothing to wait for" : poll(&one, 1, WAIT) == 1 ? "ready" : "late");
    const spvlink_result *result = spvlink_end(request, 0);
    show(result);
    spvlink_result_free(result);
}

static void *many(void *argument) {
    int from = *(int *)argument;
    const spvlink_result *result = NULL;
    for (int i = 0; i < 40; i++) {
        spvlink_stage own[2];
        spvlink_pipeline pipeline;
        memset(own, 0, sizeof own);
        memset(&pipeline, 0, sizeof pipeline);
        own[0].stage = VERT;
        own[0].code = files[0].data;
        own[0].size = files[0].size;
        int fragment = 1 + (from + i) % (count - 1);
        own[1].stage = FRAG;
        own[1].code = files[fragment].data;
        own[1].size = files[fragment].size;
        pipeline.stages = own;
        pipeline.stage_count = 2;
        spvlink_result_free(result);
        result = spvlink_link(&pipeline, WAIT);
        if (result == NULL || result->status != SPVLINK_LINKED) {
            puts(result == NULL ? "nothing" : result->reason);
            exit(1);
        }
    }
    spvlink_result_free(result);
    return NULL;
}

static void threads(void) {
    pthread_t all[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&all[i], NULL, many, &numbers[i]) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    puts("all linked");
}

static void bad_arguments(void) {
    spvlink_pipeline pipeline = pair(1);
    spvlink_constant constant = {1, 3, "abc"};
    show(spvlink_link(NULL, 0));
    pipeline.stage_count = 0;
    const spvlink_result *results[5];
    results[0] = spvlink_link(&pipeline, 0);
    pipeline.stage_count = 9;
    results[1] = spvlink_link(&pipeline, 0);
    pipeline = pair(1);
    stages[1].size = 7;
    results[2] = spvlink_link(&pipeline, 0);
    pipeline = pair(1);
    stages[1].constants = &constant;
    stages[1].constant_count = 1;
    results[3] = spvlink_link(&pipeline, 0);
    pipeline = pair(1);
    stages[0].code = NULL;
    results[4] = spvlink_link(&pipeline, 0);
    for (size_t i = 0; i < COUNT(results); i++) {
        show(results[i]);
        spvlink_result_free(results[i]);
    }
    spvlink_result_free(NULL);
    spvlink_module_destroy(NULL);
    printf("%d %d %d\n", spvlink_module_create(NULL, 20) == NULL, spvlink_request_fd(NULL),
           spvlink_end(NULL, 0) == NULL);
    printf("%d %d\n", spvlink_set("no_such", "1"), spvlink_set("cache_mb", "1"));
}

/* With what pipeline creation knows: constant 0 of the fragment shader, and a layout. */
static void known(int layout, int exact, int open, uint32_t value) {
    spvlink_pipeline pipeline = pair(1);
    spvlink_constant constant = {0, 4, NULL};
    spvlink_binding bindings[2] = {{1, 0, 6, 1, VERT | FRAG}, {0, 3, 6, 1, VERT | FRAG}};
    spvlink_push_range range = {VERT | FRAG, 0, 64};
    spvlink_layout all = {NULL, 0, NULL, 0};
    constant.value = &value;
    stages[1].constants = &constant;
    stages[1].constant_count = 1;
    all.bindings = bindings;
    all.binding_count = 2;
    all.push_ranges = &range;
    all.push_range_count = 1;
    pipeline.layout = layout ? &all : NULL;
    pipeline.exact = exact;
    pipeline.open = open;
    const spvlink_result *result = spvlink_link(&pipeline, WAIT);
    show(result);
    spvlink_result_free(result);
}

/* For each of these drivers: v3dv and RADV, one that the header does not have, any. */
static void drivers(void) {
    static const uint32_t DRIVERS[] = {19, 3, 12345, 0};
    for (int i = 0; i < 4; i++) {
        spvlink_pipeline pipeline = pair(1);
        pipeline.driver_id = DRIVERS[i];
        const spvlink_result *result = spvlink_link(&pipeline, WAIT);
        show(result);
        spvlink_result_free(result);
    }
}

static void with(const spvlink_state *state) {
    spvlink_pipeline pipeline = pair(1);
    pipeline.state = state;
    const spvlink_result *result = spvlink_link(&pipeline, WAIT);
    show(result);
    spvlink_result_free(result);
}

/* Pipelines that differ in their state; test_library.py has the same ones as JSON (STATES). */
static void states(void) {
    enum { ALL = SPVLINK_KNOWN_PATCH * 2 - 1, BACK = 2, TRIANGLES = 3, RGBA8 = 37, RG32F = 103 };
    const uint32_t swapped[2] = {1, 0}, X = SPVLINK_UNKNOWN;
    spvlink_attribute attribute = {0, RG32F};
    spvlink_attachment all[2] = {{RGBA8, 15, 0, 0, 0, 0, 0, 0, 0}, {0, 15, 0, 0, 0, 0, 0, 0, 0}};
    spvlink_state state;
    with(NULL);
    memset(&state, 0, sizeof state);
    with(&state); /* nothing is known */
    state.attachments = all;
    state.attachment_count = 2;
    state.samples = state.viewports = state.patch_control_points = 1;
    state.cull_mode = BACK;
    state.topology = TRIANGLES;
    state.attributes = &attribute;
    state.attribute_count = 1;
    state.rasterizer_discard = 1;
    with(&state); /* still nothing */
    state.rasterizer_discard = 0;
    state.known = SPVLINK_KNOWN_ATTACHMENTS;
    with(&state); /* the second attachment does not exist */
    state.attachment_locations = swapped;
    with(&state); /* the output of Location 0 goes into it */
    state.attachment_locations = NULL;
    state.known = ALL;
    with(&state);
    state.samples_moved = 1;
    state.cull_mode = state.polygon_mode = state.topology = state.viewports = state.view_mask = X;
    with(&state);
    state.known = SPVLINK_KNOWN_ATTACHMENTS; /* it may blend, with a factor that is not known */
    all[1] = all[0];
    all[0].write_mask = 1;
    all[0].blend_enable = all[0].src_color = all[0].src_alpha = X;
    state.alpha_to_coverage = X;
    with(&state);
    all[0].format = X;
    all[0].write_mask = 8;
    all[1].write_mask = 0;
    all[0].blend_enable = 0;
    state.alpha_to_coverage = 0;
    with(&state);
    state.known = SPVLINK_KNOWN_DISCARD;
    state.rasterizer_discard = 1;
    with(&state);
    state.known = SPVLINK_KNOWN_ATTACHMENTS;
    state.attachments = NULL;
    with(&state); /* bad */
    state.known = SPVLINK_KNOWN_ATTRIBUTES;
    state.attributes = NULL;
    with(&state); /* bad */
}

/* Microseconds of a hit, and seconds of all misses, of what is given as pairs of files. */
static void figures(void) {
    enum { ROUNDS = 20000 };
    spvlink_module *modules[MOST];
    spvlink_stage own[2];
    spvlink_pipeline pipeline;
    memset(own, 0, sizeof own);
    memset(&pipeline, 0, sizeof pipeline);
    pipeline.stages = own;
    pipeline.stage_count = 2;
    for (int i = 0; i < count; i++)
        modules[i] = spvlink_module_create(files[i].data, files[i].size);
    own[0].stage = VERT;
    own[1].stage = FRAG;
    for (int warm = 0; warm < 2; warm++) {
        double begin = now();
        for (int i = 0; i + 1 < count; i += 2) {
            own[0].module = modules[i];
            own[1].module = modules[i + 1];
            spvlink_result_free(spvlink_link(&pipeline, WAIT));
        }
        printf("%s %.6f\n", warm ? "again" : "first", now() - begin);
    }
    double begin = now();
    for (int i = 0; i < ROUNDS; i++)
        spvlink_result_free(spvlink_link(&pipeline, WAIT));
    printf("handles %.3f\n", (now() - begin) / ROUNDS * 1e6);
    own[0].module = own[1].module = NULL;
    own[0].code = files[0].data;
    own[0].size = files[0].size;
    own[1].code = files[1].data;
    own[1].size = files[1].size;
    begin = now();
    for (int i = 0; i < ROUNDS; i++)
        spvlink_result_free(spvlink_link(&pipeline, WAIT));
    printf("words %.3f\n", (now() - begin) / ROUNDS * 1e6);
    for (int i = 0; i < count; i++)
        spvlink_module_destroy(modules[i]);
}

int main(int argc, char **argv) {
    const char *action = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc; i++)
        load(argv[i]);
    if (strcmp(action, "link") == 0)
        link_it(WAIT);
    else if (strcmp(action, "now") == 0)
        link_it(0);
    else if (strcmp(action, "handles") == 0)
        handles();
    else if (strcmp(action, "steps") == 0)
        in_two_steps();
    else if (strcmp(action, "threads") == 0)
        threads();
    else if (strcmp(action, "bad") == 0)
        bad_arguments();
    else if (strcmp(action, "known") == 0) {
        known(0, 0, 0, 0);
        known(0, 0, 0, 1);
        known(1, 0, 0, 0);
        known(0, 1, 0, 0);
        known(0, 0, 1, 0);
    } else if (strcmp(action, "drivers") == 0)
        drivers();
    else if (strcmp(action, "states") == 0)
        states();
    else if (strcmp(action, "figures") == 0)
        figures();
    else
        return 2;
    for (int i = 0; i < count; i++)
        free(files[i].data);
    return 0;
}
