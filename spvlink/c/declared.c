/* What a module declares that the pipeline's state may say something of.
 *
 * spvlink/state_use.py (DeclaredUse) reads the same from a recorded module; the two have to agree, or
 * what was recorded is not found again. Nothing of a module is trusted: whatever makes no sense is
 * `unread`, and then all of the state counts.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { /* SPIR-V */
    MAGIC = 0x07230203,
    ENTRY_POINT = 15, CAPABILITY = 17, TYPE_VOID = 19, TYPE_INT = 21, TYPE_FLOAT = 22,
    TYPE_VECTOR = 23, TYPE_MATRIX = 24, TYPE_ARRAY = 28, TYPE_POINTER = 32, CONSTANT = 43,
    FUNCTION = 54, VARIABLE = 59, ACCESS_CHAIN = 65, IN_BOUNDS_ACCESS_CHAIN = 66, DECORATE = 71,
    MEMBER_DECORATE = 72, GROUP_DECORATE = 74, GROUP_MEMBER_DECORATE = 75,
    BUILT_IN = 11, CENTROID = 16, SAMPLE = 17, LOCATION = 30, COMPONENT = 31, INDEX = 32,
    SAMPLE_RATE_SHADING = 35, INTERPOLATION_FUNCTION = 52, INPUT = 1, OUTPUT = 3,
    POINT_SIZE = 1, LAYER = 9, VIEWPORT_INDEX = 10, FRONT_FACING = 17, SAMPLE_ID = 18, SAMPLE_POSITION = 19,
    SAMPLE_MASK = 20, VIEW_INDEX = 4440,
    VERT = 0x1, FRAG = 0x10, /* VkShaderStageFlagBits */
    MOST_IDS = 1 << 22, MOST_LOCATIONS = 64
};
#define NONE 0xffffffffu

/* Of one id. `at`: where its type, constant or variable is defined; 0: nowhere. */
struct id {
    uint32_t at, location, component, index, builtin;
    uint32_t size_member; /* of a struct: which member is the size of points */
};

struct reading {
    const uint32_t *words;
    uint32_t end, bound;
    struct id *ids;
    struct declared *found;
};

static uint32_t op_at(const struct reading *of, uint32_t at) { return of->words[at] & 0xffff; }
static uint32_t size_at(const struct reading *of, uint32_t at) { return of->words[at] >> 16; }

static struct id *id_of(const struct reading *of, uint32_t id) {
    return id < of->bound ? &of->ids[id] : NULL;
}

/* Where an id is defined, 0: nowhere, or with fewer words than that. */
static uint32_t defined(const struct reading *of, uint32_t id, uint32_t size) {
    const struct id *one = id_of(of, id);
    return one != NULL && one->at != 0 && size_at(of, one->at) >= size ? one->at : 0;
}

/* The definition of a type, which has to stand before that: so no type has itself as its part. */
static uint32_t before(const struct reading *of, uint32_t type, uint32_t that) {
    uint32_t at = defined(of, type, 2);
    return at < that ? at : 0;
}

static uint32_t constant(const struct reading *of, uint32_t id, uint32_t otherwise) {
    uint32_t at = defined(of, id, 4);
    return at != 0 && op_at(of, at) == CONSTANT ? of->words[at + 3] : otherwise;
}

static void note_builtin(struct declared *found, uint32_t builtin) {
    switch (builtin) {
    case LAYER: found->asks |= ASKS_LAYER; break;
    case VIEWPORT_INDEX: found->asks |= ASKS_VIEWPORT; break;
    case FRONT_FACING: found->asks |= ASKS_FACING; break;
    case SAMPLE_ID:
    case SAMPLE_POSITION:
    case SAMPLE_MASK: found->asks |= ASKS_SAMPLES; break;
    case VIEW_INDEX: found->asks |= ASKS_VIEW; break;
    default: break;
    }
}

static void note(struct declared *found, uint32_t decoration, uint32_t operand) {
    found->finer |= decoration == CENTROID || decoration == SAMPLE;
    if (decoration == BUILT_IN)
        note_builtin(found, operand);
}

