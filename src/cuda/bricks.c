/* bricks: a place holder until the paper's kernels are merged: no sketch of bricks goes over. */
#include "cuda/bricks.h"

lego_status cuda_bricks_upload(const struct bricks *host, struct cuda_bricks **made)
{
    (void)host, (void)made;
    return LEGO_ERR_MODEL;
}

void cuda_bricks_free(struct cuda_bricks *bricks)
{
    (void)bricks;
}

lego_status cuda_bricks_add(struct cuda_bricks *bricks, uint64_t seed, const uint64_t *keys, const int64_t *counts,
                            size_t n, cudaStream_t stream)
{
    (void)bricks, (void)seed, (void)keys, (void)counts, (void)n, (void)stream;
    return LEGO_ERR_MODEL;
}

lego_status cuda_bricks_query(struct cuda_bricks *bricks, uint64_t seed, const uint64_t *keys, size_t n,
                              lego_estimate *estimates, cudaStream_t stream)
{
    (void)bricks, (void)seed, (void)keys, (void)n, (void)estimates, (void)stream;
    return LEGO_ERR_MODEL;
}

lego_status cuda_bricks_download(const struct cuda_bricks *bricks, struct bricks *host)
{
    (void)bricks, (void)host;
    return LEGO_ERR_MODEL;
}
