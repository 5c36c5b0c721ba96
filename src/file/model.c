/* model: bytes <-> models, as docs/format.md lays them out. Bytes from outside are checked whole, against their own
 * length, before anything is allocated. */
#include <math.h>

#include "core/allocate.h"
#include "file/envelope.h"
#include "model/model.h"

enum { MODEL_HEAD = 64 };

static uint64_t model_size(const lego_model *model)
{
    return MODEL_HEAD + 4 * ((uint64_t)model->table_size + MODEL_WEIGHTS) + CHECKSUM;
}

lego_status lego_model_save(const lego_model *model, lego_write write, void *context)
{
    struct writer writer;
    if (model->kind == MODEL_COMPACT) return LEGO_ERR_ARGUMENT;
    writer_init(&writer, write, context);
    write_head(&writer, &model_format, model->kind, model_size(model));
    write_int(&writer, model->rows, 4);
    write_int(&writer, model->columns, 4);
    write_int(&writer, model->quantum, 4);
    write_int(&writer, model->table_size, 4);
    write_floats(&writer, &model->distinct_min, 1);
    write_floats(&writer, &model->skew_max, 1);
    write_bytes(&writer, model->name, NAME_SIZE);
    write_floats(&writer, model->table, model->table_size);
    write_floats(&writer, model->weights, MODEL_WEIGHTS);
    return writer_finish(&writer);
}

/* The fixed fields into a model; whether they are possible. */
static bool read_model_head(const unsigned char *p, lego_model *model)
{
    *model = (lego_model){.kind = get32(p + 12),
                          .rows = get32(p + 24),
                          .columns = get32(p + 28),
                          .quantum = get32(p + 32),
                          .table_size = get32(p + 36),
                          .distinct_min = get_float(p + 40),
                          .skew_max = get_float(p + 44)};
    memcpy(model->name, p + 48, NAME_SIZE);
    return (model->kind == MODEL_PAPER || model->kind == MODEL_PLAIN) && model->rows >= 1 && model->rows <= ROWS_MAX &&
           model->columns >= COLUMNS_STEP && model->columns <= COLUMNS_MAX && model->columns % COLUMNS_STEP == 0 &&
           model->quantum >= model->rows && model->quantum <= QUANTUM_MAX && model->table_size >= 1 &&
           model->table_size <= TABLE_MAX && isfinite(model->distinct_min) && isfinite(model->skew_max) &&
           name_valid(model->name);
}

lego_status lego_model_load(const void *bytes, size_t size, const lego_allocator *allocator, lego_model **model)
{
    const unsigned char *p = bytes;
    lego_model head;
    lego_status status = check_envelope(p, size, &model_format, MODEL_HEAD);
    if (status != LEGO_OK) return status;
    if (get32(p + 12) == MODEL_COMPACT) return LEGO_ERR_VERSION; /* it had networks once */
    if (!read_model_head(p, &head)) return LEGO_ERR_CORRUPT;
    if (model_size(&head) != size) return LEGO_ERR_TRUNCATED;
    const unsigned char *v = p + MODEL_HEAD, *w = v + 4 * (size_t)head.table_size;
    for (uint32_t i = 0; i < head.table_size; i++) {
        head.table[i] = get_float(v + 4 * (size_t)i);
        if (!(head.table[i] >= 0.001F && head.table[i] <= 1)) return LEGO_ERR_CORRUPT;
    }
    for (size_t i = 0; i < MODEL_WEIGHTS; i++)
        if (!isfinite(get_float(w + 4 * i))) return LEGO_ERR_CORRUPT;

    head.allocator = allocator_or_default(allocator);
    head.allocated = sizeof head + MODEL_WEIGHTS * sizeof(float);
    head.fingerprint = get(p + size - CHECKSUM, CHECKSUM);
    model_derive(&head);
    lego_model *made = head.allocator.alloc(head.allocator.context, head.allocated);
    if (!made) return LEGO_ERR_MEMORY;
    float *copy = (float *)(void *)(made + 1);
    for (size_t i = 0; i < MODEL_WEIGHTS; i++) copy[i] = get_float(w + 4 * i);
    *made = head;
    made->weights = copy;
    *model = made;
    return LEGO_OK;
}
