// LeNet-5 (LeCun et al. 1998) for images of handwritten digits, in the form that is trained today: ReLU, maximum
// pooling, every feature map of the second convolution joined with all of the first.
#include "networks/layers.h"
#include "networks/network.h"

namespace monet::networks {

namespace {

Expected<Graph> build_lenet(const BuiltinInfo& info, const OptionValues& values) {
  GraphBuilder builder(info.name);
  TensorId x = builder.input("input", {values["batch"], 1, values["image"], values["image"]});
  x = relu(builder, "relu1", convolution(builder, "conv1", x, {.channels = 6, .kernel = 5, .bias = true}));
  x = max_pool(builder, "pool1", x, 2, 2, 0);
  x = relu(builder, "relu2",
           convolution(builder, "conv2", x, {.channels = 16, .kernel = 5, .bias = true, .padded = false}));
  x = max_pool(builder, "pool2", x, 2, 2, 0);
  const std::int64_t features = axis_size(builder, x, 1) * axis_size(builder, x, 2) * axis_size(builder, x, 3);
  x = builder.add(Op::Reshape, "flatten", {x}, {{Attr::shape, Shape{axis_size(builder, x, 0), features}}});
  x = relu(builder, "relu3", fully_connected(builder, "fc1", x, 120));
  x = relu(builder, "relu4", fully_connected(builder, "fc2", x, 84));
  return finish(builder, fully_connected(builder, "fc3", x, values["classes"]), "logits");
}

}  // namespace

std::vector<BuiltinNetwork> lenet_networks() {
  return {network("lenet5", "LeNet-5 for images of digits, 28x28", {image_option(28, 12), classes_option(10)},
                  build_lenet)};
}

}  // namespace monet::networks
