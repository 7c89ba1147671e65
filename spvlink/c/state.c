/* What is known of a pipeline beside its modules, and the part of it that a link may ask for.
 *
 * That part goes into the facts, so pipelines that differ in anything else have one key.
 * spvlink/state.py and state_use.py do the same for archives, and spvlink/layer/wire.py reads the words:
 * change all of them together.
 */
#include "core.h"

enum { ALPHA = 8, RGB = 7, ALL = 15, MIN = 3, MAX = 4, OPERATIONS = 5 };
enum { VERT = 0x1, TESC = 0x2, FRAG = 0x10, MAKERS = 0x4 | 0x8 | 0x80 }; /* of primitives */
enum { CULL_FRONT = 1, CULL_BACK = 2, FILLED = 0, AS_LINES = 1 };

void state_unknown(struct state *state) {
    state->outputs_known = state->discards = state->one_sample = false;
    state->outputs.count = state->attributes.count = 0;
    state->view_mask = state->culled = state->polygons = STATE_UNKNOWN;
    state->viewports = state->patch_points = STATE_UNKNOWN;
    state->topology = NO_TOPOLOGY;
}

/* The components of a colour format (bit n: RGBA[n]); none of VK_FORMAT_UNDEFINED, all of what is not
 * known here. Compare spvlink/formats.py. */