static uint32_t stage_of(uint32_t model) {
    static const uint32_t MODELS[][2] = {{0, 0x1}, {1, 0x2}, {2, 0x4}, {3, 0x8}, {4, 0x10},
                                         {5267, 0x40}, {5268, 0x80}, {5364, 0x40}, {5365, 0x80}};
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++)
        if (MODELS[i][0] == model)
            return MODELS[i][1];
    return 0;
}

static bool decorate(const struct reading *of, const uint32_t *words, uint32_t size) {
    struct id *one = id_of(of, words[1]);
    uint32_t operand = size > 3 ? words[3] : 0;
    if (one == NULL)
        return false;
    note(of->found, words[2], operand);
    switch (words[2]) {
    case LOCATION: one->location = operand; break;
    case COMPONENT: one->component = operand; break;
    case INDEX: one->index = operand; break;
    case BUILT_IN: one->builtin = operand; break;
    default: break;
    }
    return true;
}

static bool decorate_member(const struct reading *of, const uint32_t *words, uint32_t size) {
    struct id *one = id_of(of, words[1]);
    if (one == NULL)
        return false;
    note(of->found, words[3], size > 4 ? words[4] : 0);
    if (size > 4 && words[3] == BUILT_IN && words[4] == POINT_SIZE)
        one->size_member = words[2];
    return true;
}

/* One instruction before the first function; false: it makes no sense. */
static bool declare(const struct reading *of, uint32_t at, uint32_t size) {
    const uint32_t *words = &of->words[at];
    uint32_t op = op_at(of, at), result = op == CONSTANT || op == VARIABLE ? 2 : 1;
    switch (op) {
    case GROUP_DECORATE:
    case GROUP_MEMBER_DECORATE: return false;
    case ENTRY_POINT:
        if (size > 1)
            of->found->stages |= stage_of(words[1]);
        return size > 1;
    case CAPABILITY:
        if (size > 1)
            of->found->finer |=
                words[1] == SAMPLE_RATE_SHADING || words[1] == INTERPOLATION_FUNCTION;
        return size > 1;
    case DECORATE: return size > 2 && decorate(of, words, size);
    case MEMBER_DECORATE: return size > 3 && decorate_member(of, words, size);
    default:
        if (op != CONSTANT && op != VARIABLE && (op < TYPE_VOID || op > TYPE_POINTER))
            return true;
        if (size <= result + (op == CONSTANT || op == VARIABLE) || id_of(of, words[result]) == NULL)
            return false;
        of->ids[words[result]].at = at;
        return true;
    }
}

/* -- variables ------------------------------------------------------------------------------------- */

static bool add(struct places *to, uint32_t location, uint32_t index, uint32_t mask) {
    for (uint32_t i = 0; i < to->count; i++)
        if (to->at[i].location == location && to->at[i].index == index) {
            to->at[i].mask |= mask;
            return true;
        }
    if (to->count == MOST_PLACES)
        return false;
    to->at[to->count++] = (struct place){location, index, mask};
    return true;
}

static uint64_t times(uint64_t count, uint32_t by) {
    return count * by > MOST_LOCATIONS ? MOST_LOCATIONS : count * by;
}

/* Whether a type is a number of at most 32 bits; `known` is false if it is none at all. */
static bool is_narrow(const struct reading *of, uint32_t type, bool *known) {
    uint32_t at = defined(of, type, 3);
    *known = *known && at != 0;
    return at != 0 && of->words[at + 2] <= 32;
}

/* The components that a variable covers, all of a Location where it is no scalar or vector. */
static bool cover(const struct reading *of, const struct id *of_variable, uint32_t type,
                  struct places *to) {
    uint64_t count = 1;
    uint32_t mask = 15, at = defined(of, type, 2);
    bool known = true;
    while (at != 0 && (op_at(of, at) == TYPE_ARRAY || op_at(of, at) == TYPE_MATRIX)) {
        if (size_at(of, at) < 4)
            return false;
        uint32_t length = of->words[at + 3];
        count = times(count, op_at(of, at) == TYPE_ARRAY ? constant(of, length, 8) : length);
        at = before(of, of->words[at + 2], at);
    }
    if (at == 0 || of_variable->component > 3)
        return false;
    uint32_t op = op_at(of, at);
    if (op == TYPE_INT || op == TYPE_FLOAT) {
        if (is_narrow(of, of->words[at + 1], &known))
            mask = 1u << of_variable->component;
    } else if (op == TYPE_VECTOR) {
        if (size_at(of, at) < 4 || of->words[at + 3] > 16)
            return false;
        if (is_narrow(of, of->words[at + 2], &known))
            mask = ((1u << of->words[at + 3]) - 1) << of_variable->component;
    }
    for (uint32_t i = 0; known && i < count; i++)
        known = add(to, of_variable->location + i, of_variable->index, mask);
    return known;
}

