// A cluster for a job that is put together already; for cluster_crew and tests.
#pragma once

#include "explore/crew/cluster_messages.h"
#include "explore/crew/crew.h"

namespace monet::explore {

Expected<std::unique_ptr<Crew>> cluster_crew_for(const ClusterJob& job, const ClusterOptions& options);

}  // namespace monet::explore
