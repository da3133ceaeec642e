// A cluster for a job that is put together already; for cluster_executor and tests.
#pragma once

#include "explore/executor/cluster_messages.h"
#include "explore/executor/executor.h"

namespace monet::explore {

Expected<std::unique_ptr<Executor>> cluster_executor_for(const ClusterJob& job, const ClusterOptions& options);

}  // namespace monet::explore