/* How deep in arrays a variable is a block with a size of points, and which member that is. */
static bool sized_block(const struct reading *of, uint32_t type, uint32_t *depth,
                        uint32_t *member) {
    uint32_t at = defined(of, type, 2);
    *depth = 0;
    while (at != 0 && op_at(of, at) == TYPE_ARRAY && size_at(of, at) >= 3) {
        type = of->words[at + 2];
        at = before(of, type, at);
        ++*depth;
    }
    const struct id *one = id_of(of, type);
    *member = one != NULL ? one->size_member : NONE;
    return at != 0;
}

/* Whether a chain goes to the size of points of a variable. */
static bool reaches_size(const struct reading *of, uint32_t from, uint32_t variable,
                         uint32_t depth, uint32_t member) {
    for (uint32_t at = from; at < of->end; at += size_at(of, at)) {
        uint32_t op = op_at(of, at), size = size_at(of, at);
        if (size == 0 || size > of->end - at)
            return true;
        if ((op == ACCESS_CHAIN || op == IN_BOUNDS_ACCESS_CHAIN) && size >= 4 &&
            of->words[at + 3] == variable &&
            (size <= 4 + depth || constant(of, of->words[at + 4 + depth], NONE) == member))
            return true;
    }
    return false;
}

static bool look_at(const struct reading *of, uint32_t at, uint32_t code) {
    uint32_t variable = of->words[at + 2], storage = of->words[at + 3];
    if (storage != INPUT && storage != OUTPUT)
        return true;
    const struct id *one = &of->ids[variable];
    uint32_t pointer = defined(of, of->words[at + 1], 4), depth, member;
    if (pointer == 0 || op_at(of, pointer) != TYPE_POINTER)
        return false;
    uint32_t type = of->words[pointer + 3];
    bool counts = of->found->stages & (storage == INPUT ? VERT : FRAG); /* attributes, colours */
    if (one->location != NONE && counts &&
        !cover(of, one, type, storage == INPUT ? &of->found->inputs : &of->found->outputs))
        return false;
    if (storage == INPUT)
        return true;
    of->found->sized |= one->builtin == POINT_SIZE;
    if (!sized_block(of, type, &depth, &member))
        return false;
    if (member != NONE && !of->found->sized)
        of->found->sized = reaches_size(of, code, variable, depth, member);
    return true;
}

static bool read_all(struct reading *of) {
    uint32_t at = 5, size;
    for (; at < of->end && op_at(of, at) != FUNCTION; at += size) {
        size = size_at(of, at);
        if (size == 0 || size > of->end - at || !declare(of, at, size))
            return false;
    }
    uint32_t code = at;
    for (at = 5; at < code; at += size_at(of, at))
        if (op_at(of, at) == VARIABLE && (size_at(of, at) < 4 || !look_at(of, at, code)))
            return false;
    return true;
}

struct declared *declared_new(const void *data, size_t size) {
    struct declared *found = calloc(1, sizeof *found);
    struct reading of = {data, (uint32_t)(size / 4), 0, NULL, found};
    if (found == NULL)
        return NULL;
    found->unread = true;
    if (size < 20 || size > MAX_FILE || size % 4 != 0 || of.words[0] != MAGIC ||
        of.words[3] > MOST_IDS)
        return found;
    of.bound = of.words[3];
    of.ids = malloc(of.bound * sizeof *of.ids + 1);
    if (of.ids == NULL)
        return found;
    for (uint32_t i = 0; i < of.bound; i++)
        of.ids[i] = (struct id){0, NONE, 0, 0, NONE, NONE};
    found->unread = !read_all(&of);
    free(of.ids);
    return found;
}
