/* Settings that an application gives with VK_EXT_layer_settings. */
#include "layer.h"
#include "numbers.h"

#include <stdio.h>
#include <string.h>

/* VK_EXT_layer_settings is younger than the headers that we want to build with. */
enum { BOOL32, INT32, INT64, UINT32, UINT64, FLOAT32, FLOAT64, STRING };
struct layer_setting { /* VkLayerSettingEXT */
    const char *layer, *name;
    uint32_t type, count;
    const void *values;
};
struct layer_settings { /* VkLayerSettingsCreateInfoEXT */
    VkStructureType sType;
    const void *pNext;
    uint32_t count;
    const struct layer_setting *settings;
};

static void give(const struct layer_setting *setting) {
    char number[32] = "";
    const char *value = number;
    if (setting->name == NULL || setting->count == 0 || setting->values == NULL)
        return;
    if (setting->type == BOOL32)
        value = *(const VkBool32 *)setting->values ? "1" : "0";
    else if (setting->type == INT32)
        snprintf(number, sizeof number, "%ld", (long)*(const int32_t *)setting->values);
    else if (setting->type == INT64)
        snprintf(number, sizeof number, "%lld", (long long)*(const int64_t *)setting->values);
    else if (setting->type == UINT32)
        snprintf(number, sizeof number, "%lu", (unsigned long)*(const uint32_t *)setting->values);
    else if (setting->type == UINT64)
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)*(const uint64_t *)setting->values);
    else if (setting->type == STRING)
        value = *(const char *const *)setting->values;
    else
        return; /* no setting of ours takes another type */
    if (value == NULL)
        return;
    settings_give(setting->name, value);
}

void settings_given(const void *chain) {
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext) {
        const struct layer_settings *all = (const void *)at;
        if ((int)at->sType != LAYER_SETTINGS)
            continue;
        for (uint32_t i = 0; i < all->count; i++)
            if (all->settings[i].layer != NULL && strcmp(all->settings[i].layer, LAYER_NAME) == 0)
                give(&all->settings[i]);
    }
}
