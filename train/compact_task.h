/* compact_task: a task of compact_train.h, in numbers. */
#ifndef LEGO_TRAIN_COMPACT_TASK_H
#define LEGO_TRAIN_COMPACT_TASK_H

#include "compact.h"
#include "compact_train.h"

/* What a task is asked: what the networks see of each item, its least read, its count, and what part it is of all. */
struct compact_task {
    struct compact_view view;
    float reads[COMPACT_READS][COMPACT_ITEMS], least[COMPACT_ITEMS], count[COMPACT_ITEMS], part[COMPACT_ITEMS];
};

/* Makes task `index` of a recipe; false if there is not enough memory. */
bool compact_task_make(const struct compact_recipe *recipe, uint32_t index, struct compact_task *task);

#endif
