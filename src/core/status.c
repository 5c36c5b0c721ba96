/* status: what each status code says to a person. */
#include "legosketch.h"

const char *lego_status_message(lego_status status)
{
    switch (status) {
    case LEGO_OK: return "done";
    case LEGO_ERR_ARGUMENT: return "an argument is out of range";
    case LEGO_ERR_BUDGET: return "the budget does not fit: it must be 4 KB to 64 GB and hold the bricks asked for";
    case LEGO_ERR_MEMORY: return "out of memory";
    case LEGO_ERR_RANGE: return "the counts are too large: a sum could leave 64 bits";
    case LEGO_ERR_MODEL: return "made with another model";
    case LEGO_ERR_SEED: return "made with another seed";
    case LEGO_ERR_SHAPE: return "the shapes have no common divisor: bricks, columns and cell bits must agree or divide";
    case LEGO_ERR_UNTRAINED: return "the model has no networks to scan with";
    case LEGO_ERR_MAGIC: return "not a file of this kind";
    case LEGO_ERR_VERSION: return "written by a later version of legosketch";
    case LEGO_ERR_TRUNCATED: return "the file is shorter or longer than it says";
    case LEGO_ERR_CHECKSUM: return "the file is damaged: its checksum does not fit its content";
    case LEGO_ERR_CORRUPT: return "the content of the file is impossible";
    case LEGO_ERR_WRITE: return "writing failed";
    case LEGO_ERR_DEVICE: return "there is no GPU, or it failed";
    }
    return "unknown status";
}
