#include "keys.h"
int keys_open_arrow(keys *keys, PyObject *object)
{
    (void)keys; (void)object;
    return 0;
}
