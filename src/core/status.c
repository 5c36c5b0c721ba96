/* status: what each status code says to a person. */
#include "legosketch.h"

const char *lego_status_message(lego_status status)
{
    switch (status) {
    case LEGO_OK: return "done";
    case LEGO_ERR_ARGUMENT: return "an argument is out of range";
    case LEGO_ERR_BUDGET:
        return "the budget does not fit: it must be 4 KB to 64 GB, 4 KB of it beside the top, which takes 512 bytes or "
               "more";
    case LEGO_ERR_MEMORY: return "out of memory";
    case LEGO_ERR_RANGE: return "the counts are too large: a sum could leave 64 bits";
    case LEGO_ERR_MODEL: return "made with another model";
    case LEGO_ERR_SEED: return "made with another seed";
    case LEGO_ERR_SECRET: return "made with a secret seed, which was not given, or another";
    case LEGO_ERR_SHAPE: return "the sizes do not nest: one number of blocks must be a multiple of the other";
    case LEGO_ERR_TOP: return "not possible with a sketch that keeps its most frequent items";
    case LEGO_ERR_MAGIC: return "not a file of this kind";
    case LEGO_ERR_VERSION: return "written by another version of legosketch";
    case LEGO_ERR_TRUNCATED: return "the file is shorter or longer than it says";
    case LEGO_ERR_CHECKSUM: return "the file is damaged: its checksum does not fit its content";
    case LEGO_ERR_CORRUPT: return "the content of the file is impossible";
    case LEGO_ERR_WRITE: return "writing failed";
    case LEGO_ERR_DEVICE: return "there is no GPU, or it failed";
    }
    return "unknown status";
}
