/* Render passes as words: what pipelines take from their subpasses.
 *
 * For each subpass: view mask, whether nothing in it is about the size of fragments, count of colour
 * attachments (STATE_UNKNOWN: not known), the components of each, 0 for one that is not used.
 * spvlink/archive/layouts.py reads the same of a recorded render pass.
 */
#include "pipelines.h"

#include <string.h>

/* Structures on a render pass or a subpass that leave fragments as they are. */
static const int PLAIN[] = {MULTIVIEW, 1000117001, 1000199001, 1000241001, 1000241002};
/* Others that are known: nothing of them is about views or colours. */
static const int KNOWN[] = {ON_RENDER_PASS};


static bool all_known(const void *chain) {
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext)
        if (!AMONG((int)at->sType, KNOWN))
            return false;
    return true;
}

static bool all_plain(const void *chain) {
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext)
        if (!AMONG((int)at->sType, PLAIN))
            return false;
    return true;
}

/* None: a format of another API, or one that a structure replaces. */
static uint32_t components(uint32_t format, const void *chain) {
    return format != 0 && chain == NULL ? format_components(format) : 15;
}

/* `references`: their attachment numbers stand `step` bytes apart. */
static void put_colors(struct bytes *words, uint32_t count, const void *references, size_t first,
                       size_t step, uint32_t attachments, const uint32_t *known) {
    bool inside = true;
    uint32_t at;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&at, (const char *)references + first + i * step, sizeof at);
        inside = inside && (at == VK_ATTACHMENT_UNUSED || at < attachments);
    }
    put_u32(words, inside && count <= MOST_COLORS ? count : STATE_UNKNOWN);
    for (uint32_t i = 0; inside && count <= MOST_COLORS && i < count; i++) {
        memcpy(&at, (const char *)references + first + i * step, sizeof at);
        put_u32(words, at == VK_ATTACHMENT_UNUSED ? 0 : known[at]);
    }
}

static struct blob *blob_of(struct bytes *words, struct bytes *masks, bool opaque) {
    struct blob *blob =
        words->failed || masks->failed ? NULL : blob_new(words->data, words->size);
    if (blob != NULL)
        blob->opaque = opaque;
    bytes_free(words);
    bytes_free(masks);
    return blob;
}

struct blob *pass_blob(const VkRenderPassCreateInfo *info) {
    const VkRenderPassMultiviewCreateInfo *views = find(info->pNext, MULTIVIEW);
    struct bytes words = {0}, masks = {0};
    for (uint32_t i = 0; i < info->attachmentCount; i++)
        put_u32(&masks, components((uint32_t)info->pAttachments[i].format, NULL));
    for (uint32_t i = 0; !masks.failed && i < info->subpassCount; i++) {
        const VkSubpassDescription *one = &info->pSubpasses[i];
        put_u32(&words, views != NULL && i < views->subpassCount ? views->pViewMasks[i] : 0);
        put_u32(&words, all_plain(info->pNext));
        put_colors(&words, one->colorAttachmentCount, one->pColorAttachments,
                   offsetof(VkAttachmentReference, attachment), sizeof(VkAttachmentReference),
                   info->attachmentCount, (const uint32_t *)(const void *)masks.data);
    }
    return blob_of(&words, &masks, !all_known(info->pNext));
}

struct blob *pass_2_blob(const VkRenderPassCreateInfo2 *info) {
    struct bytes words = {0}, masks = {0};
    bool known = all_known(info->pNext);
    for (uint32_t i = 0; i < info->attachmentCount; i++) {
        const VkAttachmentDescription2 *one = &info->pAttachments[i];
        put_u32(&masks, components((uint32_t)one->format, one->pNext));
        known = known && all_known(one->pNext);
    }
    for (uint32_t i = 0; !masks.failed && i < info->subpassCount; i++) {
        const VkSubpassDescription2 *one = &info->pSubpasses[i];
        known = known && all_known(one->pNext);
        for (uint32_t n = 0; n < one->colorAttachmentCount; n++)
            known = known && all_known(one->pColorAttachments[n].pNext);
        put_u32(&words, one->viewMask);
        put_u32(&words, all_plain(info->pNext) && all_plain(one->pNext));
        put_colors(&words, one->colorAttachmentCount, one->pColorAttachments,
                   offsetof(VkAttachmentReference2, attachment), sizeof(VkAttachmentReference2),
                   info->attachmentCount, (const uint32_t *)(const void *)masks.data);
    }
    return blob_of(&words, &masks, !known);
}

/* Nothing is known of a subpass that is not there. */
void find_subpass(struct device *device, VkRenderPass pass, uint32_t index, struct subpass *found) {
    struct blob *blob = table_find(device->passes, (uint64_t)pass);
    *found = (struct subpass){.view_mask = STATE_UNKNOWN};
    size_t at = 0, end = blob == NULL || blob->opaque ? 0 : blob->size / sizeof(uint32_t);
    for (uint32_t i = 0; at + 3 <= end; i++) {
        uint32_t count = blob->data[at + 2], colors = count == STATE_UNKNOWN ? 0 : count;
        if (i == index) {
            found->view_mask = blob->data[at];
            found->plain = blob->data[at + 1];
            found->known = count != STATE_UNKNOWN;
            found->count = colors;
            memcpy(found->colors, &blob->data[at + 3], colors * sizeof *found->colors);
            break;
        }
        at += 3 + colors;
    }
    blob_drop(blob);
}
