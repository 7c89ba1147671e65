/* What the layer knows of a pipeline, as words: the key of the cache and the head of a request.
 *
 * Everything that the linked modules depend on is in here and nothing else is. Python reads it in
 * spvlink/layer/wire.py, which has the layout of the words too; change both, and FORMAT.
 */
#include "core.h"

#include "numbers.h"

#include <string.h>

#define FORMAT 7
#define REQUEST 0x524c5053u /* "SPLR" */

/* -- chains --------------------------------------------------------------------------------------- */

/* count, then (constantID, size, 8 bytes) each; what is no scalar is left to the driver */
static void put_specialization(struct bytes *facts, const struct constants *spec) {
    uint32_t count = 0, entries = spec == NULL ? 0 : spec->count;
    for (uint32_t i = 0; i < entries; i++)
        count += spec->entries[i].size <= 8;
    put_u32(facts, count);
    for (uint32_t i = 0; i < entries; i++) {
        const struct constant *entry = &spec->entries[i];
        unsigned char value[8] = {0};
        if (entry->size > sizeof value)
            continue;
        if (entry->size > 0)
            memcpy(value, (const char *)spec->data + entry->offset, entry->size);
        put_u32(facts, entry->id);
        put_u32(facts, (uint32_t)entry->size);
        put(facts, value, sizeof value);
    }
}

/* The part of the state that a link of these modules may ask for. */
static void put_state(struct bytes *facts, const struct chain *chain) {
    const struct declared *found[MAX_STAGES];
    struct state used;
    for (uint32_t i = 0; i < chain->count; i++)
        found[i] = chain->stages[i].code->declared;
    state_unknown(&used);
    if (chain->has_state)
        state_used(&chain->state, found, chain->count, &used);
    state_put(facts, &used);
}

uint32_t gpu_of_driver(uint32_t driver_id) {
    static const struct {
        uint32_t driver_id, gpu;
    } KNOWN[] = {GPU_OF_DRIVERS};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (KNOWN[i].driver_id == driver_id)
            return KNOWN[i].gpu;
    return 0;
}

bool chain_facts(const struct chain *chain, struct bytes *facts, unsigned char key[DIGEST]) {
    put_u32(facts, FORMAT);
    put(facts, settings()->identity, sizeof settings()->identity);
    put_u32(facts, chain->exact || settings()->exact);
    put_u32(facts, chain->gpu);
    put_u32(facts, chain->half ? 2 : chain->open);
    put_u32(facts, chain->count);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stages[i];
        size_t length = strlen(stage->entry);
        put_u32(facts, (uint32_t)stage->bit);
        put_u32(facts, (uint32_t)length);
        put_padded(facts, stage->entry, length);
        put_specialization(facts, stage->spec);
        put_u32(facts, (uint32_t)stage->code->size);
        put(facts, stage->code->digest, DIGEST);
    }
    put_u32(facts, chain->layout != NULL);
    if (chain->layout != NULL)
        put(facts, chain->layout->data, chain->layout->size);
    put(facts, chain->descriptors.data, chain->descriptors.size);
    facts->failed |= chain->descriptors.failed;
    put_state(facts, chain);
    if (facts->failed)
        return false;
    blake2b(facts->data, facts->size, key, DIGEST);
    return true;
}

/* magic, bytes behind these two words, bytes of the facts, facts, the modules */
bool chain_request(const struct chain *chain, const struct bytes *facts, struct bytes *request) {
    size_t size = 4 + facts->size;
    for (uint32_t i = 0; i < chain->count; i++)
        size += chain->stages[i].code->size;
    if (size > MAX_FILE)
        return false;
    put_u32(request, REQUEST);
    put_u32(request, (uint32_t)size);
    put_u32(request, (uint32_t)facts->size);
    put(request, facts->data, facts->size);
    for (uint32_t i = 0; i < chain->count; i++)
        put(request, chain->stages[i].code->data, chain->stages[i].code->size);
    return !request->failed;
}

void chain_free(struct chain *chain) {
    for (uint32_t i = 0; i < chain->count; i++)
        blob_drop(chain->stages[i].code);
    blob_drop(chain->layout);
    bytes_free(&chain->descriptors);
    *chain = (struct chain){0};
}