uint32_t format_components(uint32_t format) {
    static const struct { uint32_t first, last, components; } ROWS[] = {
        {0, 0, 0},     {1, 1, 3},     {2, 3, 15},    {4, 5, 7},     {6, 8, 15},    {9, 15, 1},
        {16, 22, 3},   {23, 36, 7},   {37, 69, 15},  {70, 76, 1},   {77, 83, 3},   {84, 90, 7},
        {91, 97, 15},  {98, 100, 1},  {101, 103, 3}, {104, 106, 7}, {107, 109, 15}, {110, 112, 1},
        {113, 115, 3}, {116, 118, 7}, {119, 121, 15}, {122, 123, 7}, {1000470001, 1000470001, 8},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (format >= ROWS[i].first && format <= ROWS[i].last)
            return ROWS[i].components;
    return ALL;
}

/* The bits that a component of an unsigned integer format needs at most; 0: all 32, or it is none. */
static uint32_t unsigned_bits(uint32_t format) {
    static const unsigned char NUMBERS[][2] = {
        {13, 8},  {20, 8},  {27, 8},  {34, 8},  {41, 8},  {48, 8},  {55, 8},
        {62, 10}, {68, 10}, {74, 16}, {81, 16}, {88, 16}, {95, 16}};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        if (format == NUMBERS[i][0])
            return NUMBERS[i][1];
    return 0;
}

uint32_t topology_class(uint32_t topology) {
    static const unsigned char CLASSES[] = {
        POINTS, LINES, LINES, TRIANGLES, TRIANGLES, TRIANGLES, LINES, LINES, TRIANGLES, TRIANGLES,
        PATCHES};
    return topology < sizeof CLASSES ? CLASSES[topology] : NO_TOPOLOGY;
}

/* -- attachments ------------------------------------------------------------------------------------ */

static bool reads_alpha(uint32_t factor) {
    return factor == STATE_UNKNOWN || factor == 6 || factor == 7 || factor == 14;
}
static bool reads_second_color(uint32_t factor) {
    return factor == STATE_UNKNOWN || factor == 15 || factor == 16;
}
static bool reads_second_alpha(uint32_t factor) {
    return factor == STATE_UNKNOWN || factor == 17 || factor == 18;
}

/* The components that an attachment takes of Index 0 and 1 (Vulkan, "Blending"). */
static void taken_of(const struct attachment *of, uint32_t taken[2]) {
    taken[0] = of->mask;
    taken[1] = 0;
    if (of->mask == 0 || of->blends == 0)
        return;
    for (int part = 0; part < 2; part++)
        if (of->operations[part] != STATE_UNKNOWN && of->operations[part] >= OPERATIONS) {
            taken[0] = taken[1] = ALL; /* an advanced one, which reads all of the source */
            return;
        }
    for (int part = 0; part < 2; part++) {
        uint32_t mine = of->mask & (part == 0 ? RGB : ALPHA), operation = of->operations[part];
        if (mine == 0 || operation == MIN || operation == MAX)
            continue;
        for (int n = 0; n < 2; n++) {
            uint32_t factor = of->factors[2 * part + n];
            taken[0] |= reads_alpha(factor) ? ALPHA : 0;
            taken[1] |= reads_second_color(factor) ? mine : 0;
            taken[1] |= reads_second_alpha(factor) ? ALPHA : 0;
        }
    }
}

static bool take(struct places *outputs, uint32_t location, uint32_t index, uint32_t mask) {
    uint32_t at = 0;
    if (mask == 0)
        return true;
    while (at < outputs->count && (outputs->at[at].location < location ||
                                   (outputs->at[at].location == location &&
                                    outputs->at[at].index < index)))
        at++;
    if (at < outputs->count && outputs->at[at].location == location &&
        outputs->at[at].index == index) {
        outputs->at[at].mask |= mask;
        return true;
    }
    if (outputs->count == MOST_PLACES)
        return false;
    for (uint32_t i = outputs->count++; i > at; i--)
        outputs->at[i] = outputs->at[i - 1];
    outputs->at[at] = (struct place){location, index, mask};
    return true;
}

/* Alpha to coverage, unless it is off, reads the alpha of Location 0 whether there is an attachment or
 * not (Vulkan, "Multisample Coverage"). */
void state_outputs(struct state *state, uint32_t count, const struct attachment *attachments,
                   uint32_t alpha_to_coverage) {
    uint32_t taken[2];
    bool fits = take(&state->outputs, 0, 0, alpha_to_coverage != 0 ? ALPHA : 0);
    for (uint32_t i = 0; i < count; i++) {
        taken_of(&attachments[i], taken);
        if (attachments[i].location == STATE_UNKNOWN) /* none */
            continue;
        fits = take(&state->outputs, attachments[i].location, 0, taken[0]) && fits;
        fits = take(&state->outputs, attachments[i].location, 1, taken[1]) && fits;
    }
    state->outputs_known = fits;
}

/* False: two attributes of one Location, or too many. The order is that of Locations. */
bool state_attribute(struct state *state, uint32_t location, uint32_t format) {
    struct places *all = &state->attributes;
    uint32_t at = all->count;
    if (all->count == MOST_PLACES)
        return false;
    while (at > 0 && all->at[at - 1].location >= location)
        if (all->at[--at].location == location)
            return false;
    for (uint32_t i = all->count++; i > at; i--)
        all->at[i] = all->at[i - 1];
    all->at[at] = (struct place){location, unsigned_bits(format), format_components(format)};
    return true;
}

/* -- what a link asks for --------------------------------------------------------------------------- */

static uint32_t mask_at(const struct places *of, uint32_t location, uint32_t index) {
    for (uint32_t i = 0; i < of->count; i++)
        if (of->at[i].location == location && of->at[i].index == index)
            return of->at[i].mask;
    return 0;
}

/* Outputs of fragment shaders that are taken; unknown, if all that they declare is. */
static void use_outputs(const struct state *state, const struct declared *const *found,
                        uint32_t count, struct state *used) {
    bool all = true;
    used->outputs_known = state->outputs_known;
    for (uint32_t m = 0; used->outputs_known && m < count; m++)
        for (uint32_t i = 0; (found[m]->stages & FRAG) && i < found[m]->outputs.count; i++) {
            const struct place *one = &found[m]->outputs.at[i];
            uint32_t left = one->mask & mask_at(&state->outputs, one->location, one->index);
            all = all && left == one->mask;
            if (!take(&used->outputs, one->location, one->index, left))
                used->outputs_known = false;
        }
    if (all || !used->outputs_known) {
        used->outputs_known = false;
        used->outputs.count = 0;
    }
}

static void use_attributes(const struct state *state, const struct declared *const *found,
                           uint32_t count, struct state *used) {
    for (uint32_t i = 0; i < state->attributes.count; i++) {
        struct place one = state->attributes.at[i];
        uint32_t declared = 0;
        for (uint32_t m = 0; m < count; m++)
            if (found[m]->stages & VERT)
                declared |= mask_at(&found[m]->inputs, one.location, 0);
        if ((declared & ~one.mask) == 0 && (declared == 0 || one.index == 0))
            continue;
        one.mask &= declared;
        used->attributes.at[used->attributes.count++] = one;
    }
}

/* 0, which says what built-ins of layers are, or the mask of one view: of others gl_ViewIndex is not
 * known. */
static uint32_t use_views(uint32_t mask, uint32_t asks) {
    if (mask == 0)
        return asks & (ASKS_VIEW | ASKS_LAYER | ASKS_VIEWPORT) ? 0 : STATE_UNKNOWN;
    return (mask & (mask - 1)) == 0 && (asks & ASKS_VIEW) ? mask : STATE_UNKNOWN;
}

/* Facing and the size of points, with the facts that they depend on. */
static void use_shape(const struct state *state, uint32_t stages, uint32_t asks, bool sized,
                      struct state *used) {
    bool facing = (stages & FRAG) && (asks & ASKS_FACING) && state->polygons == FILLED &&
                  (state->culled == CULL_FRONT || state->culled == CULL_BACK);
    sized = sized && (state->polygons == FILLED || state->polygons == AS_LINES);
    if (!(stages & MAKERS)) {
        sized = sized && (state->topology == LINES || state->topology == TRIANGLES);
        facing = facing && state->topology == TRIANGLES;
        used->topology = sized || facing ? TRIANGLES : NO_TOPOLOGY; /* lines are no points either */
    }
    used->culled = facing ? state->culled : STATE_UNKNOWN;
    used->polygons = sized || facing ? FILLED : STATE_UNKNOWN;
}

void state_used(const struct state *state, const struct declared *const *found, uint32_t count,
                struct state *used) {
    uint32_t stages = 0, asks = 0;
    bool sized = false, finer = false;
    state_unknown(used);
    for (uint32_t m = 0; m < count; m++) {
        if (found[m] == NULL || found[m]->unread) {
            *used = *state;
            return;
        }
        stages |= found[m]->stages;
        asks |= found[m]->asks;
        sized = sized || found[m]->sized;
        finer = finer || ((found[m]->stages & FRAG) &&
                          (found[m]->finer || (found[m]->asks & ASKS_SAMPLES)));
    }
    use_outputs(state, found, count, used);
    use_attributes(state, found, count, used);
    use_shape(state, stages, asks, sized, used);
    used->discards = state->discards && (stages & FRAG);
    used->one_sample = state->one_sample && finer;
    used->view_mask = use_views(state->view_mask, asks);
    used->viewports =
        state->viewports == 1 && (asks & ASKS_VIEWPORT) ? 1 : STATE_UNKNOWN;
    used->patch_points = stages & TESC ? state->patch_points : STATE_UNKNOWN;
}

/* -- as words ---------------------------------------------------------------------------------------- */

/* discards, one sample, view mask, culled, polygons, topology, viewports, control points; count of
 * outputs (STATE_UNKNOWN: not known), then (Location, Index, components) each; count of attributes,
 * then (Location, components, bits) each */
void state_put(struct bytes *facts, const struct state *state) {
    uint32_t first[] = {state->discards, state->one_sample, state->view_mask, state->culled,
                        state->polygons, state->topology, state->viewports, state->patch_points};
    put(facts, first, sizeof first);
    put_u32(facts, state->outputs_known ? state->outputs.count : STATE_UNKNOWN);
    if (state->outputs_known)
        put(facts, state->outputs.at, state->outputs.count * sizeof *state->outputs.at);
    put_u32(facts, state->attributes.count);
    for (uint32_t i = 0; i < state->attributes.count; i++) {
        put_u32(facts, state->attributes.at[i].location);
        put_u32(facts, state->attributes.at[i].mask);
        put_u32(facts, state->attributes.at[i].index);
    }
}
