/* posterior: how likely each count is for an item, given its reads and what was learnt of the stream, and the answer.
 *
 * An item of count v that reads a and b in its rows and c in its cap has met the noise a - v, b - v and c - v:
 *
 *     P(v) ~ counts(v) cap(c - v) [ rows(a - v) rows(b - v) + twin Z ],    Z = sum of counts(v) rows(a - v) rows(b - v)
 *
 * The second term is the chance that another item has the same print: then the reads are both's together, and it may
 * be the other that nearly all of them is.
 *
 * The answer is the count for which the expected error is least, if an error of 1 weighs 1 + kappa / v: half of the
 * weight P(v) (1 + kappa / v) is below it, half above. kappa = 0 makes absolute errors least, a large one relative
 * ones. */
#pragma once

#include "model/learn.h"

/* What an error weighs at count v, absolute + relative / v, and which share of all weight is below the answer. */
struct weighing {
    float absolute, relative, share;
};

/* The answers for n weighings, of a reading of a block that shares. absent: how likely the item is never to have come,
 * over how likely it is to have. All reads are above 0, and so are all counts (learnt->sign is 1; where it is -1, the
 * caller turns the reads' signs). */
void posterior_alike(const struct learnt *learnt, const struct reading *reading, float absent,
                     const struct weighing weighing[], unsigned n, double answer[]);

/* The same where counts of both signs may have been met, for up to SIGNED_WEIGHINGS. It takes some ten microseconds. */
enum { SIGNED_WEIGHINGS = 3 };
void posterior_signed(const struct learnt *learnt, const struct reading *reading, float absent,
                      const struct weighing weighing[], unsigned n, double answer[]);

/* ---- inside ------------------------------------------------------------------------------------------------------ */

/* posterior_alike() as it is compiled for each kind of CPU; it chooses. */
void posterior_plain(const struct learnt *learnt, const struct reading *reading, float absent,
                     const struct weighing weighing[], unsigned n, double answer[]);
void posterior_v3(const struct learnt *learnt, const struct reading *reading, float absent,
                  const struct weighing weighing[], unsigned n, double answer[]);
