// Options of a training step, and of how it is evaluated on a machine.
#pragma once

#include "options/name.h"
#include "training/optimizer_options.h"

#include <monet/evaluate.h>

#include <string>
#include <vector>

namespace monet {

// Of whatever opens a network.
template <class Options, class To>
void describe_sizes(To& to) {
  to.option("batch", &Options::batch, "size of the batch: the first axis of the inputs", "N").whole();
  to.option({"dimensions", "dim"}, &Options::dimensions, "size of a symbolic dimension; may be given several times",
            "NAME=N");
  to.option("parameter", &Options::parameter,
            "tensors of the file that are trained, whatever they look like; * and ? as in a shell", "PATTERN")
      .each_once();
  to.option("buffer", &Options::buffer, "tensors of the file that are not trained: masks, tables, statistics",
            "PATTERN")
      .each_once();
  to.flag("fused_norms", &Options::fused_norms,
          "norms that the file spells out (RMS norms as powers, means, roots) run and save as one operator");
}

template <class To>
void describe_loss(To& to) {
  using Options = TrainOptions;
  to.title("Loss");
  to.option("loss", &Options::loss, "cross-entropy, mse, bce, or output:NAME for an output of the model itself", "LOSS")
      .such_as({"cross-entropy", "mse", "bce"})
      .with_default();
  to.option("class_axis", &Options::class_axis, "axis of the classes in cross entropy; the last by default", "N");
  to.option("label_smoothing", &Options::label_smoothing, "share of the target spread over all classes").with_default();
  to.option("ignore_index", &Options::ignore_index, "target that counts for nothing", "N").with_default();
}

template <class To>
void describe_optimizer(To& to) {
  using Options = TrainOptions;
  std::vector<std::string> names;
  std::string list;
  for (const training::OptimizerInfo& info : training::optimizers()) {
    list += (names.empty() ? "" : ", ") + std::string(info.name);
    names.emplace_back(info.name);
  }
  to.title("Optimizer");
  to.option("optimizer", &Options::optimizer, list, "NAME").such_as(names).with_default();
  to.option("optimizer_form", &Options::optimizer_form, "fused: one operator a parameter; or elementwise", "FORM")
      .such_as({"fused", "elementwise"})
      .with_default();
  to.option("weight_decay", &Options::weight_decay, "the optimizer's own default unless given");
  to.option("momentum", &Options::momentum, "of momentum and nesterov (0.9)");
  to.option("beta1", &Options::beta1, "of adam, adamw, lion, adam8bit");
  to.option("beta2", &Options::beta2, "of adam, adamw, lion, adam8bit");
  to.option("epsilon", &Options::epsilon, "of adam, adamw, adafactor, adam8bit");
  to.option("clip_norm", &Options::clip_norm, "scale gradients down to this global norm");
  to.option("accumulate", &Options::accumulate, "micro-batches whose gradients are summed for one step", "N")
      .with_default();
  to.option("loss_scale", &Options::loss_scale, "factor on the loss against underflow in fp16");
}

template <class To>
void describe_selection(To& to) {
  using Options = TrainOptions;
  to.title("What is trained");
  to.option("train", &Options::train, "only parameters whose names match; * and ? as in a shell", "PATTERN")
      .each_once();
  to.option("freeze", &Options::freeze, "parameters that stay; may be given several times", "PATTERN").each_once();
  to.flag("bias_only", &Options::bias_only, "only biases");
  to.option("last_layers", &Options::last_layers, "only the last K layers that have parameters", "K");
  to.option({"lora_rank", "lora"}, &Options::lora_rank, "freeze all, and train low-rank additions to the weights",
            "RANK");
  to.option("lora_alpha", &Options::lora_alpha, "the additions are scaled by alpha / rank; the rank by default");
  to.option({"lora_targets", "lora-target"}, &Options::lora_targets,
            "weights that get one; all of products and convolutions by default", "PATTERN")
      .each_once();
}

// Which step is made of a network, but for its sizes and its precision.
template <class To>
void describe_step(To& to) {
  describe_loss(to);
  describe_optimizer(to);
  describe_selection(to);
  to.title(nullptr);
  to.option("conv_gradient", &TrainOptions::conv_gradient,
            "weight gradient of convolutions: direct, a loop nest of its own, or im2col and a product", "HOW")
      .such_as({"direct", "im2col"})
      .with_default();
}

template <class Options, class To>
void describe_factors(To& to) {
  to.option("factors", &Options::factors, "pieces of loops that are put in every order", "N")
      .within(1, 12)
      .with_default();
}

template <class Options, class To>
void describe_jobs(To& to) {
  to.option("jobs", &Options::jobs, "threads; all processors by default", "N").within(0, 1024);
}

// Of whatever maps operators on cores.
template <class Options, class To>
void describe_mapping_effort(To& to) {
  describe_factors<Options>(to);
  to.option({"cache_file", "cache"}, &Options::cache_file, "keep mappings in this file, and use those in it", "FILE");
  describe_jobs<Options>(to);
}

template <class Options, class To>
void describe_mapping_search(To& to) {
  to.option("objective", &Options::objective, "of the mappings: latency, energy or edp", "WHAT")
      .one_of({"latency", "energy", "edp"})
      .with_default();
  describe_mapping_effort<Options>(to);
}

constexpr const char* schedule_title = "Plan and schedule";

template <class Options, class To>
void describe_lowering(To& to) {
  to.title(schedule_title);
  to.option("lowering", &Options::lowering,
            "eager: kernel by kernel, as an eager framework runs it, which is the default where a core is a graphics "
            "processor; compiled: as a fusing compiler does, with the stacks of the plan or its own; nests: each "
            "operator its loop nest on arrays, as elsewhere",
            "HOW")
      .one_of({"eager", "compiled", "nests"});
}

template <class To>
void describe_custom_costs(To& to) {
  to.option("custom", &StepRequest::custom_file, "costs of operators: of those that are not known, or instead", "FILE");
}

template <class To>
void describe_force(To& to) {
  to.flag("force", &StepRequest::force, "use a plan that was made for another network or machine");
}

template <class To>
void describe_order(To& to) {
  to.option("order", &StepRequest::order, "critical-path, graph, listed or frugal; the plan's, or critical-path",
            "ORDER")
      .one_of({"critical-path", "graph", "listed", "frugal"});
}

template <class To>
void describe_flows(To& to) {
  to.flag("off_chip", &StepRequest::off_chip,
          "every operator reads from and writes to off-chip memory, as the published flow does");
  to.flag("zigzag", &StepRequest::zigzag,
          "costs by the rules of ZigZag 3.8.5 and Stream, their known defects included, in 8 bits, off chip");
}

template <class To>
void describe_home(To& to) {
  to.option("home", &StepRequest::home,
            "storage in which data are at home: they come to the memory of the cores in parts, and go back", "STORAGE");
}

template <class To>
void describe_schedule(To& to) {
  using Options = StepRequest;
  to.title(schedule_title);
  describe_custom_costs(to);
  to.option("recompute", &Options::recompute,
            "saved tensors to compute again in the backward part; * and ? match; blocks: all inside blocks", "NAME");
  to.option("keep", &Options::keep, "those of them that are kept all the same", "NAME");
  to.option("page", &Options::page,
            "what is elsewhere between uses, and where: saved tensors, names of weights, weights, optimizer-state",
            "NAME MEMORY");
  describe_force(to);
  describe_order(to);
  to.option("transfers", &Options::transfers, "from core to core: direct or memory; the plan's, or direct", "WAY")
      .one_of({"direct", "memory"});
  describe_flows(to);
  describe_home(to);
  to.off("check", &Options::check, "leave out the independent check of the schedule");
  describe_lowering<Options>(to);
}

// Of searches for plans that decide about tensors: what is fixed before they begin.
template <class To>
void describe_searched_step(To& to) {
  using Options = StepRequest;
  constexpr const char* title = "Evaluation";
  to.title(title);
  describe_force(to);
  describe_custom_costs(to);
  describe_lowering<Options>(to);
  to.title(title);
  describe_order(to);
  describe_flows(to);
  describe_home(to);
  describe_factors<Options>(to);
  to.title(nullptr);
  describe_jobs<Options>(to);
}

template <class To>
void describe_parallel(To& to) {
  using Options = StepRequest;
  constexpr std::int64_t one = 1, most = std::int64_t{1} << 30;
  to.title("Many chips");
  to.option(
      "parallel", &Options::parallel,
      "how the step is split over chips: dp=N, tp=N, pp=N, ep=N, cp=N, zero=0|1|2|3, sequence=on|off, overlap=on|off, "
      "recompute=none|selective|blocks, schedule=gpipe|1f1b|interleaved|zb-h1|zb-h2|zbv, chunks=N, "
      "cut=balanced|equal|N+N, order=dp-pp-tp, with commas; or first a recipe: megatron, fsdp, expert",
      "WORDS");
  to.option("chips", &Options::chips, "all chips; what --parallel leaves open is data parallel", "N").within(one, most);
  to.option("micro_batch", &Options::micro_batch,
            "samples of one chip of dp at a time; gradients add up until --batch, that of all chips, is done", "N")
      .within(one, most);
}

// Of `monet evaluate` alone.
template <class To>
void describe_evaluation(To& to) {
  using Options = StepRequest;
  to.title(schedule_title);
  to.off("compare", &Options::compare, "leave out inference, to compare with");
  to.off("pack", &Options::pack, "leave out addresses: memory is then what is live");
  to.off("advise", &Options::advise, "where it does not fit: leave out what would");
  to.option("products", &Options::products,
            "at whose rate fp32 products run: tf32 or bf16; as --precision says by default", "PRECISION")
      .one_of({"tf32", "bf16"});
}

}  // namespace monet
