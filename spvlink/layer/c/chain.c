/* From a chain of stages to linked modules: the cache, then the linker process. */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

static uint64_t short_key(const unsigned char *key) {
    uint64_t value;
    memcpy(&value, key, sizeof value);
    return value;
}

void chain_refused(struct device *device, const unsigned char *key) {
    log_event("the driver refused linked modules; it got the original ones");
    struct blob *blob = blob_new(key, DIGEST);
    table_put(device->refused, short_key(key), blob);
}

static bool was_refused(struct device *device, const unsigned char *key) {
    struct blob *blob = table_find(device->refused, short_key(key));
    blob_drop(blob);
    return blob != NULL; /* only whether there was one */
}

static const char *names(const struct chain *chain, char *text) {
    static const struct {
        VkShaderStageFlags bit;
        const char *name;
    } NAMES[] = {{0x1, "vert"}, {0x2, "tesc"}, {0x4, "tese"}, {0x8, "geom"},
                 {0x40, "task"}, {0x80, "mesh"}, {0x10, "frag"}};
    text[0] = 0;
    for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++)
        for (uint32_t i = 0; i < chain->count; i++)
            if ((VkShaderStageFlags)chain->stages[i].bit == NAMES[n].bit) {
                strcat(text, text[0] == 0 ? "" : "->");
                strcat(text, NAMES[n].name);
            }
    return text;
}

void chain_linked(const struct chain *chain, const struct answer *answer) {
    char text[MAX_STAGES * 8];
    const uint32_t *f = answer->figures;
    log_pipeline(LINKED, NULL);
    log_add(COMPONENTS_BEFORE, f[0]);
    log_add(COMPONENTS_AFTER, f[1]);
    log_add(LOCATIONS_BEFORE, f[2]);
    log_add(LOCATIONS_AFTER, f[3]);
    log_line("linked: %s, %u -> %u components in %u -> %u Locations", names(chain, text), f[0],
             f[1], f[2], f[3]);
}

/* NULL with the answer filled in, or why there is none, and `outcome`. */
static const char *look_up(struct chain *chain, const struct bytes *facts,
                           const unsigned char *key, bool may_wait, struct answer *answer, enum counter *outcome) {
    if (answer_cached(answer, chain, key)) {
        log_add(HITS, 1);
        return NULL;
    }
    log_add(MISSES, 1);
    struct bytes request = {0};
    const char *why = "too big for the linker";
    if (chain_request(chain, facts, &request)) {
        *outcome = NOT_IN_TIME;
        why = ask(&request, key, may_wait, &answer->from);
    }
    bytes_free(&request);
    if (why == NULL && !answer_read(answer, chain, key)) {
        why = "nonsense from the linker process";
        log_event(why);
    }
    return why;
}

struct answer *chain_frozen(struct device *device, struct chain *half, unsigned char key[DIGEST]) {
    struct bytes facts = {0};
    struct answer *answer = calloc(1, sizeof *answer);
    bool opaque = half->layout != NULL && half->layout->opaque;
    bool found = answer != NULL && settings()->usable && !opaque &&
                 chain_facts(half, &facts, key) && !was_refused(device, key) &&
                 answer_cached(answer, half, key);
    bytes_free(&facts);
    if (found)
        return answer;
    free(answer);
    return NULL;
}

void chain_foresee(struct device *device, const struct chain *chain) {
    unsigned char key[DIGEST];
    struct bytes facts = {0}, request = {0};
    if (settings()->usable && settings()->wait_ns > 0 &&
        !(chain->layout != NULL && chain->layout->opaque) && chain_facts(chain, &facts, key) &&
        !was_refused(device, key) && !answer_there(key) && chain_request(chain, &facts, &request))
        ask(&request, key, false, NULL);
    bytes_free(&request);
    bytes_free(&facts);
}

struct answer *chain_link(struct device *device, struct chain *chain, bool may_wait,
                          unsigned char key[DIGEST]) {
    struct bytes facts = {0};
    struct answer *answer = calloc(1, sizeof *answer);
    enum counter outcome = REFUSED;
    const char *why = "no memory";
    if (chain->layout != NULL && chain->layout->opaque)
        why = "a layout made with something that the layer does not know";
    else if (!settings()->usable)
        why = "no folder for the cache";
    else if (answer != NULL && chain_facts(chain, &facts, key))
        why = was_refused(device, key) ? "the driver refused the linked modules before"
                                       : look_up(chain, &facts, key, may_wait, answer, &outcome);
    bytes_free(&facts);
    if (why == NULL && answer->status == STATUS_LINKED)
        return answer;
    if (why == NULL)
        outcome = answer->status == STATUS_NOTHING_TO_GAIN ? NOTHING_TO_GAIN
                  : answer->status == STATUS_NOT_NOW       ? NOT_IN_TIME
                                                           : REFUSED;
    log_pipeline(outcome, why != NULL ? why : answer->reason);
    if (answer != NULL)
        answer_free(answer);
    free(answer);
    return NULL;
}
