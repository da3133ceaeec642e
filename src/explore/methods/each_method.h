// The methods one by one; methods.h has what they share. `samples` is above 0 and at most the size of the space.
#pragma once

#include "explore/methods/methods.h"

namespace monet::explore {

Expected<Searched> look_at_all(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask);
// Different designs in random order.
Expected<Searched> look_at_random(const Space& space, const MethodOptions& options, std::size_t samples,
                                  const Ask& ask);
// Different designs by Sobol's sequence, a coordinate for each axis.
Expected<Searched> look_evenly(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask);
// NSGA-II over the places of values; the first population is even, corners included.
Expected<Searched> evolve(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask);
// Gaussian processes of the logarithms of the objectives; asks where they promise most (in the way of ParEGO: Knowles,
// IEEE Trans. Evol. Comput. 10(1), 2006).
Expected<Searched> look_where_promising(const Space& space, const MethodOptions& options, std::size_t samples,
                                        const Ask& ask);
// A coarse grid, then the neighbours of the front at half the distance, until they are next to it. Ends by itself when
// no design that is one step from the front in one axis or in two is new.
Expected<Searched> narrow_down(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask);

}  // namespace monet::explore
