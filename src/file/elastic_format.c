/* elastic_format: bytes <-> elastic sketches, as docs/format.md lays them out: a head, the buckets, and the light part
 * as the sketch file that it would be alone. Bytes from outside are checked whole before anything is allocated: first
 * the buckets here, then the sketch by lego_sketch_load(), which allocates when it has seen all of it. */
#include "top/elastic.h"
#include "file/envelope.h"

enum { ELASTIC_HEAD = 80 };

const char elastic_magic[8] = {'L', 'E', 'G', 'O', 'E', 'L', 'A', 'S'};

uint64_t lego_elastic_saved_size(const lego_elastic *elastic)
{
    return ELASTIC_HEAD + (uint64_t)elastic->heavy.buckets.d * HEAVY_BUCKET + lego_sketch_saved_size(elastic->light) +
           CHECKSUM;
}

static int write_through(void *context, const void *bytes, size_t size)
{
    struct writer *writer = context;
    write_bytes(writer, bytes, size);
    return writer->status != LEGO_OK;
}

lego_status lego_elastic_save(const lego_elastic *elastic, lego_write write, void *context)
{
    const lego_sketch *light = elastic->light;
    struct writer writer;
    writer_init(&writer, write, context);
    write_head(&writer, elastic_magic, 0, lego_elastic_saved_size(elastic));
    write_int(&writer, light->seed, 8);
    write_int(&writer, light->model->fingerprint, 8);
    write_bytes(&writer, light->model->name, NAME_SIZE);
    write_int(&writer, elastic->heavy.buckets.d, 8);
    write_int(&writer, elastic->heavy.votes, 8);
    write_int(&writer, lego_sketch_saved_size(light), 8);
    write_bytes(&writer, elastic->heavy.bucket, (size_t)elastic->heavy.buckets.d * HEAVY_BUCKET);
    lego_status status = lego_sketch_save(light, write_through, &writer);
    return status != LEGO_OK ? status : writer_finish(&writer);
}

lego_status lego_elastic_load(const void *bytes, size_t size, const lego_model *model, const lego_allocator *allocator,
                              lego_elastic **elastic)
{
    const unsigned char *p = bytes, *bucket = p + ELASTIC_HEAD;
    lego_status status = check_envelope(p, size, elastic_magic, ELASTIC_HEAD);
    if (status != LEGO_OK) return status;
    if (get32(p + 12) != 0) return LEGO_ERR_VERSION;
    uint64_t buckets = get(p + 56, 8), sketch_size = get(p + 72, 8),
             most = (LEGO_BUDGET_MAX - HEAVY_LINE) / HEAVY_BUCKET;
    if (buckets == 0 || buckets > most) return LEGO_ERR_CORRUPT;
    size_t rest = size - ELASTIC_HEAD - CHECKSUM;
    if (rest / HEAVY_BUCKET < buckets || rest - buckets * HEAVY_BUCKET != sketch_size) return LEGO_ERR_TRUNCATED;
    const unsigned char *sketch = bucket + buckets * HEAVY_BUCKET;
    if (sketch_size < 56 || memcmp(p + 24, sketch + 24, 32) != 0) return LEGO_ERR_CORRUPT; /* seed and model agree */

    struct divisor divisor = divisor_of((uint32_t)buckets);
    uint64_t votes = 0;
    for (uint32_t i = 0; i < buckets; i++) {
        struct heavy_bucket one;
        memcpy(&one, bucket + (size_t)i * HEAVY_BUCKET, sizeof one);
        if (!heavy_bucket_valid(&one, i, divisor, get(p + 24, 8), &votes)) return LEGO_ERR_CORRUPT;
    }
    if (votes != get(p + 64, 8)) return LEGO_ERR_CORRUPT;

    lego_sketch *light;
    status = lego_sketch_load(sketch, (size_t)sketch_size, model, allocator, &light);
    if (status != LEGO_OK) return status == LEGO_ERR_MODEL || status == LEGO_ERR_MEMORY ? status : LEGO_ERR_CORRUPT;
    uint64_t quantum = light->model->quantum;
    lego_elastic *made;
    bool fits = votes <= ((uint64_t)INT64_MAX - light->mass) / quantum; /* all of it might go to the light part */
    status = fits ? elastic_make(light, (uint32_t)buckets, &made) : LEGO_ERR_CORRUPT;
    if (status != LEGO_OK) {
        lego_sketch_destroy(light);
        return status;
    }
    light->mass += votes * quantum;
    memcpy(made->heavy.bucket, bucket, (size_t)buckets * HEAVY_BUCKET);
    made->heavy.votes = votes;
    *elastic = made;
    return LEGO_OK;
}
